// Keeps an entry of the cache while a process uses it: a shared lock (flock) on the entry's
// manifest. `fringe cache prune` removes an entry only with the exclusive lock. Locks end with
// their process. A mapped file outlives its removal, so the lock matters for the files that a
// process has yet to open, such as the shards of ranks that are still starting.
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct CacheHold {
    int file;
};

static const char *const manifests[] = {"partition.json", "dataset.json"};

static int open_manifest(const char *folder, int flags) {
    int file = -1;
    for (size_t i = 0; i < sizeof manifests / sizeof manifests[0] && file < 0; i++)
        file = open(PATH_IN(folder, manifests[i]), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return file;
}

// False if the folder was removed or replaced since the file was opened.
static bool is_still_there(const char *folder, int file) {
    struct stat held, there;
    CLEARED(descriptor_drop) int again = open_manifest(folder, O_RDONLY);
    return again >= 0 && fstat(file, &held) == 0 && fstat(again, &there) == 0 &&
           held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

// A process that removes the entry has the exclusive lock for a moment.
static bool lock_shared(int file) {
    static const struct timespec moment = {.tv_nsec = 10000000};
    for (int moments = 0; moments < 200; moments++) {
        if (flock(file, LOCK_SH | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&moment, NULL);
    }
    return false;
}

// With the lock, if it is one of the entry that is there.
static CacheHold *hold_of(const char *folder, int file, bool locked) {
    if (file < 0 || !locked || !is_still_there(folder, file)) {
        if (file >= 0)
            close(file);
        return NULL;
    }
    CacheHold *hold = ALLOC(CacheHold, 1, "lock of a cache entry");
    hold->file = file;
    return hold;
}

CacheHold *cache_hold(const char *folder) {
    int file = open_manifest(folder, O_RDONLY);
    return hold_of(folder, file, file >= 0 && lock_shared(file));
}

CacheHold *cache_seize(const char *folder, bool *is_used) {
    int file = open_manifest(folder, O_RDWR); // network file systems want that for this lock
    if (file < 0)
        file = open_manifest(folder, O_RDONLY);
    CacheHold *hold = hold_of(folder, file, file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0);
    *is_used = file >= 0 && hold == NULL;
    return hold;
}

void cache_release(CacheHold *hold) {
    if (hold != NULL)
        close(hold->file);
    memory_free(hold);
}

void cache_touch(const char *path) { (void)!utimensat(AT_FDCWD, path, NULL, 0); }
