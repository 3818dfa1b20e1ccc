// If this fails, a dataset that is replayed as a stream has other pins than it has itself.
#include "../srp/streams.h"
#include "fringe/dataset_events.h"
#include "hashes.h"

typedef struct Taken {
    LiveHypergraph live;
    int64_t events, stop;
    EventKind last;
} Taken;

static bool take(void *context, const Event *event, Error *err) {
    Taken *taken = context;
    LiveChange change;
    taken->last = event->kind;
    if (++taken->events == taken->stop)
        return error_set(err, EXIT_DATA, "enough");
    return live_apply(&taken->live, event, &change, err);
}

static Taken replayed(const Dataset *dataset, const char *order) {
    Taken taken = {0};
    assert_ok(live_init(&taken.live, &err));
    assert_ok(dataset_replay(dataset, order, take, &taken, &err));
    assert_int_equal(taken.live.repeated, 0);
    return taken;
}

// The hypergraph that it makes is the dataset: the same hash.
TEST(every_order_makes_the_same_hypergraph) {
    OWNED(Dataset) dataset = {0};
    assert_ok(dataset_generate(&dataset, "hyper-planted:nodes=300,hyperedges=200", 1, &err));
    dataset.hyperedge_weight = ALLOC(float, dataset.hyperedges, "test");
    for (int64_t h = 0; h < dataset.hyperedges; h++)
        dataset.hyperedge_weight[h] = (float)(h % 3) / 2;
    dataset.features = dataset.classes = 0;
    for (int i = 0; i < replay_family.count; i++) {
        Taken taken = replayed(&dataset, family_word(&replay_family, i));
        FREED int32_t *node = live_order(&taken.live, SIDE_NODE);
        FREED int32_t *hyperedge = live_order(&taken.live, SIDE_HYPEREDGE);
        OWNED(Dataset) again = {0};
        const int32_t *const order[] = {node, hyperedge};
        assert_int_equal(taken.live.side[SIDE_NODE].count, dataset.nodes);
        assert_ok(dataset_from_live(&again, &taken.live, order, &err));
        memory_free(again.split);
        again.split = ALLOC(uint8_t, again.nodes, "split");
        memcpy(again.split, dataset.split, (size_t)again.nodes);
        const char *other = hashed(&again);
        Dataset bare = dataset;
        bare.x = NULL;
        bare.label = NULL;
        assert_string_equal(hashed(&bare), other);
        live_clear(&taken.live);
    }
}

// Hyperedge v of a graph is v and all that read its row; connectivity counts the rows sent.
TEST(a_graph_is_its_neighbourhoods) {
    static int64_t offset[] = {0, 3, 3, 4, 6};
    static int32_t target[] = {1, 2, 2, 2, 0, 1}; // an edge twice, a loop at 2
    Dataset graph = {.nodes = 4, .edges = 6, .offset = offset, .target = target};
    static const bool pin[4][4] = {
        {1, 1, 1, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {1, 1, 0, 1}}; // [hyperedge][node]
    for (int i = 0; i < replay_family.count; i++) {
        Taken taken = replayed(&graph, family_word(&replay_family, i));
        for (uint64_t h = 0; h < 4; h++) {
            int32_t slot = live_find(&taken.live, SIDE_HYPEREDGE, h);
            bool found[4] = {false};
            for (int32_t k = 0; k < taken.live.side[SIDE_HYPEREDGE].item[slot].count; k++) {
                int32_t v = live_pins(&taken.live, SIDE_HYPEREDGE, slot)[k];
                found[taken.live.side[SIDE_NODE].item[v].id] = true;
            }
            assert_memory_equal(found, pin[h], sizeof found);
        }
        live_clear(&taken.live);
    }
}

TEST(orders_are_what_their_names_say) {
    static int64_t offset[] = {0, 1, 3, 3};
    static int32_t target[] = {1, 0, 1}; // node 0 in hyperedge 1, node 1 in both, node 2 in none
    Dataset d = {.nodes = 3, .hyperedges = 2, .edges = 3, .offset = offset, .target = target};
    static const int64_t events[] = {2 + 1, 3, 2 + 1, 3 + 1}; // hyperedges, nodes, full, pins
    for (int i = 0; i < 4; i++) {
        Taken taken = replayed(&d, family_word(&replay_family, i));
        assert_int_equal(taken.events, events[i]);
        assert_int_equal(taken.last, EVENT_NODE); // the node without hyperedges
        int32_t first = live_find(&taken.live, SIDE_HYPEREDGE, 1);
        bool by_node = strcmp(family_word(&replay_family, i), "nodes") == 0 ||
                       strcmp(family_word(&replay_family, i), "full") == 0;
        assert_int_equal(first, by_node ? 0 : 1); // node 0 brings hyperedge 1 first
        live_clear(&taken.live);
    }
    Taken taken = {.stop = 2};
    Error err = {0};
    assert_true(live_init(&taken.live, &err));
    assert_false(dataset_replay(&d, "pins", take, &taken, &err));
    assert_string_equal(err.text, "enough");
    assert_int_equal(taken.events, 2);
    live_clear(&taken.live);
}
