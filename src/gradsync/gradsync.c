// Weight gradients between ranks, in rank order. The idea: the flat array is cut into pieces, and
// of every piece rank r owns the r-th slice. All ranks send their share of a slice to its owner,
// the owner adds the shares of ranks 0, 1, 2, ... one after the other in float, and sends the sum
// back to all.
//
//   gradient of a rank   [ ... | slice 0 | slice 1 | ... | slice P-1 | ... ]   one piece
//   received by rank r   [slice r of rank 0 | slice r of rank 1 | ... ]        -> added downwards
//
// A piece leaves as soon as all of it is made, the last one first. All ranks together move
// 2 (P-1) times the array, whatever the cut; shares and sums lie in the gradient itself.

#include "fringe/gradsync.h"

#include <limits.h>
#include <string.h>

enum {
    SLICE = 8192, // floats, at least: below it a message costs the same (32 KiB travel at once)
    PIECES = 32,  // at most
};

typedef enum State { SHARES_FLY, SUMS_FLY, SUMMED } State; // of a piece that has left

typedef struct Piece {
    State state;
    int64_t begin, end; // in the gradient
    int64_t slice;      // floats that a rank owns; the last ranks may own fewer
    float *received;    // [size, slice]
    int requests;
    MPI_Request *request; // [2 (size-1)]
} Piece;

struct GradSync {
    Comm comm; // a communicator of its own: other messages fly meanwhile
    float *gradient;
    int pieces;
    int flown; // pieces that are on their way, or were: the last ones of the array
    Piece *piece;
    float *received;
    MPI_Request *request;
};

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The slices of a whole piece; one rank alone needs none.
static int64_t slice_of(int64_t count, int size) {
    int64_t slice = ceil_div(ceil_div(count, PIECES), size);
    return slice < SLICE ? SLICE : slice;
}

static int pieces_of(int64_t count, int size) {
    return size == 1 ? 0 : (int)ceil_div(count, slice_of(count, size) * size);
}

// --- making

static void cut(GradSync *sync, int64_t count) {
    int size = sync->comm.size;
    int64_t whole = slice_of(count, size) * size;
    for (int i = 0; i < sync->pieces; i++) {
        int64_t begin = i * whole, end = begin + whole < count ? begin + whole : count;
        sync->piece[i] = (Piece){.begin = begin,
                                 .end = end,
                                 .slice = ceil_div(end - begin, size),
                                 .received = sync->received + begin,
                                 .request = sync->request + (ptrdiff_t)i * 2 * (size - 1)};
    }
}

// Slices are rounded up, so a piece may receive a little more than it is long.
static int64_t received_floats(int64_t count, int size) { return size == 1 ? 0 : count + size; }

GradSync *gradsync_new(const Comm *comm, int64_t count) {
    assert(count >= 0);
    GradSync *sync = TAKE(GradSync, 1, "gradient exchange");
    *sync = (GradSync){.pieces = pieces_of(count, comm->size)};
    comm_duplicate(&sync->comm, comm);
    CHECK(slice_of(count, comm->size) < INT_MAX / (int64_t)sizeof(float), EXIT_CONFIG,
          "%lld parameters are too many for %d ranks; use more ranks", (long long)count,
          comm->size);
    sync->piece = TAKE(Piece, sync->pieces, "gradient exchange");
    sync->request =
        TAKE(MPI_Request, (int64_t)sync->pieces * 2 * (comm->size - 1), "gradient exchange");
    sync->received = TAKE(float, received_floats(count, comm->size), "gradients on their way");
    cut(sync, count);
    return sync;
}

void gradsync_free(GradSync *sync) {
    if (sync == NULL)
        return;
    memory_give(sync->received);
    memory_give(sync->request);
    memory_give(sync->piece);
    comm_release(&sync->comm);
    memory_give(sync);
}

void gradsync_plan(MemoryPlan *plan, int64_t count, int size) {
    size_t requests = 2 * (size_t)(size - 1);
    memory_plan_add(plan, "gradients on their way",
                    (size_t)received_floats(count, size) * sizeof(float) +
                        (size_t)pieces_of(count, size) *
                            (sizeof(Piece) + requests * sizeof(MPI_Request)));
}

// --- a piece on its way

// The slice of rank r: where it begins in the gradient, and its floats.
static int64_t slice_begin(const Piece *piece, int r) { return piece->begin + r * piece->slice; }

static int slice_floats(const Piece *piece, int r) {
    int64_t left = piece->end - slice_begin(piece, r);
    return (int)(left < 0 ? 0 : left < piece->slice ? left : piece->slice);
}

