// The config that a path which does not exist may mean: one in the same folder, or one of those
// that came with the program, with nearly the same name.

#include "internal.h"

enum { CONFIGS_MOST = 256, NAME = 128 };

typedef struct Names {
    char name[CONFIGS_MOST][NAME]; // without ".json"
    int count;
} Names;

// The length of a file's name without ".json"; 0: it has another ending.
static size_t stem(const char *name) {
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0 ? length - 5 : 0;
}

static void add_configs(Names *names, const char *folder) {
    for (FileNames in = file_names(folder); file_next(&in, true);) {
        size_t length = stem(in.name);
        if (length > 0 && length < NAME && names->count < CONFIGS_MOST)
            snprintf(names->name[names->count++], NAME, "%.*s", (int)length, in.name);
    }
}

static const char *closest_of(const Names *names, const char *path) {
    const char *words[CONFIGS_MOST], *name = path_name(path);
    char wanted[NAME];
    size_t length = stem(name) > 0 ? stem(name) : strlen(name);
    snprintf(wanted, sizeof wanted, "%.*s", (int)length, name);
    for (int i = 0; i < names->count; i++)
        words[i] = names->name[i];
    return family_closest(wanted, words, names->count);
}

bool config_nearby(const char *path, char *out, size_t size) {
    char shipped[8192];
    Names names = {.count = 0};
    add_configs(&names, FOLDER_OF(path));
    const char *closest = closest_of(&names, path);
    if (closest != NULL) {
        int before = (int)(path_name(path) - path);
        snprintf(out, size, "%.*s%s.json", before, path, closest);
        return true;
    }
    names.count = 0;
    if (!path_shipped(shipped, sizeof shipped, "configs"))
        return false;
    add_configs(&names, shipped);
    closest = closest_of(&names, path);
    snprintf(out, size, "%s", closest != NULL ? closest : "");
    return closest != NULL;
}

bool config_is_there(const char *path) {
    char found[PATH_BYTES];
    return config_find(path, found, sizeof found) && file_exists(found) && !file_is_folder(found);
}
