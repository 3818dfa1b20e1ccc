// If this failed, a folder as OGB, DGL, PyG or GraphSAINT unpack it would be read as another graph,
// or a damaged one accepted. The same four nodes and three edges, 0-1, 1-2, 2-3, in every form.
#include "bytes.h"
#include "loading.h"

static const char *new_folder(void) {
    static int count;
    return test_path(test_text("set%d", count++));
}

static const char *inside(const char *folder, const char *name) {
    static char path[8][2048];
    static int turn;
    char *out = path[turn++ % 8], parent[2048];
    path_join(out, sizeof path[0], folder, name);
    path_folder(parent, sizeof parent, out);
    assert_ok(file_make_folder(parent, &err));
    return out;
}

static void write_gz(const char *folder, const char *name, const char *text) {
    gzFile file = gzopen(inside(folder, name), "wb");
    assert_non_null(file);
    if (text[0] != '\0')
        assert_true(gzputs(file, text) > 0);
    assert_int_equal(gzclose(file), Z_OK);
}

static void assert_path(const Dataset *d) {
    assert_int_equal(d->nodes, 4);
    assert_int_equal(d->edges, 6);
    ASSERT_INTS(d->target, 1, 0, 2, 1, 3, 2);
    assert_int_equal(d->features, 2);
    for (int i = 0; i < 8; i++)
        assert_true(d->x[i] == (float)i / 2);
    assert_memory_equal(d->split, ((uint8_t[]){SPLIT_TRAIN, SPLIT_VAL, SPLIT_TEST, SPLIT_TEST}), 4);
}

// ---- OGB

static const char *ogb_set(const char *split) {
    const char *folder = new_folder();
    char name[64];
    static const char *const ids[] = {"0\n", "1\n", "3\n2\n"}, *const files[] = {"train", "valid",
                                                                                 "test"};
    write_gz(folder, "raw/num-node-list.csv.gz", "4\n");
    write_gz(folder, "raw/num-edge-list.csv.gz", "3\n");
    write_gz(folder, "raw/edge.csv.gz", "2,1\n0,1\r\n2,3");
    write_gz(folder, "raw/node-feat.csv.gz", "0,0.5\n1.0,1.5\n2,2.5\n3e0,35e-1\n\n");
    write_gz(folder, "raw/node-label.csv.gz", "0\n2.0\nnan\n1\n");
    for (int s = 0; s < 3; s++) {
        snprintf(name, sizeof name, "split/%s/%s.csv.gz", split, files[s]);
        write_gz(folder, name, s == 2 ? "3\n" : ids[s]);
    }
    return folder;
}

TEST(ogb_sets_by_sales_rank_have_both_directions) {
    OWNED(Dataset) d = {0};
    const char *folder = ogb_set("sales_ranking");
    write_gz(folder, "raw/node-label.csv.gz", "0\n2\n1\n1\n");
    write_gz(folder, "split/sales_ranking/test.csv.gz", "3\n2\n");
    for (int raw = 0; raw < 2; raw++) {
        assert_ok(load(&d, raw ? inside(folder, "raw") : folder, &err));
        assert_path(&d);
        ASSERT_INTS(d.label, 0, 2, 1, 1);
        assert_int_equal(d.classes, 3);
        assert_string_equal(d.name, path_name(folder));
    }
}

TEST(other_ogb_sets_are_directed) {
    OWNED(Dataset) d = loaded(ogb_set("time"));
    assert_int_equal(d.edges, 3);
    ASSERT_INTS(d.target, 1, 1, 3);
    ASSERT_INTS(d.label, 0, 2, -1, 1);
    assert_int_equal(d.split[2], SPLIT_NONE);
}

TEST(ogb_labels_of_several_columns_are_multilabel) {
    const char *folder = ogb_set("time");
    write_gz(folder, "raw/node-label.csv.gz", "0,1,0\n1,1,0\n0,0,0\n1.0,0,1\n");
    OWNED(Dataset) d = loaded(folder);
    assert_true(d.multilabel);
    assert_int_equal(d.classes, 3);
    assert_memory_equal(d.labels, ((uint8_t[]){0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1}), 12);
}

