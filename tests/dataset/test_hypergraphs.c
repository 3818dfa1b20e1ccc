// ranks: 1
// If this failed, a hypergraph would lose pins, roles or weights on its way through the dataset
// room, or a step would make another graph of it than it says.

#include "loading.h"

#include <math.h>
#include <string.h>

// 7 nodes, 4 hyperedges, 13 pins. Its cliques are 13 pairs: 6 + 6 + 3 + 1, of which 2-3, 4-5 and
// 0-1 occur twice.
static const char *const seven = "4 7\n1 2 3 4\n3 4 5 6\n5 6 7\n1 2\n";

static void load_text(Dataset *d, const char *name, const char *text) {
    Error err;
    test_write_text(test_path(name), text);
    assert_ok(load(d, test_path(name), &err), &err);
}

static bool prepare(Dataset *d, const char *step, double limit, Error *err) {
    ConfigWords words = {.count = 1};
    *err = (Error){0};
    strcpy(words.word[0], step);
    bool ok = dataset_prepare(d, &words, 0, limit, err);
    if (ok)
        assert_ok(dataset_check(d, "prepared", err), err);
    return ok;
}

static void apply(Dataset *d, const char *step) {
    Error err;
    assert_ok(prepare(d, step, 0, &err), &err);
}

// --- what readers leave

static void pins_are_sorted_and_merged(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "m.pins", "1 1 s\n0 1 t\n0 0 s\n1 0 b\n0 1 s\n1 1 s\n");
    assert_int_equal(d.nodes, 2);
    assert_int_equal(d.hyperedges, 2);
    assert_int_equal(d.edges, 4);
    ASSERT_INTS(d.target, 0, 1, 0, 1);
    assert_memory_equal(d.pin_role, "\1\3\3\1", 4); // 0 in 1: listed as source and as target
    assert_non_null(strstr(d.warnings.text, "2 pins listed again in the same hyperedge"));
    assert_false(dataset_is_symmetric(&d));
    dataset_clear(&d);
}

static void what_no_node_reads_is_dropped(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "t.pins", "0 0 s\n1 0 s\n1 1 t\n2 2 s\n2 2 t\n2 3 s\n");
    assert_int_equal(d.hyperedges, 4); // ids stay
    assert_int_equal(d.edges, 2);
    ASSERT_INTS(d.target, 1, 2);
    assert_memory_equal(d.pin_role, "\2\3", 2); // without sources: kept
    assert_non_null(strstr(d.warnings.text, "2 hyperedges without a target"));
    assert_non_null(strstr(d.warnings.text, "1 node in no hyperedge"));
    dataset_clear(&d);
}

static void nodes_that_are_sources_only_are_counted(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "s.pins", "0 0 s\n1 0 t\n2 0 s\n2 1 b\n");
    assert_non_null(strstr(d.warnings.text, "1 node a target of no hyperedge"));
    dataset_clear(&d);
}

static void arrays_that_say_nothing_are_dropped(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "b.pins", "0 0 1 b\n1 0 1 s\n1 0 1 t\n");
    assert_null(d.pin_role);
    assert_null(d.hyperedge_weight);
    assert_true(dataset_is_symmetric(&d));
    dataset_clear(&d);
    load_text(&d, "w.hgr", "1 2 11\n0 1 2\n1\n1\n");
    assert_true(d.hyperedge_weight[0] == 0);
    assert_null(d.node_weight);
    dataset_clear(&d);
    load_text(&d, "v.hgr", "1 2 11\n1 1 2\n0\n9\n");
    assert_null(d.hyperedge_weight);
    ASSERT_INTS(d.node_weight, 0, 9);
    dataset_clear(&d);
}

static void more_lines_are_a_warning(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "more.hgr", "1 3\n1 2 3\n\n% c\n2 3\n1\n");
    assert_non_null(strstr(d.warnings.text, "more.hgr:5: more lines than the header announces; 2"));
    dataset_clear(&d);
}

static void nodes_in_no_hyperedge_are_named(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "u.hgr", "1 5\n1 2 3\n");
    assert_non_null(strstr(d.warnings.text, "2 nodes in no hyperedge"));
    assert_non_null(strstr(d.warnings.text, "singletons:uncovered"));
    assert_null(strstr(d.warnings.text, "self-loop"));
    dataset_clear(&d);
}

