// A second transport, for tests: MPI, but each piece is cut at a random place into two messages of
// MPI, and each half leaves late, by a random number of calls of test. A program that is linked
// with this file uses it, because it defines transport_family. If the tests of what lies above pass
// on it as on `mpi`, nothing there depends on when pieces arrive, or on an order that is not
// promised.
//
//   sender      held ... | first half | held ... | second half | done
//   receiver    first half, at most the whole piece | second half, behind the first | done
//
// Only the sender knows the cut. The receiver learns it from what arrives, so a piece of another
// length than it expects is noticed as on `mpi`; the second half of a piece of one byte is empty.
// Both halves have the tag of the piece, so a half is posted only when all pieces before it, of its
// peer and tag, are posted whole.

#include "fringe/base/mpi.h"
#include "fringe/wire.h"

enum { HALVES = 2, HELD = 12 }; // a half is held for fewer calls of test

typedef struct Piece {
    unsigned char *at; // what no half that is over holds
    int bytes;         // of that
    int half;          // of these in the half that was posted last; incoming: at most
    int posted;        // halves
    int length;        // of the halves that are over; PIECE_CUT: longer than said
    int held;          // calls of test until the next half may be posted
    int peer, tag;
    bool incoming;
    int64_t number; // pieces of this process before it
} Piece;

// What an endpoint stores for each slot, as three arrays.
typedef struct Slot {
    Piece piece;
    MPI_Status status;
    MPI_Request request; // of the half that was posted last
} Slot;

static Piece *pieces(const Endpoint *e) { return e->state; }

static MPI_Status *statuses(const Endpoint *e) { return (MPI_Status *)(pieces(e) + e->slots); }

static MPI_Request *requests(const Endpoint *e) { return (MPI_Request *)(statuses(e) + e->slots); }

static void delayed_open(Endpoint *e) {
    for (int i = 0; i < e->slots; i++) {
        pieces(e)[i].posted = HALVES;
        requests(e)[i] = MPI_REQUEST_NULL;
    }
}

static void delayed_close(Endpoint *e) { (void)e; }

static bool reaches_no_device(void) { return false; } // the second half lies at `at` + bytes

// --- posting

// In [0, below), from the rank and how many it drew before.
static int draw(const Endpoint *e, int below) {
    static uint32_t draws;
    uint32_t out[4], counter[4] = {draws++, (uint32_t)e->comm.rank}, key[2] = {2, 71};
    random_philox(out, counter, key, 10);
    return (int)(out[0] % (uint32_t)below);
}

// Whether `next` would overtake a piece that is not posted whole.
static bool would_overtake(const Piece *next, const Piece *piece) {
    return piece->posted < HALVES && piece->number < next->number &&
           piece->incoming == next->incoming && piece->peer == next->peer &&
           piece->tag == next->tag;
}

static bool may_be_posted(const Endpoint *e, int slot) {
    const Piece *piece = &pieces(e)[slot];
    if (piece->posted == HALVES || piece->held > 0 || requests(e)[slot] != MPI_REQUEST_NULL)
        return false;
    for (int i = 0; i < e->slots; i++)
        if (would_overtake(piece, &pieces(e)[i]))
            return false;
    return true;
}

static void post_half(Endpoint *e, int slot) {
    Piece *p = &pieces(e)[slot];
    MPI_Comm comm = comm_mpi(&e->comm);
    MPI_Request *request = &requests(e)[slot];
    p->half = p->bytes;
    if (!p->incoming && p->posted == 0 && p->bytes > 1)
        p->half = 1 + draw(e, p->bytes - 1);
    if (p->incoming)
        CHECK_MPI(MPI_Irecv(p->at, p->half, MPI_BYTE, p->peer, p->tag, comm, request));
    else
        CHECK_MPI(MPI_Isend(p->at, p->half, MPI_BYTE, p->peer, p->tag, comm, request));
    p->posted++;
}

static void take(Endpoint *e, int slot, Piece piece) {
    static int64_t taken;
    piece.number = taken++;
    pieces(e)[slot] = piece;
    if (may_be_posted(e, slot))
        post_half(e, slot);
}

static void delayed_receive(Endpoint *e, int slot, void *at, int bytes, int from, int tag) {
    take(e, slot, (Piece){.at = at, .bytes = bytes, .peer = from, .tag = tag, .incoming = true});
}

static void delayed_send(Endpoint *e, int slot, const void *at, int bytes, int to, int tag) {
    Piece piece = {.at = (unsigned char *)at, .bytes = bytes, .peer = to, .tag = tag};
    piece.held = draw(e, HELD);
    take(e, slot, piece);
}

// --- progress

// MPI cuts what is longer than its receiver has room for.
static bool was_cut(int code, const MPI_Status *status) {
    int class = MPI_SUCCESS;
    if (code != MPI_ERR_IN_STATUS)
        CHECK_MPI(code);
    else
        MPI_Error_class(status->MPI_ERROR, &class);
    if (class != MPI_ERR_TRUNCATE)
        CHECK_MPI(class);
    return class == MPI_ERR_TRUNCATE;
}

// Takes note of a half that has arrived or left; true if it was the second one.
static bool half_is_over(const Endpoint *e, int slot, const MPI_Status *status, bool cut) {
    Piece *piece = &pieces(e)[slot];
    int bytes = piece->half;
    if (piece->incoming && !cut)
        CHECK_MPI(MPI_Get_count(status, MPI_BYTE, &bytes));
    piece->at += bytes;
    piece->bytes -= bytes;
    piece->length = cut || piece->length == PIECE_CUT ? PIECE_CUT : piece->length + bytes;
    piece->held = piece->incoming ? 0 : draw(e, HELD);
    return piece->posted == HALVES;
}

static void post_what_is_due(Endpoint *e, int first, int count) {
    for (int slot = first; slot < first + count; slot++) {
        pieces(e)[slot].held -= pieces(e)[slot].held > 0;
        if (may_be_posted(e, slot))
            post_half(e, slot);
    }
}

static int delayed_test(Endpoint *e, int first, int count) {
    int over = 0, done = 0;
    int code = MPI_Testsome(count, requests(e) + first, &over, e->done, statuses(e));
    for (int i = 0; over != MPI_UNDEFINED && i < over; i++) {
        int slot = first + e->done[i];
        if (half_is_over(e, slot, &statuses(e)[i], was_cut(code, &statuses(e)[i]))) {
            e->bytes[done] = pieces(e)[slot].length;
            e->done[done++] = e->done[i];
        }
    }
    post_what_is_due(e, first, count);
    return done;
}

static const Transport delayed = {
    .name = "delayed",
    .slot_bytes = sizeof(Slot),
    .reaches_device = reaches_no_device,
    .open = delayed_open,
    .close = delayed_close,
    .receive = delayed_receive,
    .send = delayed_send,
    .test = delayed_test,
};
static const Transport *const transports[] = {&delayed};
const Family transport_family = FAMILY_OF_POINTERS("transport", NULL, transports);
