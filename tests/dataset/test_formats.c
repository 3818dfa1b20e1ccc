// If this failed, a damaged npz file would be taken for a graph, or a sound one would be read
// wrongly, or arrays beside a graph would go to the wrong nodes. The files are made here;
// test_expect walks those of FRINGE_DATA.

#include "bytes.h"
#include "loading.h"

#include "fringe/npy.h"

// --- npz graphs

TEST(a_sound_npz_is_read) {
    for (int method = 0; method <= 8; method += 8) {
        GraphFile file;
        graph_file_init(&file);
        file.method = method;
        OWNED(Dataset) d = loaded(write_graph(&file, "sound.npz"));
        assert_string_equal(d.name, "sound");
        assert_int_equal(d.nodes, 4);
        assert_int_equal(d.edges, 6);
        ASSERT_INTS(d.target, 1, 0, 2, 1, 3, 2);
        assert_null(d.weight); // all 1
        assert_int_equal(d.features, 3);
        const float x[12] = {1, 0, 2, 0, 3, 0, 0, 0, 0, 4, 0, 0};
        assert_memory_equal(d.x, x, sizeof x);
        assert_int_equal(d.classes, 2);
        ASSERT_INTS(d.label, 0, 1, 0, 1);
        assert_memory_equal(d.split, "\1\2\3\3", 4);
        assert_string_equal(d.warnings.text, "2 nodes of validation and test with a "
                                             "class that no training node has");
        assert_true(dataset_is_symmetric(&d));
    }
}

typedef struct GraphCase {
    const char *what;
    void (*change)(GraphFile *);
    const char *refused; // part of the sentence, or NULL: must load
    const char *warning; // part of the warnings
} GraphCase;

static void no_indptr(GraphFile *g) { g->array[ADJ_INDPTR].key = NULL; }
static void indptr_falls(GraphFile *g) { INTS(g, ADJ_INDPTR, "adj_indptr", 0, 3, 1, 5, 6); }
static void indptr_ends(GraphFile *g) { INTS(g, ADJ_INDPTR, "adj_indptr", 0, 1, 3, 5, 7); }
static void indptr_begins(GraphFile *g) { INTS(g, ADJ_INDPTR, "adj_indptr", 1, 1, 3, 5, 6); }
static void indptr_short(GraphFile *g) { INTS(g, ADJ_INDPTR, "adj_indptr", 0, 1, 3, 6); }
static void index_n(GraphFile *g) { INTS(g, ADJ_INDICES, "adj_indices", 1, 0, 2, 1, 4, 2); }
static void index_negative(GraphFile *g) { INTS(g, ADJ_INDICES, "adj_indices", -1, 0, 2, 1, 3, 2); }
static void data_short(GraphFile *g) { FLOATS(g, ADJ_DATA, "adj_data", 1, 1, 1, 1, 1); }
static void index_float(GraphFile *g) { FLOATS(g, ADJ_INDICES, "adj_indices", 1, 0, 2, 1, 3, 2); }
static void rectangular(GraphFile *g) { INTS(g, ADJ_SHAPE, "adj_shape", 4, 5); }
static void huge_shape(GraphFile *g) { INTS(g, ADJ_SHAPE, "adj_shape", INT64_MAX, INT64_MAX); }
static void labels_short(GraphFile *g) { INTS(g, LABELS, "labels", 0, 1, 0); }
static void label_huge(GraphFile *g) { INTS(g, LABELS, "labels", 0, 1, 0, 4000000000); }
static void label_negative(GraphFile *g) { INTS(g, LABELS, "labels", 0, 1, 0, -2); }
static void label_none_train(GraphFile *g) { INTS(g, LABELS, "labels", -1, 1, 0, 1); }
static void label_none(GraphFile *g) {
    INTS(g, LABELS, "labels", 0, 1, 0, -1);
    INTS(g, TEST, "test_idx", 2);
}
static void labels_object(GraphFile *g) { g->array[LABELS].descr = "|O"; }
static void attr_rows(GraphFile *g) { INTS(g, ATTR_SHAPE, "attr_shape", 3, 3); }
static void attr_fewer(GraphFile *g) {
    INTS(g, ATTR_SHAPE, "attr_shape", 3, 3);
    INTS(g, ATTR_INDPTR, "attr_indptr", 0, 2, 3, 4);
}
static void attr_wide(GraphFile *g) { INTS(g, ATTR_SHAPE, "attr_shape", 4, (int64_t)1 << 50); }
static void attr_nan(GraphFile *g) { FLOATS(g, ATTR_DATA, "attr_data", 1, NAN, 3, 4); }
static void attr_inf(GraphFile *g) { FLOATS(g, ATTR_DATA, "attr_data", 1, 2, INFINITY, 4); }
static void attr_no_data(GraphFile *g) { g->array[ATTR_DATA].key = NULL; }
static void split_range(GraphFile *g) { INTS(g, TRAIN, "train_idx", 4); }
static void split_overlap(GraphFile *g) { INTS(g, TEST, "test_idx", 2, 0); }
static void split_twice(GraphFile *g) { INTS(g, TEST, "test_idx", 2, 2); }
static void split_empty(GraphFile *g) {
    INTS(g, TRAIN, "train_idx", 0);
    g->array[TRAIN].bytes = 0;
    strcpy(g->array[TRAIN].shape, "(0,)");
}
static void split_cube(GraphFile *g) { strcpy(g->array[TEST].shape, "(1, 1, 2)"); }
static void no_split(GraphFile *g) {
    g->array[TRAIN].key = g->array[VAL].key = g->array[TEST].key = NULL;
}
static void self_loop(GraphFile *g) { INTS(g, ADJ_INDICES, "adj_indices", 0, 0, 2, 1, 3, 2); }
static void duplicate(GraphFile *g) { INTS(g, ADJ_INDICES, "adj_indices", 1, 0, 0, 1, 3, 2); }
static void unsorted(GraphFile *g) { INTS(g, ADJ_INDICES, "adj_indices", 1, 2, 0, 3, 1, 2); }
static void weight_negative(GraphFile *g) { FLOATS(g, ADJ_DATA, "adj_data", 1, 1, -1, 1, 1, 1); }
static void weight_nan(GraphFile *g) { FLOATS(g, ADJ_DATA, "adj_data", 1, 1, NAN, 1, 1, 1); }

