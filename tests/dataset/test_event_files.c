// If this failed, the file of a finished stream would not be recognised, its mistakes would not be
// found by their line or byte, or data.nodes would go to the wrong nodes.

#include "bytes.h"
#include "event_writer.h"
#include "loading.h"

#include "dataset/internal.h"
#include "partition/resident.h"

#define BEGIN "fringe-stream 1\n"

// Nodes 5, 7, 9 and 40; hyperedges 1 {7, 40} and 3 {5, 7}; node 9 is in none.
static const char *const stream = BEGIN "# made by hand\n"
                                        "+h 3 w=0.5 5 7 8\n"
                                        "+v 9\n"
                                        "= middle\n"
                                        "+p 1 40\n+p 1 7\n+p 1 7\n"
                                        "-v 8\n";

static void write_text(const char *name, const char *text) {
    test_write_text(test_path(name), text);
}

static void assert_stream(const Dataset *d) {
    assert_int_equal(d->nodes, 4);
    assert_int_equal(d->hyperedges, 2);
    const int64_t offset[5] = {0, 1, 3, 3, 4};
    assert_memory_equal(d->offset, offset, sizeof offset);
    ASSERT_INTS(d->target, 1, 0, 1, 0);
    assert_true(d->hyperedge_weight[0] == 1 && d->hyperedge_weight[1] == 0.5f);
    assert_null(d->pin_role);
    assert_memory_equal(d->split, "\0\0\0\0", 4);
}

// ---- recognised

TEST(streams_are_told_by_name_or_contents) {
    static const char *const names[] = {"s.events", "s", "s.txt", "s.2026.log"};
    OWNED(Dataset) d = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_text(names[i], stream);
        assert_ok(load(&d, test_path(names[i]), &err));
        assert_stream(&d);
        assert_string_equal(d.name, "s");
        assert_non_null(strstr(d.warnings.text, "1 addition of what was there already"));
        assert_non_null(strstr(d.warnings.text, "1 node in no hyperedge"));
    }
}

