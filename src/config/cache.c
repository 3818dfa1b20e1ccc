// The default cache: $XDG_CACHE_HOME/fringe, ~/.cache/fringe, or a folder in /tmp if neither
// variable is set. The idea: in /tmp anybody may create a folder of any name, and fringe trusts
// what lies in a cache. So that folder must belong to this user and be closed to others, or it is
// refused. A cache that the user named may be shared.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void shared_place(char *out, size_t size) {
    snprintf(out, size, "/tmp/fringe-cache-%ld", (long)geteuid());
}

void config_default_cache(char *out, size_t size) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache != NULL && cache[0] == '/')
        path_join(out, size, cache, "fringe");
    else if (home != NULL && home[0] != 0)
        path_join(out, size, home, ".cache/fringe");
    else
        shared_place(out, size);
}

static bool refuse(const char *path, const char *why, Error *err) {
    return error_set(err, EXIT_CANNOT_WRITE,
                     "%s, the cache where neither HOME nor XDG_CACHE_HOME is set, %s; set one of "
                     "them, or data.cache, to a folder of your own",
                     path, why);
}

static bool is_ours(const char *path, Error *err) {
    struct stat status;
    CLEARED(descriptor_drop)
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0)
        return refuse(path, errno == EACCES ? "belongs to another user" : "is no folder", err);
    if (fstat(descriptor, &status) != 0 || status.st_uid != geteuid())
        return refuse(path, "belongs to another user", err);
    return (status.st_mode & 077) == 0 || refuse(path, "is open to other users", err);
}

static bool is_shared_place(const Config *config) {
    char path[64];
    shared_place(path, sizeof path);
    return strcmp(config->data.cache, path) == 0;
}

bool config_check_cache(const Config *config, Error *err) {
    struct stat status;
    if (!is_shared_place(config) || (lstat(config->data.cache, &status) != 0 && errno == ENOENT))
        return true;
    return is_ours(config->data.cache, err);
}

bool config_make_cache(const Config *config, Error *err) {
    const char *path = config->data.cache;
    if (!is_shared_place(config))
        return file_make_folder(path, err);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_cannot(err, EXIT_CANNOT_WRITE, "make the folder", path);
    return is_ours(path, err);
}
