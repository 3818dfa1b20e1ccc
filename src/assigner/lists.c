// Lists between rank 0 and the others: one piece per rank, in rank order.

#include "internal.h"

// Offsets in bytes: of all pieces on rank 0, of its own piece on another rank.
static int64_t *byte_offsets(const Comm *comm, const int64_t *offset, int64_t count, size_t bytes) {
    int64_t *out = ALLOC(int64_t, comm->size + 1, "lists");
    for (int r = 0; r <= comm->size; r++)
        out[r] = (comm->rank == 0 ? offset[r] : r > comm->rank ? count : 0) * (int64_t)bytes;
    return out;
}

void list_gather(const Comm *comm, const void *mine, int64_t count, void *all,
                 const int64_t *offset, size_t bytes) {
    FREED int64_t *at = byte_offsets(comm, offset, count, bytes);
    comm_gather_v(comm, mine, all, at);
}

void list_scatter(const Comm *comm, const void *all, const int64_t *offset, void *mine,
                  int64_t count, size_t bytes) {
    FREED int64_t *at = byte_offsets(comm, offset, count, bytes);
    comm_scatter_v(comm, all, mine, at);
}

int64_t assigned_messages(const ChannelAssignment *assigned, const Comm *comm) {
    return comm->rank == 0 ? assigned->row_piece[comm->size] : 0;
}

bool widths_check(const Tensor *tensor, const char *path, Error *err) {
    const uint8_t *bits = tensor->data;
    for (int64_t i = 0; i < tensor->shape[0]; i++)
        if (!width_known(bits[i]))
            return error_data(err, "%s: row %ld of %s has a bit width of %d", path, i, tensor->name,
                              bits[i]);
    return true;
}
