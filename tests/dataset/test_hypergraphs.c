// If this failed, a hypergraph would lose pins, roles or weights on its way through the readers and
// a directory.

#include "hypergraphs.h"

// --- what readers leave

TEST(pins_are_sorted_and_merged) {
    OWNED(Dataset) d = text_dataset("m.pins", "1 1 s\n0 1 t\n0 0 s\n1 0 b\n0 1 s\n1 1 s\n");
    assert_int_equal(d.nodes, 2);
    assert_int_equal(d.hyperedges, 2);
    assert_int_equal(d.edges, 4);
    ASSERT_INTS(d.target, 0, 1, 0, 1);
    assert_memory_equal(d.pin_role, "\1\3\3\1", 4); // 0 in 1: listed as source and as target
    assert_non_null(strstr(d.warnings.text, "2 pins listed again in the same hyperedge"));
    assert_false(dataset_is_symmetric(&d));
}

TEST(what_no_node_reads_is_dropped) {
    OWNED(Dataset) d = text_dataset("t.pins", "0 0 s\n1 0 s\n1 1 t\n2 2 s\n2 2 t\n2 3 s\n");
    assert_int_equal(d.hyperedges, 4); // ids stay
    assert_int_equal(d.edges, 2);
    ASSERT_INTS(d.target, 1, 2);
    assert_memory_equal(d.pin_role, "\2\3", 2); // without sources: kept
    assert_non_null(strstr(d.warnings.text, "2 hyperedges without a target"));
    assert_non_null(strstr(d.warnings.text, "1 node in no hyperedge"));
}

TEST(nodes_that_are_sources_only_are_counted) {
    OWNED(Dataset) d = text_dataset("s.pins", "0 0 s\n1 0 t\n2 0 s\n2 1 b\n");
    assert_non_null(strstr(d.warnings.text, "1 node a target of no hyperedge"));
}

TEST(arrays_that_say_nothing_are_dropped) {
    OWNED(Dataset) roles = text_dataset("b.pins", "0 0 1 b\n1 0 1 s\n1 0 1 t\n");
    assert_null(roles.pin_role);
    assert_null(roles.hyperedge_weight);
    assert_true(dataset_is_symmetric(&roles));
    OWNED(Dataset) edges = text_dataset("w.hgr", "1 2 11\n0 1 2\n1\n1\n");
    assert_true(edges.hyperedge_weight[0] == 0);
    assert_null(edges.node_weight);
    OWNED(Dataset) nodes = text_dataset("v.hgr", "1 2 11\n1 1 2\n0\n9\n");
    assert_null(nodes.hyperedge_weight);
    ASSERT_INTS(nodes.node_weight, 0, 9);
}

TEST(more_lines_are_a_warning) {
    OWNED(Dataset) d = text_dataset("more.hgr", "1 3\n1 2 3\n\n% c\n2 3\n1\n");
    assert_non_null(strstr(d.warnings.text, "more.hgr:5: more lines than the header announces; 2"));
}

TEST(nodes_in_no_hyperedge_are_named) {
    OWNED(Dataset) d = text_dataset("u.hgr", "1 5\n1 2 3\n");
    assert_non_null(strstr(d.warnings.text, "2 nodes in no hyperedge"));
    assert_non_null(strstr(d.warnings.text, "singletons:uncovered"));
    assert_null(strstr(d.warnings.text, "self-loop"));
}

TEST(every_defect_is_named) {
    OWNED(Dataset) d = text_dataset("c.pins", "0 0 2 s\n1 0 2 t\n1 1 3 b\n");
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
        memcpy(was, cases[i].place, cases[i].bytes);
        memcpy(cases[i].place, &cases[i].wrong, cases[i].bytes);
        assert_refused(dataset_check(&d, "c", &err), EXIT_DATA, cases[i].part);
        memcpy(cases[i].place, was, cases[i].bytes);
    }
    assert_ok(dataset_check(&d, "c", &err));
}

// Large enough that their arrays outweigh all that the tests before took.
TEST(the_memory_is_foreseen) {
    static const char *const names[] = {"large.hgr", "large.pins"};
    enum { PINS = 300000, SIZE = 3 };
    for (int kind = 0; kind < 2; kind++) {
        char *text = TEST_ARRAY(char, 24 * PINS);
        size_t used = kind == 0 ? (size_t)sprintf(text, "%d 50000\n", PINS / SIZE) : 0;
        for (int p = 0; p < PINS; p++) {
            int node = 1 + p % 50000 * 7 % 50000;
            used += (size_t)(kind == 0 ? sprintf(text + used, "%d%c", node, p % SIZE == 2 ? 10 : 32)
                                       : sprintf(text + used, "%d %d 2 %c\n", node, p / SIZE,
                                                 "stb"[p % 3]));
        }
        test_write(test_path(names[kind]), text, used);
        OWNED(Dataset) d = {0};
        Config config = config_at(test_path(names[kind]));
        MemoryForecast forecast = {0};
        size_t before = memory_in_use();
        dataset_forecast(&forecast, &config);
        assert_ok(dataset_load(&d, &config, &err));
        assert_true(memory_peak() - before > 7000000); // of the load
        assert_true(forecast_total(&forecast) >= memory_peak() - before);
    }
}

// --- our directory, the hash

