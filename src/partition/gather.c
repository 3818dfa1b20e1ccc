// Rows of nodes from all ranks to rank 0, in the order of the original nodes.
#include "fringe/partition.h"

#include <string.h>

enum { ROWS_A_BEAT = 1024 }; // copied between two calls of comm_beat

// offset[r]: bytes that the ranks below r send. Collective.
static int64_t *offsets_of(const Shard *shard, const Comm *comm, int64_t row_bytes) {
    int64_t *own = ALLOC(int64_t, comm->size, "rows by rank");
    int64_t *offset = ALLOC(int64_t, comm->size + 1, "offsets by rank");
    comm_all_gather(comm, &shard->set[NODES].own, own, sizeof *own);
    for (int rank = 0; rank < comm->size; rank++)
        offset[rank + 1] = offset[rank] + own[rank] * row_bytes;
    memory_free(own);
    return offset;
}

// All rows in the order of the ranks, on rank 0; NULL elsewhere. Collective.
static void *by_rank(const Shard *shard, const Comm *comm, const void *own, size_t row_bytes) {
    int64_t *offset = offsets_of(shard, comm, (int64_t)row_bytes);
    void *all = comm->rank == 0 ? memory_alloc(memory_product(shard->set[NODES].total, row_bytes),
                                               "gathered rows")
                                : NULL;
    comm_gather_v(comm, own, all, offset);
    memory_free(offset);
    return all;
}

void *shard_gather(const Shard *shard, const Comm *comm, const void *own, size_t row_bytes) {
    int64_t *gid = by_rank(shard, comm, shard->set[NODES].gid, sizeof *gid);
    char *arrived = by_rank(shard, comm, own, row_bytes);
    if (comm->rank != 0)
        return NULL;
    int64_t nodes = shard->set[NODES].total;
    char *all = memory_alloc(memory_product(nodes, row_bytes), "rows in node order");
    for (int64_t i = 0; i < nodes; i++) {
        memcpy(all + (size_t)gid[i] * row_bytes, arrived + (size_t)i * row_bytes, row_bytes);
        if (i % ROWS_A_BEAT == 0)
            comm_beat(comm);
    }
    memory_free(arrived);
    memory_free(gid);
    return all;
}
