// Memory-mapped files. The idea: if a file becomes shorter while it is mapped, the first access
// beyond its new end raises SIGBUS. A table of the mappings tells which file it was, so that the
// process ends with a sentence. The handler is installed only while mappings exist, because MPI
// expects its own signal handlers.

#include "internal.h"

#include "fringe/base/file.h"
#include "fringe/base/terminal.h"
#include "fringe/base/text.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAPPINGS = 64 }; // a SIGBUS in any further mapping gets no sentence

typedef struct Mapping {
    _Atomic(uintptr_t) begin; // 0: free
    size_t bytes;
    char sentence[TEXT_SHOWN + 64];
} Mapping;

static Mapping table[MAPPINGS];
static int mapped; // entries in use
static struct sigaction before;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // helper threads map files, too

static void shortened(UNUSED int number, siginfo_t *info, UNUSED void *context) {
    uintptr_t at = (uintptr_t)info->si_addr;
    for (int i = 0; i < MAPPINGS; i++) {
        uintptr_t begin = atomic_load(&table[i].begin);
        if (begin == 0 || at < begin || at - begin >= table[i].bytes)
            continue;
        terminal_say_now(table[i].sentence);
        _exit(EXIT_IO);
    }
    sigaction(SIGBUS, &before,
              NULL); // not our mapping: the fault repeats under the previous handler
}

static void watch(void *begin, size_t bytes, const char *path) {
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < MAPPINGS && atomic_load(&table[i].begin) != 0)
        i++;
    if (i < MAPPINGS) {
        table[i].bytes = bytes;
        snprintf(table[i].sentence, sizeof table[i].sentence,
                 "fringe: %s: became shorter while it was read\n", SHOWN(path));
        atomic_store(&table[i].begin, (uintptr_t)begin);
        struct sigaction action = {.sa_sigaction = shortened, .sa_flags = SA_SIGINFO};
        if (mapped++ == 0)
            sigaction(SIGBUS, &action, &before);
    }
    pthread_mutex_unlock(&lock);
}

static void watch_no_more(const void *begin) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPPINGS; i++)
        if (atomic_load(&table[i].begin) == (uintptr_t)begin) {
            atomic_store(&table[i].begin, 0);
            if (--mapped == 0)
                sigaction(SIGBUS, &before, NULL);
        }
    pthread_mutex_unlock(&lock);
}

bool file_has_bytes(const char *path, size_t bytes, size_t least, Error *err) {
    return bytes >= least ||
           error_data(err, "%s: has %zu bytes; such a file has at least %zu", path, bytes, least);
}

void *file_map(const char *path, size_t least, size_t *bytes, Error *err) {
    int64_t size;
    CLEARED(descriptor_drop) int descriptor = file_open(path, &size, err);
    void *mapping = MAP_FAILED;
    if (descriptor < 0)
        return NULL;
    *bytes = (size_t)size;
    if (file_has_bytes(path, *bytes, least, err) &&
        (mapping = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, descriptor, 0)) == MAP_FAILED)
        error_cannot(err, EXIT_IO, "map", path);
    if (mapping == MAP_FAILED)
        return NULL;
    watch(mapping, *bytes, path);
    return mapping;
}

// True if the part lies in a mapping of the table. Giving back other memory would clear it.
static bool is_watched(uintptr_t begin, size_t bytes) {
    for (int i = 0; i < MAPPINGS; i++) {
        uintptr_t first = atomic_load(&table[i].begin);
        if (first != 0 && begin >= first && bytes <= table[i].bytes &&
            begin - first <= table[i].bytes - bytes)
            return true;
    }
    return false;
}

void file_map_release(const void *part, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)part;
    uintptr_t first = begin / page * page; // whole pages: these are the file's as well
    pthread_mutex_lock(&lock);
    if (is_watched(begin, bytes))
        madvise((void *)first, begin + bytes - first, MADV_DONTNEED);
    pthread_mutex_unlock(&lock);
}

void file_unmap(void *mapping, size_t bytes) {
    if (mapping == NULL)
        return;
    watch_no_more(mapping);
    munmap(mapping, bytes);
}
