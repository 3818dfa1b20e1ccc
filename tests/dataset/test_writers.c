// If this failed, a dataset that fringe convert wrote in another format would be another one when
// it is read again, would depend on the number of threads, or would lose something without a word.

#include "writing.h"

#include <omp.h>

static const int all_traits[] = {0,       WEIGHTED,         DIRECTED, DIRECTED | WEIGHTED | SPARSE,
                                 SEVERAL, SEVERAL | SPARSE, SIGNED,   SPARSE | SIGNED,
                                 BARE,    BARE | WEIGHTED,  NUMERIC};
enum { TRAITS = sizeof all_traits / sizeof *all_traits };

TEST(npz_and_our_own_lose_nothing) {
    for (int i = 0; i < TRAITS; i++) {
        OWNED(Dataset) d = make(all_traits[i]), read = {0}, own = {0};
        pass(&read, &d, "npz", "d.npz", NULL);
        assert_same(&d, &read);
        pass(&own, &read, "fringe", "own", NULL);
        assert_same(&d, &own);
        pass(&read, &own, NULL, "again.npz", NULL); // from the mapped folder
        assert_same(&d, &read);
    }
}

TEST(stored_arrays_are_the_same) {
    OWNED(Dataset) d = make(DIRECTED | WEIGHTED), back = {0};
    Warnings remarks = {""};
    Conversion to = {.path = test_path("stored.npz"), .stored = true};
    assert_ok(dataset_convert(&d, &to, &remarks, &err));
    assert_true(file_size(to.path) > (d.edges * 8 + NODES * FEATURES * 4));
    assert_ok(load(&back, to.path, &err));
    assert_same(&d, &back);
}

TEST(ogb_loses_only_weights) {
    for (int i = 0; i < TRAITS; i++) {
        int traits = all_traits[i];
        if (traits & (BARE | WEIGHTED | NUMERIC))
            continue;
        OWNED(Dataset) d = make(traits), back = {0};
        pass(&back, &d, "ogb", "set", NULL);
        assert_same(&d, &back);
    }
    OWNED(Dataset) d = make(WEIGHTED), back = {0};
    pass(&back, &d, "ogb", "set", "weights of edges are written as raw/edge-feat.csv.gz");
    assert_memory_equal(back.target, d.target, (size_t)d.edges * sizeof *d.target);
    assert_memory_equal(back.label, d.label, NODES * sizeof *d.label);
    OWNED(Dataset) bare = make(BARE);
    pass(&back, &bare, "ogb", "set", "there are no labels: each is written as nan");
    assert_int_equal(back.label[NODES - 1], -1);
    assert_int_equal(back.classes, 0);
}

TEST(metis_keeps_the_edges) {
    static const char *const names[] = {"g.graph", "g.graph.gz"};
    for (int i = 0; i < 4; i++) {
        bool weighted = i % 2, bare = i / 2;
        OWNED(Dataset) d = make((weighted ? WEIGHTED : 0) | (bare ? BARE : 0)), back = {0};
        pass(&back, &d, "metis", names[i % 2],
             weighted ? "weights that are no whole numbers"
             : bare   ? NULL
                      : "features, labels and splits are left out");
        assert_same_edges(&d, &back);
    }
}

// ---- hypergraphs

// 9 nodes, of which the last two are in no hyperedge; 5 hyperedges, the largest of 6 pins.
static const char pins[] = "5 9 11\n0.5 1 2 3\n2 3 4\n1 1 2 3 4 5 6\n0 7\n3.25 1 7\n"
                           "1\n2\n3\n4\n5\n6\n7\n8\n900\n";

