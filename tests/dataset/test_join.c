// If this failed, features, labels or splits would go to other nodes of a stream than their ids
// say, or a file that cannot mean what its user wants would be read without a word.

#include "bytes.h"
#include "hashes.h"

#include "dataset/npz_layout.h"

enum { NODES = 4, MOST_ARRAYS = 7 };

// The nodes of the stream, ascending; the last two differ in the highest bit only.
static const uint64_t ids[NODES] = {5, 7, 40, ((uint64_t)1 << 63) + 40};

// One hyperedge of these nodes.
static void make_stream(Dataset *d, const uint64_t *id, int64_t nodes) {
    CLEARED(live_clear) LiveHypergraph live = {0};
    LiveChange change;
    Event event = {.kind = EVENT_HYPEREDGE, .id = 1, .count = nodes, .other = id, .weight = 1};
    assert_ok(live_init(&live, &err));
    assert_ok(live_apply(&live, &event, &change, &err));
    int32_t *order[LIVE_SIDES] = {live_order(&live, SIDE_NODE), live_order(&live, SIDE_HYPEREDGE)};
    assert_ok(dataset_from_live(d, &live, (const int32_t *const *)order, &err));
    memory_free(order[SIDE_NODE]);
    memory_free(order[SIDE_HYPEREDGE]);
}

static bool join(Dataset *d, const Array *array, int count, Error *err) {
    *err = (Error){0};
    make_stream(d, ids, NODES);
    return dataset_join(d, ids, write_arrays(array, count, "nodes.npz"), 0, err);
}

static void joined(Dataset *d, const Array *array, int count) {
    assert_ok(join(d, array, count, &err));
    assert_ok(dataset_check(d, "joined", &err));
}

static void assert_features(const Dataset *d, int64_t columns, const float *wanted) {
    assert_int_equal(d->features, columns);
    assert_memory_equal(d->x, wanted, (size_t)(NODES * columns) * sizeof *wanted);
}

