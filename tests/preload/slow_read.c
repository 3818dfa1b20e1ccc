// A slow disk: the first read of a file whose name ends with $SLOW_READ, or the one after
// $SLOW_AFTER others, takes $SLOW_SECONDS, and so does the first stream that is made of one.

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_slow(int descriptor) {
    char link[64], path[PATH_MAX];
    const char *wanted = getenv("SLOW_READ");
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = wanted != NULL ? readlink(link, path, sizeof path - 1) : -1;
    if (length < (ssize_t)strlen(wanted != NULL ? wanted : ""))
        return 0;
    path[length] = 0;
    return strcmp(path + length - strlen(wanted), wanted) == 0;
}

static int number(const char *name) { return getenv(name) != NULL ? atoi(getenv(name)) : 0; }

ssize_t read(int descriptor, void *into, size_t bytes) {
    static ssize_t (*next)(int, void *, size_t);
    static int reads;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "read");
    if (is_slow(descriptor) && reads++ == number("SLOW_AFTER"))
        sleep((unsigned)number("SLOW_SECONDS"));
    return next(descriptor, into, bytes);
}

FILE *fdopen(int descriptor, const char *mode) {
    static FILE *(*next)(int, const char *);
    static int slept;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "fdopen");
    if (!slept && is_slow(descriptor)) {
        slept = 1;
        sleep((unsigned)number("SLOW_SECONDS"));
    }
    return next(descriptor, mode);
}
