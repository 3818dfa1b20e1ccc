// If this failed, a form of events would be read as another one, or the text and its binary twin
// would differ.

#include "streams.h"

static void assert_bytes(const char *path, const char *wanted, size_t count) {
    size_t bytes;
    char *data = test_read(path, &bytes);
    assert_int_equal(bytes, count);
    assert_memory_equal(data, wanted, count);
}

TEST(a_text_is_as_documented) {
    static const char wanted[] = "fringe-stream 1\n" EVERY_FORM;
    write_stream(test_path("text"), false, every_form, FORMS);
    assert_bytes(test_path("text"), wanted, sizeof wanted - 1);
    write_stream(test_path("text"), false, NULL, 0);
    assert_bytes(test_path("text"), "fringe-stream 1\n", 16);
}

TEST(a_record_is_as_documented) {
    static const uint64_t pins[2] = {0x0807060504030201, 9};
    static const Event events[] = {
        {EVENT_HYPEREDGE, 0x1122334455667788, 2, pins, true, 1.5f, ""},
        {EVENT_NO_NODE, 5, 0, NULL, false, 1, ""},
        {EVENT_SNAPSHOT, 0, 0, NULL, false, 1, "nine-long"},
    };
    static const char wanted[] = "FRNGSTRM\1\0\0\0"
                                 "\1\1\0\0\2\0\0\0\x88\x77\x66\x55\x44\x33\x22\x11\0\0\xc0\x3f"
                                 "\1\2\3\4\5\6\7\10\11\0\0\0\0\0\0\0"
                                 "\6\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"
                                 "\7\0\0\0\2\0\0\0\11\0\0\0\0\0\0\0nine-long\0\0\0\0\0\0\0";
    write_stream(test_path("binary"), true, events, 3);
    assert_bytes(test_path("binary"), wanted, sizeof wanted - 1);
}

TEST(every_form_comes_back) {
    for (int binary = 0; binary < 2; binary++) {
        write_stream(test_path("forms"), binary, every_form, FORMS);
        OWNED(EventReader) *reader = open_reader(test_path("forms"));
        for (int i = 0; i < FORMS; i++)
            assert_next(reader, &every_form[i]);
        assert_end(reader);
    }
}

static uint64_t draw(uint64_t *seed) { // xorshift
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// Any bits that are a weight.
static float draw_weight(uint64_t *seed) {
    for (;;) {
        uint32_t bits = (uint32_t)draw(seed) & 0x7fffffff;
        float weight;
        memcpy(&weight, &bits, sizeof weight);
        if (weight <= FLT_MAX)
            return weight;
    }
}

enum { RANDOM = 3000, MOST = 600 };

static Event draw_event(uint64_t *seed, uint64_t ids[MOST]) {
    Event event = {.kind = (EventKind)(1 + draw(seed) % 7), .other = ids, .weight = 1};
    if (event.kind == EVENT_SNAPSHOT) {
        snprintf(event.name, sizeof event.name, "s%.*s", (int)(draw(seed) % 63),
                 "-a.b-c.d-e.f-g.h-i.j-k.l-m.n-o.p-q.r-s.t-u.v-w.x-y.z-A.B-C.D-E.F");
        return event;
    }
    bool many = event.kind == EVENT_HYPEREDGE || event.kind == EVENT_NODE;
    event.count = event.kind == EVENT_PIN || event.kind == EVENT_NO_PIN;
    event.id = draw(seed) >> draw(seed) % 64;
    event.weighted = event.kind == EVENT_HYPEREDGE && draw(seed) % 2 == 0;
    event.weight = event.weighted ? draw_weight(seed) : 1;
    if (many)
        event.count = (int64_t)(draw(seed) % MOST) + (event.kind == EVENT_HYPEREDGE);
    for (int64_t i = 0; i < event.count; i++)
        ids[i] = draw(seed) >> draw(seed) % 64;
    return event;
}

// More than the reader's buffer holds.
static void write_random(const char *path, bool binary) {
    uint64_t seed = 42, ids[MOST + 1];
    EventWriter *writer = assert_ok(event_writer_open(path, binary, &err));
    for (int i = 0; i < RANDOM; i++) {
        Event event = draw_event(&seed, ids);
        assert_ok(event_writer_put(writer, &event, &err));
    }
    assert_ok(event_writer_close(writer, &err));
    assert_true(file_size(path) > 2 << 20);
}

TEST(twins_hold_the_same_events) {
    uint64_t seed = 42, ids[MOST + 1];
    write_random(test_path("random.txt"), false);
    write_random(test_path("random.bin"), true);
    OWNED(EventReader) *text = open_reader(test_path("random.txt"));
    OWNED(EventReader) *binary = open_reader(test_path("random.bin"));
    for (int i = 0; i < RANDOM; i++) {
        Event event = draw_event(&seed, ids);
        assert_next(text, &event);
        assert_next(binary, &event);
    }
    assert_end(text);
    assert_end(binary);
}
