// What the cgroups of this process grant it. The idea: a limit may stand at any folder above that
// of the process, so all are asked and the least counts.

#include "fringe/base/file.h"
#include "internal.h"

size_t number_in(const char *path, const char *key) {
    CLEARED(stream_drop) FILE *file = fopen(path, "re");
    if (file == NULL)
        return SIZE_MAX;
    size_t found = SIZE_MAX, length = strlen(key);
    char line[256];
    while (found == SIZE_MAX && fgets(line, sizeof line, file) != NULL) {
        unsigned long long value;
        if (strncmp(line, key, length) == 0 && sscanf(line + length, "%llu", &value) == 1)
            found = (size_t)value;
    }
    return found;
}

size_t cgroup_number(const char *folder, const char *name, const char *key) {
    return number_in(PATH_IN(folder, name), key);
}

// The least of the cgroup at `path` below `root` and of those above it.
static size_t least_at(const char *root, const char *path, CgroupValue *value) {
    char folder[PATH_BYTES];
    size_t least = SIZE_MAX;
    snprintf(folder, sizeof folder, "%s%s", root, path);
    while (strlen(folder) >= strlen(root)) {
        size_t here = value(folder);
        least = here < least ? here : least;
        *strrchr(folder, '/') = 0;
    }
    return least;
}

// True if a list like "cpu,cpuacct" names the controller.
static bool names(const char *list, const char *controller) {
    size_t length = strlen(controller);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, controller, length) == 0 && strchr(",", at[length]) != NULL)
            return true;
    }
    return false;
}

// A line is "0::/path" of version 2, or "5:cpu,cpuacct:/path" of version 1.
size_t cgroup_least(const char *controller, CgroupValue *second, CgroupValue *first) {
    char line[PATH_BYTES], root[64];
    size_t least = SIZE_MAX;
    CLEARED(stream_drop) FILE *file = fopen("/proc/self/cgroup", "re");
    snprintf(root, sizeof root, "/sys/fs/cgroup/%s", controller);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        char *list = strchr(line, ':'), *path = list != NULL ? strchr(list + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *path++ = 0;
        size_t here = SIZE_MAX;
        if (list[1] == 0)
            here = least_at("/sys/fs/cgroup", path, second);
        else if (names(list + 1, controller))
            here = least_at(root, path, first);
        least = here < least ? here : least;
    }
    return least;
}
