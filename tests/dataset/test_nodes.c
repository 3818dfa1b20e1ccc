// If this failed, a hypergraph in an npz would be read wrongly, data.nodes would go to the wrong
// nodes, or another split would be used than the one that data.split_row names.

#include "bytes.h"
#include "loading.h"

#include "fringe/npy.h"

// 4 nodes, 3 hyperedges: {0, 1}, {1, 2, 3}, {}.
static void write_hypergraph(Array a[4]) {
    SET_INT_ROWS(&a[0], "hyperedge_index", 5, 0, 1, 1, 2, 3, 0, 0, 1, 1, 1);
    SET_FLOATS(&a[1], "hyperedge_weight", 2, 0, 1);
}

static void assert_hypergraph(const Dataset *d, bool weighted) {
    assert_int_equal(d->nodes, 4);
    assert_int_equal(d->hyperedges, weighted ? 3 : 2);
    assert_int_equal(d->edges, 5);
    ASSERT_INTS(d->target, 0, 0, 1, 1, 1);
    const int64_t offset[5] = {0, 1, 3, 4, 5};
    assert_memory_equal(d->offset, offset, sizeof offset);
    assert_true((d->hyperedge_weight != NULL) == weighted);
}

TEST(hyperedge_index_is_read) {
    Array a[4];
    write_hypergraph(a);
    OWNED(Dataset) d = loaded(write_arrays(a, 2, "h.npz"));
    assert_hypergraph(&d, true);
    assert_true(d.hyperedge_weight[0] == 2 && d.hyperedge_weight[1] == 0);
    assert_non_null(strstr(d.warnings.text, "1 hyperedge without pins"));
    assert_ok(load(&d, write_arrays(a, 1, "h.npz"), &err));
    assert_hypergraph(&d, false);
}

TEST(node_and_hyperedge_are_read) {
    Array a[4];
    SET_INTS(&a[0], "node", 3, 0, 1, 2, 1);
    SET_INTS(&a[1], "hyperedge", 1, 0, 0, 1, 1);
    SET_INTS(&a[2], "role", 2, 1, 3, 1, 3);
    SET_INTS(&a[3], "labels", 0, 1, 0, 1, 1, 0); // 6 rows: nodes 4 and 5 are in no hyperedge
    OWNED(Dataset) d = loaded(write_arrays(a, 2, "n.npz"));
    assert_hypergraph(&d, false);
    assert_null(d.pin_role);
    assert_ok(load(&d, write_arrays(a, 4, "n.npz"), &err));
    assert_int_equal(d.nodes, 6);
    assert_memory_equal(d.pin_role, "\1\3\3\1\2", 5);
}

static void a_role_short(Array a[4]) { SET_INTS(&a[2], "role", 1, 1, 1, 1); }
static void a_role_wrong(Array a[4]) { SET_INTS(&a[2], "role", 1, 0, 1, 1, 1); }
static void a_hyperedge_short(Array a[4]) { SET_INTS(&a[1], "hyperedge", 1, 0); }
static void a_node_negative(Array a[4]) { SET_INTS(&a[0], "node", 3, 0, 1, -2, 1); }
static void a_node_huge(Array a[4]) { SET_INTS(&a[0], "node", 3, 0, 1, INT64_MAX, 1); }
static void a_hyperedge_huge(Array a[4]) {
    SET_INTS(&a[1], "hyperedge", 1, 0, 0, (int64_t)1 << 31, 1);
}
static void no_pins(Array a[4]) {
    a[0] = (Array){.key = "node", .descr = "<i8", .shape = "(0,)"};
    a[1] = (Array){.key = "hyperedge", .descr = "<i8", .shape = "(0,)"};
    a[2].key = NULL;
}
static void weights_short(Array a[4]) { SET_FLOATS(&a[3], "hyperedge_weight", 1); }
static void a_weight_negative(Array a[4]) { SET_FLOATS(&a[3], "hyperedge_weight", 1, -1); }
static void attributes(Array a[4]) { SET_FLOATS(&a[3], "hyperedge_attr", 1, 2); }
static void features_of_hyperedges(Array a[4]) { SET_FLOAT_ROWS(&a[3], "x", 1, 1, 2); }
static void features_short(Array a[4]) { SET_FLOAT_ROWS(&a[3], "x", 1, 1, 2, 3); }
static void index_transposed(Array a[4]) {
    SET_INT_ROWS(&a[3], "hyperedge_index", 2, 0, 0, 1, 0, 1, 1);
}
static void a_graph_too(Array a[4]) { SET_INT_ROWS(&a[3], "edge_index", 1, 0, 1); }

