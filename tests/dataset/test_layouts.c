// If this failed, files that PyG, scipy and spreadsheets write would be refused, or read as another
// graph than the one they hold. Every file here holds 0 - 1 - 2 - 3, both directions.

#include "bytes.h"
#include "loading.h"

#include "fringe/npy.h"

static void assert_path(const Dataset *d) {
    assert_int_equal(d->nodes, 4);
    assert_int_equal(d->edges, 6);
    ASSERT_INTS(d->target, 1, 0, 2, 1, 3, 2);
    const int64_t offset[5] = {0, 1, 3, 5, 6};
    assert_memory_equal(d->offset, offset, sizeof offset);
}

// --- scipy.sparse.save_npz

static void scipy_matrix(Array a[5], const char *format) {
    SET_FLOATS(&a[0], "data", 1, 1, 1, 1, 1, 1);
    SET_INTS(&a[1], "indices", 1, 0, 2, 1, 3, 2);
    SET_INTS(&a[2], "indptr", 0, 1, 3, 5, 6);
    SET_INTS(&a[3], "shape", 4, 4);
    a[4] = (Array){.key = "format", .descr = "|S3", .shape = "()", .bytes = 3};
    memcpy(a[4].data, format, 3);
}

TEST(scipy_matrices_are_read) {
    Array a[5];
    scipy_matrix(a, "csr");
    OWNED(Dataset) d = loaded(write_arrays(a, 5, "csr.npz"));
    assert_path(&d);
    SET_INTS(&a[1], "indices", 1, 2, 3); // as csr: 0 -> 1 -> 2 -> 3
    SET_FLOATS(&a[0], "data", 1, 1, 1);
    SET_INTS(&a[2], "indptr", 0, 1, 2, 3, 3);
    assert_ok(load(&d, write_arrays(a, 5, "row.npz"), &err));
    const int64_t forward[5] = {0, 1, 2, 3, 3}, backward[5] = {0, 0, 1, 2, 3};
    assert_memory_equal(d.offset, forward, sizeof forward);
    memcpy(a[4].data, "csc", 3); // the same as columns: 3 -> 2 -> 1 -> 0
    assert_ok(load(&d, write_arrays(a, 5, "csc.npz"), &err));
    assert_memory_equal(d.offset, backward, sizeof backward);
    memcpy(a[4].data, "bsr", 3);
    assert_refused(load(&d, write_arrays(a, 5, "bsr.npz"), &err), EXIT_DATA,
                   "bsr.npz: its format is 'bsr'; fringe reads csr, csc and coo");
}

// --- PyG

static void pyg_arrays(Array a[6]) {
    SET_INT_ROWS(&a[0], "edge_index", 6, 0, 1, 1, 2, 2, 3, 1, 0, 2, 1, 3, 2);
    SET_FLOAT_ROWS(&a[1], "x", 1, 1, 2, 3, 4);
    SET_INTS(&a[2], "y", 0, 1, 0, 1);
    a[3] = (Array){"train_mask", "|b1", "(4,)", "\1\0\0\0", 4};
    a[4] = (Array){"val_mask", "|u1", "(4,)", "\0\1\0\0", 4};
    SET_INTS(&a[5], "test_mask", 0, 0, 1, 1);
}

TEST(pyg_arrays_are_read) {
    Array a[6];
    pyg_arrays(a);
    OWNED(Dataset) d = loaded(write_arrays(a, 6, "pyg.npz"));
    assert_path(&d);
    assert_int_equal(d.features, 1);
    assert_int_equal(d.classes, 2);
    assert_memory_equal(d.split, "\1\2\3\3", 4);
    assert_string_equal(d.warnings.text, "2 nodes of validation and test with a "
                                         "class that no training node has");
    SET_INT_ROWS(&a[0], "edge_index", 2, 0, 1, 1, 0, 1, 2, 2, 1, 2, 3, 3, 2); // the transpose
    assert_ok(load(&d, write_arrays(a, 6, "pyg.npz"), &err));
    assert_path(&d);
    SET_INT_ROWS(&a[0], "edge_index", 1, 0, 4);
    assert_refused(load(&d, write_arrays(a, 6, "pyg.npz"), &err), EXIT_DATA,
                   "edge 0 leads from 0 to 4, but nodes are 0 to 3");
}