TEST(every_defect_of_an_ogb_set_is_named) {
    static const struct {
        const char *file, *text, *sentence;
    } defects[] = {
        {"raw/edge.csv.gz", "2,1\n0,4\n2,3\n", "edge.csv.gz:2: node 4 is not one of 0 to 3"},
        {"raw/edge.csv.gz", "2,1\n0,1\n", "edge.csv.gz: it has 2 lines"},
        {"raw/edge.csv.gz", "2,1\n0,1\n2,3\n3,2\n", "edge.csv.gz:4: there are more than the 3"},
        {"raw/edge.csv.gz", "2,1\n\n0,1\n2,3\n", "edge.csv.gz:2: the line is empty"},
        {"raw/edge.csv.gz", "src,dst\n0,1\n2,3\n", "edge.csv.gz:1: expected a source node"},
        {"raw/edge.csv.gz", "2,1\n0,1.0\n2,3\n", "edge.csv.gz:2: expected a target node"},
        {"raw/edge.csv.gz", "2,1\n0,1,9\n2,3\n", "edge.csv.gz:2: there are more columns"},
        {"raw/node-feat.csv.gz", "0,1\n0,1\n0\n0,1\n", "node-feat.csv.gz:3: expected a feature"},
        {"raw/node-feat.csv.gz", "0,1\n0,1\n0,nan\n0,1\n",
         "node-feat.csv.gz:3: expected a feature"},
        {"raw/node-label.csv.gz", "0\n1.5\n1\n1\n",
         "node-label.csv.gz:2: label 1.5 is not a class"},
        {"raw/node-label.csv.gz", "0\n1\n1\n", "node-label.csv.gz: it has 3 lines"},
        {"raw/num-node-list.csv.gz", "4000000000\n", "num-node-list.csv.gz says 4000000000"},
        {"raw/num-edge-list.csv.gz", "300000000000\n", "num-edge-list.csv.gz says 300000000000"},
        {"split/time/test.csv.gz", "3\n9\n", "test.csv.gz:2: node 9 is not one of 0 to 3"},
        {"split/time/test.csv.gz", "3\n0\n", "test.csv.gz:2: node 0 is in the splits twice"},
        {"split/time/test.csv.gz", "2\n", "node 2 is a test node but has no label"},
        {"split/other/train.csv.gz", "0\n", "split: there are several splits in it"},
        {"raw/num-node-dict.csv.gz", "1\n", "ogbn-mag"},
    };
    OWNED(Dataset) d = {0};
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        const char *folder = ogb_set("time");
        write_gz(folder, defects[i].file, defects[i].text);
        assert_refused(load(&d, folder, &err), EXIT_DATA, defects[i].sentence);
    }
    const char *folder = ogb_set("time");
    test_write_text(inside(folder, "raw/edge.csv.gz"), "2,1\n0,1\n2,3\n");
    assert_refused(load(&d, folder, &err), EXIT_DATA, "is not a gzip file although");
    folder = ogb_set("time");
    test_write_text(inside(folder, "split/time/split_dict.pt"), "");
    assert_ok(file_remove(inside(folder, "split/time/train.csv.gz"), &err));
    assert_refused(load(&d, folder, &err), EXIT_DATA, "split_dict.pt is a pickle");
    folder = ogb_set("time");
    test_write_text(inside(folder, "raw/edge-feat.csv.gz"), "");
    assert_ok(file_remove(inside(folder, "raw/node-feat.csv.gz"), &err));
    assert_refused(load(&d, folder, &err), EXIT_DATA, "ogbn-proteins");
}

// ---- Reddit

static void put_archive(const char *folder, const char *name, const Array *array, int count) {
    const char *made = write_arrays(array, count, "made.npz");
    assert_int_equal(rename(made, inside(folder, name)), 0);
}

