// ranks: 4
// If this failed, ranks that sum their weight gradients would not arrive at the optimum of a convex
// problem, which one weight matrix on smoothed features is.
#include "../oracle.h"
#include "runs.h"

#include <math.h>
#include <stdlib.h>

enum { GRAPH_NODES = 120, FEATURES = 19, CLASSES = 4, WEIGHTS = FEATURES * CLASSES, EPOCHS = 300 };
static const double rate = 4, decay = 0.02;

static int everybody_trains(int64_t node) {
    (void)node;
    return SPLIT_TRAIN;
}

static int make_problem(void **state) {
    (void)state;
    test_graph_init(&graph,
                    (TestGraphKind){.nodes = GRAPH_NODES,
                                    .degree = 4,
                                    .features = FEATURES,
                                    .classes = CLASSES,
                                    .split = everybody_trains},
                    8, &test_comm);
    return 0;
}

// ---- the optimum, in double: W = argmin of the mean loss of softmax(z W) + decay / 2 |W|^2,
// z = A A x

static void smooth_features(double *z) {
    OracleGraph g = oracle_graph(&graph.dataset);
    double *a = oracle_aggregation(&g, "gcn"), *once = oracle_matrix(GRAPH_NODES, FEATURES),
           *x = oracle_matrix(GRAPH_NODES, FEATURES);
    for (int64_t k = 0; k < GRAPH_NODES * FEATURES; k++)
        x[k] = (double)g.x[k];
    oracle_product(once, a, false, x, false, GRAPH_NODES, GRAPH_NODES, FEATURES);
    oracle_product(z, a, false, once, false, GRAPH_NODES, GRAPH_NODES, FEATURES);
    free(x);
    free(once);
    free(a);
    oracle_clear(&g);
}

// error [CLASSES] = softmax(z W) - the class of the node
static void error_of(double *error, const double *weight, const double *z, int32_t label) {
    double sum = 0;
    for (int k = 0; k < CLASSES; k++) {
        double logit = 0;
        for (int f = 0; f < FEATURES; f++)
            logit += z[f] * weight[f * CLASSES + k];
        sum += error[k] = exp(logit);
    }
    for (int k = 0; k < CLASSES; k++)
        error[k] = error[k] / sum - (k == label);
}

// One step downhill; returns the norm of the gradient.
static double step_down(double *weight, const double *z) {
    double gradient[WEIGHTS], error[CLASSES], squares = 0;
    for (int k = 0; k < WEIGHTS; k++)
        gradient[k] = decay * weight[k];
    for (int64_t i = 0; i < GRAPH_NODES; i++) {
        error_of(error, weight, z + i * FEATURES, graph.dataset.label[i]);
        for (int k = 0; k < WEIGHTS; k++)
            gradient[k] += z[i * FEATURES + k / CLASSES] * error[k % CLASSES] / GRAPH_NODES;
    }
    for (int k = 0; k < WEIGHTS; k++) {
        weight[k] -= rate * gradient[k];
        squares += gradient[k] * gradient[k];
    }
    return sqrt(squares);
}

static void find_optimum(double *weight) {
    static double z[GRAPH_NODES * FEATURES];
    memset(z, 0, sizeof z);
    memset(weight, 0, WEIGHTS * sizeof *weight);
    smooth_features(z);
    for (int step = 0; step < 10000; step++)
        if (step_down(weight, z) < 1e-14)
            return;
    fail_msg("no optimum was found");
}

// ---- the program

typedef struct Sum {
    const char *how[3];       // settings
    double at_most, at_least; // |W - W*| / |W*| after the last epoch
} Sum;

// Rounding of gradients that do not vanish, as those of one rank do not at the optimum, is noise
// that stays; what differs from a memory vanishes, and its rounding with it.
static const Sum sums[] = {
    {{"gradients.method=fp32"}, 1e-5, 0},
    {{"gradients.method=diana"}, 1e-5, 0},
    {{"gradients.method=diana-both"}, 1e-5, 0},
    {{"gradients.method=ef21"}, 1e-5, 0},
    {{"gradients.codec=keys", "gradients.top=0.3", "gradients.memory=difference"}, 1e-5, 0},
    {{"gradients.codec=max", "gradients.bits=4"}, 1, 1e-2},
};
enum { SUMS = sizeof sums / sizeof *sums };

static void configure(const Sum *sum) {
    char epochs[64], step[64], shrink[64];
    const char *settings[12] = {"model.layer=sgc",
                                "model.layers=2",
                                "model.bias=false",
                                "train.optimizer=sgd",
                                "train.eval_every=0",
                                "run.threads=1",
                                epochs,
                                step,
                                shrink};
    int count = 9;
    Error err = {0};
    snprintf(epochs, sizeof epochs, "train.epochs=%d", EPOCHS);
    snprintf(step, sizeof step, "train.lr=%g", rate);
    snprintf(shrink, sizeof shrink, "train.weight_decay=[%g]", decay);
    for (int i = 0; i < 3 && sum->how[i] != NULL; i++)
        settings[count++] = sum->how[i];
    assert_ok(config_load(&config, NULL, settings, count, &err), &err);
}

static double distance(const double *optimum) {
    double weight[WEIGHTS];
    Error err = {0};
    EpochRecord record;
    Trainer *t = new_trainer();
    while (!trainer_finished(t))
        assert_ok(trainer_epoch(t, &record, &err), &err);
    assert_int_equal(trainer_shape(t)->parameter_count, WEIGHTS);
    for (int k = 0; k < WEIGHTS; k++)
        weight[k] = (double)trainer_parameters(t, false)[k];
    trainer_free(t);
    return relative_error_double(weight, optimum, WEIGHTS);
}

static void sums_arrive_at_the_optimum_or_do_not(void **state) {
    (void)state;
    double optimum[WEIGHTS];
    find_optimum(optimum);
    for (int i = 0; i < SUMS; i++) {
        configure(&sums[i]);
        double apart = distance(optimum);
        if (!(apart <= sums[i].at_most && apart >= sums[i].at_least))
            fail_msg("%s: the weights are %g from the optimum, outside of %g to %g", sums[i].how[0],
                     apart, sums[i].at_least, sums[i].at_most);
        if (test_comm.rank == 0)
            printf("%s: %.2g from the optimum\n", sums[i].how[0], apart);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(sums_arrive_at_the_optimum_or_do_not, make_problem,
                                    drop_test_graph),
};
TEST_MAIN(tests)
