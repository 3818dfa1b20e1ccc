// Threads of a rank: cores / ranks on the node unless set, within the rank's CPU binding (TRAPS 2).
#pragma once

#include <stdbool.h>

int threads_allowed(void); // cores in this process's affinity mask
int threads_on_node(void); // cores of the machine that are online
int threads_usable(void);  // cores that its affinity mask and the quota of its cgroups leave it

// Sets the number of OpenMP threads for this thread and for what it runs through comm_on_helper.
// `wanted` 0: max(1, cores / ranks_on_node), where cores are those that the node's ranks may use
// together. Returns the number set.
int threads_set(int wanted, int ranks_on_node);