TEST(other_files_stay_what_they_are) {
    static const char *const texts[][3] = {{"e.txt", "fringe-strea 1\n0 1\n", "edges"},
                                           {"short.txt", "0 1", "edges"},
                                           {"empty.txt", "", "edges"},
                                           {"p.pins", "0 1\n", "pins"},
                                           {"h.hgr", "1 2\n1 2\n", "hgr"},
                                           {"m.graph", "2 1\n2\n1\n", "metis"},
                                           {"n.npz", "PK", "npz"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(texts[i][0], texts[i][1]);
        const Format *format = assert_ok(format_find("auto", test_path(texts[i][0]), &err));
        assert_string_equal(format->name, texts[i][2]);
    }
}

// ---- refused

TEST(every_mistake_has_its_place) {
    static const struct {
        const char *text, *part;
    } mistakes[] = {
        {"", "bad.events"},
        {"0 1\n", "bad.events"},
        {BEGIN "+h 1 2\n+q 1\n", "bad.events:3: "},
        {BEGIN "+h 1 2 x\n", "bad.events:2: "},
        {BEGIN "+h 1 2\n# note\n\n-v 3\n+h 1 3\n", "bad.events:5: node 3 is deleted, but is not"},
        {BEGIN "+h 1 2\n-p 1 3", "bad.events:3: node 3 is deleted from hyperedge 1, but is not in"},
        {BEGIN "+v 1\n", "bad.events: there are no pins"},
        {BEGIN "+h 1 2\n-h 1\n", "bad.events: there are no pins"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        OWNED(Dataset) d = {0};
        write_text("bad.events", mistakes[i].text);
        assert_refused(load(&d, test_path("bad.events"), &err), EXIT_DATA, mistakes[i].part);
    }
}

TEST(a_mistake_in_a_binary_stream_has_its_byte) {
    static const uint64_t two = 2, three = 3;
    OWNED(Dataset) d = {0};
    EventWriter *writer = assert_ok(event_writer_open(test_path("bad.events"), true, &err));
    Event first = {.kind = EVENT_HYPEREDGE, .id = 1, .count = 1, .other = &two, .weight = 1};
    Event second = {.kind = EVENT_NO_PIN, .id = 1, .count = 1, .other = &three, .weight = 1};
    assert_ok(event_writer_put(writer, &first, &err));
    assert_ok(event_writer_put(writer, &second, &err));
    assert_ok(event_writer_close(writer, &err));
    // 12 bytes of magic and version, 16 of the first record and 8 of its id
    assert_refused(load(&d, test_path("bad.events"), &err), EXIT_DATA,
                   "bad.events: byte 36: node 3 is deleted from hyperedge 1");
    size_t bytes;
    char *whole = test_read(test_path("bad.events"), &bytes);
    test_write(test_path("cut.events"), whole, bytes - 1);
    assert_refused(load(&d, test_path("cut.events"), &err), EXIT_DATA, "cut.events: byte 36: ");
}

// As the sentence about such an event says.
TEST(deletions_are_skipped_if_that_is_said) {
    const char *settings[2] = {NULL, "stream.strict=false"};
    OWNED(Dataset) d = {0};
    Config config;
    write_text("skip.events", BEGIN "+h 1 2 3\n-v 4\n-v 2\n");
    const char *path = test_text("data.path=%s", test_path("skip.events"));
    settings[0] = path;
    assert_ok(config_load(&config, NULL, settings, 1, &err));
    const char *one = source_hashed(&config);
    assert_refused(load_config(&d, &config, &err), EXIT_DATA, "stream.strict=false skips");
    assert_ok(config_load(&config, NULL, settings, 2, &err));
    assert_string_not_equal(one, source_hashed(&config));
    assert_ok(load_config(&d, &config, &err));
    assert_int_equal(d.nodes, 1);
    assert_non_null(strstr(d.warnings.text, "1 deletion of what was not there, skipped"));
}

// ---- data.nodes

static Config beside(const char *name, const Array *array, int count) {
    Config config = config_at(test_path(name));
    snprintf(config.data.nodes, sizeof config.data.nodes, "%s",
             write_arrays(array, count, "nodes.npz"));
    return config;
}

TEST(nodes_are_joined_by_id) {
    Array a[3];
    OWNED(Dataset) d = {0};
    write_text("s.events", stream);
    SET_INTS(&a[0], "ids", 40, 6, 5, 9, 7);
    SET_FLOAT_ROWS(&a[1], "x", 1, 1, 2, 3, 4, 5);
    SET_INTS(&a[2], "train_ids", 9, 40);
    Config config = beside("s.events", a, 3);
    assert_ok(load_config(&d, &config, &err));
    assert_memory_equal(d.x, ((float[]){3, 5, 4, 1}), sizeof(float[4]));
    assert_memory_equal(d.split, "\0\0\1\1", 4);
    assert_non_null(strstr(d.warnings.text, "1 row in nodes.npz of a node that is not in the"));
}

TEST(nodes_without_ids_ascend) {
    Array a[2];
    OWNED(Dataset) d = {0};
    write_text("s.events", stream);
    SET_FLOAT_ROWS(&a[0], "x", 1, 3, 5, 4, 1);
    SET_INTS(&a[1], "train_idx", 2, 3);
    Config config = beside("s.events", a, 2);
    assert_ok(load_config(&d, &config, &err));
    assert_memory_equal(d.x, ((float[]){3, 5, 4, 1}), sizeof(float[4]));
    assert_memory_equal(d.split, "\3\3\1\1", 4);
    SET_FLOAT_ROWS(&a[0], "x", 1, 3, 5, 4, 1, 1);
    config = beside("s.events", a, 2);
    assert_refused(load_config(&d, &config, &err), EXIT_DATA,
                   "nodes.npz: features have 5 rows but there are 4 nodes");
}

TEST(other_keys_replace_what_is_joined) {
    const float x[4] = {9, 8, 7, 6};
    Array a[3], splits[3];
    OWNED(Dataset) d = {0};
    write_text("s.events", stream);
    SET_INTS(&a[0], "ids", 5, 7, 9, 40);
    SET_FLOAT_ROWS(&a[1], "x", 1, 1, 2, 3, 4);
    SET_INTS(&a[2], "train_ids", 5);
    Config config = beside("s.events", a, 3);
    SET_INTS(&splits[0], "train_idx", 3);
    SET_INTS(&splits[1], "val_idx", 2);
    SET_INTS(&splits[2], "test_idx", 1);
    snprintf(config.data.splits, sizeof config.data.splits, "%s",
             write_arrays(splits, 3, "splits.npz"));
    assert_ok(npy_write(test_path("x.npy"), "<f4", x, 4, 2, (int64_t[]){4, 1}, &err));
    snprintf(config.data.features, sizeof config.data.features, "%s", test_path("x.npy"));
    assert_ok(load_config(&d, &config, &err));
    assert_memory_equal(d.x, x, sizeof x);
    assert_memory_equal(d.split, "\0\3\2\1", 4);
}

TEST(ids_of_formats_without_ids_are_nodes) {
    Array a[2];
    OWNED(Dataset) d = {0};
    write_text("g.hgr", "1 2\n1 2\n");
    SET_INTS(&a[0], "ids", 1, 0);
    SET_FLOAT_ROWS(&a[1], "x", 1, 1, 2);
    Config config = beside("g.hgr", a, 2);
    assert_ok(load_config(&d, &config, &err));
    assert_true(d.x[0] == 2 && d.x[1] == 1);
}

// ---- the plan

static void write_large(const char *name) {
    enum { HYPEREDGES = 60000, SIZE = 5, NODES = 40000 };
    EventWriter *writer = assert_ok(event_writer_open(test_path(name), false, &err));
    for (int h = 0; h < HYPEREDGES; h++) {
        uint64_t pin[SIZE];
        for (int k = 0; k < SIZE; k++)
            pin[k] = (uint64_t)(h * 7 + k * k * 1009) % NODES;
        Event event = {EVENT_HYPEREDGE, (uint64_t)h, SIZE, pin, false, 1, ""};
        assert_ok(event_writer_put(writer, &event, &err));
    }
    assert_ok(event_writer_close(writer, &err));
}

TEST(the_memory_is_foreseen) {
#ifdef __SANITIZE_ADDRESS__
    skip(); // its own memory is resident, too
#endif
    OWNED(Dataset) d = {0};
    MemoryForecast forecast = {0};
    Config config = config_at(test_path("large.events"));
    write_large("large.events");
    dataset_forecast(&forecast, &config);
    double before = begin();
    assert_ok(load_config(&d, &config, &err));
    assert_foreseen("a stream", (double)forecast_total(&forecast), status("VmHWM:") - before,
                    3 /* lists that grow may leave many blocks behind, but mostly do not */);
}
