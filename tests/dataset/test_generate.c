// If this failed, a made graph would depend on the number of threads, or would not look like what
// it stands for: a partitioner or a model tried on it would tell nothing.

#include "generating.h"

TEST(the_seed_decides_and_threads_do_not) {
    static const char *const names[] = {"tiny", "planted:nodes=3000,edges=50000,features=7"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(Dataset) d = {0};
        const char *one = generate(&d, names[i], 1, 1);
        const char *two = generate(&d, names[i], 1, 2);
        const char *three = generate(&d, names[i], 1, 3);
        const char *other = generate(&d, names[i], 2, 2);
        assert_string_equal(one, two);
        assert_string_equal(one, three);
        assert_string_not_equal(one, other);
    }
}

TEST(edges_are_sound) {
    OWNED(Dataset) d = generated("tiny", 5);
    assert_true(dataset_is_symmetric(&d));
    for (int64_t i = 0; i < d.nodes; i++)
        for (int64_t e = d.offset[i]; e < d.offset[i + 1]; e++) {
            assert_true(d.target[e] != i);                                  // no loops
            assert_true(e == d.offset[i] || d.target[e - 1] < d.target[e]); // none twice
        }
}

// The small look-alike of Reddit: sizes, the shares of its split, neighbours of the same class,
// degrees spread like a lognormal of sigma 1.
TEST(reddit_small_is_what_it_says) {
    OWNED(Dataset) d = generated("reddit-small", 1);
    assert_int_equal(d.nodes, 23000);
    assert_int_equal(d.features, 602);
    assert_int_equal(d.classes, 41);
    assert_near((double)d.edges, 1.1e6, 0.01 * 1.1e6 /* the expectation is solved for */);
    int64_t split[4] = {0}, alike = 0, largest = 0, seen[41] = {0};
    for (int64_t i = 0; i < d.nodes; i++) {
        split[d.split[i]]++;
        seen[d.label[i]]++;
        int64_t degree = d.offset[i + 1] - d.offset[i];
        largest = degree > largest ? degree : largest;
        for (int64_t e = d.offset[i]; e < d.offset[i + 1]; e++)
            alike += d.label[i] == d.label[d.target[e]];
    }
    const double shares[4] = {0, 153431.0 / 232965, 23831.0 / 232965, 55703.0 / 232965};
    for (int s = 0; s < 4; s++)
        assert_near((double)split[s] / 23000, shares[s], 0.015 /* 4.8 standard errors */);
    for (int k = 0; k < 41; k++)
        assert_true(seen[k] > 0);
    double homophily = (double)alike / (double)d.edges;
    assert_in_range((int)(100 * homophily), 70, 92); // Reddit: 78
    assert_true(largest > 5 * d.edges / d.nodes);
}

// The recipe's communities are not stored, but here each is one class without label noise, so a
// node's label is its community, and boundary nodes show in the edges.
TEST(only_carriers_leave_their_community) {
    OWNED(Dataset)
    d = generated("planted:nodes=8000,edges=160000,features=0,classes=20,communities=20,visitors=0,"
                  "carriers=0.5,abroad=5",
                  3);
    int64_t leaving = 0;
    for (int64_t i = 0; i < d.nodes; i++) {
        int32_t abroad = -1;
        for (int64_t e = d.offset[i]; e < d.offset[i + 1]; e++) {
            int32_t there = d.label[d.target[e]];
            if (there == d.label[i])
                continue;
            assert_true(abroad < 0 || abroad == there); // a carrier faces one community
            abroad = there;
        }
        leaving += abroad >= 0;
    }
    // Facing groups hold about 0.5 * 400 / 19 nodes, so few carriers are without an edge.
    assert_near((double)leaving / (double)d.nodes, 0.5, 0.05);
    assert_null(d.x);
}

// x = signal * class mean + noise of deviation 1, so deviation 1 is left without the class mean.
TEST(features_are_means_and_noise) {
    OWNED(Dataset)
    d = generated("planted:nodes=4000,edges=40000,features=8,classes=4,communities=8,signal=2", 3);
    double within = 0, between = 0;
    for (int f = 0; f < 8; f++) {
        double sum[4] = {0}, count[4] = {0};
        for (int64_t i = 0; i < d.nodes; i++) {
            sum[d.label[i]] += d.x[i * 8 + f];
            count[d.label[i]]++;
        }
        for (int64_t i = 0; i < d.nodes; i++) {
            double mean = sum[d.label[i]] / count[d.label[i]];
            within += (d.x[i * 8 + f] - mean) * (d.x[i * 8 + f] - mean);
        }
        for (int k = 0; k < 4; k++)
            between += sum[k] / count[k] * sum[k] / count[k];
    }
    assert_near(within / 32000, 1, 0.03 /* 3.8 standard errors */);
    assert_in_range((int)(100 * between / 32), 150, 900); // 400 expected of 32 squares of 2 normals
}

TEST(wrong_names_and_numbers_are_refused) {
    static const char *const names[][2] = {
        {"graphs", "there are reddit-small"}, {"redditx", "did you mean reddit?"},
        {"planted:nodes", "'nodes'"},         {"planted:nodes=x", "'nodes'"},
        {"planted:nodes=1", "'nodes'"},       {"planted:size=100", "'size'"},
        {"planted:nodes=1e99", "'nodes'"},    {"planted:nodes=100,edges=99999", "placed"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(Dataset) d = {0};
        ExitCode code = i < 7 ? EXIT_USAGE : EXIT_CONFIG; // it is seen while edges are drawn
        assert_refused(dataset_generate(&d, names[i][0], 1, &err), code, names[i][1]);
    }
}
