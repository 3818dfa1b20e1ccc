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

// |W - W*| / |W*| after the last epoch.
static double distance(const double *optimum, const char *setting) {
    char epochs[64], step[64], shrink[64];
    double weight[WEIGHTS];
    snprintf(epochs, sizeof epochs, "train.epochs=%d", EPOCHS);
    snprintf(step, sizeof step, "train.lr=%g", rate);
    snprintf(shrink, sizeof shrink, "train.weight_decay=[%g]", decay);
    const char *settings[] = {"model.layer=sgc",
                              "model.layers=2",
                              "model.bias=false",
                              "train.optimizer=sgd",
                              epochs,
                              step,
                              shrink,
                              "train.eval_every=0",
                              "run.threads=1",
                              setting};
    Error err = {0};
    EpochRecord record;
    assert_ok(config_load(&config, NULL, settings, setting != NULL ? 10 : 9, &err), &err);
    Trainer *t = new_trainer();
    while (!trainer_finished(t))
        assert_ok(trainer_epoch(t, &record, &err), &err);
    assert_int_equal(trainer_shape(t)->parameter_count, WEIGHTS);
    for (int k = 0; k < WEIGHTS; k++)
        weight[k] = (double)trainer_parameters(t, false)[k];
    trainer_free(t);
    return relative_error_double(weight, optimum, WEIGHTS);
}

static void the_sum_arrives_at_the_optimum(void **state) {
    (void)state;
    double optimum[WEIGHTS];
    find_optimum(optimum);
    double apart = distance(optimum, NULL);
    printf("fp32: %g\n", apart);
    assert_true(apart <= 1e-5); // of floats; the steps end at 1e-7
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(the_sum_arrives_at_the_optimum, make_problem, drop_test_graph),
};
TEST_MAIN(tests)
