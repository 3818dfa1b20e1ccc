// Threads of a rank: cores / ranks on the node unless set, and what may be bound to them (TRAPS 2).
#ifndef FRINGE_BASE_THREADS_H
#define FRINGE_BASE_THREADS_H

#include <stdbool.h>

int threads_allowed(void); // cores in this process's affinity mask
int threads_on_node(void); // cores of the machine that are online

// Fixes the number of OpenMP threads for this thread and what it hands to comm_aside. `wanted` 0:
// max(1, cores / ranks_on_node), where cores is what the union of the ranks may use. Returns the
// number set.
int threads_set(int wanted, int ranks_on_node);

#endif
