// Lists between ranks. Send and receive lists lie in the order of the ring, the collectives want
// the order of ranks: so a list is cut into its groups and put together by rank, sent, and put
// back.

#include "internal.h"

#include <string.h>

// The ring round in which `rank` sends to (or hears from) `peer`.
static int round_to(const Comm *comm, int peer) {
    return (peer - comm->rank - 1 + comm->size) % comm->size;
}
static int round_from(const Comm *comm, int peer) {
    return (comm->rank - peer - 1 + comm->size) % comm->size;
}

typedef struct List { // a copy in the order of ranks
    unsigned char *at;
    int64_t *offset; // [size + 1] bytes
} List;

static List list_by_rank(const Comm *comm, const int64_t *ring_offset, bool sending, size_t bytes) {
    List list = {.offset = TAKE(int64_t, comm->size + 1, "lists")};
    for (int r = 0; r < comm->size; r++) {
        int round = sending ? round_to(comm, r) : round_from(comm, r);
        int64_t rows = r == comm->rank ? 0 : ring_offset[round + 1] - ring_offset[round];
        list.offset[r + 1] = list.offset[r] + rows * (int64_t)bytes;
    }
    list.at = memory_take((size_t)list.offset[comm->size], "lists");
    return list;
}

static void list_clear(List *list) {
    memory_give(list->at);
    memory_give(list->offset);
}

// Between the ring order of `ring` and the rank order of `list`.
static void copy_groups(const Comm *comm, const int64_t *ring_offset, bool sending, List *list,
                        unsigned char *ring, bool into_list, size_t bytes) {
    for (int r = 0; r < comm->size; r++) {
        if (r == comm->rank)
            continue;
        int round = sending ? round_to(comm, r) : round_from(comm, r);
        unsigned char *group = ring + (size_t)ring_offset[round] * bytes;
        unsigned char *piece = list->at + list->offset[r];
        size_t size = (size_t)(list->offset[r + 1] - list->offset[r]);
        if (size > 0)
            memcpy(into_list ? piece : group, into_list ? group : piece, size);
    }
}

static void exchange(const Comm *comm, const int64_t *from_ring, bool sending, const void *from,
                     const int64_t *to_ring, void *to, size_t bytes) {
    if (comm->size == 1)
        return;
    List out = list_by_rank(comm, from_ring, sending, bytes);
    List in = list_by_rank(comm, to_ring, !sending, bytes);
    copy_groups(comm, from_ring, sending, &out, (unsigned char *)from, true, bytes); // only read
    comm_all_to_all_v(comm, out.at, out.offset, in.at, in.offset);
    copy_groups(comm, to_ring, !sending, &in, to, false, bytes);
    list_clear(&in);
    list_clear(&out);
}

void list_to_readers(const Pattern *p, const void *sent, void *received, size_t bytes) {
    exchange(p->comm, p->send_offset, true, sent, p->receive_offset, received, bytes);
}

void list_to_owners(const Pattern *p, const void *received, void *sent, size_t bytes) {
    exchange(p->comm, p->receive_offset, false, received, p->send_offset, sent, bytes);
}

// Offsets in bytes: of the pieces on rank 0, or of the one piece elsewhere.
static int64_t *byte_offsets(const Comm *comm, const int64_t *offset, int64_t count, size_t bytes) {
    int64_t *out = TAKE(int64_t, comm->size + 1, "lists");
    for (int r = 0; r <= comm->size; r++)
        out[r] = (comm->rank == 0 ? offset[r] : r > comm->rank ? count : 0) * (int64_t)bytes;
    return out;
}

void list_gather(const Comm *comm, const void *mine, int64_t count, void *all,
                 const int64_t *offset, size_t bytes) {
    int64_t *at = byte_offsets(comm, offset, count, bytes);
    comm_gather_v(comm, mine, all, at);
    memory_give(at);
}

void list_scatter(const Comm *comm, const void *all, const int64_t *offset, void *mine,
                  int64_t count, size_t bytes) {
    int64_t *from = TAKE(int64_t, comm->size + 1, "lists");
    int64_t *to = TAKE(int64_t, comm->size + 1, "lists");
    for (int r = 0; r <= comm->size; r++) {
        from[r] = comm->rank == 0 ? offset[r] * (int64_t)bytes : 0;
        to[r] = r > 0 ? count * (int64_t)bytes : 0; // all of it from rank 0
    }
    comm_all_to_all_v(comm, all, from, mine, to);
    memory_give(to);
    memory_give(from);
}