TEST(a_split_may_lack_test_nodes_or_be_an_array_of_words) {
    Array a[6];
    pyg_arrays(a);
    OWNED(Dataset) d = loaded(write_arrays(a, 5, "untested.npz"));
    assert_memory_equal(d.split, "\1\2\0\0", 4);
    assert_non_null(strstr(d.warnings.text, "there are no test nodes"));
    a[3] = (Array){"split", "|S5", "(4,)", "trainvalidTest\0none", 20};
    assert_ok(load(&d, write_arrays(a, 4, "words.npz"), &err));
    assert_memory_equal(d.split, "\1\2\3\0", 4);
    Config config = {.data.split_keys = {3, {"typo", "val", "test"}}}; // not the words, then
    snprintf(config.data.path, sizeof config.data.path, "%s", test_path("words.npz"));
    assert_refused(load_config(&d, &config, &err), EXIT_DATA, "there is no array 'typo'");
    a[3].data[0] = 'b';
    assert_refused(load(&d, write_arrays(a, 4, "words.npz"), &err), EXIT_DATA,
                   "words.npz: array 'split': 'brain' of node 0 is none of train, val, test, none");
    a[3] = (Array){"split", "|S5", "(2,)", "trainvalid", 10};
    assert_refused(load(&d, write_arrays(a, 4, "few.npz"), &err), EXIT_DATA,
                   "array 'split': it has 2 words, but there are 4 nodes");
    SET_INTS(&a[3], "split", 0, 1, 2, 2);
    reshape(&a[1], "(4,)"); // one feature
    assert_ok(load(&d, write_arrays(a, 4, "numbers.npz"), &err));
    assert_int_equal(d.features, 1);
    assert_non_null(strstr(d.warnings.text, "array 'split' holds numbers"));
    assert_null(strstr(d.warnings.text, "data.weights"));
}

// Two directed edges; the reverse of a weighted edge has its weight.
TEST(weights_of_pyg_are_read) {
    Array a[3];
    SET_INT_ROWS(&a[0], "edge_index", 2, 0, 1, 1, 2);
    SET_FLOATS(&a[1], "edge_weight", 3, 5);
    SET_FLOAT_ROWS(&a[2], "x", 1, 1, 2, 3);
    OWNED(Dataset) d = loaded(write_arrays(a, 3, "weighted.npz"));
    assert_non_null(d.weight);
    assert_true(d.weight[0] == 3 && d.weight[1] == 5);
    SET_FLOATS(&a[1], "edge_weight", 3);
    assert_refused(load(&d, write_arrays(a, 3, "weighted.npz"), &err), EXIT_DATA,
                   "array 'edge_weight': there are 1 weights, but 2 edges");
}

TEST(an_archive_without_graph_lists_its_arrays) {
    Array a[2];
    OWNED(Dataset) d = {0};
    SET_INTS(&a[0], "train_idx", 0);
    SET_INTS(&a[1], "weird", 1);
    assert_refused(load(&d, write_arrays(a, 2, "splits.npz"), &err), EXIT_DATA,
                   "its arrays are train_idx, weird. fringe reads adj_data", "see docs/data.md");
}

// --- labels and masks

TEST(labels_may_be_whole_floats) {
    Array a[6];
    pyg_arrays(a);
    SET_FLOATS(&a[2], "y", 2, 1, NAN, 1);
    memcpy(a[5].data, (int64_t[]){0, 0, 0, 1}, 32); // node 2 has no label
    OWNED(Dataset) d = loaded(write_arrays(a, 6, "float.npz"));
    ASSERT_INTS(d.label, 2, 1, -1, 1);
    assert_non_null(strstr(d.warnings.text, "labels begin at 1"));
    memcpy(a[2].data, (float[]){9, 0, NAN, 0}, 16);
    assert_ok(load(&d, write_arrays(a, 6, "gaps.npz"), &err));
    assert_non_null(strstr(d.warnings.text, "8 of the 10 classes have no nodes"));
}

// Loads with data.labels_are.
static bool load_as(Dataset *d, const char *path, const char *labels_are, Error *err) {
    Config config = config_at(path);
    snprintf(config.data.labels_are, sizeof config.data.labels_are, "%s", labels_are);
    return load_config(d, &config, err);
}

