// Paths as text.

#include "fringe/base/file.h"

#include <strings.h>
#include <unistd.h>

char *path_join(char *out, size_t size, const char *folder, const char *name) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] != '/' ? "/" : "";
    int used = name[0] == '/' ? snprintf(out, size, "%s", name)
                              : snprintf(out, size, "%s%s%s", folder, slash, name);
    CHECK(used >= 0 && (size_t)used < size, EXIT_CANNOT_WRITE,
          "the path '%s/%s' is longer than %zu bytes", folder, name, size - 1);
    return out;
}

char *path_folder(char *out, size_t size, const char *path) {
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    if (slash == path)
        length = 1; // the root
    int used =
        slash == NULL ? snprintf(out, size, ".") : snprintf(out, size, "%.*s", (int)length, path);
    CHECK(used >= 0 && (size_t)used < size, EXIT_CANNOT_WRITE,
          "the folder of '%s' is longer than %zu bytes", path, size - 1);
    return out;
}

char *path_plain(char *out, size_t size, const char *path) {
    snprintf(out, size, "%s", path);
    for (size_t length = strlen(out); length > 1 && out[length - 1] == '/';)
        out[--length] = 0;
    return out;
}

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

bool path_ends(const char *path, const char *endings) {
    size_t length = strlen(path);
    for (size_t bytes; *endings != 0; endings += bytes + strspn(endings + bytes, " ")) {
        bytes = strcspn(endings, " ");
        if (length >= bytes && strncasecmp(path + length - bytes, endings, bytes) == 0)
            return true;
    }
    return false;
}

void path_program_folder(char *out, size_t size) {
    char own[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    snprintf(out, size, "%s", "");
    if (length > 0)
        path_folder(out, size, own);
}

void path_of_program(char *out, size_t size, const char *name, const char *variable) {
    const char *given = getenv(variable);
    char own[PATH_BYTES];
    path_program_folder(own, sizeof own);
    path_join(out, size, own, name);
    if (access(out, X_OK) != 0)
        path_join(out, size, PATH_IN(own, ".."), name);
    if (given != NULL && given[0] != 0)
        snprintf(out, size, "%s", given);
    else if (access(out, X_OK) != 0)
        snprintf(out, size, "%s", name);
}

bool path_shipped(char *out, size_t size, const char *name) {
    char program[PATH_BYTES];
    path_program_folder(program, sizeof program);
    const char *above = FOLDER_OF(program);
    path_join(out, size, PATH_IN(above, "share/fringe"), name);
    if (access(out, F_OK) != 0)
        path_join(out, size, above, name);
    return program[0] != 0 && access(out, F_OK) == 0;
}