static void every_defect_is_named(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "c.pins", "0 0 2 s\n1 0 2 t\n1 1 3 b\n");
    d.node_weight = ALLOC(int32_t, 2, "test");
    const struct {
        void *place;
        size_t bytes;
        union {
            int32_t whole;
            float number;
            uint8_t role;
            int64_t count;
        } wrong;
        const char *part;
    } cases[] = {
        {&d.target[1], 4, {.whole = 2}, "pin 1 is of hyperedge 2, but hyperedges are 0 to 1"},
        {&d.target[0], 4, {.whole = -1}, "pin 0 is of hyperedge -1"},
        {&d.pin_role[2], 1, {.role = 0}, "pin 2 has role 0"},
        {&d.pin_role[2], 1, {.role = 4}, "pin 2 has role 4"},
        {&d.hyperedge_weight[1], 4, {.number = -1}, "hyperedge 1 weighs -1"},
        {&d.hyperedge_weight[0], 4, {.whole = 0x7fc00000}, "hyperedge 0 weighs nan"},
        {&d.node_weight[1], 4, {.whole = -5}, "node 1 weighs -5"},
        {&d.hyperedges, 8, {.count = INT32_MAX - 1}, "together up to 2147483647"},
        {&d.offset[1], 8, {.count = 4}, "fall at node 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char was[8];
        Error err = {0};
        memcpy(was, cases[i].place, cases[i].bytes);
        memcpy(cases[i].place, &cases[i].wrong, cases[i].bytes);
        assert_refused(dataset_check(&d, "c", &err), &err, EXIT_DATA, cases[i].part);
        memcpy(cases[i].place, was, cases[i].bytes);
    }
    Error err = {0};
    assert_ok(dataset_check(&d, "c", &err), &err);
    dataset_clear(&d);
}

// Large enough that their arrays outweigh all that the tests before took.
static void the_memory_is_foreseen(void **state) {
    (void)state;
    static const char *const names[] = {"large.hgr", "large.pins"};
    enum { PINS = 300000, SIZE = 3 };
    for (int kind = 0; kind < 2; kind++) {
        char *text = ALLOC(char, 24 * PINS, "test");
        size_t used = kind == 0 ? (size_t)sprintf(text, "%d 50000\n", PINS / SIZE) : 0;
        for (int p = 0; p < PINS; p++) {
            int node = 1 + p % 50000 * 7 % 50000;
            used += (size_t)(kind == 0 ? sprintf(text + used, "%d%c", node, p % SIZE == 2 ? 10 : 32)
                                       : sprintf(text + used, "%d %d 2 %c\n", node, p / SIZE,
                                                 "stb"[p % 3]));
        }
        test_write(test_path(names[kind]), text, used);
        memory_free(text);
        Dataset d;
        Error err = {0};
        Config config = {0};
        MemoryPlan plan = {0};
        snprintf(config.data.path, sizeof config.data.path, "%s", test_path(names[kind]));
        size_t before = memory_in_use();
        dataset_plan(&plan, &config);
        assert_ok(dataset_load(&d, &config, &err), &err);
        assert_true(memory_peak() - before > 7000000); // of the load
        assert_true(memory_plan_total(&plan) >= memory_peak() - before);
        dataset_clear(&d);
    }
}

// --- our directory, the hash

static void a_directory_keeps_everything(void **state) {
    (void)state;
    Dataset made, read;
    Error err = {0};
    char one[33], two[33];
    load_text(&made, "d.pins", "0 0 2 s\n1 0 2 t\n2 0 2 b\n2 1 0 b\n");
    made.node_weight = ALLOC(int32_t, 3, "test");
    made.node_weight[1] = 7;
    assert_ok(dataset_write(&made, test_path("d"), &err), &err);
    assert_ok(dataset_open(&read, test_path("d"), &err), &err);
    assert_int_equal(read.hyperedges, 2);
    assert_memory_equal(read.pin_role, made.pin_role, 4);
    assert_true(read.hyperedge_weight[0] == 2 && read.hyperedge_weight[1] == 0);
    ASSERT_INTS(read.node_weight, 0, 7, 0);
    dataset_hash(&made, one);
    dataset_hash(&read, two);
    assert_string_equal(one, two);
    apply(&made, "singletons:all");
    apply(&read, "singletons:all"); // on mapped arrays
    dataset_hash(&made, one);
    dataset_hash(&read, two);
    assert_string_equal(one, two);
    dataset_clear(&made);
    dataset_clear(&read);
}

