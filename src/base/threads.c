// Threads of a rank. mpirun binds each of one or two ranks to a single core unless told otherwise,
// so OpenMP silently gets one thread: what this process may use and what the machine has are two
// questions.

#include "fringe/base/threads.h"
#include "private.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

static int node_cores; // union over the ranks of this machine; 0: not asked

void threads_set_node_cores(int cores) { node_cores = cores; }

int threads_node_cores(void) { return node_cores; }

int threads_allowed(void) {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0)
        return threads_on_node(); // more than 1024 cores: the mask does not hold them
    int count = CPU_COUNT(&mask);
    return count > 0 ? count : 1;
}

int threads_on_node(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

int threads_set(int wanted, int ranks_on_node) {
    int allowed = threads_allowed();
    int count = wanted;
    if (count <= 0) {
        int cores = node_cores > 0 ? node_cores : allowed;
        count = cores / (ranks_on_node > 0 ? ranks_on_node : 1);
        if (count > allowed)
            count = allowed;
        if (count < 1)
            count = 1;
    }
    omp_set_dynamic(0);
    omp_set_num_threads(count);
    return count;
}
