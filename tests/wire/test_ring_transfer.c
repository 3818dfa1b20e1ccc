// ranks: 1 3
// If this failed, bytes of a message between ranks would be lost, repeated or put in a wrong place,
// for some length, number of rounds or pieces in flight, or number of tags.
//
// With a word as its argument the program gets into that trouble instead: test_ring_transfer.sh
// runs it and looks at what the job says and how it ends.
#include "support.h"

#include "fringe/wire.h"

enum { PIECE = 100, ROOM = 7 * PIECE, TURNS = 7, RINGS = 2, UNTOUCHED = 0xee };
static const int64_t lengths[] = {0, 1, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE, 6 * PIECE + 1};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

typedef enum Way { ALONE, HEADERS, VARYING, WAYS } Way; // a payload alone, or with a header

// Two transfers at once, on one endpoint.
typedef struct Scene {
    Way way;
    Endpoint endpoint;
    RingTransfer ring[RINGS];
    Taken *taken;                     // the blocks of both
    unsigned char *room[RINGS];       // [rounds, FLOWS, ROOM]
    int64_t messages, sent, received; // by all turns so far, both transfers together
} Scene;

static RingForm form_of(const RingForm *form, Way way, int ring) {
    RingForm all = *form;
    all.headers = way != ALONE;
    all.piece = way == ALONE ? ROOM : PIECE;
    all.tag = ring * form->tags;
    return all;
}

static void scene_init(Scene *scene, const RingForm *form, Way way) {
    int size = test_comm.size, slots = ring_slots(form, size);
    Allocator allocator = {.taken = &scene->taken};
    *scene = (Scene){.way = way};
    endpoint_alloc(&scene->endpoint, &allocator, RINGS * slots);
    endpoint_open(&scene->endpoint, &test_comm);
    for (int r = 0; r < RINGS; r++) {
        ring_transfer_alloc(&scene->ring[r], &allocator, size, form_of(form, way, r));
        ring_transfer_open(&scene->ring[r], &scene->endpoint, r * slots);
        scene->room[r] = TEST_ARRAY(unsigned char, scene->ring[r].rounds *FLOWS *ROOM);
    }
}

static void scene_clear(Scene *scene) {
    endpoint_clear(&scene->endpoint);
    taken_free(&scene->taken);
}

// --- messages by arithmetic: who sends what to whom in which turn

static int64_t length_of(const MessageHeader *header) {
    return lengths[(header->source * 3 + header->target + header->layer * 2 + header->epoch) %
                   LENGTHS];
}

static unsigned char byte_of(const MessageHeader *header, int64_t i) {
    uint32_t draw = header->source * 31 + header->target * 17 + header->layer * 5 + header->epoch;
    return (unsigned char)(draw * 7 + (uint32_t)i * 13 + (uint32_t)i / 251);
}

static unsigned char *room_of(const Scene *scene, int ring, int round, int flow) {
    return scene->room[ring] + (round * FLOWS + flow) * ROOM;
}

static MessageHeader header_of(const Transfer *transfer, int ring, uint32_t turn, int flow) {
    uint32_t rank = (uint32_t)test_comm.rank, peer = (uint32_t)transfer->peer;
    MessageHeader header = {.layer = (uint8_t)ring,
                            .epoch = turn,
                            .source = flow == OUTGOING ? rank : peer,
                            .target = flow == OUTGOING ? peer : rank};
    header.bytes = (uint64_t)length_of(&header);
    return header;
}

// What it takes in all: a message of no bytes is none, but for its header where lengths vary.
static int64_t bytes_of(const Scene *scene, int64_t payload) {
    bool header = scene->way == VARYING || (scene->way == HEADERS && payload > 0);
    return payload + (header ? MESSAGE_HEADER_BYTES : 0);
}

static void set_incoming(Scene *scene, Transfer *in) {
    int64_t bytes = (int64_t)in->expected.bytes;
    in->varies = scene->way == VARYING;
    in->bytes = in->varies ? 0 : bytes;
    if (in->varies)
        in->expected.bytes = (uint64_t)lengths[LENGTHS - 1]; // at most
    memset(in->payload, UNTOUCHED, ROOM);
    scene->received += bytes_of(scene, bytes);
}

static void set_outgoing(Scene *scene, Transfer *out) {
    out->varies = scene->way == VARYING;
    out->bytes = (int64_t)out->header.bytes;
    for (int64_t i = 0; i < out->bytes; i++)
        out->payload[i] = byte_of(&out->header, i);
    out->header.payload = message_payload_checksum(out->payload, (size_t)out->bytes, NULL);
    message_seal(&out->header);
    scene->sent += bytes_of(scene, out->bytes);
    scene->messages += bytes_of(scene, out->bytes) > 0;
}

