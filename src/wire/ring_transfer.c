// Rounds and pieces (wire.h).

#include "internal.h"

static int slots_of_message(const RingForm *form, int flow) { return flow * form->in_flight; }

static int in_flight_of(const RingForm *form, int size) {
    return size - 1 < form->rounds_in_flight ? size - 1 : form->rounds_in_flight;
}

int ring_slots(const RingForm *form, int size) {
    return in_flight_of(form, size) * slots_of_message(form, FLOWS);
}

void ring_transfer_alloc(RingTransfer *ring, const Allocator *allocator, int size, RingForm form) {
    assert(form.piece > 0 && form.piece < INT32_MAX && form.tags > 0);
    form.rounds_in_flight = in_flight_of(&form, size);
    *ring = (RingTransfer){.rounds = size - 1, .form = form};
    ring->transfer = alloc_host(allocator, memory_product(ring->rounds, sizeof *ring->transfer),
                                "messages in flight");
}

void ring_transfer_open(RingTransfer *ring, Endpoint *endpoint, int slot) {
    const Comm *comm = &endpoint->comm;
    assert(slot + ring_slots(&ring->form, comm->size) <= endpoint->slots);
    ring->endpoint = endpoint;
    ring->slot = slot;
    for (int g = 0; g < ring->rounds; g++) {
        ring->transfer[g][INCOMING].peer = ring_sender(comm->rank, g, comm->size);
        ring->transfer[g][OUTGOING].peer = ring_reader(comm->rank, g, comm->size);
    }
    ring->posted = ring->rounds; // nothing is in flight
}

// --- pieces

static int64_t pieces_of(const RingTransfer *ring, int64_t bytes) {
    int64_t payload = (bytes + ring->form.piece - 1) / ring->form.piece;
    return ring->form.headers + payload;
}

static int slot_of(const RingTransfer *ring, int round, int flow, int64_t piece) {
    int message = round % ring->form.rounds_in_flight * slots_of_message(&ring->form, FLOWS) +
                  slots_of_message(&ring->form, flow);
    return ring->slot + message + (int)(piece % ring->form.in_flight);
}

static void post_piece(RingTransfer *ring, int round, int flow) {
    Transfer *transfer = &ring->transfer[round][flow];
    Endpoint *endpoint = ring->endpoint;
    int64_t piece = transfer->posted++, begin = (piece - ring->form.headers) * ring->form.piece;
    void *at = &transfer->header;
    int64_t bytes = sizeof transfer->header;
    if (begin >= 0) {
        int64_t left = transfer->bytes - begin;
        at = transfer->payload + begin;
        bytes = left < ring->form.piece ? left : ring->form.piece;
    }
    int tag = ring->form.tag + (int)(piece % ring->form.tags);
    int slot = slot_of(ring, round, flow, piece);
    endpoint->busy[slot] = true;
    if (flow == INCOMING) {
        endpoint->transport->receive(endpoint, slot, at, (int)bytes, transfer->peer, tag);
        ring->bytes_received += bytes;
    } else {
        endpoint->transport->send(endpoint, slot, at, (int)bytes, transfer->peer, tag);
        ring->bytes_sent += bytes;
    }
}

// Posts pieces as long as the slot of the next one is free.
static void fill(RingTransfer *ring, int round, int flow) {
    Transfer *transfer = &ring->transfer[round][flow];
    while (transfer->posted < transfer->pieces &&
           !ring->endpoint->busy[slot_of(ring, round, flow, transfer->posted)])
        post_piece(ring, round, flow);
}

static bool transfer_over(const Transfer *transfer) { return transfer->done == transfer->pieces; }

static bool round_over(const RingTransfer *ring, int round) {
    return transfer_over(&ring->transfer[round][INCOMING]) &&
           transfer_over(&ring->transfer[round][OUTGOING]);
}

// --- rounds

// Round g takes the slots of round g - rounds_in_flight, so it waits for it. Receives go before
// sends.
static void open_rounds(RingTransfer *ring) {
    while (ring->posted < ring->rounds &&
           (ring->posted < ring->form.rounds_in_flight ||
            round_over(ring, ring->posted - ring->form.rounds_in_flight))) {
        int round = ring->posted++;
        fill(ring, round, INCOMING);
        fill(ring, round, OUTGOING);
        ring->messages += ring->transfer[round][OUTGOING].pieces > 0;
    }
}