// The tag is the piece: between two ranks its shares go before its sums.
static void receive(const GradSync *sync, Piece *piece, float *to, int floats, int from) {
    if (floats > 0)
        CHECK_MPI(MPI_Irecv(to, floats, MPI_FLOAT, from, (int)(piece - sync->piece), sync->comm.mpi,
                            &piece->request[piece->requests++]));
}

static void send(const GradSync *sync, Piece *piece, const float *at, int floats, int to) {
    if (floats > 0)
        CHECK_MPI(MPI_Isend(at, floats, MPI_FLOAT, to, (int)(piece - sync->piece), sync->comm.mpi,
                            &piece->request[piece->requests++]));
}

// In round r rank i sends to i+r and receives from i-r (DESIGN 4).
static void send_shares(GradSync *sync, Piece *piece) {
    int rank = sync->comm.rank, size = sync->comm.size;
    piece->state = SHARES_FLY;
    piece->requests = 0;
    for (int round = 1; round < size; round++) {
        int to = (rank + round) % size, from = (rank - round + size) % size;
        receive(sync, piece, piece->received + from * piece->slice, slice_floats(piece, rank),
                from);
        send(sync, piece, sync->gradient + slice_begin(piece, to), slice_floats(piece, to), to);
    }
}

// own slice = ((share of rank 0 + share of rank 1) + share of rank 2) + ...
static void add_in_rank_order(GradSync *sync, Piece *piece) {
    int rank = sync->comm.rank, floats = slice_floats(piece, rank);
    float *sum = sync->gradient + slice_begin(piece, rank);
    if (floats == 0)
        return;
    memcpy(piece->received + rank * piece->slice, sum, (size_t)floats * sizeof *sum);
    memcpy(sum, piece->received, (size_t)floats * sizeof *sum);
    for (int r = 1; r < sync->comm.size; r++)
        for (int i = 0; i < floats; i++)
            sum[i] += piece->received[r * piece->slice + i];
}

// The shares that lie where sums will land have left.
static void send_sums(GradSync *sync, Piece *piece) {
    int rank = sync->comm.rank, size = sync->comm.size;
    add_in_rank_order(sync, piece);
    piece->state = SUMS_FLY;
    piece->requests = 0;
    for (int round = 1; round < size; round++) {
        int to = (rank + round) % size, from = (rank - round + size) % size;
        receive(sync, piece, sync->gradient + slice_begin(piece, from), slice_floats(piece, from),
                from);
        send(sync, piece, sync->gradient + slice_begin(piece, rank), slice_floats(piece, rank), to);
    }
}

static void advance(GradSync *sync, Piece *piece) {
    int done = 0;
    CHECK_MPI(MPI_Testall(piece->requests, piece->request, &done, MPI_STATUSES_IGNORE));
    if (done && piece->state == SHARES_FLY)
        send_sums(sync, piece);
    else if (done)
        piece->state = SUMMED;
}

// --- the door

void gradsync_progress(void *context) {
    GradSync *sync = context;
    comm_beat(&sync->comm);
    for (int i = sync->pieces - 1; i >= sync->pieces - sync->flown; i--)
        if (sync->piece[i].state != SUMMED)
            advance(sync, &sync->piece[i]);
}

void gradsync_made(GradSync *sync, float *gradient, int64_t from) {
    sync->gradient = gradient;
    while (sync->flown < sync->pieces) {
        Piece *next = &sync->piece[sync->pieces - 1 - sync->flown];
        if (next->begin < from)
            break;
        send_shares(sync, next);
        sync->flown++;
    }
    gradsync_progress(sync);
}

// One wait ends with every piece, so that slow is told from hung.
typedef struct Arrival {
    GradSync *sync;
    const Piece *piece;
} Arrival;

static bool arrived(void *context) {
    Arrival *arrival = context;
    gradsync_progress(arrival->sync);
    return arrival->piece->state == SUMMED;
}

void gradsync_finish(GradSync *sync, float *gradient) {
    gradsync_made(sync, gradient, 0);
    for (int i = sync->pieces - 1; i >= 0; i--)
        comm_wait_until(&sync->comm, arrived, &(Arrival){sync, &sync->piece[i]},
                        "the sum of the weight gradients");
    sync->flown = 0;
}

int64_t gradsync_bytes(const GradSync *sync) {
    int64_t floats = 0; // the shares of others, and the own sum to all of them
    for (int i = 0; i < sync->pieces; i++) {
        const Piece *piece = &sync->piece[i];
        int own = slice_floats(piece, sync->comm.rank);
        floats += piece->end - piece->begin - own + (int64_t)own * (sync->comm.size - 1);
    }
    return floats * (int64_t)sizeof(float);
}
