// If this failed, a dataset made of a stream would have other pins, weights or an other order than
// the events say, or the file of a finished stream would be read as another dataset than its
// snapshot. The expected one is a table of all pins that could be.

#include "event_writer.h"
#include "fringe/dataset_events.h"
#include "loading.h"

enum { NODES = 20, HYPEREDGES = 15, MOST = 5 };

typedef struct Table { // what there is after the events so far
    bool node[NODES];
    bool pin[HYPEREDGES][NODES];
    float weight[HYPEREDGES];
} Table;

// Ascending ids, half of them above 2^63.
static uint64_t node_id(int64_t i) { return (uint64_t)i * 0x0c00000000000001u; }
static uint64_t hyperedge_id(int64_t h) { return (uint64_t)h * 0x1000000000000003u; }

static int64_t pins_of(const Table *table, int64_t h) {
    int64_t count = 0;
    for (int i = 0; i < NODES; i++)
        count += table->pin[h][i];
    return count;
}

static void settle(Table *table) { // the weight goes with its hyperedge
    for (int h = 0; h < HYPEREDGES; h++)
        if (pins_of(table, h) == 0)
            table->weight[h] = 1;
}

// ---- random events, applied to the table as well

static int64_t below(int64_t count) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)count);
}

typedef struct Made {
    Event event;
    uint64_t other[MOST];
} Made;

static void add_hyperedge(Made *made, Table *table) {
    int64_t h = below(HYPEREDGES);
    made->event.id = hyperedge_id(h);
    made->event.count = made->event.kind == EVENT_PIN ? 1 : 1 + below(MOST);
    made->event.weighted = made->event.kind == EVENT_HYPEREDGE && below(3) == 0;
    if (made->event.weighted)
        table->weight[h] = made->event.weight = (float)below(4) / 2;
    for (int64_t k = 0; k < made->event.count; k++) {
        int64_t i = below(NODES);
        made->other[k] = node_id(i);
        table->pin[h][i] = table->node[i] = true;
    }
}

static void add_node(Made *made, Table *table) {
    int64_t i = below(NODES);
    made->event.id = node_id(i);
    made->event.count = below(MOST);
    table->node[i] = true;
    for (int64_t k = 0; k < made->event.count; k++) {
        int64_t h = below(HYPEREDGES);
        made->other[k] = hyperedge_id(h);
        table->pin[h][i] = true;
    }
}

static void remove_some(Made *made, Table *table) {
    int64_t h = below(HYPEREDGES), i = below(NODES);
    bool node = made->event.kind == EVENT_NO_NODE;
    made->event.id = node ? node_id(i) : hyperedge_id(h);
    made->event.count = made->event.kind == EVENT_NO_PIN;
    made->other[0] = node_id(i);
    if (made->event.kind == EVENT_NO_PIN)
        table->pin[h][i] = false;
    for (int k = 0; made->event.kind == EVENT_NO_HYPEREDGE && k < NODES; k++)
        table->pin[h][k] = false;
    for (int k = 0; node && k < HYPEREDGES; k++)
        table->pin[k][i] = false;
    table->node[i] = table->node[i] && !node;
}

static void any_event(Made *made, Table *table) {
    static const EventKind kinds[] = {EVENT_HYPEREDGE, EVENT_NODE,         EVENT_PIN,
                                      EVENT_NO_PIN,    EVENT_NO_HYPEREDGE, EVENT_NO_NODE,
                                      EVENT_SNAPSHOT};
    *made = (Made){.event = {.kind = kinds[below(7)], .weight = 1}};
    switch (made->event.kind) {
    case EVENT_HYPEREDGE:
    case EVENT_PIN:
        add_hyperedge(made, table);
        break;
    case EVENT_NODE:
        add_node(made, table);
        break;
    case EVENT_SNAPSHOT:
        strcpy(made->event.name, "now");
        break;
    default:
        remove_some(made, table);
    }
    made->event.other = made->other;
    settle(table);
}

// ---- the dataset against the table

static bool from_live(Dataset *d, const LiveHypergraph *live, Error *err) {
    int32_t *order[LIVE_SIDES] = {live_order(live, SIDE_NODE), live_order(live, SIDE_HYPEREDGE)};
    bool ok = dataset_from_live(d, live, (const int32_t *const *)order, err);
    memory_free(order[SIDE_NODE]);
    memory_free(order[SIDE_HYPEREDGE]);
    return ok;
}