static const char *reddit_set(const char *graph, bool ascending, bool loops) {
    static char folder[1024];
    static Array array[4];
    snprintf(folder, sizeof folder, "%s", new_folder());
    SET_FLOAT_ROWS(&array[0], "feature", 2, 0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f);
    SET_INTS(&array[1], "label", 0, 2, 1, 1);
    SET_INTS(&array[2], "node_types", 1, 2, 3, 3);
    put_archive(folder, "reddit_data.npz", array, 3);
    if (loops) {
        SET_INTS(&array[0], "row", 0, 0, 1, 1, 1, 2, 2, 2, 3, 3);
        SET_INTS(&array[1], "col", 0, 1, 1, 0, 2, 2, 1, 3, 3, 2);
    } else if (ascending) {
        SET_INTS(&array[0], "row", 0, 1, 1, 2, 2, 3);
        SET_INTS(&array[1], "col", 1, 2, 0, 1, 3, 2);
    } else {
        SET_INTS(&array[0], "row", 3, 1, 2, 0, 1, 2);
        SET_INTS(&array[1], "col", 2, 2, 3, 1, 0, 1);
    }
    SET_INTS(&array[2], "shape", 4, 4);
    array[3] = (Array){"format", "|S3", "()", "coo", 3};
    put_archive(folder, graph, array, 4);
    return folder;
}

TEST(reddit_is_read_in_any_order) {
    OWNED(Dataset) d = {0};
    for (int way = 0; way < 3; way++) {
        const char *name = way == 2 ? "reddit_self_loop_graph.npz" : "reddit_graph.npz";
        const char *folder = reddit_set(name, way != 1, way == 2);
        for (int file = 0; file < 2; file++) {
            assert_ok(load(&d, file ? inside(folder, name) : folder, &err));
            assert_path(&d);
            ASSERT_INTS(d.label, 0, 2, 1, 1);
            assert_string_equal(d.name, "reddit");
            assert_true((strstr(d.warnings.text, "4 self-loops of the file dropped") != NULL) ==
                        (way == 2));
        }
    }
}

TEST(a_damaged_reddit_is_refused) {
    static Array array[4];
    OWNED(Dataset) d = {0};
    const char *folder = reddit_set("reddit_graph.npz", true, false);
    SET_INTS(&array[0], "row", 0, 1);
    SET_INTS(&array[1], "col", 1, 4);
    SET_INTS(&array[2], "shape", 4, 4);
    array[3] = (Array){"format", "|S3", "()", "coo", 3};
    put_archive(folder, "reddit_graph.npz", array, 4);
    assert_refused(load(&d, folder, &err), EXIT_DATA,
                   "'col' holds 4 at entry 1, but columns are 0 to 3");
    SET_INTS(&array[1], "col", 1, 0, 0);
    put_archive(folder, "reddit_graph.npz", array, 4);
    assert_refused(load(&d, folder, &err), EXIT_DATA, "'row' has 2 entries and 'col' has 3");
    array[3] = (Array){"format", "|S3", "()", "bsr", 3};
    put_archive(folder, "reddit_graph.npz", array, 4);
    assert_refused(load(&d, folder, &err), EXIT_DATA, "its format is 'bsr'");
    folder = reddit_set("reddit_graph.npz", true, false);
    SET_INTS(&array[0], "node_types", 1, 2, 4, 3);
    put_archive(folder, "reddit_data.npz", array, 1);
    assert_refused(load(&d, folder, &err), EXIT_DATA, "node 2 has type 4");
}

// ---- GraphSAINT

