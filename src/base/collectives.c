// Collectives, made of nonblocking point-to-point messages, so that every wait is a comm_wait.
// Every rank adds in rank order, since MPI_Allreduce changes bits with its algorithm (TRAPS 8).
// Large data goes in a ring: in step r rank i sends to i+r and receives from i-r
// (docs/exchange.md).

#include "fringe/base/memory.h"
#include "fringe/base/sparse.h"
#include "internal.h"

#include <time.h>

enum {
    TAG_BARRIER = COMM_TAG,
    TAG_BROADCAST,
    TAG_GATHER,
    TAG_ALL_TO_ALL,
    TAG_PIECES,
    TAG_AWAIT,
};

static const size_t largest_piece = (size_t)64 << 20; // MPI counts are int, and chunks overlap
enum { SMALL = 1 << 16 }; // bytes; up to this size all pairs exchange at once

static size_t piece_at(size_t begin, size_t bytes) {
    return bytes - begin < largest_piece ? bytes - begin : largest_piece;
}

static void copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0 && to != from)
        memmove(to, from, bytes);
}

// Sends to one rank while receiving from another, in chunks; either side may be empty.
static void transfer(const Comm *comm, int to, const char *sent, size_t sent_bytes, int from,
                     char *received, size_t received_bytes, int tag, const char *what) {
    for (size_t at = 0; at < sent_bytes || at < received_bytes; at += largest_piece) {
        MPI_Request request[2];
        int count = 0;
        if (at < received_bytes)
            CHECK_MPI(MPI_Irecv(received + at, (int)piece_at(at, received_bytes), MPI_BYTE, from,
                                tag, comm_mpi(comm), &request[count++]));
        if (at < sent_bytes)
            CHECK_MPI(MPI_Isend(sent + at, (int)piece_at(at, sent_bytes), MPI_BYTE, to, tag,
                                comm_mpi(comm), &request[count++]));
        comm_wait(comm, request, count, what);
    }
}

// Dissemination barrier: after round k each rank knows, directly or not, that 2^(k+1) - 1 others
// have arrived.
void comm_barrier(const Comm *comm) {
    for (int distance = 1; distance < comm->size; distance *= 2) {
        int to = (comm->rank + distance) % comm->size;
        int from = (comm->rank - distance + comm->size) % comm->size;
        char byte = 0, other;
        transfer(comm, to, &byte, 1, from, &other, 1, TAG_BARRIER, "all ranks at a barrier");
    }
}

static bool nap_and_test(void *context) {
    static const struct timespec moment = {.tv_nsec = 1000000};
    int done = 0;
    CHECK_MPI(MPI_Test(context, &done, MPI_STATUS_IGNORE));
    if (!done)
        nanosleep(&moment, NULL);
    return done != 0;
}

void comm_await(const Comm *comm, int root) {
    char byte = 0;
    MPI_Request *request = collective_requests();
    int count = 0;
    if (comm->size == 1)
        return;
    if (comm->rank != root) {
        CHECK_MPI(MPI_Irecv(&byte, 1, MPI_BYTE, root, TAG_AWAIT, comm_mpi(comm), request));
        comm_wait_until(comm, nap_and_test, request, "long work of another rank");
        return;
    }
    for (int r = 0; r < comm->size; r++)
        if (r != root)
            CHECK_MPI(
                MPI_Isend(&byte, 1, MPI_BYTE, r, TAG_AWAIT, comm_mpi(comm), &request[count++]));
    comm_wait(comm, request, count, "all ranks to hear of long work's end");
}

// Sends one chunk down a binomial tree: the rank at distance d from the root, with lowest set bit
// b, receives from d - b and sends to d + b/2, d + b/4, ... d + 1.
static void broadcast_piece(const Comm *comm, char *data, int bytes, int root) {
    int distance = (comm->rank - root + comm->size) % comm->size;
    int bit = 1;
    while (bit < comm->size && (distance & bit) == 0)
        bit *= 2;
    MPI_Request request[32];
    if (distance != 0) {
        int parent = (distance - bit + root) % comm->size;
        CHECK_MPI(
            MPI_Irecv(data, bytes, MPI_BYTE, parent, TAG_BROADCAST, comm_mpi(comm), &request[0]));
        comm_wait(comm, request, 1, "a broadcast");
    }
    int count = 0;
    for (int b = bit / 2; b > 0; b /= 2)
        if (distance + b < comm->size) {
            int child = (distance + b + root) % comm->size;
            CHECK_MPI(MPI_Isend(data, bytes, MPI_BYTE, child, TAG_BROADCAST, comm_mpi(comm),
                                &request[count++]));
        }
    comm_wait(comm, request, count, "a broadcast to be taken");
}