// Arrays behind one of odd length are copied when the file is opened; steps must not free them.
static void a_directory_in_odd_order_opens(void **state) {
    (void)state;
    static const int64_t offset[4] = {0, 1, 2, 2};
    static const int32_t target[2] = {0, 0};
    static const float weight[1] = {3};
    static const Tensor arrays[] = {{"split", TENSOR_U8, 1, {3}, "\0\0\0"},
                                    {"edge_offset", TENSOR_I64, 1, {4}, offset},
                                    {"edge_target", TENSOR_I32, 1, {2}, target},
                                    {"hyperedge_weight", TENSOR_F32, 1, {1}, weight}};
    char path[1200];
    Dataset d;
    Error err = {0};
    assert_ok(file_make_folder(test_path("odd"), &err), &err);
    snprintf(path, sizeof path, "%s/dataset.safetensors", test_path("odd"));
    assert_ok(tensors_write(path, arrays, 4, NULL, false, &err), &err);
    snprintf(path, sizeof path, "%s/dataset.json", test_path("odd"));
    test_write_text(path, "{\"format\": \"fringe-dataset\", \"version\": 1, \"nodes\": 3, "
                          "\"hyperedges\": 1, \"edges\": 2, \"features\": 0, \"classes\": 0}");
    assert_ok(dataset_open(&d, test_path("odd"), &err), &err);
    apply(&d, "singletons:uncovered");
    assert_true(d.hyperedge_weight[0] == 3 && d.hyperedge_weight[1] == 1);
    dataset_clear(&d);
}

static void the_manifest_describes_a_hypergraph(void **state) {
    (void)state;
    Dataset d;
    Error err = {0};
    load_text(&d, "f.hgr", "4 7 1\n1 1 2 3\n1 3 4\n2 1 3\n1 6\n");
    assert_ok(dataset_write(&d, test_path("f"), &err), &err);
    dataset_clear(&d);
    static const struct {
        const char *key;
        int64_t value;
    } wanted[] = {{"pins", 8},         {"size_min", 1},  {"size_median", 2}, {"size_max", 3},
                  {"without_pins", 0}, {"uncovered", 2}, {"degree_max", 3},  {"degree_min", 0}};
    char path[1200];
    snprintf(path, sizeof path, "%s/dataset.json", test_path("f"));
    Json *manifest = json_read(path, &err);
    assert_ok(manifest, &err);
    const Json *figures = json_get(manifest, "statistics");
    int64_t value = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_true(json_is_int64(json_get(figures, wanted[i].key), &value));
        assert_int_equal(value, wanted[i].value);
    }
    assert_true(json_is_int64(json_get(manifest, "hyperedges"), &value) && value == 4);
    assert_false(json_bool(json_get(figures, "directed")));
    assert_true(json_bool(json_get(figures, "weighted")));
    assert_null(json_get(figures, "loops"));
    json_free(manifest);
}

static void every_array_is_hashed(void **state) {
    (void)state;
    Dataset d;
    char first[33], now[33];
    load_text(&d, "h.pins", "0 0 2 s\n1 0 2 t\n1 1 3 b\n");
    d.node_weight = ALLOC(int32_t, 2, "test");
    dataset_hash(&d, first);
    unsigned char *const place[] = {d.pin_role, (unsigned char *)d.hyperedge_weight,
                                    (unsigned char *)d.node_weight};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        *place[i] ^= 1;
        dataset_hash(&d, now);
        assert_string_not_equal(now, first);
        *place[i] ^= 1;
    }
    d.hyperedges = 1; // the second would be one without pins
    dataset_hash(&d, now);
    assert_string_not_equal(now, first);
    d.hyperedges = 2;
    dataset_hash(&d, now);
    assert_string_equal(now, first);
    dataset_clear(&d);
}

// --- steps

static void uncovered_nodes_get_singletons(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "s.hgr", "1 4 1\n5 2 4\n"); // 1 and 3 are uncovered
    apply(&d, "singletons:uncovered");
    assert_int_equal(d.hyperedges, 3);
    ASSERT_INTS(d.target, 1, 0, 2, 0);
    assert_true(d.hyperedge_weight[0] == 5 && d.hyperedge_weight[1] == 1 &&
                d.hyperedge_weight[2] == 1);
    apply(&d, "singletons:uncovered"); // nothing is left to do
    assert_int_equal(d.hyperedges, 3);
    dataset_clear(&d);
}