static const GraphCase graph_cases[] = {
    {"adj_indptr missing", no_indptr, "no array 'adj_indptr'", NULL},
    {"adj_indptr falls", indptr_falls, "'adj_indptr' falls at row 1", NULL},
    {"adj_indptr ends wrongly", indptr_ends, "0 to 7", NULL},
    {"adj_indptr begins wrongly", indptr_begins, "1 to 6", NULL},
    {"adj_indptr too short", indptr_short, "has 4 entries", NULL},
    {"index equals the number of nodes", index_n, "holds 4 at entry 4", NULL},
    {"negative index", index_negative, "holds -1 at entry 0", NULL},
    {"adj_data too short", data_short, "'adj_data' has 5 entries", NULL},
    {"indices are floats", index_float, "type 'f4' where integers", NULL},
    {"not square", rectangular, "must be square", NULL},
    {"a shape no file can fill", huge_shape, "1 to 2147483647 can be used", NULL},
    {"a label too few", labels_short, "labels have 3 entries", NULL},
    {"a label that is no class", label_huge, "label 4000000000", NULL},
    {"a label below -1", label_negative, "label -2", NULL},
    {"a training node without label", label_none_train, "node 0 is a training node", NULL},
    {"labels are a pickle", labels_object, "object array", NULL},
    {"attr_shape a row too few", attr_rows, "'attr_indptr' has 5 entries", NULL},
    {"features of too few nodes", attr_fewer, "('attr_shape') have 3 rows but there are 4 nodes",
     NULL},
    {"features wider than memory", attr_wide, "columns", NULL},
    {"NaN feature", attr_nan, "feature 2 of node 0 is not a number", NULL},
    {"infinite feature", attr_inf, "feature 1 of node 1 is infinite", NULL},
    {"attr_data missing", attr_no_data, "no array 'attr_data'", NULL},
    {"training node out of range", split_range, "node 4, but nodes are 0 to 3", NULL},
    {"node in two splits", split_overlap, "node 0 is a training node already", NULL},
    {"node twice in a split", split_twice, "node 2 is a test node already", NULL},
    {"empty training split", split_empty, "it is empty", NULL},
    {"a split of three dimensions", split_cube, "not 3-dimensional", NULL},
    {"negative weight", weight_negative, "weighs -1", NULL},
    {"weight that is no number", weight_nan, "weighs nan", NULL},
    {"a node without label outside the splits", label_none, NULL, "1 node without label"},
    {"self-loop", self_loop, NULL, "1 self-loop stored"},
    {"duplicate", duplicate, NULL, "1 edge stored more than once"},
    {"unsorted row", unsorted, NULL, ""},
    {"no split at all", no_split, NULL, ""},
};

