// If this failed, data.transforms would change a graph or its features in another way than it says.

#include "support.h"

#include "fringe/dataset.h"

// 0 -> 1 (twice), 1 -> 0, 1 -> 2, 2 -> 2, 3 isolated; weights 1 2 | 5 3 | 4.
static Dataset small_graph(bool weighted) {
    static const int64_t offset[5] = {0, 2, 4, 5, 5};
    static const int32_t target[5] = {1, 1, 0, 2, 2};
    static const float weight[5] = {1, 2, 5, 3, 4}, x[8] = {1, -3, 0, 0, 2, 2, 5, 1};
    Dataset d = {.nodes = 4, .edges = 5, .features = 2};
    d.offset = memcpy(ALLOC(int64_t, 5, "t"), offset, sizeof offset);
    d.target = memcpy(ALLOC(int32_t, 5, "t"), target, sizeof target);
    d.weight = weighted ? memcpy(ALLOC(float, 5, "t"), weight, sizeof weight) : NULL;
    d.x = memcpy(ALLOC(float, 8, "t"), x, sizeof x);
    d.split = memcpy(ALLOC(uint8_t, 4, "t"), "\1\0\1\2", 4);
    return d;
}

static void apply(Dataset *d, const char *step) {
    ConfigWords words = {.count = 1};
    strcpy(words.word[0], step);
    assert_ok(dataset_prepare(d, &words, 0, 0, &err));
}

static void assert_edges(const Dataset *d, const int64_t *offset, const int32_t *target,
                         const float *weight) {
    assert_int_equal(d->edges, offset[4]);
    assert_memory_equal(d->offset, offset, 5 * sizeof *offset);
    assert_memory_equal(d->target, target, (size_t)d->edges * sizeof *target);
    assert_true((d->weight == NULL) == (weight == NULL));
    if (weight != NULL)
        assert_memory_equal(d->weight, weight, (size_t)d->edges * sizeof *weight);
}

TEST(duplicates_become_one) {
    const int64_t offset[5] = {0, 1, 3, 4, 4};
    const int32_t target[4] = {1, 0, 2, 2};
    const float sums[4] = {3, 5, 3, 4};
    for (int weighted = 0; weighted < 2; weighted++) {
        OWNED(Dataset) d = small_graph(weighted);
        apply(&d, "drop-duplicates");
        assert_edges(&d, offset, target, weighted ? sums : NULL);
    }
}

TEST(loops_are_dropped) {
    const int64_t offset[5] = {0, 2, 4, 4, 4};
    const int32_t target[4] = {1, 1, 0, 2};
    const float weight[4] = {1, 2, 5, 3};
    OWNED(Dataset) d = small_graph(true);
    apply(&d, "drop-loops");
    assert_edges(&d, offset, target, weight);
}

// Both directions, each once, with the larger of the two weights; once more changes nothing.
TEST(symmetrize_adds_the_reverse) {
    const int64_t offset[5] = {0, 1, 3, 5, 5};
    const int32_t target[5] = {1, 0, 2, 1, 2};
    const float weight[5] = {5, 5, 3, 3, 4};
    for (int weighted = 0; weighted < 2; weighted++) {
        OWNED(Dataset) d = small_graph(weighted);
        assert_false(dataset_is_symmetric(&d));
        for (int again = 0; again < 2; again++) {
            apply(&d, "symmetrize");
            assert_edges(&d, offset, target, weighted ? weight : NULL);
            assert_true(dataset_is_symmetric(&d));
        }
    }
}

TEST(edges_are_dropped) {
    const int64_t offset[5] = {0};
    const float x[8] = {1, -3, 0, 0, 2, 2, 5, 1};
    OWNED(Dataset) d = small_graph(true);
    for (int again = 0; again < 2; again++) {
        apply(&d, "drop-edges");
        assert_edges(&d, offset, NULL, NULL);
        assert_memory_equal(d.x, x, sizeof x);
        assert_memory_equal(d.split, "\1\0\1\2", 4);
    }
}

TEST(features_change_as_said) {
    OWNED(Dataset) d = small_graph(false);
    apply(&d, "row-normalize"); // |x| summed; the zero row stays
    const float normal[8] = {0.25f, -0.75f, 0, 0, 0.5f, 0.5f, (float)(5.0 / 6), (float)(1.0 / 6)};
    assert_memory_equal(d.x, normal, sizeof normal);
    apply(&d, "binary");
    const float binary[8] = {1, 1, 0, 0, 1, 1, 1, 1};
    assert_memory_equal(d.x, binary, sizeof binary);

    OWNED(Dataset) s = small_graph(false);
    apply(&s, "standardize"); // training rows 0 and 2: means 1.5, -0.5; deviations 0.5, 2.5
    const float standard[8] = {-1, -1, -3, 0.2f, 1, 1, 7, 0.6f};
    assert_close(s.x, standard, 8, 1e-6 /* one rounding each */);
}

static void assert_ones(const Dataset *d, int64_t columns, const int64_t *ones, int count) {
    static float wanted[64];
    memset(wanted, 0, sizeof wanted);
    for (int k = 0; k < count; k++)
        wanted[ones[k]] = 1;
    assert_int_equal(d->features, columns);
    assert_memory_equal(d->x, wanted, (size_t)(d->nodes * columns) * sizeof *d->x);
}

