// ranks: 1 3
// If this failed, an epoch with sampled training nodes would count other nodes on other ranks, its
// gradient would not be that of all nodes in the mean, or its noise would not be what it must be:
// more than the formula says, not proportional to the rate, or no less where importance draws.
#include "convex.h"

static const int DRAWS = 4000;

static int64_t own(const Trainer *t) { return t->shard->set[NODES].own; }

WORLD_TEST(the_same_nodes_on_any_ranks) {
    OWNED(Trainer) *t = TRAINER("train.sample=uniform:20");
    double q = 20 / (double)t->shard->train_nodes;
    for (uint32_t epoch = 1; epoch < 50; epoch++) {
        EpochRecord record = {.epoch = epoch};
        int64_t count = 0;
        sampler_before(t, &record);
        for (int64_t r = 0; r < own(t); r++) {
            RandomKey key = random_key(3, RANDOM_TRAIN_SAMPLE, epoch, 0, 0);
            bool counts = t->shard->split[r] == SPLIT_TRAIN &&
                          random_uniform32(key, t->shard->set[NODES].gid[r], 0, 0) < q;
            assert_true(t->sampler.row[r] == (counts ? (float)(1 / q) : 0));
            count += counts;
        }
        assert_int_equal(record.sampled, count);
    }
}

// ---- moments of the gradient by the logits, over the draws of one rule

typedef struct Moments {
    double apart;    // largest |mean - truth| over its standard error
    double variance; // measured: the mean of |draw - truth|^2
    double formula;  // sum (1 - q) / q |g|^2 / N^2
} Moments;

// g [own nodes, K]: of all training nodes; q as the rule has it now.
static Moments moments_of(Trainer *t, const float *g, const double *q) {
    int64_t k = t->shard->classes;
    double n = (double)t->shard->train_nodes, truth[8] = {0}, sum[8] = {0}, square[8] = {0};
    Moments m = {0};
    for (int64_t i = 0; i < own(t) * k; i++) {
        double value = (double)g[i] / n;
        truth[i % k] += value;
        m.formula += q[i / k] > 0 ? (1 - q[i / k]) / q[i / k] * value * value : 0;
    }
    comm_sum_double(&test_comm, truth, (int)k);
    comm_sum_double(&test_comm, &m.formula, 1);
    for (int d = 0; d < DRAWS; d++) {
        double drawn[8] = {0};
        EpochRecord record = {.epoch = 100 + d};
        sampler_before(t, &record);
        for (int64_t i = 0; i < own(t) * k; i++)
            drawn[i % k] += (double)t->sampler.row[i / k] * (double)g[i] / n;
        comm_sum_double(&test_comm, drawn, (int)k);
        for (int64_t c = 0; c < k; c++) {
            double off = drawn[c] - truth[c];
            sum[c] += off;
            square[c] += off * off;
            m.variance += off * off / DRAWS;
        }
    }
    for (int64_t c = 0; c < k; c++)
        m.apart = fmax(m.apart, fabs(sum[c]) / sqrt(square[c]));
    return m;
}

static void probabilities(double *q, const Trainer *t, double size, bool by_norms) {
    double sum = 0, n = (double)t->shard->train_nodes;
    for (int64_t r = 0; r < own(t); r++)
        sum += by_norms ? (double)t->sampler.norm[r] : 0;
    comm_sum_double(&test_comm, &sum, 1);
    for (int64_t r = 0; r < own(t); r++) // a tenth of the mean norm is added to each
        q[r] = t->shard->split[r] != SPLIT_TRAIN ? 0
               : by_norms
                   ? fmin(1, size * ((double)t->sampler.norm[r] + 0.1 * sum / n) / (1.1 * sum))
                   : size / n;
}

// The bound of ALGORITHMS 0 for 4 means is 6.7; the variance within 5 %.
static void assert_moments(Moments m, const char *rule) {
    if (!(m.apart < 6.7 && fabs(m.variance / m.formula - 1) < 0.05))
        fail_msg("%s: mean off by %g standard errors, variance %g, by the formula %g", rule,
                 m.apart, m.variance, m.formula);
}

// Of a training that has nearly learnt its nodes, where few of them have a gradient left.
WORLD_TEST(draws_have_the_moments_of_their_formula) {
    double q[256];
    EpochRecord record;
    OWNED(Trainer) *t = TRAINER("train.sample=importance:20", "train.sample_period=8",
                                "train.lr=0.05", "train.epochs=97", "model.dropout=0",
                                "model.input_dropout=0", "model.hidden=[48]", "train.eval_every=0");
    for (int e = 0; e < 97; e++)
        assert_ok(trainer_epoch(t, &record, &err));
    float *g = TEST_ARRAY(float, own(t) * t->shard->classes);
    memcpy(g, t->sampler.gradient, (size_t)(own(t) * t->shard->classes) * sizeof *g);
    for (int64_t r = 0; r < own(t); r++)
        assert_true((t->sampler.norm[r] > 0) == (t->shard->split[r] == SPLIT_TRAIN));
    assert_true(t->sampler.gain > 1.05 && record.sample_gain > 1.05 && !record.sample_uniform);
    probabilities(q, t, 20, true);
    Moments importance = moments_of(t, g, q);
    assert_moments(importance, "importance");
    t->sampler.gain = 1; // too little: uniform
    probabilities(q, t, 20, false);
    Moments uniform = moments_of(t, g, q);
    assert_moments(uniform, "uniform");
    if (!(importance.variance < 0.7 * uniform.variance))
        fail_msg("variance by importance %g, uniform %g", importance.variance, uniform.variance);
    if (test_comm.rank == 0)
        printf("variance by importance: %.3f of the uniform draw's\n",
               importance.variance / uniform.variance);
}