static void assert_weights(const Dataset *d, const Table *table) {
    bool weighted = false;
    int64_t place = 0;
    for (int h = 0; h < HYPEREDGES; h++)
        weighted = weighted || table->weight[h] != 1;
    assert_true((d->hyperedge_weight != NULL) == weighted);
    for (int h = 0; weighted && h < HYPEREDGES; h++)
        if (pins_of(table, h) > 0)
            assert_true(d->hyperedge_weight[place++] == table->weight[h]);
}

static void assert_as_table(const Dataset *d, const Table *table) {
    int64_t nodes = 0, edges = 0, hyperedges = 0;
    for (int i = 0; i < NODES; i++) {
        if (!table->node[i])
            continue;
        assert_int_equal(d->offset[nodes++], edges);
        hyperedges = 0;
        for (int h = 0; h < HYPEREDGES; h++) {
            if (table->pin[h][i])
                assert_int_equal(d->target[edges++], hyperedges);
            hyperedges += pins_of(table, h) > 0;
        }
    }
    assert_int_equal(d->nodes, nodes);
    assert_int_equal(d->hyperedges, hyperedges);
    assert_int_equal(d->edges, edges);
    assert_int_equal(d->offset[nodes], edges);
    assert_weights(d, table);
}

TEST(random_events_are_their_pins) {
    Table table = {.node = {false}};
    CLEARED(live_clear) LiveHypergraph live = {0};
    int compared = 0;
    assert_ok(live_init(&live, &err));
    live.strict = false;
    settle(&table);
    for (int e = 0; e < 5000; e++) {
        Made made;
        OWNED(Dataset) d = {0};
        LiveChange change;
        any_event(&made, &table);
        assert_ok(live_apply(&live, &made.event, &change, &err));
        if (live.pins == 0 || e % 7 != 0)
            continue;
        assert_ok(from_live(&d, &live, &err));
        assert_ok(dataset_check(&d, "stream", &err));
        assert_as_table(&d, &table);
        assert_string_equal(d.warnings.text, "");
        compared++;
    }
    assert_true(compared > 500);
}

// The same events as a text and as its binary twin, without the deletions of what is not there.
static void write_files(LiveHypergraph *live, EventWriter *const writer[2]) {
    Table table = {.node = {false}};
    for (int e = 0; e < 2000 || live->pins < 40; e++) {
        Made made;
        LiveChange change;
        any_event(&made, &table);
        bool ok = live_apply(live, &made.event, &change, &(Error){0});
        for (int w = 0; ok && w < 2; w++)
            assert_ok(event_writer_put(writer[w], &made.event, &err));
    }
}

TEST(a_finished_stream_is_its_last_snapshot) {
    static const char *const names[2] = {"text.events", "binary.events"};
    EventWriter *writer[2];
    CLEARED(live_clear) LiveHypergraph live = {0};
    OWNED(Dataset) d = {0};
    for (int w = 0; w < 2; w++) {
        writer[w] = assert_ok(event_writer_open(test_path(names[w]), w == 1, &err));
    }
    assert_ok(live_init(&live, &err));
    write_files(&live, writer);
    assert_ok(from_live(&d, &live, &err));
    const char *wanted = hashed(&d);
    for (int w = 0; w < 2; w++) {
        assert_ok(event_writer_close(writer[w], &err));
        assert_ok(load(&d, test_path(names[w]), &err));
        assert_string_equal(d.name, w == 0 ? "text" : "binary");
        assert_string_equal(hashed(&d), wanted);
    }
}

TEST(nothing_is_refused) {
    CLEARED(live_clear) LiveHypergraph live = {0};
    LiveChange change;
    OWNED(Dataset) d = {0};
    assert_ok(live_init(&live, &err));
    assert_refused(from_live(&d, &live, &err), EXIT_DATA, "there are no pins");
    assert_ok(live_apply(&live, &(Event){.kind = EVENT_NODE, .id = 7}, &change, &err));
    assert_refused(from_live(&d, &live, &err), EXIT_DATA, "there are no pins");
}
