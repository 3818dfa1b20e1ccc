// Lists between ranks. Send and receive lists are in ring order (invariant 4), but the collectives
// need rank order. So the rounds of a list are copied into rank order, sent, and copied back into
// ring order.
#include "fringe/halo.h"

// The round in which this rank sends to (or receives from) `peer`.
static int round_of(const Comm *comm, int peer, bool sending) {
    return sending ? ring_round(peer, comm->rank, comm->size)
                   : ring_round(comm->rank, peer, comm->size);
}

typedef struct List { // a copy in the order of ranks
    unsigned char *at;
    int64_t *offset; // [size + 1] bytes
} List;

static List list_by_rank(const Comm *comm, const int64_t *ring_offset, bool sending, size_t bytes) {
    List list = {.offset = ALLOC(int64_t, comm->size + 1, "lists")};
    for (int r = 0; r < comm->size; r++) {
        int round = round_of(comm, r, sending);
        int64_t rows = r == comm->rank ? 0 : ring_offset[round + 1] - ring_offset[round];
        list.offset[r + 1] = list.offset[r] + rows * (int64_t)bytes;
    }
    list.at = memory_alloc((size_t)list.offset[comm->size], "lists");
    return list;
}

static void list_clear(List *list) { MEMORY_FREE(list->at, list->offset); }

// Copies the rounds between `ring` (ring order) and `list` (rank order).
static void copy_rounds(const Comm *comm, const int64_t *ring_offset, bool sending, List *list,
                        unsigned char *ring, bool into_list, size_t bytes) {
    for (int r = 0; r < comm->size; r++) {
        if (r == comm->rank)
            continue;
        unsigned char *round = ring + (size_t)ring_offset[round_of(comm, r, sending)] * bytes;
        unsigned char *piece = list->at + list->offset[r];
        size_t size = (size_t)(list->offset[r + 1] - list->offset[r]);
        if (size > 0)
            memcpy(into_list ? piece : round, into_list ? round : piece, size);
    }
}

static void move(const HaloPlan *plan, bool sending, const void *from, void *to, size_t bytes) {
    const Comm *comm = plan->comm;
    const int64_t *from_ring = sending ? plan->send_offset : plan->receive_offset;
    const int64_t *to_ring = sending ? plan->receive_offset : plan->send_offset;
    if (comm->size == 1)
        return;
    CLEARED(list_clear) List out = list_by_rank(comm, from_ring, sending, bytes);
    CLEARED(list_clear) List in = list_by_rank(comm, to_ring, !sending, bytes);
    copy_rounds(comm, from_ring, sending, &out, (unsigned char *)(uintptr_t)from, true, bytes);
    comm_all_to_all_v(comm, out.at, out.offset, in.at, in.offset);
    copy_rounds(comm, to_ring, !sending, &in, to, false, bytes);
}

void ring_to_readers(const HaloPlan *plan, const void *sent, void *received, size_t bytes) {
    move(plan, true, sent, received, bytes);
}

void ring_to_owners(const HaloPlan *plan, const void *received, void *sent, size_t bytes) {
    move(plan, false, received, sent, bytes);
}

int64_t *ring_offsets_at_owners(const Comm *comm, const int64_t *receive_offset) {
    int size = comm->size;
    int64_t *offset = ALLOC(int64_t, size, "lists");
    FREED int64_t *reads = ALLOC(int64_t, size, "lists"); // by rank
    FREED int64_t *sends = ALLOC(int64_t, size, "lists");
    for (int g = 0; g + 1 < size; g++)
        reads[ring_sender(comm->rank, g, size)] = receive_offset[g + 1] - receive_offset[g];
    comm_all_to_all(comm, reads, sends, sizeof *reads);
    for (int g = 0; g + 1 < size; g++)
        offset[g + 1] = offset[g] + sends[ring_reader(comm->rank, g, size)];
    return offset;
}