TEST(other_floats_are_numbers_to_predict) {
    Array a[6];
    pyg_arrays(a);
    memcpy(a[5].data, (int64_t[]){0, 0, 0, 1}, 32); // node 2 is in no split
    SET_FLOATS(&a[2], "y", 0, 0.5f, NAN, 1);
    const char *path = write_arrays(a, 6, "float.npz");
    OWNED(Dataset) d = loaded(path);
    assert_true(d.numeric && !d.multilabel && d.label == NULL && d.classes == 1);
    assert_true(d.numbers[1] == 0.5f && isnan(d.numbers[2]) && d.numeric);
    assert_non_null(strstr(d.warnings.text, "so they are numbers to predict"));
    assert_non_null(strstr(d.warnings.text, "1 node without label"));
    assert_refused(load_as(&d, path, "classes", &err), EXIT_DATA,
                   "entry 1 is 0.5; labels are whole numbers, and data.labels_are=numbers takes");
    SET_FLOATS(&a[2], "y", 2, 1, 0, 1);
    path = write_arrays(a, 6, "float.npz");
    assert_ok(load_as(&d, path, "numbers", &err));
    assert_true(d.numeric && d.numbers[0] == 2 && strstr(d.warnings.text, "predict") == NULL);
    const char *hash = hashed(&d);
    d.numbers[3] = 7; // a cache must not take it for the same dataset
    assert_string_not_equal(hash, hashed(&d));
    SET_FLOATS(&a[2], "y", 2.5f, 1, 0, NAN);
    assert_refused(load(&d, write_arrays(a, 6, "float.npz"), &err), EXIT_DATA,
                   "has no label (nan); take it out of the split");
    SET_FLOATS(&a[2], "y", 2.5f, 1, INFINITY, 1);
    assert_refused(load(&d, write_arrays(a, 6, "float.npz"), &err), EXIT_DATA,
                   "label 0 of node 2 is infinite; numbers to predict are finite");
}

// --- edge lists

TEST(edge_lists_are_arrays_or_have_a_header) {
    static const char pairs[] = "0,1\n1,0\n1,2\n2,1\n2,3\n3,2\n";
    const int64_t ends[12] = {0, 1, 1, 2, 2, 3, 1, 0, 2, 1, 3, 2};
    static const char *const headers[] = {"src,dst\n", "\"source\",\"target\"\n", "u,v\n", ""};
    OWNED(Dataset) d = {0};
    char text[128];
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "# a comment\n%s%s", headers[i], pairs);
        test_write_text(test_path("list.csv"), text);
        assert_ok(load(&d, test_path("list.csv"), &err));
        assert_path(&d);
        assert_string_equal(d.warnings.text, "");
    }
    test_write_text(test_path("list.csv"), "0,1\nsrc,dst\n"); // only the first line may
    assert_refused(load(&d, test_path("list.csv"), &err), EXIT_DATA,
                   "list.csv:2: the id 'src' is not written as a number");
    Bytes bytes = {.count = 0};
    put_npy(&bytes, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 6), }", ends,
            sizeof ends);
    test_write(test_path("edges.npy"), bytes.data, bytes.count);
    assert_ok(load(&d, test_path("edges.npy"), &err));
    assert_path(&d);
    test_write_text(test_path("gaps.txt"), "3 10\n10 24\n");
    assert_ok(load(&d, test_path("gaps.txt"), &err));
    assert_int_equal(d.nodes, 3);
    assert_non_null(strstr(d.warnings.text, "node ids run from 3 to 24 with gaps"));
}

// Large enough that its arrays outweigh all that the tests before it took.
TEST(the_memory_of_an_array_is_foreseen) {
    enum { EDGES = 200000 };
    OWNED(Dataset) d = {0};
    Config config = config_at(test_path("large.npy"));
    MemoryForecast forecast = {0};
    int64_t *ends = TEST_ARRAY(int64_t, 2 * EDGES);
    for (int64_t e = 0; e < 2 * EDGES; e++)
        ends[e] = e * 7919 % 50000;
    assert_ok(npy_write(test_path("large.npy"), "<i8", ends, 8, 2, (int64_t[]){2, EDGES}, &err));
    config.data.undirected = true;
    size_t before = memory_in_use();
    dataset_forecast(&forecast, &config);
    assert_ok(dataset_load(&d, &config, &err));
    assert_true(memory_peak() - before > 8000000); // of the load
    size_t copy = 2 * 2 * EDGES * sizeof(int64_t); // of qsort, which is not counted
    assert_true(forecast_total(&forecast) >= memory_peak() - before + copy);
}
