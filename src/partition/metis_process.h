// METIS in a process of its own: the graph lies in memory that both see, so it is not copied.
#pragma once

#include "fringe/base.h"
#include "fringe/metis_job.h"
#include <metis.h>

typedef struct MetisSizes {
    int64_t nodes, entries;
    bool weighted; // edges have weights
} MetisSizes;

typedef struct MetisProcess {
    int descriptor; // of the memory
    uint64_t bytes; // of the mapping
    MetisJob *job;  // mapped; the caller fills in its arrays, constraints, parts and seed
} MetisProcess;

// EXIT_MEMORY. Clear it also after an error.
bool metis_process_init(MetisProcess *process, const MetisSizes *sizes, Error *err);
void metis_process_clear(MetisProcess *process);
// Waits until the program has ended; parts and cut are then in the job. EXIT_MEMORY if it was
// killed or ran out of memory, EXIT_UNAVAILABLE if it failed or cannot be started, EXIT_STOPPED if
// it was killed because a stop was asked for (partition_stops_when); the graph is as before.
bool metis_process_run(MetisProcess *process, Error *err);

// The most memory that METIS had in use in the last cut of this process, with its graph; 0: none.
size_t metis_process_taken(void);