static void all_nodes_get_singletons(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "a.pins", "0 0 s\n1 0 t\n");
    apply(&d, "singletons:all");
    assert_int_equal(d.hyperedges, 3);
    ASSERT_INTS(d.target, 0, 1, 0, 2);
    assert_memory_equal(d.pin_role, "\1\3\2\3", 4);
    dataset_clear(&d);
}

static float weight_between(const Dataset *d, int64_t i, int32_t j) {
    for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
        if (d->target[e] == j)
            return d->weight == NULL ? 1 : d->weight[e];
    return -1;
}

static void cliques_are_13_edges(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "seven.hgr", seven);
    assert_int_equal(d.edges, 13);
    apply(&d, "clique");
    assert_int_equal(d.hyperedges, 0);
    assert_int_equal(d.nodes, 7);
    assert_int_equal(d.edges, 2 * 13);
    assert_true(dataset_is_symmetric(&d));
    // 1 / (size - 1) for each hyperedge that both are in
    assert_near(weight_between(&d, 0, 2), 1.0 / 3, 1e-7 /* one rounding */);
    assert_near(weight_between(&d, 2, 3), 2.0 / 3, 1e-7);
    assert_near(weight_between(&d, 4, 5), 5.0 / 6, 1e-7);
    assert_near(weight_between(&d, 0, 1), 4.0 / 3, 1e-7);
    assert_true(weight_between(&d, 0, 6) == -1);
    dataset_clear(&d);
}

// A hyperedge adds its weight to what each target reads: 0, 1 -> 2 halves it, 0 -> 1 has it all.
static void directed_cliques_lead_to_targets(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "dc.pins", "0 0 6 s\n1 0 6 b\n2 0 6 t\n");
    apply(&d, "clique");
    assert_int_equal(d.edges, 3);
    assert_true(weight_between(&d, 0, 1) == 6);
    assert_true(weight_between(&d, 0, 2) == 3);
    assert_true(weight_between(&d, 1, 2) == 3);
    assert_null(d.pin_role);
    assert_null(d.hyperedge_weight);
    dataset_clear(&d);
}

static void cliques_of_pairs_are_the_graph(void **state) {
    (void)state;
    Dataset d, graph;
    load_text(&d, "pairs.hgr", "4 5\n1 2\n2 3\n5 3\n4 1\n");
    load_text(&graph, "pairs.txt", "0 1\n1 0\n1 2\n2 1\n4 2\n2 4\n3 0\n0 3\n");
    apply(&d, "clique");
    char one[33], two[33];
    dataset_hash(&d, one);
    dataset_hash(&graph, two);
    assert_string_equal(one, two);
    dataset_clear(&d);
    dataset_clear(&graph);
}

static void the_star_has_a_node_for_each_hyperedge(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "star.hgr", seven);
    apply(&d, "random:2");
    float was[14];
    memcpy(was, d.x, sizeof was);
    d.label = ALLOC(int32_t, 7, "test");
    d.classes = 1;
    d.split[6] = SPLIT_TEST;
    apply(&d, "star");
    assert_int_equal(d.nodes, 11);
    assert_int_equal(d.edges, 2 * 13);
    assert_true(dataset_is_symmetric(&d));
    assert_null(d.weight);
    assert_memory_equal(d.x, was, sizeof was);
    for (int k = 14; k < 22; k++)
        assert_true(d.x[k] == 0);
    ASSERT_INTS(d.label, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1);
    assert_memory_equal(d.split, "\0\0\0\0\0\0\3\0\0\0\0", 11);
    assert_int_equal(weight_between(&d, 7, 3), 1); // hyperedge 0 and its last pin
    assert_int_equal(weight_between(&d, 10, 1), 1);
    dataset_clear(&d);
}

static void a_directed_star_passes_through(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "ds.pins", "0 0 6 s\n1 0 6 b\n2 0 6 t\n");
    apply(&d, "star");
    assert_int_equal(d.edges, 4);
    assert_true(weight_between(&d, 0, 3) == 6 && weight_between(&d, 1, 3) == 6);
    assert_true(weight_between(&d, 3, 1) == 6 && weight_between(&d, 3, 2) == 6);
    assert_true(weight_between(&d, 3, 0) == -1 && weight_between(&d, 2, 3) == -1);
    dataset_clear(&d);
}

