// The children of mpirun, as the kernel lists them.
//
// Open MPI's mpirun hangs forever in a lock at its end if a rank died while connecting to it
// (PMIx_server_finalize; about once in a hundred such deaths). Such an mpirun has had children, and
// none of them is alive.

#include "internal.h"

#include <signal.h>

static const double every = 1,
                    patience = 10; // seconds; on several hosts mpirun's end takes a while

// An ended process stays as a zombie until its parent waits for it.
static bool lives(long process) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    CLEARED(stream_drop) FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    const char *state = strrchr(text, ')'); // "12 (name) Z ..."; a name may contain anything
    return state != NULL && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

static bool is_killed(long process) {
    kill((pid_t)process, SIGKILL);
    return false;
}

// The kernel lists children by the thread that started them. True at the first one that `is` true
// of.
static bool any_of_thread(int parent, const char *thread, bool (*is)(long process)) {
    char path[300];
    long process;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/task/%s/children", parent, thread);
    CLEARED(stream_drop) FILE *file = fopen(path, "re");
    while (file != NULL && !found && fscanf(file, "%ld", &process) == 1)
        found = is(process);
    return found;
}

static bool any_child(int parent, bool (*is)(long process)) {
    char path[64];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/task", parent);
    for (FileNames threads = file_names(path); file_next(&threads, !found);)
        found = any_of_thread(parent, threads.name, is);
    return found;
}

bool mpirun_hangs(HangWatch *watch, int mpirun, double heard) {
    double now = clock_seconds();
    if (watch->seen > 0 && now < watch->looked + every)
        return false;
    watch->looked = now;
    if (any_child(mpirun, lives))
        watch->seen = now;
    double last = heard > watch->seen ? heard : watch->seen;
    return watch->seen > 0 && now > last + patience;
}

// It is halted first, so that it starts no more of them.
void mpirun_kill(int mpirun) {
    kill(mpirun, SIGSTOP);
    any_child(mpirun, is_killed);
    kill(mpirun, SIGKILL);
}