WORLD_TEST(a_sample_must_fit) {
    static const char *const wrong[][2] = {
        {"train.sample=uniform:1000", "larger than the training split"},
        {"train.sample=uniform:0", "a whole number of nodes"},
        {"train.sample=importance:2.5", "a whole number of nodes"},
        {"train.sample=uniform:few", "a whole number of nodes"},
        {"train.label_input=masked:1", "a share between 0 and 1"},
        {"train.label_input=some", "expected one of none, masked:RATE"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        settle(wrong[i], 1);
        assert_refused(trainer_new(&config, &graph.shard, &test_comm, 3, NULL, &err) != NULL,
                       EXIT_CONFIG, wrong[i][1]);
    }
}

// ---- labels as input

// Halo labels are sent once, at set-up: rows of no exchange are wider, and there are no more.
WORLD_TEST(labels_cost_no_byte) {
    static const char *const features[] = {"lossless.input_features=auto",
                                           "lossless.input_features=exchange"};
    for (int i = 0; i < 2; i++) {
        EpochRecord with, without;
        OWNED(Trainer) *t = TRAINER(features[i], "train.label_input=masked:0.5");
        OWNED(Trainer) *plain = TRAINER(features[i]);
        settle(SETTINGS(features[i], "train.label_input=masked:0.5"));
        assert_ok(trainer_epoch(t, &with, &err));
        settle(features + i, 1);
        assert_ok(trainer_epoch(plain, &without, &err));
        assert_int_equal(with.bytes, without.bytes);
        assert_true(with.loss != without.loss);
    }
}

// ---- the floor: near the optimum of a convex problem, SGD at a small constant rate stays rate / 4
// tr(C) above it in the mean, where C is the covariance of the sampled gradient

static double optimum[WEIGHTS], z[GRAPH_NODES * FEATURES];

static double loss_at(const double *weight) {
    double loss = 0, error[CLASSES];
    for (int k = 0; k < WEIGHTS; k++)
        loss += decay / 2 * weight[k] * weight[k];
    for (int64_t i = 0; i < GRAPH_NODES; i++) {
        int32_t label = graph.dataset.label[i];
        error_of(error, weight, z + i * FEATURES, label);
        loss -= log(error[label] + 1) / GRAPH_NODES;
    }
    return loss;
}

// tr(C) of a uniform draw of `size` nodes in the mean.
static double noise_of(double size) {
    double q = size / GRAPH_NODES, trace = 0, error[CLASSES];
    for (int64_t i = 0; i < GRAPH_NODES; i++) {
        double wide = 0, high = 0;
        error_of(error, optimum, z + i * FEATURES, graph.dataset.label[i]);
        for (int f = 0; f < FEATURES; f++)
            wide += z[i * FEATURES + f] * z[i * FEATURES + f];
        for (int k = 0; k < CLASSES; k++)
            high += error[k] * error[k];
        trace += (1 - q) / q * wide * high / GRAPH_NODES / GRAPH_NODES;
    }
    return trace;
}

// The mean of L - L* over the epochs after the first quarter, of a training that starts at W*.
static double floor_at(double rate, int epochs) {
    double above = 0, least = loss_at(optimum), weight[WEIGHTS];
    config =
        CONFIGURED("model.layer=sgc", "model.layers=2", "model.bias=false", "train.optimizer=sgd",
                   "train.eval_every=0", "run.threads=1", "train.sample=uniform:15",
                   test_text("train.lr=%g", rate), test_text("train.weight_decay=[%g]", decay),
                   test_text("train.epochs=%d", epochs));
    OWNED(Trainer) *t = new_trainer();
    trainer_download(t);
    for (int k = 0; k < WEIGHTS; k++)
        t->parameters[k] = (float)optimum[k];
    trainer_upload(t);
    for (int e = 0; e < epochs; e++) {
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
        for (int k = 0; k < WEIGHTS; k++)
            weight[k] = (double)trainer_parameters(t, false)[k];
        if (4 * e >= epochs)
            above += loss_at(weight) - least;
    }
    return above / (epochs - epochs / 4);
}

TEST_WITH(noise_leaves_a_floor, make_problem, NULL) {
    if (test_comm.size > 1)
        return;
    find_optimum(optimum, z);
    double rate = 0.4, trace = noise_of(15), one = floor_at(rate, 3000),
           half = floor_at(rate / 2, 6000);
    printf("floor / (rate / 4 tr C): %.3f, at half the rate %.3f\n", one / (rate / 4 * trace),
           half / (rate / 8 * trace));
    assert_near(one / (rate / 4 * trace), 1, 0.2);
    assert_near(half / one, 0.5, 0.1);
}