TEST(every_defect_is_named) {
    static const struct {
        void (*change)(Array a[4]);
        const char *part;
    } cases[] = {
        {a_role_short, "'role' has 4 entries, but there are 5 pins"},
        {a_role_wrong, "'role' holds 0 at entry 1"},
        {a_hyperedge_short, "'node' has 5 entries, but 'hyperedge' has 2"},
        {a_node_negative, "pin 3 is node -2"},
        {a_node_huge, "2147483648 nodes"},
        {a_hyperedge_huge, "2147483648 hyperedges"},
        {no_pins, "there are no pins"},
        {weights_short, "'hyperedge_weight' has 1 entry, but hyperedge 1 has pins"},
        {a_weight_negative, "hyperedge 1 weighs -1"},
        {attributes, "features of hyperedges are not used"},
        {features_of_hyperedges, "features have one row for each node"},
        {features_short, "pin 0 is node 3, but nodes are 0 to 2"},
        {index_transposed, "must be an array (2, pins)"},
        {a_graph_too, "it holds a graph and a hypergraph"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Array a[4] = {{0}};
        OWNED(Dataset) d = {0};
        SET_INTS(&a[0], "node", 3, 0, 1, 2, 1);
        SET_INTS(&a[1], "hyperedge", 1, 0, 0, 1, 1);
        SET_INTS(&a[2], "role", 3, 3, 3, 3, 3);
        cases[i].change(a);
        assert_refused(load(&d, write_arrays(a, 4, "bad.npz"), &err), EXIT_DATA, cases[i].part,
                       "bad.npz");
    }
}

// Features whose rows are those of hyperedges, beside the hypergraph.
TEST(features_of_hyperedges_are_refused) {
    OWNED(Dataset) d = {0};
    const float x[2] = {1, 2};
    test_write_text(test_path("f.hgr"), "2 3\n1 2\n2 3\n");
    assert_ok(npy_write(test_path("f.npy"), "<f4", x, 4, 2, (int64_t[]){2, 1}, &err));
    Config config = config_at(test_path("f.hgr"));
    snprintf(config.data.features, sizeof config.data.features, "%s", test_path("f.npy"));
    assert_refused(load_config(&d, &config, &err), EXIT_DATA,
                   "features have 2 rows, as many as there are hyperedges");
}

// --- data.nodes

static Config beside(const char *graph, const Array *array, int count) {
    Config config = config_at(test_path(graph));
    snprintf(config.data.nodes, sizeof config.data.nodes, "%s",
             write_arrays(array, count, "nodes.npz"));
    return config;
}

static void node_arrays(Array a[5]) {
    SET_FLOAT_ROWS(&a[0], "x", 1, 1, 2, 3, 4);
    SET_INTS(&a[1], "labels", 0, 1, 1, 0);
    SET_INTS(&a[2], "train_idx", 0, 2);
    SET_INTS(&a[3], "val_idx", 1);
    SET_INTS(&a[4], "test_idx", 3);
}

// data.splits that names nodes by their ids, of which some are in no edge.
TEST(splits_are_lists_of_ids) {
    static const char *const graphs[] = {"100 7\n7 20\n", "c a\na b\n"};
    for (int text = 0; text < 2; text++) {
        Array a[3];
        OWNED(Dataset) d = {0};
        SET_INTS(&a[0], "train_ids", 100, 5);
        SET_INTS(&a[1], "val_ids", 7);
        SET_INTS(&a[2], "test_ids", 20);
        if (text) {
            a[0] = (Array){"train_ids", "|S1", "(2,)", "cx", 2};
            a[1] = (Array){"val_ids", "|S1", "(1,)", "a", 1};
            a[2] = (Array){"test_ids", "|S1", "(1,)", "b", 1};
        }
        test_write_text(test_path("ids.txt"), graphs[text]);
        Config config = config_at(test_path("ids.txt"));
        snprintf(config.data.splits, sizeof config.data.splits, "%s",
                 write_arrays(a, 3, "splits.npz"));
        assert_ok(load_config(&d, &config, &err));
        assert_memory_equal(d.split, "\2\3\1", 3); // ids 7 20 100, or a b c
        assert_non_null(strstr(d.warnings.text, "1 id in 'train_ids' of a node that is not in"));
        test_write_text(test_path("ids.txt"), graphs[1 - text]);
        assert_refused(load_config(&d, &config, &err), EXIT_DATA,
                       text ? "are numbers; save it" : "are text; save it");
    }
}

TEST(nodes_lie_beside_any_graph) {
    static const char *const graphs[][2] = {{"g.hgr", "1 4\n1 2\n"},
                                            {"g.txt", "0 1\n1 2\n"}, // 3 ids, but 4 rows
                                            {"g.pins", "0 7\n1 7\n"},
                                            {"g.graph", "4 1\n2\n1\n\n\n"}};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        Array a[5];
        OWNED(Dataset) d = {0};
        node_arrays(a);
        test_write_text(test_path(graphs[i][0]), graphs[i][1]);
        Config config = beside(graphs[i][0], a, 5);
        assert_ok(load_config(&d, &config, &err));
        assert_int_equal(d.nodes, 4);
        for (int k = 0; k < 4; k++)
            assert_true(d.x[k] == (float)(k + 1));
        ASSERT_INTS(d.label, 0, 1, 1, 0);
        assert_memory_equal(d.split, "\1\2\1\3", 4);
    }
}

