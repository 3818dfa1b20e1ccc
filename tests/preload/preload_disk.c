// A disk in trouble, put before a program with LD_PRELOAD: where the name of a file begins with
// FRINGE_TEST_DISK_FILE, fsync takes FRINGE_TEST_DISK_SECONDS longer, and write finds no room
// behind its first FRINGE_TEST_DISK_BYTES.

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double setting(const char *name, double unset) {
    const char *value = getenv(name);
    return value != NULL ? atof(value) : unset;
}

static bool is_meant(int descriptor) {
    char link[64], path[4096];
    const char *wanted = getenv("FRINGE_TEST_DISK_FILE");
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = wanted != NULL ? readlink(link, path, sizeof path - 1) : -1;
    if (length < 0)
        return false;
    path[length] = 0;
    const char *slash = strrchr(path, '/');
    return slash != NULL && strncmp(slash + 1, wanted, strlen(wanted)) == 0;
}

int fsync(int descriptor) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (is_meant(descriptor)) {
        double seconds = setting("FRINGE_TEST_DISK_SECONDS", 0);
        struct timespec time = {.tv_sec = (time_t)seconds};
        time.tv_nsec = (long)(1e9 * (seconds - (double)time.tv_sec));
        nanosleep(&time, NULL);
    }
    return real(descriptor);
}

ssize_t write(int descriptor, const void *data, size_t bytes) {
    ssize_t (*real)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    double room = setting("FRINGE_TEST_DISK_BYTES", -1);
    struct stat status;
    if (room >= 0 && is_meant(descriptor) && fstat(descriptor, &status) == 0) {
        double left = room - (double)status.st_size;
        if (left <= 0) {
            errno = ENOSPC;
            return -1;
        }
        bytes = (double)bytes < left ? bytes : (size_t)left;
    }
    return real(descriptor, data, bytes);
}