// Column 0 holds 0 1 2 5 and column 1 holds -3 0 1 2; the directory's arrays are mapped, read-only.
TEST(whole_numbers_become_ones) {
    static const int64_t all[8] = {1, 4, 8, 13, 18, 23, 27, 30}, one[4] = {0, 5, 11, 14};
    OWNED(Dataset) d = small_graph(false), mapped = {0};
    assert_ok(dataset_write(&d, test_path("whole"), &err));
    assert_ok(dataset_open(&mapped, test_path("whole"), &err));
    apply(&mapped, "one-hot");
    assert_ones(&mapped, 8, all, 8);
    apply(&d, "one-hot:drop=0,0");
    assert_ones(&d, 4, one, 4);
    apply(&d, "one-hot"); // a column of zeros and ones has two values
    assert_int_equal(d.features, 8);
}

TEST(made_features) {
    OWNED(Dataset) d = small_graph(false);
    memory_free(d.x);
    d.x = NULL;
    d.features = 0;
    apply(&d, "degree"); // in-degrees 1 2 2 0, out-degrees 2 2 1 0
    assert_int_equal(d.features, 18);
    const int bucket[4] = {1, 1, 1, 0}, in[4] = {1, 2, 2, 0}, out[4] = {2, 2, 1, 0};
    for (int i = 0; i < 4; i++) {
        for (int f = 0; f < 16; f++)
            assert_true(d.x[i * 18 + f] == (f == bucket[i]));
        assert_true(d.x[i * 18 + 16] == (float)log1p(in[i]));
        assert_true(d.x[i * 18 + 17] == (float)log1p(out[i]));
    }
    memory_free(d.x);
    d.x = NULL;
    d.features = 0;
    apply(&d, "random:2000");
    double sum = 0, squares = 0;
    for (int k = 0; k < 8000; k++) {
        sum += d.x[k];
        squares += (double)d.x[k] * d.x[k];
    }
    assert_near(sum / 8000, 0, 0.05 /* 4.5 standard errors of 8000 normals */);
    assert_near(squares / 8000, 1, 0.08 /* 5 of their squares */);
    // by node id and column: the counter's own number
    RandomKey key = random_key(0, RANDOM_FEATURES, 0, 0, 0);
    assert_true(d.x[3 * 2000 + 77] == (float)random_normal(key, 3, 0, 77));
}

TEST(wrong_steps_are_named) {
    static const char *const cases[][2] = {
        {"symmetrise", "found 'symmetrise'; did you mean 'symmetrize'?"},
        {"drop-loops:3", "expected one of"},
        {"random", "expected one of"},
        {"random:0", "width"},
        {"random:x", "width"},
        {"random:8", "already has 2 features"},
        {"degree", "already has 2 features"},
        {"one-hot:drop", "expected one of"},
        {"one-hot:drop=", "expected one of"},
        {"one-hot:drop=1,", "needs numbers of columns"},
        {"one-hot:drop=-1", "needs numbers of columns"},
        {"one-hot:drop=0,x", "needs numbers of columns"},
        {"one-hot:drop=2", "there is no column 2 to drop; the features have 2, from 0"},
        {"one-hot:drop=0,1", "no column is left"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ConfigWords words = {.count = 2, .word = {"drop-loops"}};
        strcpy(words.word[1], cases[i][0]);
        OWNED(Dataset) d = small_graph(false);
        assert_refused(dataset_prepare(&d, &words, 0, 0, &err), EXIT_CONFIG, cases[i][1]);
    }
    ConfigWords words = {.count = 1, .word = {"standardize"}};
    OWNED(Dataset) d = small_graph(false);
    memset(d.split, SPLIT_NONE, 4);
    assert_refused(dataset_prepare(&d, &words, 0, 0, &err), EXIT_CONFIG, "training nodes");
    memory_free(d.x);
    d.x = NULL;
    d.features = 0;
    assert_refused(dataset_prepare(&d, &words, 0, 0, &err), EXIT_CONFIG, "no features");
}

// Whole numbers above 2^24 may be other ones in the file.
TEST(what_is_not_whole_gets_no_ones) {
    static const float odd[] = {0.5f, -1e-30f, 33554432};
    ConfigWords words = {.count = 1, .word = {"one-hot"}};
    for (int i = 0; i < 3; i++) {
        OWNED(Dataset) d = small_graph(false);
        d.x[5] = odd[i];
        assert_refused(dataset_prepare(&d, &words, 0, 0, &err), EXIT_CONFIG,
                       "one-hot: feature 1 of node 2 is ");
        assert_int_equal(d.features, 2); // unchanged
        apply(&d, "one-hot:drop=1");
        assert_int_equal(d.features, 4);
    }
    Dataset d = {.nodes = 4};
    assert_refused(dataset_prepare(&d, &words, 0, 0, &err), EXIT_CONFIG, "no features");
}

TEST(what_does_not_fit_gets_no_ones) {
    enum { NODES = (1 << 20) + 1 }; // more than there may be columns
    ConfigWords words = {.count = 1, .word = {"one-hot"}};
    Dataset d = {.nodes = NODES, .features = 1, .x = TEST_ARRAY(float, NODES)};
    for (int64_t i = 0; i < NODES; i++)
        d.x[i] = (float)(i / 1000);
    assert_refused(dataset_prepare(&d, &words, 0, 1, &err), EXIT_MEMORY,
                   "1048577 nodes would have 1049 columns");
    for (int64_t i = 0; i < NODES; i++)
        d.x[i] = (float)i;
    assert_refused(dataset_prepare(&d, &words, 0, 0, &err), EXIT_CONFIG,
                   "more than 1048576 columns");
}
