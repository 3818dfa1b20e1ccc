// What the name of a file says.

#include "internal.h"

#include <string.h>
#include <strings.h>

bool format_file_ends(const char *path, const char *const *endings) {
    size_t length = strlen(path);
    if (file_is_folder(path))
        return false;
    for (; *endings != NULL; endings++) {
        size_t wanted = strlen(*endings);
        if (length >= wanted && strcasecmp(path + length - wanted, *endings) == 0)
            return true;
    }
    return false;
}
