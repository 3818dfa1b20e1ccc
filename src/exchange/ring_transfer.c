// Rounds and pieces (ring_transfer.h).

#include "ring_transfer.h"

#include "fringe/halo.h"

static int64_t pieces_of(const Flight *flight, int64_t bytes) {
    return bytes == 0 ? 0 : 1 + (bytes + flight->piece - 1) / flight->piece;
}

static int slots(const Flight *flight) { return flight->window * STREAMS * FLIGHT_PIECES; }

static int window_of(int size) { return size - 1 < FLIGHT_ROUNDS ? size - 1 : FLIGHT_ROUNDS; }

void flight_init(Flight *flight, const Comm *comm, int64_t piece) {
    assert(piece > 0 && piece < INT32_MAX);
    *flight = (Flight){.rounds = comm->size - 1, .window = window_of(comm->size), .piece = piece};
    comm_duplicate(&flight->comm, comm);
    flight->stream =
        memory_take(memory_product(flight->rounds, sizeof *flight->stream), "messages in flight");
    flight->request = TAKE(MPI_Request, slots(flight), "messages in flight");
    flight->landed = TAKE(int, slots(flight), "messages in flight");
    flight->status = TAKE(MPI_Status, slots(flight), "messages in flight");
    for (int i = 0; i < slots(flight); i++)
        flight->request[i] = MPI_REQUEST_NULL;
    for (int g = 0; g < flight->rounds; g++) {
        flight->stream[g][INCOMING].peer = ring_sender(comm, g);
        flight->stream[g][OUTGOING].peer = ring_reader(comm, g);
    }
    flight->posted = flight->rounds; // none is under way
}

void flight_clear(Flight *flight) {
    memory_give(flight->status);
    memory_give(flight->landed);
    memory_give(flight->request);
    memory_give(flight->stream);
    comm_release(&flight->comm);
}

size_t flight_bytes(int size) {
    size_t requests = (size_t)window_of(size) * STREAMS * FLIGHT_PIECES;
    return (size_t)(size - 1) * STREAMS * sizeof(Stream) +
           requests * (sizeof(MPI_Request) + sizeof(int) + sizeof(MPI_Status));
}

static MPI_Request *request_of(const Flight *flight, int round, int side, int64_t piece) {
    int64_t stream = round % flight->window * STREAMS + side;
    return flight->request + stream * FLIGHT_PIECES + piece % FLIGHT_PIECES;
}

static void post_piece(Flight *flight, int round, int side) {
    Stream *stream = &flight->stream[round][side];
    int64_t piece = stream->posted++, begin = (piece - 1) * flight->piece;
    void *at = &stream->header;
    int64_t bytes = sizeof stream->header;
    if (piece > 0) {
        at = stream->payload + begin;
        bytes = stream->bytes - begin < flight->piece ? stream->bytes - begin : flight->piece;
    }
    int tag = (int)(piece % FLIGHT_TAGS);
    MPI_Request *request = request_of(flight, round, side, piece);
    if (side == INCOMING) {
        CHECK_MPI(MPI_Irecv(at, (int)bytes, MPI_BYTE, stream->peer, tag, comm_mpi(&flight->comm),
                            request));
        flight->bytes_received += bytes;
    } else {
        CHECK_MPI(MPI_Isend(at, (int)bytes, MPI_BYTE, stream->peer, tag, comm_mpi(&flight->comm),
                            request));
        flight->bytes_sent += bytes;
    }
}

// Posts pieces while there are some and the slot of the next one is free.
static void fill(Flight *flight, int round, int side) {
    Stream *stream = &flight->stream[round][side];
    while (stream->posted < stream->pieces &&
           *request_of(flight, round, side, stream->posted) == MPI_REQUEST_NULL)
        post_piece(flight, round, side);
}

static bool stream_over(const Stream *stream) { return stream->done == stream->pieces; }

static bool round_over(const Flight *flight, int round) {
    return stream_over(&flight->stream[round][INCOMING]) &&
           stream_over(&flight->stream[round][OUTGOING]);
}

// Round g takes the slots of round g - window, so it waits for it. Receives go before sends.
static void open_rounds(Flight *flight) {
    while (
        flight->posted < flight->rounds &&
        (flight->posted < flight->window || round_over(flight, flight->posted - flight->window))) {
        int round = flight->posted++;
        fill(flight, round, INCOMING);
        fill(flight, round, OUTGOING);
        flight->messages += flight->stream[round][OUTGOING].bytes > 0;
    }
}

// All rounds of the last exchange are over, on both sides.
static bool all_over(const Flight *flight) {
    if (flight->posted < flight->rounds)
        return false;
    for (int g = 0; g < flight->rounds; g++)
        if (!round_over(flight, g))
            return false;
    return true;
}

void flight_post(Flight *flight) {
    assert(all_over(flight));
    for (int g = 0; g < flight->rounds; g++)
        for (int side = 0; side < STREAMS; side++) {
            Stream *stream = &flight->stream[g][side];
            stream->posted = stream->done = 0;
            stream->header_done = false;
            stream->pieces = pieces_of(flight, stream->bytes);
        }
    flight->posted = 0;
    open_rounds(flight);
}

// The round in flight that uses a slot of the window.
static int round_of(const Flight *flight, int place) {
    int last = flight->posted - 1;
    return last - (last - place + flight->window) % flight->window;
}

// A piece that was longer than the message should be has landed all the same: its header, which
// says so, is checked before the message is used, and names who sent it.
static void check_statuses(const Flight *flight, int code, int count) {
    if (code != MPI_ERR_IN_STATUS)
        CHECK_MPI(code);
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; i++) {
        int class = MPI_SUCCESS;
        MPI_Error_class(flight->status[i].MPI_ERROR, &class);
        if (class != MPI_ERR_TRUNCATE)
            CHECK_MPI(flight->status[i].MPI_ERROR);
    }
}

void flight_progress(Flight *flight) {
    int count = 0;
    if (flight->window == 0)
        return;
    int code = MPI_Testsome(slots(flight), flight->request, &count, flight->landed, flight->status);
    check_statuses(flight, code, count);
    if (count == MPI_UNDEFINED || count == 0)
        return;
    for (int i = 0; i < count; i++) {
        int place = flight->landed[i] / FLIGHT_PIECES;
        Stream *stream = &flight->stream[round_of(flight, place / STREAMS)][place % STREAMS];
        stream->done++;
        stream->header_done |= flight->landed[i] % FLIGHT_PIECES == 0; // piece 0 is its first there
    }
    for (int i = 0; i < count; i++) {
        int stream = flight->landed[i] / FLIGHT_PIECES;
        fill(flight, round_of(flight, stream / STREAMS), stream % STREAMS);
    }
    open_rounds(flight);
}