static const char *graphsaint_set(const char *classes, const char *roles) {
    static char folder[1024];
    static Array array[4];
    static Bytes npy;
    static const double x[] = {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5};
    snprintf(folder, sizeof folder, "%s", new_folder());
    SET_INTS(&array[0], "indptr", 0, 1, 3, 5, 6);
    SET_INTS(&array[1], "indices", 1, 2, 0, 1, 3, 2);
    SET_INTS(&array[2], "shape", 4, 4);
    array[3] = (Array){"format", "|S3", "()", "csr", 3};
    put_archive(folder, "adj_full.npz", array, 4);
    npy.count = 0;
    put_npy(&npy, "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }", x, sizeof x);
    test_write(inside(folder, "feats.npy"), npy.data, npy.count);
    test_write_text(inside(folder, "class_map.json"), classes);
    test_write_text(inside(folder, "role.json"), roles);
    return folder;
}

static const char good_roles[] = "{\"te\": [3, 2], \"va\": [1],\n \"tr\": [0]}";

TEST(graphsaint_classes_go_by_their_keys) {
    OWNED(Dataset) d = {0};
    assert_ok(
        load(&d, graphsaint_set("{\"1\": 2, \"0\":0 ,\"3\": 1,\"2\": 1}\n", good_roles), &err));
    assert_path(&d);
    ASSERT_INTS(d.label, 0, 2, 1, 1);
    assert_ok(
        load(&d, graphsaint_set("{\"1\": 3, \"0\": 1, \"3\": 2, \"2\": 2}", good_roles), &err));
    ASSERT_INTS(d.label, 0, 2, 1, 1);
    assert_int_equal(d.classes, 3);
    assert_non_null(strstr(d.warnings.text, "classes count from 1 in class_map.json"));
}

TEST(graphsaint_lists_are_multilabel) {
    const char *lists = "{\"2\": [0, 0,1], \"0\": [1,0,0], \"3\": [1, 1, 1], \"1\": [0,0,0]}";
    OWNED(Dataset) d = loaded(graphsaint_set(lists, good_roles));
    assert_path(&d);
    assert_true(d.multilabel);
    assert_memory_equal(d.labels, ((uint8_t[]){1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}), 12);
}

TEST(every_defect_of_a_graphsaint_set_is_named) {
    static const char good[] = "{\"0\": 0, \"1\": 2, \"2\": 1, \"3\": 1}";
    static const struct {
        const char *classes, *roles, *sentence;
    } defects[] = {
        {"{\"0\": 0, \"1\": 2, \"2\": 1}", good_roles, "there are 3 nodes in it, but 4"},
        {"{\"0\": 0, \"1\": 2, \"1\": 1, \"3\": 1}", good_roles, "node 1 is there twice"},
        {"{\"0\": 0, \"1\": 2, \"2\": 1, \"4\": 1}", good_roles, "key '4' is not a node"},
        {"{\"0\": 0, \"1\": 2, \"2\": 1, \"3\": 1,}", good_roles, "expected '\"', found '}'"},
        {"{\"0\": 0, \"1\": 2.0, \"2\": 1, \"3\": 1}", good_roles,
         "expected an integer, found '.'"},
        {"{\"0\": 0, \"1\": [1], \"2\": 1, \"3\": 1}", good_roles, "has a list where others"},
        {"{\"0\": [0], \"1\": 1, \"2\": [1], \"3\": [1]}", good_roles, "has a class where others"},
        {"{\"0\": [0, 1], \"1\": [1]}", good_roles, "class_map.json: byte 21: expected ','"},
        {"{\"0\": [0], \"1\": [1, 1]}", good_roles, "the list of node 1 is longer"},
        {"{\"0\": [2]}", good_roles, "label 2 of node 0 is neither 0 nor 1"},
        {"{\"0\": [[[[0]]]]}", good_roles, "expected an integer, found '['"},
        {"{\"0\": 99999999999999999999}", good_roles, "does not fit 64 bits"},
        {good, "{\"tr\": [0], \"va\": [1]}", "the three roles tr, va and te are needed"},
        {good, "{\"tr\": [0], \"va\": [0], \"te\": []}", "node 0 is in the roles twice"},
        {good, "{\"tr\": [0], \"va\": [4], \"te\": []}", "node 4 is not one of 0 to 3"},
        {good, "{\"tr\": [0], \"va\": [1], \"te\": [2,", "role.json: byte 32: expected an integer"},
        {good, "{\"tr\": [0], \"va\": [1], \"te\": [2]} x", "expected the end of the file"},
    };
    OWNED(Dataset) d = {0};
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++)
        assert_refused(load(&d, graphsaint_set(defects[i].classes, defects[i].roles), &err),
                       EXIT_DATA, defects[i].sentence);
}

