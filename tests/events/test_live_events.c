// If this fails, the hypergraph that a stream makes has other nodes, hyperedges or pins than its
// events say.
#include "../srp/streams.h"

// What every answer is compared with: a table of all possible pins.
enum { IDS = 40 };
static const uint64_t stride = 0x123456789abcdefu; // random_event: ids of hyperedges

typedef struct Table {
    bool node[IDS], hyperedge[IDS], pin[IDS][IDS]; // [node][hyperedge]
    float weight[IDS];
    int64_t repeated, skipped, largest;
} Table;

static int64_t row(uint64_t id) { return (int64_t)id; }
static int64_t column(uint64_t id) {
    for (int64_t h = 0; h < IDS; h++)
        if ((uint64_t)h * stride == id)
            return h;
    fail();
    return -1;
}

static int64_t arity(const Table *table, int64_t h) {
    int64_t count = 0;
    for (int64_t v = 0; v < IDS; v++)
        count += table->pin[v][h];
    return count;
}

static void add_pin(Table *table, int64_t v, int64_t h) {
    if (!table->hyperedge[h])
        table->weight[h] = 1;
    table->repeated += table->pin[v][h];
    table->node[v] = table->hyperedge[h] = table->pin[v][h] = true;
    table->largest = arity(table, h) > table->largest ? arity(table, h) : table->largest;
}

static void take_pin(Table *table, int64_t v, int64_t h) {
    table->pin[v][h] = false;
    table->hyperedge[h] = arity(table, h) > 0;
}

static void apply(Table *table, const Event *event) {
    bool of_node = event->kind == EVENT_NODE || event->kind == EVENT_NO_NODE;
    int64_t id = of_node ? row(event->id) : column(event->id);
    if (event->kind == EVENT_NODE) {
        table->repeated += table->node[id] && event->count == 0;
        table->node[id] = true;
        for (int64_t i = 0; i < event->count; i++)
            add_pin(table, id, column(event->other[i]));
    } else if (event->kind == EVENT_HYPEREDGE || event->kind == EVENT_PIN) {
        for (int64_t i = 0; i < event->count; i++)
            add_pin(table, row(event->other[i]), id);
        if (event->weighted)
            table->weight[id] = event->weight;
    } else if (event->kind == EVENT_NO_PIN) {
        int64_t v = row(event->other[0]);
        table->skipped += !table->pin[v][id];
        if (table->pin[v][id])
            take_pin(table, v, id);
    } else if (event->kind == EVENT_NO_HYPEREDGE) {
        table->skipped += !table->hyperedge[id];
        for (int64_t v = 0; v < IDS; v++)
            table->pin[v][id] = false;
        table->hyperedge[id] = false;
    } else {
        table->skipped += !table->node[id];
        for (int64_t h = 0; h < IDS; h++)
            if (table->pin[id][h])
                take_pin(table, id, h);
        table->node[id] = false;
    }
}

static void assert_is(LiveHypergraph *live, const Table *table) {
    int64_t nodes = 0, hyperedges = 0, pins = 0;
    for (int64_t v = 0; v < IDS; v++) {
        int32_t slot = live_find(live, SIDE_NODE, (uint64_t)v);
        int64_t listed = 0;
        assert_int_equal(slot >= 0, table->node[v]);
        nodes += table->node[v];
        for (int32_t i = 0; slot >= 0 && i < live->side[SIDE_NODE].item[slot].count; i++) {
            int32_t h = live_pins(live, SIDE_NODE, slot)[i];
            listed++;
            assert_true(table->pin[v][column(live->side[SIDE_HYPEREDGE].item[h].id)]);
        }
        for (int64_t h = 0; h < IDS; h++)
            listed -= table->pin[v][h];
        assert_int_equal(listed, 0);
    }
    for (int64_t h = 0; h < IDS; h++) {
        int32_t slot = live_find(live, SIDE_HYPEREDGE, (uint64_t)h * stride);
        assert_int_equal(slot >= 0, table->hyperedge[h]);
        hyperedges += table->hyperedge[h];
        pins += arity(table, h);
        if (slot < 0)
            continue;
        assert_int_equal(live->side[SIDE_HYPEREDGE].item[slot].count, arity(table, h));
        assert_true(live->side[SIDE_HYPEREDGE].item[slot].weight == table->weight[h]);
        for (int32_t i = 0; i < live->side[SIDE_HYPEREDGE].item[slot].count; i++) {
            int32_t v = live_pins(live, SIDE_HYPEREDGE, slot)[i];
            assert_true(table->pin[row(live->side[SIDE_NODE].item[v].id)][h]);
        }
    }
    assert_int_equal(live->side[SIDE_NODE].count, nodes);
    assert_int_equal(live->side[SIDE_HYPEREDGE].count, hyperedges);
    assert_int_equal(live->pins, pins);
    assert_int_equal(live->repeated, table->repeated);
    assert_int_equal(live->skipped, table->skipped);
    assert_int_equal(live->largest, table->largest);
}