bool ring_transfer_over(const RingTransfer *ring) {
    if (ring->posted < ring->rounds)
        return false;
    for (int g = 0; g < ring->rounds; g++)
        if (!round_over(ring, g))
            return false;
    return true;
}

// How many pieces a message has, as far as this end knows.
static int64_t known_pieces(const RingTransfer *ring, int flow, const Transfer *transfer) {
    if (transfer->varies)
        return flow == INCOMING ? 1 : pieces_of(ring, transfer->bytes);
    return transfer->bytes == 0 ? 0 : pieces_of(ring, transfer->bytes);
}

void ring_transfer_post(RingTransfer *ring) {
    assert(ring_transfer_over(ring));
    for (int g = 0; g < ring->rounds; g++)
        for (int flow = 0; flow < FLOWS; flow++) {
            Transfer *transfer = &ring->transfer[g][flow];
            transfer->posted = transfer->done = 0;
            transfer->header_done = false;
            transfer->pieces = known_pieces(ring, flow, transfer);
        }
    ring->posted = 0;
    open_rounds(ring);
}

// --- progress

// The length of a message that varies is used only if all else that its header says is right.
static void learn_length(const RingTransfer *ring, Transfer *transfer) {
    Error err = {0};
    CHECK(message_check_varying(&transfer->header, &transfer->expected, transfer->whole, &err),
          EXIT_INTEGRITY, "%s", err.text);
    transfer->bytes = (int64_t)transfer->header.bytes;
    transfer->pieces = pieces_of(ring, transfer->bytes);
}

// The round in flight that uses a place of those in flight.
static int round_of(const RingTransfer *ring, int place) {
    int last = ring->posted - 1;
    return last - (last - place + ring->form.rounds_in_flight) % ring->form.rounds_in_flight;
}

static void note_piece(RingTransfer *ring, int round, int flow, bool header) {
    Transfer *transfer = &ring->transfer[round][flow];
    transfer->done++;
    if (header && !transfer->header_done) {
        transfer->header_done = true;
        if (transfer->varies && flow == INCOMING)
            learn_length(ring, transfer);
    }
}

// With a header its check, which comes before the message is used, finds a wrong length.
static void check_length(const RingTransfer *ring, const Transfer *transfer, int bytes) {
    CHECK(bytes == transfer->bytes, EXIT_INTEGRITY,
          "the message from rank %d to rank %d is %s than its %ld bytes; the ranks are not at the "
          "same step, or the network or the memory of one of the two is damaged",
          transfer->peer, ring->endpoint->comm.rank, bytes == PIECE_CUT ? "longer" : "shorter",
          transfer->bytes);
}

// A place of a piece among the slots of the ring: round, flow, and whether it can be the header's.
typedef struct Place {
    int round, flow;
    bool first;
} Place;

static Place place_of(const RingTransfer *ring, int slot) {
    int message = slot / ring->form.in_flight;
    return (Place){round_of(ring, message / FLOWS), message % FLOWS,
                   slot % ring->form.in_flight == 0};
}

void ring_transfer_progress(RingTransfer *ring) {
    Endpoint *endpoint = ring->endpoint;
    if (ring->form.rounds_in_flight == 0)
        return;
    int count =
        endpoint->transport->test(endpoint, ring->slot, ring_slots(&ring->form, ring->rounds + 1));
    for (int i = 0; i < count; i++) {
        Place place = place_of(ring, endpoint->done[i]);
        if (place.flow == INCOMING && !ring->form.headers)
            check_length(ring, &ring->transfer[place.round][INCOMING], endpoint->bytes[i]);
        endpoint->busy[ring->slot + endpoint->done[i]] = false;
        note_piece(ring, place.round, place.flow, ring->form.headers && place.first);
    }
    for (int i = 0; i < count; i++) {
        Place place = place_of(ring, endpoint->done[i]);
        fill(ring, place.round, place.flow);
    }
    if (count > 0)
        open_rounds(ring);
}