TEST(a_node_has_65536_labels_at_most) {
    enum { MOST = 1 << 16 };
    static char list[2 * MOST + 16] = "{\"0\": [0";
    char *end = list + strlen(list);
    OWNED(Dataset) d = {0};
    for (int k = 0; k < MOST; k++)
        end = stpcpy(end, ",1");
    stpcpy(end, "]}");
    assert_refused(load(&d, graphsaint_set(list, good_roles), &err), EXIT_DATA,
                   "node 0 has more than 65536 labels");
}

// ---- what is not read

TEST(other_files_say_how_to_convert_them) {
    static const struct {
        const char *name, *text, *sentence;
    } files[] = {
        {"data.pt", "PK", "is a file of PyTorch, which is not read; convert it: python3"},
        {"reddit.zip", "PK", "unzip it and name the folder that it makes"},
        {"graph.bin", "x", "perhaps a file of DGL, which is not read; convert it"},
        {"graph.dump", "\x80\x04.", "is a pickle of Python"},
        {"graph.parquet", "PAR1", "is a Parquet table, which is not read; convert it"},
    };
    OWNED(Dataset) d = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        test_write_text(test_path(files[i].name), files[i].text);
        assert_refused(load(&d, test_path(files[i].name), &err), EXIT_DATA, files[i].sentence);
    }
}

// ---- memory

// Loads what is so large that no other test has had as much in use.
static void load_as_planned(Dataset *d, const char *path) {
    Config config = config_at(path);
    MemoryForecast forecast = {0};
    size_t before = memory_in_use();
    dataset_forecast(&forecast, &config);
    assert_ok(dataset_load(d, &config, &err));
    size_t taken = memory_peak() - before, planned = forecast_total(&forecast);
    if (planned < taken || planned > 2 * taken)
        fail_msg("%s: %zu bytes were planned and %zu taken", path, planned, taken);
}

// ---- text in blocks: what a file of many blocks holds does not depend on threads

TEST(many_blocks_are_read_in_order) {
    enum { ROWS = 60000, COLUMNS = 24 }; // some 12 MB of text
    const char *folder = ogb_set("time");
    char *text = malloc((size_t)ROWS * COLUMNS * 12), *at = text;
    OWNED(Dataset) d = {0};
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < COLUMNS; c++)
            at += sprintf(at, "%d.%d%c", i, c, c + 1 < COLUMNS ? ',' : '\n');
    write_gz(folder, "raw/node-feat.csv.gz", text);
    write_gz(folder, "raw/num-node-list.csv.gz", "60000\n");
    assert_ok(file_remove(inside(folder, "raw/node-label.csv.gz"), &err));
    load_as_planned(&d, folder);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < COLUMNS; c++) {
            snprintf(text, 32, "%d.%d", i, c);
            assert_true(d.x[i * COLUMNS + c] == strtof(text, NULL));
        }
    free(text);
}

// The last: what it takes is above all that was taken before.
TEST(the_memory_of_a_matrix_is_foreseen) {
    enum { ENTRIES = 1000000, ROWS = 100000 };
    OWNED(Dataset) d = {0};
    FILE *file = fopen(test_path("large.mtx"), "w");
    assert_non_null(file);
    fprintf(file, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", ROWS, ROWS,
            ENTRIES);
    for (int64_t e = 0; e < ENTRIES; e++)
        fprintf(file, "%d %d 0.5\n", (int)(e * 7919 % ROWS) + 1, (int)(e % 1000) + 1);
    fclose(file);
    load_as_planned(&d, test_path("large.mtx"));
}