static void live_made(LiveHypergraph *live, bool strict) {
    assert_true(live_init(live, &(Error){0}));
    live->strict = strict;
}

TEST(events_do_what_they_say) {
    CLEARED(live_clear) LiveHypergraph live = {0};
    Table table = {0};
    Dice dice = {3};
    RandomEvent event;
    LiveChange change;
    live_made(&live, false);
    for (int n = 0; n < 30000; n++) {
        random_event(&event, &dice, IDS);
        assert_true(live_apply(&live, &event.event, &change, &(Error){0}));
        apply(&table, &event.event);
        if (n % 20 == 0)
            assert_is(&live, &table);
    }
    assert_true(table.skipped > 1000 && table.repeated > 1000);
}

// A deletion of what is not there is refused, and nothing has changed then.
TEST(wrong_events_change_nothing) {
    CLEARED(live_clear) LiveHypergraph live = {0};
    Table table = {0};
    Dice dice = {4};
    RandomEvent event;
    LiveChange change;
    int refused = 0;
    live_made(&live, true);
    for (int n = 0; n < 3000; n++) {
        Error err = {0};
        random_event(&event, &dice, IDS);
        if (live_apply(&live, &event.event, &change, &err)) {
            apply(&table, &event.event);
        } else {
            refused++;
            assert_int_equal(err.code, EXIT_DATA);
            assert_non_null(strstr(err.text, "stream.strict=false"));
        }
        assert_is(&live, &table);
    }
    assert_true(refused > 100 && table.skipped == 0);
    Event empty = {.kind = EVENT_HYPEREDGE, .id = 77, .weighted = true, .weight = 2};
    assert_refused(live_apply(&live, &empty, &change, &err), EXIT_DATA,
                   "hyperedge 77 is new and has no pins");
    assert_is(&live, &table);
}

TEST(a_weight_alone_changes_the_weight) {
    CLEARED(live_clear) LiveHypergraph live = {0};
    LiveChange change;
    const uint64_t pin[2] = {1, 2};
    live_made(&live, true);
    Event make = {EVENT_HYPEREDGE, 5, 2, pin, false, 1, ""};
    Event weigh = {EVENT_HYPEREDGE, 5, 0, NULL, true, 2.5f, ""};
    assert_ok(live_apply(&live, &make, &change, &err));
    assert_ok(live_apply(&live, &weigh, &change, &err));
    assert_true(live.side[SIDE_HYPEREDGE].item[change.subject].weight == 2.5f);
    assert_int_equal(change.count, 0);
    assert_int_equal(live.pins, 2);
    assert_int_equal(live.largest, 2);
}

// A restored hypergraph lists the same pins in the same order, and uses the same free slots.
TEST(a_file_restores_everything) {
    CLEARED(live_clear) LiveHypergraph live = {0}, again = {0};
    Dice dice = {5};
    RandomEvent event;
    LiveChange change, other;
    live_made(&live, false);
    for (int n = 0; n < 2000; n++) {
        random_event(&event, &dice, IDS);
        assert_ok(live_apply(&live, &event.event, &change, &err));
    }
    test_folder();
    assert_ok(live_write(&live, test_path("live"), &err));
    live_made(&again, false);
    assert_ok(live_read(&again, test_path("live"), &err));
    for (int n = 0; n < 2000; n++) {
        random_event(&event, &dice, IDS);
        assert_ok(live_apply(&live, &event.event, &change, &err));
        assert_ok(live_apply(&again, &event.event, &other, &err));
        assert_int_equal(change.subject, other.subject);
        assert_int_equal(change.count, other.count);
        assert_memory_equal(change.other, other.other, (size_t)change.count * sizeof(int32_t));
    }
    assert_int_equal(live.repeated, again.repeated);
    assert_int_equal(live.largest, again.largest);
}

TEST(ids_are_any_64_bits) {
    enum { MANY = 100000 };
    CLEARED(live_clear) LiveHypergraph live = {0};
    LiveChange change;
    Dice dice = {6};
    live_made(&live, true);
    uint64_t *id = malloc(MANY * sizeof *id);
    for (int i = 0; i < MANY; i++) {
        id[i] = i == 0       ? 0
                : i == 1     ? UINT64_MAX
                : i % 2 == 0 ? (uint64_t)i << 40
                             : dice_next(&dice);
        Event event = {EVENT_NODE, id[i], 0, NULL, false, 1, ""};
        assert_true(live_apply(&live, &event, &change, &(Error){0}));
        assert_int_equal(change.subject, i);
    }
    int32_t *order = live_order(&live, SIDE_NODE);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(live_find(&live, SIDE_NODE, id[i]), i);
        assert_true(i == 0 || live.side[SIDE_NODE].item[order[i - 1]].id <
                                  live.side[SIDE_NODE].item[order[i]].id);
    }
    assert_int_equal(live_find(&live, SIDE_NODE, 12345), -1);
    assert_int_equal(live_find(&live, SIDE_HYPEREDGE, 0), -1);
    memory_free(order);
    free(id);
}
