// One call of METIS in a process of its own (fringe-metis), so that its crash, or its end by the
// kernel for lack of memory, is a sentence and not the end of the job.
//
// Both processes map the same memory: a MetisJob, and the arrays behind it at their offsets. The
// program gets the number of its file as its only argument, calls METIS and fills in `cut`, the
// parts and, last, `status`.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { METIS_JOB_UNFINISHED = INT32_MIN };
#define METIS_JOB_MAGIC 0x325349544d475246u // "FRGMTIS2"

typedef struct MetisJob {
    uint64_t magic;
    uint64_t bytes;      // of the mapping
    int64_t index_bytes; // sizeof(idx_t)
    int64_t parent;      // the process that waits for the parts
    int64_t nodes, edges, constraints, parts, seed;
    // bytes from here; 0: there is no such array
    uint64_t offset, neighbour, edge_weight; // [nodes + 1], [edges], [edges]
    uint64_t node_weight, part;              // [nodes, constraints], [nodes]
    int64_t cut;
    int32_t status; // of METIS_PartGraphKway; METIS_JOB_UNFINISHED before
} MetisJob;

// Numbers of METIS (idx_t).
static inline void *metis_job_array(MetisJob *job, uint64_t at) {
    return at == 0 ? (void *)0 : (void *)((char *)job + at);
}

enum { METIS_CONSTRAINTS = 4 }; // weights of a node, at most

// True if an array of `count` numbers lies behind the job and inside the mapping.
static inline bool metis_job_holds(const MetisJob *job, uint64_t at, uint64_t count) {
    uint64_t size = (uint64_t)job->index_bytes;
    return at >= sizeof *job && at % size == 0 && at <= job->bytes &&
           count <= (job->bytes - at) / size;
}

// Checks every number that is used to find an array, and that the arrays are inside the mapping of
// `bytes` bytes.
static inline bool metis_job_is_whole(const MetisJob *job, uint64_t bytes) {
    const int64_t most = INT64_C(1) << 48;
    if (job->magic != METIS_JOB_MAGIC || job->bytes != bytes || bytes < sizeof *job ||
        (job->index_bytes != 4 && job->index_bytes != 8) || job->nodes < 1 || job->nodes > most ||
        job->edges < 0 || job->edges > most || job->constraints < 1 ||
        job->constraints > METIS_CONSTRAINTS || job->parts < 1 || job->parts > job->nodes)
        return false;
    uint64_t nodes = (uint64_t)job->nodes, edges = (uint64_t)job->edges;
    return metis_job_holds(job, job->offset, nodes + 1) &&
           metis_job_holds(job, job->neighbour, edges) && metis_job_holds(job, job->part, nodes) &&
           (job->edge_weight == 0 || metis_job_holds(job, job->edge_weight, edges)) &&
           (job->node_weight == 0 ||
            metis_job_holds(job, job->node_weight, nodes * (uint64_t)job->constraints));
}