// Five rows: of nodes 2, none (99), 0, 1, none (6); nothing is said of node 3.
static void five_rows(Array a[MOST_ARRAYS]) {
    memset(a, 0, MOST_ARRAYS * sizeof *a);
    SET_INTS(&a[0], "ids", 40, 99, 5, 7, 6);
    SET_FLOAT_ROWS(&a[1], "features", 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    SET_INTS(&a[2], "labels", 1, 2, 0, -1, 3);
    SET_INTS(&a[3], "train_ids", 5);
    SET_INTS(&a[4], "val_ids", 99);
    SET_INTS(&a[5], "test_ids", 6, 40, 98);
}

TEST(rows_go_to_their_ids) {
    Array a[MOST_ARRAYS];
    OWNED(Dataset) d = {0};
    five_rows(a);
    joined(&d, a, 6);
    assert_features(&d, 2, (float[]){5, 6, 7, 8, 1, 2, 0, 0});
    assert_memory_equal(d.label, ((int32_t[]){0, -1, 1, -1}), sizeof(int32_t[NODES]));
    assert_int_equal(d.classes, 4); // those of rows that may come later, too
    assert_false(d.multilabel);
    assert_memory_equal(d.split, "\1\0\3\0", NODES);
    assert_string_equal(d.warnings.text,
                        "2 rows in nodes.npz of a node that is not in the stream\n"
                        "1 node without a row in nodes.npz: no features, no label, no split\n"
                        "1 id in 'val_ids' of a node that is not in the stream\n"
                        "2 ids in 'test_ids' of a node that is not in the stream");
}

// As of an early snapshot.
TEST(rows_may_all_come_later) {
    Array a[MOST_ARRAYS];
    OWNED(Dataset) d = {0};
    SET_INTS(&a[0], "ids", 98, 99);
    SET_FLOAT_ROWS(&a[1], "features", 1, 3, 4);
    joined(&d, a, 2);
    assert_features(&d, 1, (float[]){0, 0, 0, 0});
    assert_non_null(strstr(d.warnings.text, "2 rows in nodes.npz of a node that is not in"));
}

TEST(ids_use_all_64_bits) {
    Array a[MOST_ARRAYS];
    OWNED(Dataset) d = {0};
    SET_INTS(&a[0], "ids", (int64_t)(((uint64_t)1 << 63) + 40), 40, 5, 7);
    a[0].descr = "<u8";
    SET_FLOAT_ROWS(&a[1], "features", 1, 1, 2, 3, 4);
    a[2] = a[0];
    a[2].key = "train_ids";
    joined(&d, a, 3);
    assert_features(&d, 1, (float[]){3, 4, 2, 1});
    assert_memory_equal(d.split, "\1\1\1\1", NODES);
    assert_null(d.label);
    assert_string_equal(d.warnings.text, "");
}

TEST(several_labels_and_sparse_features) {
    Array a[MOST_ARRAYS];
    OWNED(Dataset) d = {0};
    SET_INTS(&a[0], "ids", 7, 1, 5);
    SET_INT_ROWS(&a[1], "labels", 2, 1, 1, 0, 1, 0, 1);
    SET_FLOATS(&a[2], "attr_data", 1, 2, 3);
    SET_INTS(&a[3], "attr_indices", 0, 2, 1);
    SET_INTS(&a[4], "attr_indptr", 0, 1, 2, 3);
    SET_INTS(&a[5], "attr_shape", 3, 3);
    SET_INTS(&a[6], "test_ids", 40); // needs no label
    joined(&d, a, 7);
    assert_features(&d, 3, (float[]){0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
    assert_true(d.multilabel);
    assert_int_equal(d.classes, 2);
    assert_memory_equal(d.labels, "\0\1\1\1\0\0\0\0", 2 * NODES);
    assert_memory_equal(d.split, "\0\0\3\0", NODES);
}

TEST(splits_may_be_alone) {
    Array a[MOST_ARRAYS];
    OWNED(Dataset) d = {0};
    five_rows(a);
    a[1] = a[3];
    joined(&d, a, 2); // the ids of rows say nothing, then
    assert_null(d.x);
    assert_null(d.label);
    assert_memory_equal(d.split, "\1\0\0\0", NODES);
    assert_string_equal(d.warnings.text, "");
}

// A snapshot is a directory, whose arrays cannot be written.
TEST(an_opened_directory_is_joined_again) {
    Array a[MOST_ARRAYS];
    OWNED(Dataset) made = {0}, opened = {0};
    five_rows(a);
    joined(&made, a, 6);
    assert_ok(dataset_write(&made, test_path("snapshot"), &err));
    assert_ok(dataset_open(&opened, test_path("snapshot"), &err));
    assert_ok(dataset_join(&opened, ids, test_path("nodes.npz"), 0, &err));
    assert_string_equal(hashed(&made), hashed(&opened));
}

// ---- refusals

static void no_ids(Array *a) { a[0].key = NULL; }
static void nothing_else(Array *a) {
    for (int k = 1; k < MOST_ARRAYS; k++)
        a[k].key = NULL;
}
static void ids_of_rank_2(Array *a) { reshape(&a[0], "(5, 1)"); }
static void ids_as_floats(Array *a) {
    SET_FLOATS(&a[0], "ids", 40, 99, 5, 7, 6);
    reshape(&a[0], "(5,)");
}
static void ids_as_text(Array *a) { a[0].descr = "|S8"; }
static void an_id_negative(Array *a) { SET_INTS(&a[0], "ids", 40, -99, 5, 7, 6); }
static void an_id_twice(Array *a) { SET_INTS(&a[0], "ids", 99, 40, 5, 7, 99); }
static void features_short(Array *a) { SET_FLOAT_ROWS(&a[1], "features", 1, 1, 2, 3, 4); }
static void features_deep(Array *a) {
    SET_FLOATS(&a[1], "features", 1, 2, 3, 4, 5);
    reshape(&a[1], "(5, 1, 1)");
}
static void features_infinite(Array *a) { a[1].data[19] = 0x7f, a[1].data[18] = 0x80; }
static void labels_short(Array *a) { SET_INTS(&a[2], "labels", 1, 2, 0, 1); }
static void a_label_negative(Array *a) { SET_INTS(&a[2], "labels", 1, 2, 0, -7, 3); }
static void sparse_short(Array *a) {
    SET_FLOATS(&a[1], "attr_data", 1);
    SET_INTS(&a[2], "attr_indices", 0);
    SET_INTS(&a[3], "attr_indptr", 0, 1);
    SET_INTS(&a[4], "attr_shape", 1, 3);
}
static void train_twice(Array *a) { SET_INTS(&a[3], "train_ids", 5, 98, 98); }
static void in_two_splits(Array *a) { SET_INTS(&a[3], "train_ids", 5, 40); }
static void unknown_in_two_splits(Array *a) { SET_INTS(&a[4], "val_ids", 98); }
static void train_without_label(Array *a) { SET_INTS(&a[3], "train_ids", 5, 7); }
static void train_without_row(Array *a) {
    SET_INTS(&a[3], "train_ids", 5, (int64_t)ids[3]);
    a[3].descr = "<u8";
}
static void train_negative(Array *a) { SET_INTS(&a[3], "train_ids", 5, -1); }
static void train_of_rank_2(Array *a) { SET_INT_ROWS(&a[3], "train_ids", 2, 5, 40); }
static void train_mask(Array *a) {
    a[6] = (Array){.key = "train_mask", .descr = "|b1", .shape = "(5,)", .bytes = 5};
}
static void val_rows(Array *a) { SET_INTS(&a[6], "val_idx", 3); }

TEST(every_defect_is_named) {
    static const struct {
        void (*change)(Array *a);
        const char *part;
    } defects[] = {
        {no_ids, "there is no array 'ids'; add the list of the nodes' ids in the order"},
        {nothing_else, "there is nothing about nodes beside 'ids'; add any of 'features'"},
        {ids_of_rank_2, "'ids' is a list of ids, not an array of 2 dimensions"},
        {ids_as_floats, "'ids' has type 'f4' where integers are needed"},
        {ids_as_text, "'ids' has type 'U8' where integers are needed"},
        {an_id_negative, "'ids' holds -99; ids are whole numbers from 0"},
        {an_id_twice, "'ids' holds 99 twice; remove one of them"},
        {features_short, "'features' has 4 rows, but 'ids' has 5 entries; entry i is the id of"},
        {features_deep, "features must be an array (nodes, 1 to"},
        {features_infinite, "(its row i is node i in what follows): feature 0 of node 2 is infin"},
        {labels_short, "'labels' has 4 rows, but 'ids' has 5 entries"},
        {a_label_negative, "(its row i is node i in what follows): array 'labels': node 3 has"},
        {sparse_short, "'attr_shape' has 1 row, but 'ids' has 5 entries"},
        {train_twice, "'train_ids' holds 98 twice"},
        {in_two_splits, "'train_ids' and 'test_ids' both hold 40; a node is in one split"},
        {unknown_in_two_splits, "'val_ids' and 'test_ids' both hold 98"},
        {train_without_label, "'train_ids' holds 7, which has no label; take it out of 'train_ids"},
        {train_without_row, "'train_ids' holds 9223372036854775848, which has no label"},
        {train_negative, "'train_ids' holds -1; ids are whole numbers from 0"},
        {train_of_rank_2, "'train_ids' is a list of ids, not an array of 2"},
        {train_mask, "'train_mask' is about rows, but beside 'ids' a split is a list of ids; name "
                     "it 'train_ids'"},
        {val_rows, "'val_idx' is about rows, but beside 'ids' a split is a list of ids; name it "
                   "'val_ids'"},
    };
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        Array a[MOST_ARRAYS];
        OWNED(Dataset) d = {0};
        Error err;
        five_rows(a);
        defects[i].change(a);
        assert_false(join(&d, a, MOST_ARRAYS, &err));
        assert_error(&err, EXIT_DATA, defects[i].part);
        const char *file = strstr(err.text, "nodes.npz");
        assert_non_null(file);
        assert_null(strstr(file + 1, "nodes.npz")); // named once
    }
}

TEST(a_missing_file_is_named) {
    OWNED(Dataset) d = {0};
    make_stream(&d, ids, NODES);
    assert_refused(dataset_join(&d, ids, test_path("none.npz"), 0, &err), EXIT_NO_INPUT,
                   "none.npz");
}

// ---- random features

TEST(random_features_are_those_of_the_id) {
    enum { COLUMNS = 3 };
    static const uint64_t fewer[2] = {7, ((uint64_t)1 << 63) + 40};
    RandomKey key = random_key(9, RANDOM_FEATURES, 0, 0, 0);
    OWNED(Dataset) all = {0}, some = {0};
    make_stream(&all, ids, NODES);
    make_stream(&some, fewer, 2);
    assert_ok(dataset_join(&all, ids, "random:3", 9, &err));
    assert_ok(dataset_join(&some, fewer, "random:3", 9, &err));
    assert_int_equal(all.features, COLUMNS);
    for (int i = 0; i < NODES; i++)
        for (int f = 0; f < COLUMNS; f++)
            assert_true(
                all.x[i * COLUMNS + f] ==
                (float)random_normal(key, i == 3 ? 40 : (int64_t)ids[i], i == 3 ? 1 << 15 : 0, f));
    assert_memory_equal(some.x, all.x + COLUMNS, sizeof(float[COLUMNS]));
    assert_memory_equal(some.x + COLUMNS, all.x + 3 * COLUMNS, sizeof(float[COLUMNS]));
    assert_memory_not_equal(all.x + 2 * COLUMNS, all.x + 3 * COLUMNS, sizeof(float[COLUMNS]));
    assert_null(all.label);
    assert_memory_equal(all.split, "\0\0\0\0", NODES);
    assert_ok(dataset_join(&all, ids, "random:3", 10, &err));
    assert_true(all.x[0] != (float)random_normal(key, 5, 0, 0));
}

TEST(random_widths_are_checked) {
    static const char *const wrong[] = {"random:0", "random:-1", "random:1048577",
                                        "random:",  "random:F",  "random:3x"};
    OWNED(Dataset) d = {0};
    make_stream(&d, ids, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_refused(dataset_join(&d, ids, wrong[i], 0, &err), EXIT_CONFIG,
                       "needs a width of 1 to 1048576, as in random:64", wrong[i]);
    }
    assert_ok(dataset_join(&d, ids, "random:1048576", 0, &err));
    assert_int_equal(d.features, 1 << 20);
}
