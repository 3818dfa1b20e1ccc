// Temporary names: beside the final path, with machine, process and call in the name. So two
// writers never share a file, and files of ended processes can be recognised.

#include "fringe/base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HOST = 100 };

// "host.4026531836-": this machine and its process namespace. Containers may share the host's name
// but have their own process numbers.
static void put_host(char out[HOST]) {
    char host[72] = "";
    struct stat numbers = {0};
    gethostname(host, sizeof host - 1);
    stat("/proc/self/ns/pid", &numbers);
    snprintf(out, HOST, "%s.%lu-", host, numbers.st_ino);
}

bool file_temporary(char *out, size_t size, const char *path, Error *err) {
    static atomic_int calls;
    char host[HOST];
    put_host(host);
    int used = snprintf(out, size, "%s%s%s%ld-%d", path, FILE_TEMPORARY, host, (long)getpid(),
                        atomic_fetch_add(&calls, 1));
    return (used >= 0 && (size_t)used < size) ||
           error_set(err, EXIT_CANNOT_WRITE, "%s: the path is too long", path);
}

void file_process(char *out, size_t size) {
    char host[HOST];
    put_host(host);
    snprintf(out, size, "%s%ld", host, (long)getpid());
}

// --- files left by ended processes

// The text after the mark in a temporary name: "host.4026531836-12345-0".
typedef struct Writing {
    const char *host; // with namespace and dash: `host_bytes` characters
    size_t host_bytes;
    long process;
} Writing;

// False if the name does not have exactly that form.
static bool read_name(const char *name, Writing *writing) {
    const char *from = NULL, *numbers = name + strlen(name), *point;
    for (const char *at = name; (at = strstr(at, FILE_TEMPORARY)) != NULL;)
        from = at += strlen(FILE_TEMPORARY);
    for (int dashes = 0; from != NULL && numbers > from; numbers--)
        if ((dashes += numbers[-1] == '-') == 2)
            break;
    if (from == NULL || numbers == from)
        return false;
    unsigned long long space;
    int call, end = 0;
    *writing = (Writing){from, (size_t)(numbers - from), -1};
    point = memrchr(from, '.', writing->host_bytes);
    return point != NULL &&
           sscanf(point, ".%llu-%ld-%d%n", &space, &writing->process, &call, &end) == 3 &&
           point[end] == 0 && writing->process > 0 && call >= 0;
}

static bool is_gone(long process) { return kill((pid_t)process, 0) != 0 && errno == ESRCH; }

// Processes of other machines cannot be checked: their files count as left over after a day without
// a change.
bool file_is_left_over(const char *path) {
    char host[HOST];
    struct stat status;
    Writing writing;
    if (!read_name(path_name(path), &writing))
        return false;
    put_host(host);
    if (strlen(host) == writing.host_bytes && strncmp(host, writing.host, strlen(host)) == 0)
        return is_gone(writing.process);
    return lstat(path, &status) == 0 && status.st_mtime < time(NULL) - 24 * 3600;
}

bool file_process_is_gone(const char *name) {
    char host[HOST];
    long process;
    int end = 0;
    put_host(host);
    const char *number = name + strlen(host);
    return strncmp(name, host, strlen(host)) == 0 && sscanf(number, "%ld%n", &process, &end) == 1 &&
           number[end] == 0 && process > 0 && is_gone(process);
}
