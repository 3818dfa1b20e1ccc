// Threads of a rank. By default mpirun binds each of one or two ranks to a single core, so OpenMP
// silently gets one thread. So the cores of this process and those of the machine are counted
// apart. A container may also limit processor time without hiding cores.

#include "fringe/base/threads.h"
#include "internal.h"

#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
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

// Processor time that the cgroup (version 2, then 1) grants, in cores; INT_MAX without a limit.
int threads_rationed(void) {
    long long quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re"); // "200000 100000" or "max 100000"
    if (file != NULL) {
        if (fscanf(file, "%lld %lld", &quota, &period) != 2)
            quota = 0;
        fclose(file);
    } else if ((file = fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "re")) != NULL) {
        if (fscanf(file, "%lld", &quota) != 1)
            quota = 0;
        fclose(file);
        period = 100000; // the kernel's default
    }
    if (quota <= 0 || period <= 0)
        return INT_MAX;
    return (int)((quota + period - 1) / period);
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
