// How long threads spin at a barrier before they sleep. Spinning saves 1-8 % on an idle machine and
// can cost a multiple on a shared one, where a thread that spins takes the core from one that works
// (LIMITS, "Spinning"). libgomp reads GOMP_SPINCOUNT when it is loaded, so a process that is
// running already has to start itself again.

#include "internal.h"

#include <unistd.h>

static const char briefly[] = "1000"; // rounds; libgomp's default is 300,000
static const char mark[] = "FRINGE_SPIN_CHOSEN";

// Threads that other processes run now. The load of the last minute may be that of a program that
// has just ended, and the count of this moment one that has just begun to wait.
static double busy_threads(void) {
    double load = 0;
    int runnable = 1;
    CLEARED(stream_drop) FILE *file = fopen("/proc/loadavg", "re"); // "0.52 0.58 0.59 2/467 12345"
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lf %*f %*f %d/", &load, &runnable) != 2)
        load = 0;
    return load < runnable - 1 ? load : runnable - 1; // this process is one of them
}

bool spin_choose(int ranks, int threads) {
    bool said = getenv("GOMP_SPINCOUNT") != NULL || getenv("OMP_WAIT_POLICY") != NULL;
    if (threads < 2 || said || ranks * threads + busy_threads() <= threads_on_node() + 0.5)
        return false;
    setenv("GOMP_SPINCOUNT", briefly, 1);
    return true;
}

void spin_restart(int threads, char **argv) {
    if (getenv(mark) != NULL || launch_inside_job() || !spin_choose(1, threads))
        return;
    setenv(mark, "1", 1);
    config_give_input_back();
    event_log_hand_on();
    execv("/proc/self/exe", argv); // returns only after an error: then threads spin for long
}