// The order of precedence: a key of its own, data.nodes, the graph's file.
TEST(nodes_replace_and_are_replaced) {
    Array a[5];
    GraphFile file;
    OWNED(Dataset) d = {0};
    const int64_t y[4] = {2, 2, 2, 2};
    graph_file_init(&file);
    write_graph(&file, "own.npz");
    assert_ok(npy_write(test_path("y.npy"), "<i8", y, 8, 1, (int64_t[]){4}, &err));
    node_arrays(a);
    Config config = beside("own.npz", a, 5);
    snprintf(config.data.labels, sizeof config.data.labels, "%s", test_path("y.npy"));
    assert_ok(load_config(&d, &config, &err));
    assert_int_equal(d.features, 1);
    ASSERT_INTS(d.label, 2, 2, 2, 2);
    assert_memory_equal(d.split, "\1\2\1\3", 4);
    config = beside("own.npz", a, 1); // features only
    assert_ok(load_config(&d, &config, &err));
    assert_int_equal(d.features, 1);
    ASSERT_INTS(d.label, 0, 1, 0, 1);
    assert_memory_equal(d.split, "\1\2\3\3", 4);
}

TEST(nodes_must_fit) {
    Array a[5];
    OWNED(Dataset) d = {0};
    test_write_text(test_path("g.hgr"), "1 5\n1 2\n");
    node_arrays(a);
    Config config = beside("g.hgr", a, 5);
    assert_refused(load_config(&d, &config, &err), EXIT_DATA,
                   "nodes.npz: features have 4 rows but there are 5 nodes");
    SET_INTS(&a[0], "other", 1);
    config = beside("g.hgr", a, 1);
    assert_refused(load_config(&d, &config, &err), EXIT_DATA,
                   "there is nothing about nodes in it; its arrays are other");
    strcpy(config.data.nodes, "none.npz");
    assert_refused(load_config(&d, &config, &err), EXIT_NO_INPUT, "none.npz");
}

TEST(nodes_and_the_row_are_hashed) {
    Array a[5];
    test_write_text(test_path("g.hgr"), "1 4\n1 2\n");
    node_arrays(a);
    Config config = beside("g.hgr", a, 5);
    const char *first = source_hashed(&config);
    config.data.split_row = 1;
    assert_string_not_equal(first, source_hashed(&config));
    config = beside("g.hgr", a, 4);
    assert_string_not_equal(first, source_hashed(&config));
}

// --- splits

// Loads a hypergraph of 5 nodes with these arrays in data.nodes.
static bool load_split(Dataset *d, const Array *array, int count, int64_t row, Error *err) {
    test_write_text(test_path("s.hgr"), "1 5\n1 2 3 4 5\n");
    Config config = beside("s.hgr", array, count);
    config.data.split_row = row;
    return load_config(d, &config, err);
}

TEST(the_row_chooses_ids) {
    static const char *const wanted[3] = {"\1\1\0\0\3", "\1\0\0\1\3", "\0\1\1\0\3"};
    Array a[2];
    OWNED(Dataset) d = {0};
    SET_INT_ROWS(&a[0], "train_idx", 2, 0, 1, 0, 3, 1, 2);
    SET_INTS(&a[1], "test_idx", 4); // one for all rows
    for (int row = 0; row < 3; row++) {
        assert_ok(load_split(&d, a, 2, row, &err));
        assert_memory_equal(d.split, wanted[row], 5);
        assert_true((strstr(d.warnings.text, "the first of 3 splits") != NULL) == (row == 0));
    }
    assert_refused(load_split(&d, a, 2, 3, &err), EXIT_DATA,
                   "it holds 3 splits, so data.split_row is at most 2, not 3");
    SET_INTS(&a[0], "train_idx", 0, 1);
    assert_refused(load_split(&d, a, 2, 1, &err), EXIT_DATA, "it holds 1 split,");
}

TEST(the_row_chooses_a_column_of_masks) {
    Array a[2] = {{"train_mask", "|b1", "(5, 2)", "\1\0\1\0\0\1\0\0\0\0", 10},
                  {"test_mask", "|u1", "(5, 2)", "\0\0\0\1\0\0\1\1\0\0", 10}};
    OWNED(Dataset) d = {0};
    assert_ok(load_split(&d, a, 2, 0, &err));
    assert_memory_equal(d.split, "\1\1\0\3\0", 5);
    assert_ok(load_split(&d, a, 2, 1, &err));
    assert_memory_equal(d.split, "\0\3\1\3\0", 5);
}

TEST(the_rest_is_test) {
    Array a[2];
    OWNED(Dataset) d = {0};
    SET_INTS(&a[0], "train_idx", 1, 2);
    SET_INTS(&a[1], "labels", 0, 1, 1, -1, 0);
    assert_ok(load_split(&d, a, 2, 0, &err));
    assert_memory_equal(d.split, "\3\1\1\0\3", 5); // node 3 has no label
    assert_non_null(strstr(d.warnings.text, "the test nodes are the other 2 labelled nodes"));
    SET_INTS(&a[1], "labels", -1, 1, 1, -1, -1);
    assert_refused(load_split(&d, a, 2, 0, &err), EXIT_DATA, "no labelled node is left");
    SET_INTS(&a[1], "val_idx", 0);
    assert_ok(load_split(&d, a, 2, 0, &err));
    assert_non_null(strstr(d.warnings.text, "there are no test nodes"));
}