static void set_messages_of(Scene *scene, int r, uint32_t turn) {
    for (int g = 0; g < scene->ring[r].rounds; g++) {
        Transfer *in = &scene->ring[r].transfer[g][INCOMING];
        Transfer *out = &scene->ring[r].transfer[g][OUTGOING];
        in->payload = room_of(scene, r, g, INCOMING);
        out->payload = room_of(scene, r, g, OUTGOING);
        in->expected = header_of(in, r, turn, INCOMING);
        out->header = header_of(out, r, turn, OUTGOING);
        set_incoming(scene, in);
        set_outgoing(scene, out);
    }
}

static void set_messages(Scene *scene, uint32_t turn) {
    for (int r = 0; r < RINGS; r++)
        set_messages_of(scene, r, turn);
}

// --- what arrived

static bool rings_are_over(void *context) {
    Scene *scene = context;
    bool over = true;
    for (int r = 0; r < RINGS; r++) {
        ring_transfer_progress(&scene->ring[r]);
        over = over && ring_transfer_over(&scene->ring[r]);
    }
    return over;
}

static void exchange(Scene *scene) {
    for (int r = 0; r < RINGS; r++)
        ring_transfer_post(&scene->ring[r]);
    comm_wait_until(&test_comm, rings_are_over, scene, "messages of a test");
}

static void check_header(const Transfer *in, const MessageHeader *sent) {
    uint64_t checksum = message_payload_checksum(in->payload, (size_t)sent->bytes, NULL);
    assert_ok(message_check(&in->header, sent, &checksum, &err));
}

static void check_messages(const Scene *scene, int r, uint32_t turn) {
    for (int g = 0; g < scene->ring[r].rounds; g++) {
        const Transfer *in = &scene->ring[r].transfer[g][INCOMING];
        MessageHeader sent = header_of(in, r, turn, INCOMING);
        assert_int_equal(in->bytes, sent.bytes);
        for (int64_t i = 0; i < ROOM; i++)
            assert_int_equal(in->payload[i], i < in->bytes ? byte_of(&sent, i) : UNTOUCHED);
        if (in->pieces > 0 && scene->way != ALONE)
            check_header(in, &sent);
    }
}

static void check_count(const Scene *scene) {
    int64_t messages = 0, sent = 0, received = 0;
    for (int r = 0; r < RINGS; r++) {
        messages += scene->ring[r].messages;
        sent += scene->ring[r].bytes_sent;
        received += scene->ring[r].bytes_received;
    }
    assert_int_equal(messages, scene->messages);
    assert_int_equal(sent, scene->sent);
    assert_int_equal(received, scene->received);
}

static void try_form(const RingForm *form, Way way) {
    CLEARED(scene_clear) Scene scene = {0};
    scene_init(&scene, form, way);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        set_messages(&scene, turn);
        exchange(&scene);
        for (int r = 0; r < RINGS; r++)
            check_messages(&scene, r, turn);
    }
    check_count(&scene);
}

TEST(messages_of_every_length_arrive) {
    static const int windows[] = {1, 5}, in_flight[] = {1, 3}, tags[] = {1, 2, 1000};
    for (int w = 0; w < 2; w++)
        for (int f = 0; f < 2; f++)
            for (int t = 0; t < 3; t++)
                for (Way way = ALONE; way < WAYS; way++)
                    try_form(&(RingForm){.rounds_in_flight = windows[w],
                                         .in_flight = in_flight[f],
                                         .tags = tags[t]},
                             way);
}

// --- kinds of trouble that one rank makes

static void be_too_long(Transfer *out) {
    out->bytes = lengths[LENGTHS - 1] + 1;
    out->header.bytes = (uint64_t)out->bytes;
    message_seal(&out->header);
}

static void be_an_epoch_behind(Transfer *out) {
    out->header.epoch--;
    message_seal(&out->header);
}

static void send_more(Transfer *out) { out->bytes++; }

static void send_less(Transfer *out) { out->bytes--; }

static int get_into(const char *what) {
    enum { GUILTY = 1, TURN = 1 }; // a turn in which its first message is not empty
    static const struct {
        const char *name;
        Way way;
        void (*make)(Transfer *out);
    } troubles[] = {{"long", VARYING, be_too_long},
                    {"behind", VARYING, be_an_epoch_behind},
                    {"more", ALONE, send_more},
                    {"less", ALONE, send_less}};
    size_t i = 0;
    while (strcmp(troubles[i].name, what) != 0)
        CHECK(++i < sizeof troubles / sizeof troubles[0], EXIT_USAGE, "no trouble %s", what);
    Scene scene;
    comm_set_timeout(&test_comm, 2.0);
    scene_init(&scene, &(RingForm){.rounds_in_flight = 5, .in_flight = 3, .tags = 10},
               troubles[i].way);
    set_messages(&scene, TURN);
    if (test_comm.rank == GUILTY)
        troubles[i].make(&scene.ring[0].transfer[0][OUTGOING]);
    exchange(&scene);
    scene_clear(&scene);
    comm_stop(&test_comm);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return test_main(&argc, &argv);
    comm_start(&test_comm, &argc, &argv);
    return get_into(argv[1]);
}