TEST(every_defect_of_an_npz_is_named) {
    for (size_t i = 0; i < sizeof graph_cases / sizeof *graph_cases; i++) {
        const GraphCase *c = &graph_cases[i];
        GraphFile file;
        OWNED(Dataset) d = {0};
        Error err;
        graph_file_init(&file);
        c->change(&file);
        const char *path = write_graph(&file, "case.npz");
        bool loaded = load(&d, path, &err);
        if (loaded != (c->refused == NULL))
            fail_msg("%s: %s", c->what, loaded ? "was not refused" : err.text);
        if (loaded) {
            assert_non_null(strstr(d.warnings.text, c->warning));
            for (int64_t e = 1; e < 3; e++) // rows come out ascending
                assert_true(e == 1 || d.target[e] >= d.target[e - 1]);
        } else {
            if (strstr(err.text, c->refused) == NULL || strstr(err.text, "case.npz") == NULL)
                fail_msg("%s: the message is '%s'", c->what, err.text);
            assert_int_equal(err.code, EXIT_DATA);
        }
    }
}

TEST(weights_are_kept) {
    GraphFile file;
    graph_file_init(&file);
    INTS(&file, ADJ_INDICES, "adj_indices", 1, 2, 0, 3, 1, 2);
    FLOATS(&file, ADJ_DATA, "adj_data", 1, 2, 3, 4, 5, 6);
    OWNED(Dataset) d = loaded(write_graph(&file, "weighted.npz"));
    const float sorted[6] = {1, 3, 2, 5, 4, 6}; // along with their targets
    assert_non_null(d.weight);
    assert_memory_equal(d.weight, sorted, sizeof sorted);
    assert_false(dataset_is_symmetric(&d));
}

TEST(multi_labels_and_dense_features) {
    GraphFile file;
    graph_file_init(&file);
    for (int i = ATTR_DATA; i <= ATTR_SHAPE; i++)
        file.array[i].key = NULL;
    const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    Array *dense = &file.array[ATTR_DATA];
    *dense = (Array){"attr_matrix", "<f8", "(4, 2)", "", sizeof x};
    memcpy(dense->data, x, sizeof x);
    file.array[LABELS] = (Array){"labels", "|u1", "(4, 3)", "\1\0\0\0\1\0\0\0\1\1\1\1", 12};
    OWNED(Dataset) d = loaded(write_graph(&file, "multi.npz"));
    assert_true(d.multilabel);
    assert_int_equal(d.classes, 3);
    assert_null(d.label);
    assert_memory_equal(d.labels, "\1\0\0\0\1\0\0\0\1\1\1\1", 12);
    assert_int_equal(d.features, 2);
    for (int i = 0; i < 8; i++)
        assert_true(d.x[i] == (float)(i + 1));
    file.array[LABELS].data[4] = 2;
    assert_refused(load(&d, write_graph(&file, "multi.npz"), &err), EXIT_DATA,
                   "label 1 of node 1 is 2");
}

// --- archives

TEST(every_defect_of_an_archive_is_named) {
    static Member members[2];
    static Bytes bytes;
    const struct {
        const char *what, *part;
        Member change;
        size_t cut;    // bytes cut off the end
        bool twice;    // the same name twice
        int flip_data; // a bit of the member's own bytes
    } cases[] = {
        {"sound", NULL, {.method = 8}, 0, false, 0},
        {"sound, stored", NULL, {.method = 0}, 0, false, 0},
        {"checksum", "damaged", {.method = 8, .crc_change = 1}, 0, false, 0},
        {"checksum, stored", "damaged", {.method = 0, .crc_change = 1}, 0, false, 0},
        {"size of 1 GiB",
         "which is impossible",
         {.method = 8, .size_instead = 1 << 30},
         0,
         false,
         0},
        {"size one too large", "", {.method = 8, .size_instead = 129}, 0, false, 0},
        {"size one too small", "", {.method = 8, .size_instead = 127}, 0, false, 0},
        {"bzip2", "method 12", {.method = 12}, 0, false, 0},
        {"encrypted", "encrypted", {.method = 0, .flags = 1}, 0, false, 0},
        {"no end record", "zip", {.method = 8}, 22, false, 0},
        {"half a file", "zip", {.method = 8}, 100, false, 0},
        {"name twice", "twice", {.method = 8}, 0, true, 0},
        {"flipped bit", "", {.method = 8}, 0, false, 45},
    };
    float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err = {0};
        CLEARED(npy_clear) Npy npy = {0};
        members[0] = cases[i].change;
        strcpy(members[0].name, "x.npy");
        put_npy(&members[0].content,
                "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }           ", x,
                sizeof x);
        assert_int_equal(members[0].content.count, 129); // what size_instead is about
        if (cases[i].change.size_instead == 129)
            members[0].size_instead = 130;
        members[1] = members[0];
        bytes.count = 0;
        put_zip(&bytes, members, cases[i].twice ? 2 : 1);
        bytes.data[cases[i].flip_data] ^= cases[i].flip_data == 0 ? 0 : 4;
        test_write(test_path("a.npz"), bytes.data, bytes.count - cases[i].cut);
        CLEARED(npz_drop) Npz *npz = npz_open(test_path("a.npz"), &err);
        bool ok = npz != NULL && npz_read(npz, "x", &npy, &err);
        if (ok != (cases[i].part == NULL))
            fail_msg("%s: %s", cases[i].what, ok ? "was not refused" : err.text);
        if (!ok && (strstr(err.text, "a.npz") == NULL || strstr(err.text, cases[i].part) == NULL))
            fail_msg("%s: the message is '%s'", cases[i].what, err.text);
        if (ok)
            assert_memory_equal(npy.data, x, sizeof x);
    }
}