void comm_broadcast(const Comm *comm, void *data, size_t bytes, int root) {
    if (comm->size == 1)
        return;
    for (size_t at = 0; at < bytes; at += largest_piece)
        broadcast_piece(comm, (char *)data + at, (int)piece_at(at, bytes), root);
}

// All pairs exchange at once, which is fastest for a few bytes.
static void exchange_small(const Comm *comm, const char *from, size_t from_step, char *to,
                           size_t bytes, int tag) {
    MPI_Request *request = collective_requests();
    int count = 0;
    for (int round = 1; round < comm->size; round++) {
        int source = (comm->rank - round + comm->size) % comm->size;
        CHECK_MPI(MPI_Irecv(to + (size_t)source * bytes, (int)bytes, MPI_BYTE, source, tag,
                            comm_mpi(comm), &request[count++]));
    }
    for (int round = 1; round < comm->size; round++) {
        int target = (comm->rank + round) % comm->size;
        CHECK_MPI(MPI_Isend(from + (size_t)target * from_step, (int)bytes, MPI_BYTE, target, tag,
                            comm_mpi(comm), &request[count++]));
    }
    comm_wait(comm, request, count, "an exchange of a few bytes");
}

// to[r] = from[rank] of rank r; from[r] lies at r * from_step.
static void exchange(const Comm *comm, const char *from, size_t from_step, char *to, size_t bytes,
                     int tag, const char *what) {
    size_t rank = (size_t)comm->rank;
    copy(to + rank * bytes, from + rank * from_step, bytes);
    if (comm->size == 1 || bytes == 0)
        return;
    if (bytes <= SMALL) {
        exchange_small(comm, from, from_step, to, bytes, tag);
        return;
    }
    for (int round = 1; round < comm->size; round++) {
        int target = (comm->rank + round) % comm->size;
        int source = (comm->rank - round + comm->size) % comm->size;
        transfer(comm, target, from + (size_t)target * from_step, bytes, source,
                 to + (size_t)source * bytes, bytes, tag, what);
    }
}

void comm_all_gather(const Comm *comm, const void *one, void *all, size_t bytes) {
    exchange(comm, one, 0, all, bytes, TAG_GATHER, "a gather on all ranks");
}

void comm_all_to_all(const Comm *comm, const void *from, void *to, size_t bytes) {
    exchange(comm, from, bytes, to, bytes, TAG_ALL_TO_ALL, "an all-to-all");
}

// NULL stays NULL, since a rank may have nothing to send.
static const char *sent_at(const char *base, int64_t offset) {
    return base == NULL ? NULL : base + offset;
}

static char *received_at(char *base, int64_t offset) { return base == NULL ? NULL : base + offset; }

static size_t part_bytes(const int64_t *offset, int r) {
    assert(offset[r + 1] >= offset[r]);
    return (size_t)(offset[r + 1] - offset[r]);
}

void comm_all_to_all_v(const Comm *comm, const void *from, const int64_t *from_offset, void *to,
                       const int64_t *to_offset) {
    const char *sent = from;
    char *received = to;
    int rank = comm->rank;
    assert(part_bytes(from_offset, rank) == part_bytes(to_offset, rank));
    if (part_bytes(to_offset, rank) > 0)
        copy(received + to_offset[rank], sent + from_offset[rank], part_bytes(to_offset, rank));
    for (int round = 1; round < comm->size; round++) {
        int target = (rank + round) % comm->size;
        int source = (rank - round + comm->size) % comm->size;
        transfer(comm, target, sent_at(sent, from_offset[target]), part_bytes(from_offset, target),
                 source, received_at(received, to_offset[source]), part_bytes(to_offset, source),
                 TAG_PIECES, "an all-to-all of pieces");
    }
}

int64_t *comm_offsets(const Comm *comm, int64_t bytes) {
    int64_t *offset = ALLOC(int64_t, comm->size + 1, "pieces of the ranks");
    comm_all_gather(comm, &bytes, offset + 1, sizeof bytes);
    offsets_sum(offset, comm->size);
    return offset;
}