static void degrees_are_of_roles(void **state) {
    (void)state;
    Dataset d;
    load_text(&d, "deg.pins", "0 0 s\n0 1 s\n1 0 t\n1 1 b\n");
    apply(&d, "degree");
    const float in[2] = {0, 2}, out[2] = {2, 1};
    for (int i = 0; i < 2; i++) {
        assert_near(d.x[18 * i + 16], log1p(in[i]), 1e-6 /* one rounding */);
        assert_near(d.x[18 * i + 17], log1p(out[i]), 1e-6);
    }
    dataset_clear(&d);
}

static void steps_know_what_they_are_for(void **state) {
    (void)state;
    static const char *const of_graphs[] = {"symmetrize", "drop-loops", "drop-duplicates"};
    static const char *const of_hypergraphs[] = {"singletons:all", "clique", "star"};
    Dataset d, graph;
    Error err;
    load_text(&d, "x.hgr", seven);
    load_text(&graph, "x.txt", "0 1\n");
    for (int i = 0; i < 3; i++) {
        assert_refused(prepare(&d, of_graphs[i], 0, &err), &err, EXIT_CONFIG,
                       "this step is for graphs, but the dataset is a hypergraph");
        assert_non_null(strstr(err.text, of_graphs[i]));
        assert_refused(prepare(&graph, of_hypergraphs[i], 0, &err), &err, EXIT_CONFIG,
                       "this step is for hypergraphs, but the dataset is a graph");
    }
    assert_refused(prepare(&d, "singletons:some", 0, &err), &err, EXIT_CONFIG,
                   "neither singletons:uncovered");
    ConfigWords both = {2, {"clique", "symmetrize"}};
    err = (Error){0};
    assert_ok(dataset_prepare(&d, &both, 0, 0, &err), &err);
    dataset_clear(&d);
    dataset_clear(&graph);
}

// 3000 nodes in one hyperedge: 8,997,000 edges of 8 bytes do not fit into 0.01 GiB.
static void what_does_not_fit_is_counted(void **state) {
    (void)state;
    static char text[32000] = "1 3000\n";
    Dataset d;
    Error err;
    size_t used = strlen(text);
    for (int i = 1; i <= 3000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d ", i);
    load_text(&d, "large.hgr", text);
    assert_refused(prepare(&d, "clique", 0.01, &err), &err, EXIT_MEMORY, "8997000 edges");
    assert_int_equal(d.hyperedges, 1); // unchanged
    assert_refused(prepare(&d, "star", 1e-5, &err), &err, EXIT_MEMORY, "6000 edges");
    apply(&d, "clique");
    assert_int_equal(d.edges, 8997000);
    dataset_clear(&d);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_memory_is_foreseen), // first, for the peak
    cmocka_unit_test(pins_are_sorted_and_merged),
    cmocka_unit_test(what_no_node_reads_is_dropped),
    cmocka_unit_test(nodes_that_are_sources_only_are_counted),
    cmocka_unit_test(arrays_that_say_nothing_are_dropped),
    cmocka_unit_test(more_lines_are_a_warning),
    cmocka_unit_test(nodes_in_no_hyperedge_are_named),
    cmocka_unit_test(every_defect_is_named),
    cmocka_unit_test(a_directory_keeps_everything),
    cmocka_unit_test(a_directory_in_odd_order_opens),
    cmocka_unit_test(the_manifest_describes_a_hypergraph),
    cmocka_unit_test(every_array_is_hashed),
    cmocka_unit_test(uncovered_nodes_get_singletons),
    cmocka_unit_test(all_nodes_get_singletons),
    cmocka_unit_test(cliques_are_13_edges),
    cmocka_unit_test(directed_cliques_lead_to_targets),
    cmocka_unit_test(cliques_of_pairs_are_the_graph),
    cmocka_unit_test(the_star_has_a_node_for_each_hyperedge),
    cmocka_unit_test(a_directed_star_passes_through),
    cmocka_unit_test(degrees_are_of_roles),
    cmocka_unit_test(steps_know_what_they_are_for),
    cmocka_unit_test(what_does_not_fit_is_counted),
};
TEST_MAIN(tests)
