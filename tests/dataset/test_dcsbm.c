// ranks: 1, once
// If this failed, the look-alikes of large sets would have other sizes, degrees or labels than they
// say, or differ from machine to machine.
#include "hashes.h"

#include <omp.h>

static Dataset made(const char *name, int64_t seed) {
    Dataset d;
    assert_ok(dataset_generate(&d, name, seed, &err));
    assert_ok(dataset_check(&d, name, &err));
    return d;
}

TEST(bytes_do_not_depend_on_threads) {
    static const char *const names[] = {"reddit:nodes=5000,edges=200000",
                                        "ogbn-products:scale=0.005", "yelp-small:scale=0.2",
                                        "dcsbm:nodes=5000,edges=100000,multiplicity=1.5"};
    int threads = omp_get_max_threads();
    for (int i = 0; i < 4; i++) {
        const char *first = NULL;
        for (int t = 1; t <= 3; t++) {
            omp_set_num_threads(t);
            OWNED(Dataset) d = made(names[i], 7);
            first = t == 1 ? hashed(&d) : first;
            assert_string_equal(hashed(&d), first);
        }
        OWNED(Dataset) d = made(names[i], 8);
        assert_string_not_equal(hashed(&d), first);
    }
    omp_set_num_threads(threads);
}

// Sets that are there by name stay as they were: scores and bytes of messages are told of them.
TEST(presets_keep_their_bytes) {
    static const char *const made_before[][2] = {
        {"dcsbm:nodes=3000,edges=30000,features=0", "f80feeaef97fe06759927bbdbaff471f"},
        {"reddit:nodes=3000,edges=60000,features=0", "d2f85898dd188d2d78dee94e1aead7fd"},
        {"ogbn-products:scale=0.004,features=0", "54e4134aab999398a2b982b28887697f"},
        {"ogbn-arxiv:scale=0.02,features=0", "c6324bc97915c4ed143eb21deb76db90"},
        {"yelp:scale=0.005,features=0", "6f68b469a7d008910c366769f5c457f7"},
        {"amazon-products:nodes=3000,edges=60000,features=0", "1ae76757475c4fc51d36acb1cf78d577"},
        {"yelp-small:scale=0.2,features=0", "26cec42ed13a4a23c13e2afcb2f6d8d8"},
        {"amazon-small:scale=0.2,features=0", "b6af480684b4811506690fa594d8175f"},
        {"planted:nodes=2000,edges=30000,features=0", "c5963d4e0d55351d95ac9aa4a8348fcb"},
    };
    for (size_t i = 0; i < sizeof made_before / sizeof *made_before; i++) {
        OWNED(Dataset) d = made(made_before[i][0], 1);
        assert_string_equal(hashed(&d), made_before[i][1]);
    }
}

static int by_value(const void *a, const void *b) {
    return (int)(*(const int64_t *)a - *(const int64_t *)b);
}

// Rows ascend without equal neighbours; returns the degrees, ascending.
static int64_t *sorted_degrees(const Dataset *d) {
    int64_t *degree = TEST_ARRAY(int64_t, d->nodes);
    assert_true(dataset_is_symmetric(d));
    for (int64_t i = 0; i < d->nodes; i++) {
        degree[i] = d->offset[i + 1] - d->offset[i];
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++) {
            assert_true(d->target[e] != i);
            assert_true(e == d->offset[i] || d->target[e - 1] < d->target[e]);
        }
    }
    qsort(degree, (size_t)d->nodes, sizeof *degree, by_value);
    return degree;
}

static double homophily(const Dataset *d) {
    int64_t same = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
            same += d->label[i] == d->label[d->target[e]];
    return (double)same / (double)d->edges;
}

static double share_of(const Dataset *d, uint8_t split) {
    int64_t count = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        count += d->split[i] == split;
    return (double)count / (double)d->nodes;
}

// A lognormal body has median / mean = exp(-sigma^2 / 2), here 0.61, 0.49 and 0.55; that nodes of
// high degree draw more equal pairs raises it.
TEST(graphs_have_the_sizes_that_they_name) {
    static const struct {
        const char *name;
        double nodes, edges, median, most, homophily, train, val;
    } sets[] = {
        {"reddit:nodes=60000,edges=1200000,features=8", 60000, 1200000, 0.61, 21657, 0.78, 0.6586,
         0.1023},
        {"ogbn-products:nodes=200000,edges=2000000,features=8", 200000, 2000000, 0.49, 17481, 0.81,
         0.0803, 0.0161},
        {"ogbn-arxiv:scale=0.3,features=8", 50802, 694679, 0.55, 13161, 0.66, 0.537, 0.176},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        OWNED(Dataset) d = made(sets[i].name, 1);
        int64_t *degree = sorted_degrees(&d);
        double mean = (double)d.edges / (double)d.nodes;
        assert_near((double)d.nodes, sets[i].nodes, 1);
        assert_near((double)d.edges, sets[i].edges, 0.005 * sets[i].edges);
        assert_near((double)degree[d.nodes / 2] / mean, sets[i].median, 0.11);
        assert_true(degree[d.nodes - 1] > 8 * (int64_t)mean);
        assert_true((double)degree[d.nodes - 1] < 1.1 * sets[i].most);
        assert_near(homophily(&d), sets[i].homophily, 0.02);
        assert_near(share_of(&d, SPLIT_TRAIN), sets[i].train, 0.01);
        assert_near(share_of(&d, SPLIT_VAL), sets[i].val, 0.01);
        assert_non_null(strstr(d.origin, sets[i].name));
        assert_non_null(strstr(d.origin, "assumed: "));
    }
}

