// Signs of eigenvectors, which the eigenproblem leaves open.
#include "spectral.h"

// The entry of a column that says its sign: the largest, of equals that of the lowest node.
typedef struct Leader {
    double size;
    int64_t gid;
    bool negative;
} Leader;

static void take(Leader *best, Leader other) {
    if (other.size > best->size || (other.size == best->size && other.gid < best->gid))
        *best = other;
}

void fix_signs(float *embedding, int64_t pairs, const ProgramParts *parts) {
    const RowSet *set = nodes_of(parts);
    const Comm *comm = parts->comm;
    FREED Leader *all = ALLOC(Leader, comm->size * pairs, "signs");
    FREED Leader *own = ALLOC(Leader, pairs, "signs");
    for (int64_t i = 0; i < set->own; i++)
        for (int64_t j = 0; j < pairs; j++) {
            float x = embedding[i * pairs + j];
            take(&own[j], (Leader){fabs((double)x), set->gid[i], x < 0});
        }
    comm_all_gather(comm, own, all, (size_t)pairs * sizeof *own);
    for (int64_t k = 0; k < comm->size * pairs; k++)
        take(&own[k % pairs], all[k]);
    for (int64_t i = 0; i < set->own * pairs; i++)
        if (own[i % pairs].negative && embedding[i] != 0)
            embedding[i] = -embedding[i];
}
