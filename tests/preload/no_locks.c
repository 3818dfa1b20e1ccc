// A file system that refuses locks, as some network file systems do: every OFD lock ends in ENOLCK.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

typedef int (*Fcntl)(int, int, void *);

static int call(const char *name, int file, int command, void *argument) {
    if (command == F_OFD_SETLK || command == F_OFD_SETLKW) {
        errno = ENOLCK;
        return -1;
    }
    Fcntl next = (Fcntl)dlsym(RTLD_NEXT, name);
    return next(file, command, argument);
}

int fcntl(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return call("fcntl", file, command, argument);
}

int fcntl64(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return call("fcntl64", file, command, argument);
}