// Arrays beside an edge list: rows say how many nodes there are where ids are rows.
TEST(arrays_lie_beside_a_graph) {
    OWNED(Dataset) d = {0};
    const float x[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const int64_t y[5] = {2, 0, 1, 1, 0}, train[2] = {4, 0}, val[1] = {1}, test[1] = {2};
    assert_ok(npy_write(test_path("x.npy"), "<f4", x, 4, 2, (int64_t[]){5, 2}, &err));
    assert_ok(npy_write(test_path("y.npy"), "<i8", y, 8, 1, (int64_t[]){5}, &err));
    assert_ok(npy_write(test_path("a.npy"), "<i8", train, 8, 1, (int64_t[]){2}, &err));
    assert_ok(npy_write(test_path("b.npy"), "<i8", val, 8, 1, (int64_t[]){1}, &err));
    assert_ok(npy_write(test_path("c.npy"), "<i8", test, 8, 1, (int64_t[]){1}, &err));
    test_write_text(test_path("g.txt"), "0 1\n1 3\n"); // nodes 2 and 4 are isolated
    Config config = config_at(test_path("g.txt"));
    snprintf(config.data.features, sizeof config.data.features, "%s", test_path("x.npy"));
    snprintf(config.data.labels, sizeof config.data.labels, "%s", test_path("y.npy"));
    snprintf(config.source, sizeof config.source, "%s", test_path("config.json"));
    config.data.split_keys = (ConfigPaths){3, {"a.npy", "b.npy", "c.npy"}}; // beside the config
    assert_ok(load_config(&d, &config, &err));
    assert_int_equal(d.nodes, 5);
    assert_int_equal(d.features, 2);
    assert_memory_equal(d.x, x, sizeof x);
    assert_int_equal(d.classes, 3);
    assert_memory_equal(d.split, "\1\2\3\0\1", 5);
    test_write_text(test_path("g.txt"), "0 1\n1 6\n"); // 3 ids, but 5 rows and an id 6
    assert_refused(load_config(&d, &config, &err), EXIT_DATA,
                   "features have 5 rows but there are 3 nodes");
    test_write_text(test_path("g.txt"), "0 1\n1 3\n");
    strcpy(config.data.split_keys.word[2], "d.npy");
    assert_refused(load_config(&d, &config, &err), EXIT_NO_INPUT, "d.npy");
}

TEST(splits_may_lie_in_another_npz) {
    GraphFile file;
    OWNED(Dataset) d = {0};
    graph_file_init(&file);
    Config config = config_at(write_graph(&file, "g.npz"));
    for (int i = 0; i < TRAIN; i++)
        file.array[i].key = NULL;
    file.array[EXTRA].key = NULL;
    INTS(&file, TRAIN, "mine", 3);
    file.array[VAL] = (Array){"val_mask", "|b1", "(4,)", "\1\0\0\0", 4};
    INTS(&file, TEST, "rest", 2, 1);
    snprintf(config.data.splits, sizeof config.data.splits, "%s", write_graph(&file, "s.npz"));
    config.data.split_keys = (ConfigPaths){3, {"mine", "val_mask", "rest"}};
    assert_ok(load_config(&d, &config, &err));
    assert_memory_equal(d.split, "\2\3\3\1", 4);
    strcpy(config.data.split_keys.word[2], "none");
    assert_refused(load_config(&d, &config, &err), EXIT_DATA, "s.npz: there is no array");
}

TEST(what_is_not_there_is_said) {
    OWNED(Dataset) d = {0};
    assert_refused(load(&d, "/no/such/graph.npz", &err), EXIT_NO_INPUT, "graph.npz");
    test_write_text(test_path("graph.unknown"), "x");
    assert_refused(
        load(&d, test_path("graph.unknown"), &err), EXIT_CONFIG,
        "reddit, npz, metis, hgr, pins, members, events, mtx, ogb, graphsaint, edges, fringe");
    Config config = {.data.format = "dgl"};
    snprintf(config.data.path, sizeof config.data.path, "%s", test_path("graph.unknown"));
    assert_refused(load_config(&d, &config, &err), EXIT_CONFIG, "found 'dgl'");
    strcpy(config.data.format, "edges"); // named, so the extension does not matter
    test_write_text(test_path("graph.unknown"), "0 1\n");
    assert_ok(load_config(&d, &config, &err));
}
