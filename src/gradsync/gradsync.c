// Weight gradients between ranks, in rank order. The idea: rank r owns the r-th slice of the flat
// array. All ranks send their share of a slice to its owner, the owner adds the shares of ranks
// 0, 1, 2, ... one after the other in float, and sends the sum back to all.
//
//   gradient of a rank   [slice 0 | slice 1 | ... | slice P-1 (padded with 0)]
//   received by rank r   [slice r of rank 0 | slice r of rank 1 | ... ]    -> added downwards
//
// Slices are of equal length, so every rank moves 2 (P-1)/P of the array, whatever its number, and
// a rank without an element (P > count) owns padding.

#include "fringe/gradsync.h"

#include <string.h>

struct GradSync {
    const Comm *comm; // borrowed
    int64_t count, slice;
    float *shares;   // [size, slice] own gradient, then the sums
    float *received; // [size, slice] shares of the own slice, by rank
    float *sum;      // [slice]
};

static int64_t slice_of(int64_t count, int size) { return (count + size - 1) / size; }

GradSync *gradsync_new(const Comm *comm, int64_t count) {
    assert(count >= 0);
    GradSync *sync = TAKE(GradSync, 1, "gradient exchange");
    int64_t slice = slice_of(count, comm->size);
    *sync = (GradSync){.comm = comm, .count = count, .slice = slice};
    if (comm->size == 1)
        return sync;
    sync->shares = TAKE(float, slice * comm->size, "gradients on their way");
    sync->received = TAKE(float, slice * comm->size, "gradients on their way");
    sync->sum = TAKE(float, slice, "gradients on their way");
    return sync;
}

void gradsync_free(GradSync *sync) {
    if (sync == NULL)
        return;
    memory_give(sync->sum);
    memory_give(sync->received);
    memory_give(sync->shares);
    memory_give(sync);
}

void gradsync_plan(MemoryPlan *plan, int64_t count, int size) {
    size_t slice = (size_t)slice_of(count, size);
    memory_plan_add(plan, "gradients on their way",
                    size == 1 ? 0 : slice * (2 * (size_t)size + 1) * sizeof(float));
}

// sum[i] = ((share of rank 0 + share of rank 1) + share of rank 2) + ...
static void add_in_rank_order(GradSync *sync) {
    memcpy(sync->sum, sync->received, (size_t)sync->slice * sizeof(float));
    for (int r = 1; r < sync->comm->size; r++) {
        const float *share = sync->received + r * sync->slice;
        for (int64_t i = 0; i < sync->slice; i++)
            sync->sum[i] += share[i];
        comm_beat(sync->comm);
    }
}

void gradsync_sum(GradSync *sync, float *gradient) {
    if (sync->comm->size == 1 || sync->count == 0)
        return;
    size_t bytes = (size_t)sync->slice * sizeof(float);
    memcpy(sync->shares, gradient, (size_t)sync->count * sizeof(float));
    memset(sync->shares + sync->count, 0,
           (size_t)(sync->slice * sync->comm->size - sync->count) * sizeof(float));
    comm_all_to_all(sync->comm, sync->shares, sync->received, bytes);
    add_in_rank_order(sync);
    comm_all_gather(sync->comm, sync->sum, sync->shares, bytes);
    memcpy(gradient, sync->shares, (size_t)sync->count * sizeof(float));
}

int64_t gradsync_bytes(const GradSync *sync) {
    int64_t others = sync->comm->size - 1;
    return sync->count == 0 ? 0 : 2 * others * sync->slice * (int64_t)sizeof(float);
}
