// If this failed, fringe convert would write what no reader takes, would not say which step of
// data.transforms helps, would leave something out without a word, or would print a number that
// reads back as another one.

#include "bytes.h"
#include "writing.h"

#include "dataset/writers.h"

// ---- what is refused

static void assert_not_held(const char *text, const char *step, const char *name,
                            const char *sentence) {
    Warnings remarks;
    char path[1024];
    test_write_text(test_path("in.txt"), text);
    OWNED(Dataset) d = loaded(test_path("in.txt"));
    snprintf(path, sizeof path, "%s", test_path(name));
    assert_refused(convert_as(&d, "metis", path, &remarks, &err), EXIT_DATA, sentence,
                   step != NULL ? step : "");
    assert_false(file_exists(path));
    if (step != NULL) { // the sentence says what helps, and it does
        ConfigWords words = {.count = 1};
        snprintf(words.word[0], sizeof words.word[0], "%s", step);
        assert_ok(dataset_prepare(&d, &words, 0, 0, &err));
        assert_ok(convert_as(&d, "metis", path, &remarks, &err));
    }
    file_remove(path, &(Error){0});
}

TEST(graphs_that_metis_cannot_hold_are_refused) {
    assert_not_held("0 1\n1 0\n1 2\n", "symmetrize", "a.graph",
                    "the edge from node 1 to 2 has no reverse");
    assert_not_held("0 1 2\n1 0 3\n", "symmetrize", "a.graph",
                    "the edge from node 0 to 1 has another weight than its reverse");
    assert_not_held("0 1\n1 0\n1 1\n", "drop-loops", "a.graph", "there are self-loops (1)");
    assert_not_held("0 1\n1 0\n0 1\n1 0\n", "drop-duplicates", "a.graph",
                    "edges are stored more than once (2)");
    assert_not_held("0 1 0\n1 0 0\n", NULL, "a.graph", "stored edge 0 weighs 0");
    assert_not_held("0 1\n1 0\n", NULL, "a.hgr", "it is a graph, which is written as .graph");
}

TEST(hypergraphs_that_do_not_fit_are_refused) {
    Warnings remarks;
    test_write_text(test_path("h.pins"), "0 0 1 s\n1 0 1 t\n");
    OWNED(Dataset) d = loaded(test_path("h.pins"));
    assert_refused(convert_as(&d, NULL, test_path("x.hgr"), &remarks, &err), EXIT_DATA,
                   "its hyperedges have sources and targets");
    Array a[3];
    SET_INTS(&a[0], "node", 0, 1);
    SET_INTS(&a[1], "hyperedge", 0, 0);
    SET_FLOATS(&a[2], "hyperedge_weight", 1, 1);
    assert_ok(load(&d, write_arrays(a, 3, "h.npz"), &err));
    assert_refused(convert_as(&d, NULL, test_path("x.hgr"), &remarks, &err), EXIT_DATA,
                   "hyperedge 1 has no pins");
    assert_refused(convert_as(&d, "metis", test_path("x.graph"), &remarks, &err), EXIT_DATA,
                   "it is a hypergraph, which is written as .hgr");
    assert_refused(convert_as(&d, "ogb", test_path("x"), &remarks, &err), EXIT_DATA,
                   "it is a hypergraph, and ogb has graphs only");
}

// ---- what is remarked on

TEST(what_no_node_has_is_remarked_on) {
    OWNED(Dataset) d = make(0);
    OWNED(Dataset) back = {0};
    d.classes = CLASSES + 2;
    pass(&back, &d, "npz", "k.npz", "of 7 classes the last 2 have no node");
    d.classes = CLASSES;
    for (int64_t i = 0; i < NODES; i++)
        d.split[i] = d.split[i] == SPLIT_TRAIN ? SPLIT_NONE : d.split[i];
    pass(&back, &d, "npz", "k.npz", "");
    assert_same(&d, &back);
    assert_non_null(strstr(back.warnings.text, "no training nodes"));
    pass(&back, &d, "ogb", "k", "there are no training nodes: get_idx_split of ogb fails");
    assert_same(&d, &back);
}

