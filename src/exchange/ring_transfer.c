// Rounds and chunks (ring_transfer.h).

#include "ring_transfer.h"

static int64_t chunks_of(const RingTransfer *ring, int64_t bytes) {
    return bytes == 0 ? 0 : 1 + (bytes + ring->chunk - 1) / ring->chunk;
}

static int slots(const RingTransfer *ring) { return ring->window * SIDES * TRANSFER_CHUNKS; }

static int window_of(int size) { return size - 1 < TRANSFER_ROUNDS ? size - 1 : TRANSFER_ROUNDS; }

void ring_transfer_alloc(RingTransfer *ring, MemoryPlan *plan, int size, int64_t chunk) {
    const char *what = "messages in flight";
    assert(chunk > 0 && chunk < INT32_MAX);
    *ring = (RingTransfer){.rounds = size - 1, .window = window_of(size), .chunk = chunk};
    size_t n = (size_t)slots(ring);
    ring->transfer =
        memory_or_plan(plan, memory_product(ring->rounds, sizeof *ring->transfer), what);
    ring->request = memory_or_plan(plan, n * sizeof *ring->request, what);
    ring->arrived = memory_or_plan(plan, n * sizeof *ring->arrived, what);
    ring->status = memory_or_plan(plan, n * sizeof *ring->status, what);
}

void ring_transfer_open(RingTransfer *ring, const Comm *comm) {
    comm_duplicate(&ring->comm, comm);
    for (int i = 0; i < slots(ring); i++)
        ring->request[i] = MPI_REQUEST_NULL;
    for (int g = 0; g < ring->rounds; g++) {
        ring->transfer[g][INCOMING].peer = ring_sender(comm->rank, g, comm->size);
        ring->transfer[g][OUTGOING].peer = ring_reader(comm->rank, g, comm->size);
    }
    ring->posted = ring->rounds; // no exchange is in flight
}

void ring_transfer_clear(RingTransfer *ring) {
    memory_free(ring->status);
    memory_free(ring->arrived);
    memory_free(ring->request);
    memory_free(ring->transfer);
    comm_release(&ring->comm);
}

static MPI_Request *request_of(const RingTransfer *ring, int round, int side, int64_t chunk) {
    int64_t transfer = round % ring->window * SIDES + side;
    return ring->request + transfer * TRANSFER_CHUNKS + chunk % TRANSFER_CHUNKS;
}

static void post_chunk(RingTransfer *ring, int round, int side) {
    Transfer *transfer = &ring->transfer[round][side];
    int64_t chunk = transfer->posted++, begin = (chunk - 1) * ring->chunk;
    void *at = &transfer->header;
    int64_t bytes = sizeof transfer->header;
    if (chunk > 0) {
        at = transfer->payload + begin;
        bytes = transfer->bytes - begin < ring->chunk ? transfer->bytes - begin : ring->chunk;
    }
    int tag = (int)(chunk % TRANSFER_TAGS);
    MPI_Request *request = request_of(ring, round, side, chunk);
    if (side == INCOMING) {
        CHECK_MPI(MPI_Irecv(at, (int)bytes, MPI_BYTE, transfer->peer, tag, comm_mpi(&ring->comm),
                            request));
        ring->bytes_received += bytes;
    } else {
        CHECK_MPI(MPI_Isend(at, (int)bytes, MPI_BYTE, transfer->peer, tag, comm_mpi(&ring->comm),
                            request));
        ring->bytes_sent += bytes;
    }
}

// Posts chunks as long as the slot of the next one is free.
static void fill(RingTransfer *ring, int round, int side) {
    Transfer *transfer = &ring->transfer[round][side];
    while (transfer->posted < transfer->chunks &&
           *request_of(ring, round, side, transfer->posted) == MPI_REQUEST_NULL)
        post_chunk(ring, round, side);
}

static bool transfer_over(const Transfer *transfer) { return transfer->done == transfer->chunks; }

static bool round_over(const RingTransfer *ring, int round) {
    return transfer_over(&ring->transfer[round][INCOMING]) &&
           transfer_over(&ring->transfer[round][OUTGOING]);
}

// Round g takes the slots of round g - window, so it waits for it. Receives go before sends.
static void open_rounds(RingTransfer *ring) {
    while (ring->posted < ring->rounds &&
           (ring->posted < ring->window || round_over(ring, ring->posted - ring->window))) {
        int round = ring->posted++;
        fill(ring, round, INCOMING);
        fill(ring, round, OUTGOING);
        ring->messages += ring->transfer[round][OUTGOING].bytes > 0;
    }
}

// All rounds of the last exchange are over, on both sides.
static bool all_over(const RingTransfer *ring) {
    if (ring->posted < ring->rounds)
        return false;
    for (int g = 0; g < ring->rounds; g++)
        if (!round_over(ring, g))
            return false;
    return true;
}

void ring_transfer_post(RingTransfer *ring) {
    assert(all_over(ring));
    for (int g = 0; g < ring->rounds; g++)
        for (int side = 0; side < SIDES; side++) {
            Transfer *transfer = &ring->transfer[g][side];
            transfer->posted = transfer->done = 0;
            transfer->header_done = false;
            transfer->chunks = chunks_of(ring, transfer->bytes);
        }
    ring->posted = 0;
    open_rounds(ring);
}

// The round in flight that uses a slot of the window.
static int round_of(const RingTransfer *ring, int place) {
    int last = ring->posted - 1;
    return last - (last - place + ring->window) % ring->window;
}

// A chunk longer than the expected message is truncated by MPI. That is no error here: the header
// check, which comes before the message is used, finds it and names the sender.
static void check_statuses(const RingTransfer *ring, int code, int count) {
    if (code != MPI_ERR_IN_STATUS)
        CHECK_MPI(code);
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; i++) {
        int class = MPI_SUCCESS;
        MPI_Error_class(ring->status[i].MPI_ERROR, &class);
        if (class != MPI_ERR_TRUNCATE)
            CHECK_MPI(ring->status[i].MPI_ERROR);
    }
}

void ring_transfer_progress(RingTransfer *ring) {
    int count = 0;
    if (ring->window == 0)
        return;
    int code = MPI_Testsome(slots(ring), ring->request, &count, ring->arrived, ring->status);
    check_statuses(ring, code, count);
    if (count == MPI_UNDEFINED || count == 0)
        return;
    for (int i = 0; i < count; i++) {
        int place = ring->arrived[i] / TRANSFER_CHUNKS;
        Transfer *transfer = &ring->transfer[round_of(ring, place / SIDES)][place % SIDES];
        transfer->done++;
        transfer->header_done |= ring->arrived[i] % TRANSFER_CHUNKS == 0; // chunk 0 is the header
    }
    for (int i = 0; i < count; i++) {
        int transfer = ring->arrived[i] / TRANSFER_CHUNKS;
        fill(ring, round_of(ring, transfer / SIDES), transfer % SIDES);
    }
    open_rounds(ring);
}
