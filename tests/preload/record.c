// Records what a process does to files, for tests of the order of things: a line for each call that
// succeeded, in the file that FRINGE_RECORD names, of paths under FRINGE_RECORD_UNDER:
//
//   create PATH        opened with O_CREAT
//   exclusive PATH     the same with O_EXCL and O_NOFOLLOW
//   write PATH         also truncate
//   fsync PATH         a file or a folder
//   rename FROM TO     exchange FROM TO where the two change places
//   mkdir PATH, unlink PATH, rmdir PATH
//
// Words are parted by tabs; paths are absolute. What a FILE * does inside the C library is not
// seen.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PATH = 4096 };

static int log_file(void) {
    static int file;
    const char *path = getenv("FRINGE_RECORD");
    if (file == 0 && path != NULL)
        file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                            0666);
    return path != NULL ? file : -1;
}

static void absolute(char out[PATH], const char *path) {
    char here[PATH / 2] = "";
    if (path[0] == '/' || getcwd(here, sizeof here) == NULL)
        snprintf(out, PATH, "%s", path);
    else
        snprintf(out, PATH, "%s/%.*s", here, PATH / 2 - 2, path);
}

static void record(const char *what, const char *path, const char *other) {
    char first[PATH], second[PATH] = "", line[3 * PATH];
    const char *under = getenv("FRINGE_RECORD_UNDER");
    int kept = errno;
    absolute(first, path);
    if (other != NULL)
        absolute(second, other);
    int bytes =
        snprintf(line, sizeof line, "%s\t%s%s%s\n", what, first, other != NULL ? "\t" : "", second);
    if (log_file() > 0 && (under == NULL || strncmp(first, under, strlen(under)) == 0))
        syscall(SYS_write, log_file(), line, (size_t)bytes);
    errno = kept;
}

static void record_file(const char *what, int file) {
    char link[64], path[PATH];
    int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t bytes = readlink(link, path, sizeof path - 1);
    if (bytes > 0 && path[0] == '/') {
        path[bytes] = 0;
        record(what, path, NULL);
    }
    errno = kept;
}

// The function of that name behind this one.
#define BEHIND(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// What these return is what was done; it is recorded where it succeeded.
static int done(int status, const char *what, const char *path, const char *other) {
    if (status == 0)
        record(what, path, other);
    return status;
}

static int done_to_file(int status, const char *what, int file) {
    if (status == 0)
        record_file(what, file);
    return status;
}

static ssize_t written(ssize_t bytes, int file) {
    if (bytes > 0)
        record_file("write", file);
    return bytes;
}

static void record_open(int file, const char *path, int flags) {
    const int alone = O_EXCL | O_NOFOLLOW;
    if (file >= 0 && (flags & O_CREAT) != 0)
        record((flags & alone) == alone ? "exclusive" : "create", path, NULL);
}

static mode_t mode_of(int flags, va_list rest) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                   \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = mode_of(flags, rest);                                                        \
        va_end(rest);                                                                              \
        int file = BEHIND(name)(path, flags, mode);                                                \
        record_open(file, path, flags);                                                            \
        return file;                                                                               \
    }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void *data, size_t bytes) {
    return written(BEHIND(write)(file, data, bytes), file);
}

ssize_t writev(int file, const struct iovec *piece, int count) {
    return written(BEHIND(writev)(file, piece, count), file);
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at) {
    return written(BEHIND(pwrite)(file, data, bytes, at), file);
}

int ftruncate(int file, off_t bytes) {
    return done_to_file(BEHIND(ftruncate)(file, bytes), "write", file);
}

int truncate(const char *path, off_t bytes) {
    return done(BEHIND(truncate)(path, bytes), "write", path, NULL);
}

int fsync(int file) { return done_to_file(BEHIND(fsync)(file), "fsync", file); }

int fdatasync(int file) { return done_to_file(BEHIND(fdatasync)(file), "fsync", file); }

int rename(const char *from, const char *to) {
    return done(BEHIND(rename)(from, to), "rename", from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to,
              unsigned int flags) {
    return done(BEHIND(renameat2)(from_folder, from, to_folder, to, flags),
                (flags & RENAME_EXCHANGE) != 0 ? "exchange" : "rename", from, to);
}

int mkdir(const char *path, mode_t mode) {
    return done(BEHIND(mkdir)(path, mode), "mkdir", path, NULL);
}

int unlink(const char *path) { return done(BEHIND(unlink)(path), "unlink", path, NULL); }

int rmdir(const char *path) { return done(BEHIND(rmdir)(path), "rmdir", path, NULL); }