// data.nodes takes what a file of METIS leaves out from the npz of the same dataset.
TEST(what_metis_leaves_out_is_in_the_npz) {
    OWNED(Dataset) d = make(0), back = {0};
    Config config = config_at(test_path("g.graph"));
    Warnings remarks;
    assert_ok(convert_as(&d, NULL, test_path("g.graph"), &remarks, &err));
    assert_ok(convert_as(&d, NULL, test_path("g.npz"), &remarks, &err));
    snprintf(config.data.nodes, sizeof config.data.nodes, "%s", test_path("g.npz"));
    assert_ok(dataset_load(&back, &config, &err));
    assert_same(&d, &back);
}

// ---- the number of nodes and their weights in an npz

TEST(nodes_of_a_hypergraph_are_said) {
    Array a[4];
    SET_INTS(&a[0], "node", 0, 1);
    SET_INTS(&a[1], "hyperedge", 0, 0);
    SET_INTS(&a[2], "num_nodes", 4);
    SET_INTS(&a[3], "node_weight", 1, 2, 3, 0);
    OWNED(Dataset) d = loaded(write_arrays(a, 4, "n.npz"));
    assert_int_equal(d.nodes, 4);
    ASSERT_INTS(d.node_weight, 1, 2, 3, 0);
    SET_INTS(&a[2], "num_nodes", 1);
    assert_refused(load(&d, write_arrays(a, 4, "n.npz"), &err), EXIT_DATA,
                   "'num_nodes' is 1, but node 1 has a pin");
    SET_INTS(&a[2], "num_nodes", 5);
    assert_refused(load(&d, write_arrays(a, 4, "n.npz"), &err), EXIT_DATA,
                   "'node_weight' have 4 rows but there are 5 nodes");
    SET_INTS(&a[2], "num_nodes", INT32_MAX);
    assert_refused(load(&d, write_arrays(a, 4, "n.npz"), &err), EXIT_DATA,
                   "'num_nodes' is 2147483647, which is too much for 2 pins");
    SET_INTS(&a[2], "num_nodes", 3);
    SET_INTS(&a[3], "labels", 0, 1);
    assert_refused(load(&d, write_arrays(a, 4, "n.npz"), &err), EXIT_DATA,
                   "'num_nodes' is 3, but features or labels have 2 rows");
    SET_INTS(&a[2], "num_nodes", 0);
    assert_refused(load(&d, write_arrays(a, 3, "n.npz"), &err), EXIT_DATA, "'num_nodes' is 0");
    SET_INTS(&a[2], "node_weight", 1, -1);
    assert_refused(load(&d, write_arrays(a, 3, "n.npz"), &err), EXIT_DATA,
                   "'node_weight' holds -1 at entry 1");
}

// ---- numbers

TEST(floats_read_back) {
    static const struct {
        float value;
        const char *text;
    } known[] = {{0, "0.0"},       {-0.0f, "-0.0"},
                 {1, "1.0"},       {-3, "-3.0"},
                 {0.1f, "0.1"},    {-0.057943f, "-0.057943"},
                 {1e-5f, "1e-05"}, {16777216, "16777216.0"},
                 {1e30f, "1e+30"}, {0.3333333433f, "0.33333334"}};
    char text[DECIMAL_FLOAT + 1];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *put_float(text, known[i].value) = '\0';
        assert_string_equal(text, known[i].text);
    }
    for (int64_t k = 0; k < 200000; k++) {
        float value = any_float(k);
        char *end = put_float(text, value);
        *end = '\0';
        assert_true(end - text <= DECIMAL_FLOAT && strpbrk(text, ".e") != NULL);
        float back = strtof(text, NULL);
        assert_memory_equal(&back, &value, sizeof value);
        end = put_weight(text, fabsf(value));
        *end = '\0';
        assert_true(end - text <= DECIMAL_FLOAT && strtof(text, NULL) == fabsf(value));
    }
    *put_int(text, -42) = '\0';
    assert_string_equal(text, "-42");
}
