// One call of METIS in a process of its own (fringe-metis), so that its crash, or its end by the
// kernel for lack of memory, is a sentence and not the end of the job.
//
// Both processes map the same memory: a MetisJob, and the arrays behind it at their offsets. The
// program gets the number of its file as its only argument, calls METIS and fills in `cut`, the
// parts and, last, `status`.
#ifndef FRINGE_METIS_JOB_H
#define FRINGE_METIS_JOB_H

#include <stdint.h>

enum { METIS_JOB_UNFINISHED = INT32_MIN };
#define METIS_JOB_MAGIC 0x315349544d475246u // "FRGMTIS1"

typedef struct MetisJob {
    uint64_t magic;
    uint64_t bytes;      // of the mapping
    int64_t index_bytes; // sizeof(idx_t)
    int64_t nodes, constraints, parts, seed;
    // bytes from here; 0: there is no such array
    uint64_t offset, neighbour, edge_weight; // [nodes + 1], [entries], [entries]
    uint64_t node_weight, part;              // [nodes, constraints], [nodes]
    int64_t cut;
    int32_t status; // of METIS_PartGraphKway; METIS_JOB_UNFINISHED before
} MetisJob;

// Numbers of METIS (idx_t).
static inline void *metis_job_array(MetisJob *job, uint64_t at) {
    return at == 0 ? (void *)0 : (void *)((char *)job + at);
}

#endif
