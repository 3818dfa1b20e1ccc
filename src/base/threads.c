// Threads of a rank. By default mpirun binds each of one or two ranks to a single core, so OpenMP
// silently gets one thread. So the cores of this process and those of the machine are counted
// apart. A container may also limit processor time without hiding cores.

#include "fringe/base/threads.h"
#include "internal.h"

#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

static int node_cores; // union over the ranks of this machine; 0: not known

void threads_set_node_cores(int cores) { node_cores = cores; }

int threads_allowed(void) {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0)
        return threads_on_node(); // the mask is too small for more than 1024 cores
    int count = CPU_COUNT(&mask);
    return count > 0 ? count : 1;
}

int threads_on_node(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

static size_t cores_of(size_t quota, size_t period) {
    return quota == SIZE_MAX || quota == 0 || period == SIZE_MAX || period == 0
               ? SIZE_MAX
               : (quota - 1) / period + 1;
}

// "200000 100000", or "max 100000"
static size_t rationed_by_second(const char *folder) {
    size_t quota = cgroup_number(folder, "cpu.max", "");
    char key[32];
    snprintf(key, sizeof key, "%zu", quota);
    return quota == SIZE_MAX ? SIZE_MAX : cores_of(quota, cgroup_number(folder, "cpu.max", key));
}

static size_t rationed_by_first(const char *folder) { // a quota of -1: none
    return cores_of(cgroup_number(folder, "cpu.cfs_quota_us", ""),
                    cgroup_number(folder, "cpu.cfs_period_us", ""));
}

int threads_rationed(void) {
    size_t least = cgroup_least("cpu", rationed_by_second, rationed_by_first);
    return least < INT_MAX ? (int)least : INT_MAX;
}

int threads_usable(void) {
    int allowed = threads_allowed(), rationed = threads_rationed();
    return allowed < rationed ? allowed : rationed;
}

int threads_set(int wanted, int ranks_on_node) {
    int allowed = threads_allowed();
    int count = wanted;
    if (count <= 0) {
        int cores = node_cores > 0 ? node_cores : allowed;
        if (cores > threads_rationed())
            cores = threads_rationed();
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
