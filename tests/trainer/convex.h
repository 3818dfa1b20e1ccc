// A convex problem: one weight matrix on smoothed features, all nodes in training; and its optimum.
#pragma once

#include "../oracle.h"
#include "runs.h"

enum { GRAPH_NODES = 120, FEATURES = 19, CLASSES = 4, WEIGHTS = FEATURES * CLASSES };
static const double decay = 0.02, downhill = 4;
// The sanitizers see a few epochs of each training, whose weights are no optimum.
enum { ARRIVES = UNDER_SANITIZERS(0, 1) };

static int everybody_trains(int64_t node) {
    (void)node;
    return SPLIT_TRAIN;
}

// Nodes have these numbers, or classes (NULL).
static inline void use_problem(double (*number)(int64_t node, int64_t column)) {
    TestGraphKind kind = {.nodes = GRAPH_NODES, .degree = 4, .split = everybody_trains};
    kind.features = FEATURES, kind.classes = CLASSES, kind.number = number;
    use_graph(kind, 8);
}

static inline int make_problem(void **state) {
    (void)state;
    use_problem(NULL);
    return 0;
}

// What trains the one matrix; `more` settings end where there is NULL, or after `most`.
static inline void configure_problem(int epochs, const char *const *more, int most) {
    const char *settings[16] = {"model.layer=sgc",
                                "model.layers=2",
                                "model.bias=false",
                                "train.optimizer=sgd",
                                "train.eval_every=0",
                                "run.threads=1",
                                test_text("train.epochs=%d", UNDER_SANITIZERS(20, epochs)),
                                test_text("train.weight_decay=[%g]", decay)};
    int count = 8;
    for (int i = 0; i < most && more[i] != NULL; i++)
        settings[count++] = more[i];
    assert_ok(config_load(&config, NULL, settings, count, &err));
}

static inline void trained(double *weight) {
    OWNED(Trainer) *t = new_trainer();
    while (!trainer_finished(t))
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    assert_int_equal(t->shape.parameter_count, WEIGHTS);
    for (int k = 0; k < WEIGHTS; k++)
        weight[k] = (double)trainer_parameters(t, false)[k];
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
        weight[k] -= downhill * gradient[k];
        squares += gradient[k] * gradient[k];
    }
    return sqrt(squares);
}

// z [GRAPH_NODES, FEATURES] is filled, too.
static inline void find_optimum(double *weight, double *z) {
    memset(z, 0, GRAPH_NODES * FEATURES * sizeof *z);
    memset(weight, 0, WEIGHTS * sizeof *weight);
    smooth_features(z);
    for (int step = 0; step < 10000; step++)
        if (step_down(weight, z) < 1e-14)
            return;
    fail_msg("no optimum was found");
}
