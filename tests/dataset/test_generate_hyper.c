// If this failed, a made hypergraph would depend on the number of threads, or its communities,
// arities or popular nodes would not be those that its recipe names.

#include "generating.h"

static void assert_pins_are_distinct(const Dataset *d) {
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t e = d->offset[i] + 1; e < d->offset[i + 1]; e++)
            assert_true(d->target[e - 1] < d->target[e]);
}

TEST(the_seed_decides_and_threads_do_not) {
    static const char *const names[] = {
        "hyper-planted:nodes=3000,hyperedges=2000,features=7",
        "hyper-zipf:vertices=3000,hyperedges=2000,features=3,classes=4", "hyper-zipf"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(Dataset) d = {0};
        const char *hash[4];
        for (int k = 0; k < 4; k++) { // 1, 2, 3 threads, then another seed
            hash[k] = generate(&d, names[i], k < 3 ? 1 : 2, k % 3 + 1);
            assert_pins_are_distinct(&d);
        }
        assert_string_equal(hash[0], hash[1]);
        assert_string_equal(hash[0], hash[2]);
        assert_string_not_equal(hash[0], hash[3]);
    }
}

// pins[h][class] of 8 classes.
static int64_t (*count_classes(const Dataset *d))[8] {
    int64_t(*count)[8] = (int64_t(*)[8])TEST_ARRAY(int64_t, 8 * d->hyperedges);
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
            count[d->target[e]][d->label[i]]++;
    return count;
}

// Here every class is a community, and the pins abroad of a hyperedge are spread over seven.
TEST(pins_are_as_pure_as_said) {
    OWNED(Dataset)
    d = generated("hyper-planted:nodes=8000,hyperedges=2000,communities=8,classes=8,arity=20,"
                  "purity=0.7,features=0",
                  1);
    int64_t(*count)[8] = count_classes(&d), home = 0, homes[8] = {0};
    for (int64_t h = 0; h < d.hyperedges; h++) {
        int most = 0;
        for (int k = 0; k < 8; k++)
            most = count[h][k] > count[h][most] ? k : most;
        home += count[h][most];
        homes[most]++;
    }
    // 40,000 pins: standard error 0.0023; small hyperedges may have another majority
    assert_near((double)home / (double)d.edges, 0.7, 0.012);
    for (int k = 0; k < 8; k++) // 250 +- 15 expected
        assert_in_range(homes[k], 170, 330);
}

// How many hyperedges have that many pins, which are 2 to `most`.
static void count_arities(int64_t *seen, const Dataset *d, int64_t most) {
    int64_t *size = TEST_ARRAY(int64_t, d->hyperedges);
    for (int64_t e = 0; e < d->edges; e++)
        size[d->target[e]]++;
    for (int64_t h = 0; h < d->hyperedges; h++) {
        assert_in_range(size[h], 2, most);
        seen[size[h]]++;
    }
}

TEST(arities_are_uniform) {
    OWNED(Dataset) d = generated("hyper-planted:nodes=9000,hyperedges=7000,arity=5", 2);
    int64_t seen[9] = {0};
    count_arities(seen, &d, 8);
    for (int a = 2; a <= 8; a++)
        assert_near((double)seen[a], 1000, 150 /* 5 standard errors */);
}

TEST(splits_are_halves_and_quarters) {
    OWNED(Dataset) d = generated("hyper-planted", 3);
    int64_t split[4] = {0};
    for (int64_t i = 0; i < d.nodes; i++)
        split[d.split[i]]++;
    assert_near((double)split[SPLIT_TRAIN], 10000, 360 /* 5 standard errors of 20,000 nodes */);
    assert_near((double)split[SPLIT_VAL], 5000, 310);
    assert_near((double)split[SPLIT_TEST], 5000, 310);
    assert_int_equal(d.features, 64);
    assert_int_equal(d.classes, 8);
}

static int64_t sum_of_degrees(const Dataset *d, int64_t begin, int64_t end) {
    return d->offset[end] - d->offset[begin];
}

TEST(zipf_hypergraphs_follow_their_law) {
    OWNED(Dataset) d = generated("hyper-zipf:vertices=50000,hyperedges=60000,s=2,most=50", 1);
    assert_null(d.x);
    assert_null(d.label);
    int64_t seen[51] = {0};
    count_arities(seen, &d, 50);
    // P(a) ~ a^-2: about 24,000 of 2 and 11,000 of 3
    assert_near((double)seen[2] / (double)seen[3], 9.0 / 4, 0.12 /* 5 standard errors */);
    assert_near((double)seen[2] / (double)seen[4], 4, 0.3);
    // P(v) ~ 1 / (v + 1): each range has ln 2
    double near = (double)sum_of_degrees(&d, 199, 399), far = (double)sum_of_degrees(&d, 399, 799);
    assert_near(near / far, 1, 0.05 /* 5 standard errors of 17,000 pins; pins are distinct */);
}

TEST(wrong_values_are_refused) {
    static const char *const names[][2] = {
        {"hyper-planted:nodes", "hyper-planted: 'nodes'"},
        {"hyper-planted:size=5", "'size'"},
        {"hyper-planted:purity=1.5", "'purity'"},
        {"hyper-planted:arity=1", "'arity'"},
        {"hyper-planted:communities=4", "8 classes of 4 communities"},
        {"hyper-zipf:nodes=5", "hyper-zipf: 'nodes'"},
        {"hyper-zipf:s=-1", "'s'"},
        {"hyper-plant", "there is no generator"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(Dataset) d = {0};
        assert_refused(dataset_generate(&d, names[i][0], 1, &err), EXIT_USAGE, names[i][1]);
    }
}

// More pins than nodes are wanted: hyperedges stay smaller.
TEST(small_hypergraphs_can_be_made) {
    OWNED(Dataset)
    d = generated("hyper-planted:nodes=3,hyperedges=40,communities=1,classes=1,arity=9,purity=1",
                  1);
    assert_in_range(d.edges, 40 * 2, 40 * 3);
}