// The classes of ogbn-arxiv have the sizes of the real set, unless their number is set.
TEST(classes_have_the_sizes_of_the_set) {
    for (int own = 0; own < 2; own++) {
        OWNED(Dataset)
        d = made(own ? "ogbn-arxiv:features=0" : "ogbn-arxiv:features=0,classes=41", 1);
        double count[41] = {0};
        for (int64_t i = 0; i < d.nodes; i++)
            count[d.label[i]]++;
        assert_int_equal(fabs(count[16] - 27321) < 600, own);
        assert_int_equal(fabs(count[12] - 29) < 25, own);
    }
}

// Training nodes of ogbn-products are those that are sold most.
TEST(popular_nodes_are_trained_on) {
    OWNED(Dataset) d = made("ogbn-products:scale=0.01", 1);
    double sum[4] = {0}, count[4] = {0};
    for (int64_t i = 0; i < d.nodes; i++) {
        sum[d.split[i]] += (double)(d.offset[i + 1] - d.offset[i]);
        count[d.split[i]]++;
    }
    assert_true(sum[SPLIT_TRAIN] / count[SPLIT_TRAIN] > 1.3 * sum[SPLIT_VAL] / count[SPLIT_VAL]);
    assert_true(sum[SPLIT_VAL] / count[SPLIT_VAL] > 1.3 * sum[SPLIT_TEST] / count[SPLIT_TEST]);
}

TEST(only_carriers_have_edges_to_other_blocks) {
    OWNED(Dataset) d = made("dcsbm:nodes=20000,edges=400000,carriers=0.3,features=0", 1);
    int64_t carriers = 0;
    for (int64_t i = 0; i < d.nodes; i++) {
        bool abroad = false;
        for (int64_t e = d.offset[i]; e < d.offset[i + 1]; e++)
            abroad |= d.label[i] != d.label[d.target[e]];
        carriers += abroad;
    }
    assert_near((double)carriers / (double)d.nodes, 0.3, 0.02);
    assert_near(homophily(&d), 0.78, 0.02);
    assert_null(d.x);
}

// The two labels that come together most: how much more often than by chance.
static double lift(const Dataset *d) {
    double *count = TEST_ARRAY(double, d->classes), n = (double)d->nodes, most = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t l = 0; l < d->classes; l++)
            count[l] += d->labels[i * d->classes + l];
    for (int64_t a = 0; a < d->classes; a++)
        for (int64_t b = 0; b < a; b++) {
            double both = 0;
            for (int64_t i = 0; i < d->nodes; i++)
                both += d->labels[i * d->classes + a] & d->labels[i * d->classes + b];
            most = fmax(most, both * n / (count[a] * count[b]));
        }
    return most;
}

TEST(labels_of_a_node_belong_together) {
    OWNED(Dataset) d = made("yelp-small:scale=0.2,features=8", 1);
    assert_true(d.multilabel && d.label == NULL);
    assert_int_equal(d.classes, 100);
    assert_true(lift(&d) > 3);
    double some = 0;
    for (int64_t k = 0; k < d.nodes * d.classes; k++)
        some += d.labels[k];
    some /= (double)d.nodes;
    assert_true(some > 4 && some < 20);
}

TEST(what_cannot_be_made_is_said) {
    static const struct {
        const char *name, *sentence;
        ExitCode code;
    } wrong[] = {
        {"reddit:scale=0", "'scale' is not KEY=NUMBER", EXIT_USAGE},
        {"reddit:size=2", "'size' is not KEY=NUMBER", EXIT_USAGE},
        {"ogbn-products:scale=1000", "nodes; 2 to 2147483647 can be made", EXIT_USAGE},
        {"dcsbm:nodes=100,edges=20000", "blocks of 100 nodes", EXIT_CONFIG},
        {"redit", "there is no generator 'redit'", EXIT_USAGE},
        {"dcsbm:multiplicity=0.5", "'multiplicity' is not KEY=NUMBER", EXIT_USAGE},
        {"dcsbm:features=0,multiplicity=2.9", "by 2.9 other parts of 4", EXIT_CONFIG},
        {"dcsbm:features=0,multiplicity=1,carriers=0", "by 1 other parts of 4", EXIT_CONFIG},
        {"dcsbm:features=0,multiplicity=1,homophily=1", "by 1 other parts of 4", EXIT_CONFIG},
        {"dcsbm:parts=8", "set multiplicity too", EXIT_USAGE},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        OWNED(Dataset) d = {0};
        assert_refused(dataset_generate(&d, wrong[i].name, 1, &err), wrong[i].code,
                       wrong[i].sentence);
    }
}
