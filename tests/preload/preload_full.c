// A disk that is full: from the n-th call on that would take room, none under a folder gets any.
//
//   FRINGE_FULL_UNDER   the folder (absolute)
//   FRINGE_FULL_AT      n; 0: never
//   FRINGE_FULL_CALLS   how many calls find it full, until somebody made room (none: all)
//   FRINGE_FULL_COUNT   a file that gets the number of such calls of a process (none: do not count)
//   FRINGE_FULL_RANK    only this rank of an MPI job (none: all)
//
// Taking room are: creating files and folders, writing, making a file longer, and fsync, with which
// network file systems and quotas tell of it. Before the first write fails, half of it is written:
// that call returns short and is not counted. Calls are those of the process itself; what a FILE
// does inside the C library is not seen.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PATH = 4096 };

static atomic_llong calls; // so far

// The function of that name behind this one.
#define BEHIND(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static long long number(const char *variable) {
    const char *text = getenv(variable);
    return text != NULL ? atoll(text) : 0;
}

static bool is_other_rank(void) {
    const char *wanted = getenv("FRINGE_FULL_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    return wanted != NULL && rank != NULL && strcmp(wanted, rank) != 0;
}

static bool is_under(const char *path) {
    char here[PATH / 2] = "", whole[PATH];
    const char *under = getenv("FRINGE_FULL_UNDER");
    if (under == NULL || is_other_rank())
        return false;
    if (path[0] != '/' && getcwd(here, sizeof here) == NULL)
        return false;
    snprintf(whole, sizeof whole, "%s%s%.*s", here, here[0] != 0 ? "/" : "", PATH / 2, path);
    return strncmp(whole, under, strlen(under)) == 0;
}

static bool is_under_open(int file) {
    char link[64], path[PATH];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t bytes = readlink(link, path, sizeof path - 1);
    if (bytes <= 0 || path[0] != '/')
        return false;
    path[bytes] = 0;
    return is_under(path);
}

// Counts a call: is the disk full for it?
static bool full(void) {
    long long at = number("FRINGE_FULL_AT"), most = number("FRINGE_FULL_CALLS");
    long long since = ++calls - at + 1;
    return at > 0 && since > 0 && (most == 0 || since <= most);
}

// The same for a write, of which half fits where it is the first to fail.
static bool full_for(size_t bytes, bool *half) {
    static bool halved;
    bool none = full();
    *half = none && !halved && bytes > 1 && calls == number("FRINGE_FULL_AT");
    halved = halved || *half;
    calls -= *half;
    return none;
}

static bool no_room(bool counted) {
    if (!counted || !full())
        return false;
    errno = ENOSPC;
    return true;
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("FRINGE_FULL_COUNT");
    char text[32];
    int file = path != NULL && calls > 0
                   ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0666)
                   : -1;
    if (file >= 0)
        syscall(SYS_write, file, text, (size_t)snprintf(text, sizeof text, "%lld\n", calls));
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                   \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;             \
        va_end(rest);                                                                              \
        bool makes = (flags & O_CREAT) != 0 && access(path, F_OK) != 0;                            \
        return no_room(makes && is_under(path)) ? -1 : BEHIND(name)(path, flags, mode);            \
    }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void *data, size_t bytes) {
    bool half = false;
    if (bytes == 0 || !is_under_open(file) || !full_for(bytes, &half))
        return BEHIND(write)(file, data, bytes);
    if (half)
        return BEHIND(write)(file, data, bytes / 2);
    errno = ENOSPC;
    return -1;
}

ssize_t writev(int file, const struct iovec *piece, int count) {
    bool half = false;
    if (!is_under_open(file) || !full_for(piece[0].iov_len, &half))
        return BEHIND(writev)(file, piece, count);
    if (half)
        return BEHIND(write)(file, piece[0].iov_base, piece[0].iov_len / 2);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at) {
    return no_room(is_under_open(file)) ? -1 : BEHIND(pwrite)(file, data, bytes, at);
}

int ftruncate(int file, off_t bytes) {
    struct stat status;
    bool longer = fstat(file, &status) == 0 && bytes > status.st_size;
    return no_room(longer && is_under_open(file)) ? -1 : BEHIND(ftruncate)(file, bytes);
}

int fsync(int file) { return no_room(is_under_open(file)) ? -1 : BEHIND(fsync)(file); }

int mkdir(const char *path, mode_t mode) {
    bool makes = access(path, F_OK) != 0;
    return no_room(makes && is_under(path)) ? -1 : BEHIND(mkdir)(path, mode);
}
