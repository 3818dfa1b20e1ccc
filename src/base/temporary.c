// Names for what is being written: beside its final place, told apart by machine, process and call,
// so that two writers never meet in one file, and what a dead one left is known as such.

#include "fringe/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char mark[] = ".tmp-";

enum { HOST = 100 };

// "host.4026531836-": this machine, and which of its process numbers are ours. Containers may share
// the host's name and have numbers of their own.
static void put_host(char out[HOST]) {
    char host[72] = "";
    struct stat numbers = {0};
    gethostname(host, sizeof host - 1);
    stat("/proc/self/ns/pid", &numbers);
    snprintf(out, HOST, "%s.%llu-", host, (unsigned long long)numbers.st_ino);
}

bool file_temporary(char *out, size_t size, const char *path, Error *err) {
    static atomic_int calls;
    char host[HOST];
    put_host(host);
    int used = snprintf(out, size, "%s%s%s%ld-%d", path, mark, host, (long)getpid(),
                        atomic_fetch_add(&calls, 1));
    return (used >= 0 && (size_t)used < size) ||
           error_set(err, EXIT_CANNOT_WRITE, "%s: the path is too long", path);
}

// --- what dead writers left

// "12345-0", the end of a name: its process; -1 where it is something else.
static long process_of(const char *numbers) {
    long process;
    int call, end = 0;
    if (sscanf(numbers, "%ld-%d%n", &process, &call, &end) != 2 || numbers[end] != 0 ||
        process <= 0 || call < 0)
        return -1;
    return process;
}

// The end of a name behind "host-", whatever the host is called: its last two numbers.
static const char *numbers_of(const char *name) {
    int dashes = 0;
    const char *at = name + strlen(name);
    while (at > name && (dashes += at[-1] == '-') < 2)
        at--;
    return at;
}

// A process of another machine cannot be asked for: what it left is old once nobody has touched it
// for a day.
static bool is_left_over(const char *path) {
    char host[HOST];
    struct stat status;
    const char *name = path_name(path), *from = NULL;
    for (const char *at = name; (at = strstr(at, mark)) != NULL; at += strlen(mark))
        from = at + strlen(mark);
    if (from == NULL || process_of(numbers_of(from)) < 0)
        return false;
    put_host(host);
    if (strncmp(from, host, strlen(host)) == 0 && process_of(from + strlen(host)) > 0)
        return kill((pid_t)process_of(from + strlen(host)), 0) != 0 && errno == ESRCH;
    return lstat(path, &status) == 0 && status.st_mtime < time(NULL) - 24 * 3600;
}

void file_sweep(const char *folder) {
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; open_folder != NULL && (entry = readdir(open_folder)) != NULL;) {
        char path[4096];
        Error ignored = {0};
        path_join(path, sizeof path, folder, entry->d_name);
        if (is_left_over(path))
            file_remove(path, &ignored);
    }
    if (open_folder != NULL)
        closedir(open_folder);
}