TEST(a_directory_keeps_everything) {
    OWNED(Dataset) read = {0};
    OWNED(Dataset) made = text_dataset("d.pins", "0 0 2 s\n1 0 2 t\n2 0 2 b\n2 1 0 b\n");
    made.node_weight = ALLOC(int32_t, 3, "weights");
    made.node_weight[1] = 7;
    assert_ok(dataset_write(&made, test_path("d"), &err));
    assert_ok(dataset_open(&read, test_path("d"), &err));
    assert_int_equal(read.hyperedges, 2);
    assert_memory_equal(read.pin_role, made.pin_role, 4);
    assert_true(read.hyperedge_weight[0] == 2 && read.hyperedge_weight[1] == 0);
    ASSERT_INTS(read.node_weight, 0, 7, 0);
    assert_string_equal(hashed(&made), hashed(&read));
    apply(&made, "singletons:all");
    apply(&read, "singletons:all"); // on mapped arrays
    assert_string_equal(hashed(&made), hashed(&read));
}

// Arrays behind one of odd length are copied when the file is opened; steps must not free them.
TEST(a_directory_in_odd_order_opens) {
    static const int64_t offset[4] = {0, 1, 2, 2};
    static const int32_t target[2] = {0, 0};
    static const float weight[1] = {3};
    static const Tensor arrays[] = {{"split", TENSOR_U8, 1, {3}, "\0\0\0"},
                                    {"edge_offset", TENSOR_I64, 1, {4}, offset},
                                    {"edge_target", TENSOR_I32, 1, {2}, target},
                                    {"hyperedge_weight", TENSOR_F32, 1, {1}, weight}};
    char path[1200];
    OWNED(Dataset) d = {0};
    assert_ok(file_make_folder(test_path("odd"), &err));
    snprintf(path, sizeof path, "%s/dataset.safetensors", test_path("odd"));
    assert_ok(tensors_write(path, arrays, 4, NULL, false, &err));
    snprintf(path, sizeof path, "%s/dataset.json", test_path("odd"));
    test_write_text(path, "{\"format\": \"fringe-dataset\", \"version\": 1, \"nodes\": 3, "
                          "\"hyperedges\": 1, \"edges\": 2, \"features\": 0, \"classes\": 0}");
    assert_ok(dataset_open(&d, test_path("odd"), &err));
    apply(&d, "singletons:uncovered");
    assert_true(d.hyperedge_weight[0] == 3 && d.hyperedge_weight[1] == 1);
}

TEST(the_manifest_describes_a_hypergraph) {
    OWNED(Dataset) d = text_dataset("f.hgr", "4 7 1\n1 1 2 3\n1 3 4\n2 1 3\n1 6\n");
    assert_ok(dataset_write(&d, test_path("f"), &err));
    static const struct {
        const char *key;
        int64_t value;
    } wanted[] = {{"pins", 8},         {"size_min", 1},  {"size_median", 2}, {"size_max", 3},
                  {"without_pins", 0}, {"uncovered", 2}, {"degree_max", 3},  {"degree_min", 0}};
    const char *path = test_text("%s/dataset.json", test_path("f"));
    OWNED(Json) *manifest = assert_ok(json_read(path, &err));
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
}

TEST(every_array_is_hashed) {
    OWNED(Dataset) d = text_dataset("h.pins", "0 0 2 s\n1 0 2 t\n1 1 3 b\n");
    d.node_weight = ALLOC(int32_t, 2, "test");
    const char *first = hashed(&d);
    unsigned char *const place[] = {d.pin_role, (unsigned char *)d.hyperedge_weight,
                                    (unsigned char *)d.node_weight};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        *place[i] ^= 1;
        assert_string_not_equal(hashed(&d), first);
        *place[i] ^= 1;
    }
    d.hyperedges = 1; // the second would be one without pins
    assert_string_not_equal(hashed(&d), first);
    d.hyperedges = 2;
    assert_string_equal(hashed(&d), first);
}

// ---- matrices of incidence

static bool load_matrix(Dataset *d, const char *text, const char *hyperedges, Error *err) {
    Config config = config_at(test_path("i.mtx"));
    test_write_text(test_path("i.mtx"), text);
    snprintf(config.data.hyperedges, sizeof config.data.hyperedges, "%s", hyperedges);
    return load_config(d, &config, err);
}

static void assert_matrix(const char *text, const char *hyperedges, int nodes, int count,
                          const int32_t *target, const char *warning) {
    OWNED(Dataset) d = {0};
    assert_ok(load_matrix(&d, text, hyperedges, &err));
    assert_int_equal(d.nodes, nodes);
    assert_int_equal(d.hyperedges, count);
    assert_int_equal(d.edges, 4);
    assert_int32(d.target, 4, target);
    assert_non_null(strstr(d.warnings.text, warning));
}

// Rows 1 1 2 3 3 of columns 1 3 3 1 2; the entry (3, 2) is a zero, so column 2 has no pin.
TEST(matrices_of_incidence_are_read) {
    static const char *const wide =
        "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1\n1 3 2.5\n2 3 -1\n"
        "3 1 7\n3 2 0\n";
    static const char *const square =
        "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n1 3\n2 3\n3 1\n";
    const int32_t by_column[4] = {0, 1, 1, 0}, by_row[4] = {0, 2, 0, 1};
    assert_matrix(wide, "", 3, 2, by_column, "2 columns without entries");
    assert_matrix(wide, "columns", 3, 2, by_column, "columns are hyperedges, rows are nodes");
    assert_matrix(wide, "rows", 4, 3, by_row, "rows are hyperedges, columns are nodes");
    assert_matrix(square, "columns", 3, 2, by_column, "1 column without entries");
    assert_matrix(square, "rows", 3, 3, by_row, "rows are hyperedges");
    OWNED(Dataset) d = {0};
    assert_ok(load_matrix(&d, square, "auto", &err));
    assert_int_equal(d.hyperedges, 0);
    assert_refused(load_matrix(&d,
                               "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n",
                               "rows", &err),
                   EXIT_DATA, "remove data.hyperedges");
    assert_refused(
        load_matrix(&d, "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 0\n", "", &err),
        EXIT_DATA, "no pins");
}