void comm_gather_v(const Comm *comm, const void *piece, void *all, const int64_t *offset) {
    size_t own = part_bytes(offset, comm->rank);
    if (comm->rank != 0) {
        transfer(comm, 0, piece, own, 0, NULL, 0, TAG_PIECES, "rank 0 to take a piece");
        return;
    }
    char *received = all;
    if (own > 0)
        copy(received + offset[0], piece, own);
    for (int r = 1; r < comm->size; r++)
        if (part_bytes(offset, r) > 0)
            transfer(comm, 0, NULL, 0, r, received + offset[r], part_bytes(offset, r), TAG_PIECES,
                     "pieces for rank 0");
}

void comm_scatter_v(const Comm *comm, const void *all, void *piece, const int64_t *offset) {
    const char *from = all;
    size_t own = part_bytes(offset, comm->rank);
    if (comm->rank != 0)
        transfer(comm, 0, NULL, 0, 0, piece, own, TAG_PIECES, "a piece of rank 0");
    else if (own > 0)
        copy(piece, from + offset[0], own);
    for (int r = 1; comm->rank == 0 && r < comm->size; r++)
        transfer(comm, r, from + offset[r], part_bytes(offset, r), 0, NULL, 0, TAG_PIECES,
                 "ranks to take their pieces");
}

// --- reductions: a few values are gathered on every rank. For many values each rank combines its
// own COLLECTIVE_VALUES for all ranks, then all gather the results: two messages per pair of ranks
// for size * COLLECTIVE_VALUES values

typedef void Combine(void *total, const void *value);

static void add_double(void *total, const void *value) {
    *(double *)total += *(const double *)value;
}
static void add_int64(void *total, const void *value) {
    *(int64_t *)total += *(const int64_t *)value;
}
static void keep_larger(void *total, const void *value) {
    if (*(const double *)value > *(double *)total)
        *(double *)total = *(const double *)value;
}

// Combines in rank order: at[0..count) = all[0][], all[1][], ...
static void combine_gathered(char *at, const char *all, int size, int count, Combine *with) {
    size_t bytes = (size_t)count * 8;
    memcpy(at, all, bytes);
    for (int r = 1; r < size; r++)
        for (size_t i = 0; i < bytes; i += 8)
            with(at + i, all + (size_t)r * bytes + i);
}

// value[i] = values of ranks 0, 1, ... combined; every value has 8 bytes.
static void combine(const Comm *comm, char *value, int count, Combine *with) {
    if (comm->size == 1)
        return;
    char *all = collective_values();
    int64_t own[COLLECTIVE_VALUES];
    while (count > 0) {
        int each = count / comm->size < COLLECTIVE_VALUES ? count / comm->size : COLLECTIVE_VALUES,
            done;
        if (count > COLLECTIVE_VALUES && each > 0) {
            comm_all_to_all(comm, value, all, (size_t)each * 8);
            combine_gathered((char *)own, all, comm->size, each, with);
            comm_all_gather(comm, own, value, (size_t)each * 8);
            done = each * comm->size;
        } else {
            done = count < COLLECTIVE_VALUES ? count : COLLECTIVE_VALUES;
            comm_all_gather(comm, value, all, (size_t)done * 8);
            combine_gathered(value, all, comm->size, done, with);
        }
        value += (size_t)done * 8;
        count -= done;
    }
}

void comm_sum_double(const Comm *comm, double *value, int count) {
    combine(comm, (char *)value, count, add_double);
}

void comm_sum_int64(const Comm *comm, int64_t *value, int count) {
    combine(comm, (char *)value, count, add_int64);
}

double comm_max_double(const Comm *comm, double value) {
    combine(comm, (char *)&value, 1, keep_larger);
    return value;
}

bool comm_agree(const Comm *comm, Error *err) {
    int64_t holders = err->code != 0;
    int64_t lowest = err->code != 0 ? comm->rank : comm->size;
    double first = comm_max_double(comm, (double)-lowest); // the lowest rank that holds one
    comm_sum_int64(comm, &holders, 1);
    if (holders == 0)
        return true;
    int root = (int)-first;
    if (comm->rank == root && root > 0 && holders < comm->size) // rank 0 works for all
        error_prefix(err, "rank %d", root);
    comm_broadcast(comm, err, sizeof *err, root);
    return false;
}

typedef struct OnRoot {
    void (*work)(void *context, Error *err);
    void *context;
    Error *err;
} OnRoot;

static void run_on_root(void *context) {
    const OnRoot *on = context;
    on->work(on->context, on->err);
}

bool comm_on_root(const Comm *comm, void (*work)(void *context, Error *err), void *context,
                  Error *err) {
    if (comm->rank == 0 && err->code == 0)
        comm_on_helper(comm, run_on_root, &(OnRoot){work, context, err});
    return comm_agree(comm, err);
}