TEST(hypergraphs_pass) {
    OWNED(Dataset) d = {0}, back = {0}, own = {0};
    test_write_text(test_path("h.hgr"), pins);
    assert_ok(load(&d, test_path("h.hgr"), &err));
    pass(&back, &d, NULL, "back.hgr", "weights that are no whole numbers");
    assert_same(&d, &back);
    pass(&back, &d, NULL, "back.npz", NULL);
    assert_same(&d, &back);
    pass(&own, &back, NULL, "hyper/", NULL);
    assert_same(&d, &own);
    test_write_text(test_path("h.pins"), "0 0 1 s\n1 0 1 t\n1 1 1 b\n2 1 1 b\n");
    assert_ok(load(&d, test_path("h.pins"), &err));
    assert_non_null(d.pin_role);
    pass(&back, &d, NULL, "roles.npz", NULL);
    assert_same(&d, &back);
}

// Several blocks of hyperedges, and more text than a block.
TEST(many_pins_pass) {
    OWNED(Dataset) d = {0}, back = {0};
    assert_ok(dataset_generate(&d, "hyper-zipf:vertices=60000,hyperedges=1100000,most=3", 1, &err));
    pass(&back, &d, "metis", "many.hgr", NULL);
    assert_same_edges(&d, &back);
}

// ---- the bytes, the memory

static const char *hash_of(const Dataset *d, const char *format, const char *name, int threads) {
    char path[1024], hash[33];
    Warnings remarks;
    omp_set_num_threads(threads);
    snprintf(path, sizeof path, "%s", test_path(name));
    assert_ok(convert_as(d, format, path, &remarks, &err));
    if (file_is_folder(path))
        path_join(path, sizeof path, test_path(name), "raw/node-feat.csv.gz");
    assert_ok(hash_file(path, hash, &err));
    return test_text("%s", hash);
}

TEST(threads_do_not_change_the_bytes) {
    static const char *const formats[][2] = {
        {"npz", "t.npz"}, {"metis", "t.graph"}, {"metis", "t.graph.gz"}, {"ogb", "t.set"}};
    OWNED(Dataset) d = {0};
    assert_ok(dataset_generate(&d, "planted:nodes=8000,edges=200000,features=16", 1, &err));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *one = hash_of(&d, formats[i][0], formats[i][1], 1);
        assert_string_equal(one, hash_of(&d, formats[i][0], formats[i][1], 5));
    }
}

// Features of 9.6 MB, which are deflated in several batches of blocks.
TEST(long_arrays_pass) {
    OWNED(Dataset) d = {0}, back = {0};
    assert_ok(dataset_generate(&d, "planted:nodes=8000,edges=20000,features=300", 1, &err));
    const char *one = hash_of(&d, "npz", "one.npz", 1);
    assert_string_equal(one, hash_of(&d, "npz", "many.npz", 5));
    assert_ok(load(&back, test_path("many.npz"), &err));
    assert_same(&d, &back);
}

#ifndef __SANITIZE_ADDRESS__
static size_t resident_peak(void) {
    char line[256];
    size_t kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %zu", &kib) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kib << 10;
}

// 100 MB of features, which a writer that holds an array or a file in memory would show. Not under
// AddressSanitizer, which keeps freed memory.
TEST(writing_takes_little_memory) {
    static const char *const names[] = {"m.npz", "m.graph", "m/"};
    OWNED(Dataset) d = make(0);
    memory_free(d.x);
    d.features = 630;
    d.x = ALLOC(float, NODES *d.features, "a test");
    for (int64_t k = 0; k < NODES * d.features; k++)
        d.x[k] = 1;
    omp_set_num_threads(4);
    for (int i = 0; i < 3; i++) {
        FILE *reset = fopen("/proc/self/clear_refs", "w");
        if (reset == NULL || fputs("5", reset) < 0 || fclose(reset) != 0)
            skip();
        size_t before = resident_peak();
        Conversion to = {.path = test_path(names[i]), .stored = true, .replace = true};
        Warnings remarks = {""};
        assert_ok(dataset_convert(&d, &to, &remarks, &err));
        // the peak may be below `before`, since the kernel's counts are rough
        if (resident_peak() > before + (64 << 20))
            test_fail_at(__FILE__, __LINE__, names[i], "took more than 64 MiB");
    }
}
#endif
