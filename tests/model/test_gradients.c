// ranks: 1 2 3 4 8; also on fenced
// If this failed, the distributed loss or gradient would not be that of the formulas (a dense
// double-precision oracle), or would depend on the number of ranks or on the schedule.
#include "gradients.h"

static const Case cases[] = {
    {"gcn, AdaQP's order", "gcn", "both", false, SYMMETRIC, 3, "dropout,norm,activation", 0.5, 0,
     "aggregate-first", NULL, NULL},
    {"gcn, OGB's order", "gcn", "both", false, SYMMETRIC, 3, "norm,activation,dropout", 0.5, 0.3,
     "aggregate-first", NULL, NULL},
    {"gcn, no norm, philox7", "gcn", "both", false, SYMMETRIC, 2, "activation,dropout", 0.5, 0.5,
     "aggregate-first", NULL, "run.random=philox7"},
    {"gcn, one layer", "gcn", "both", false, SYMMETRIC, 1, "", 0, 0, "aggregate-first", NULL, NULL},
    // rows of gradients lie where an epoch before left more of them
    {"gcn, four layers", "gcn", "both", false, SYMMETRIC, 4, "norm,activation", 0, 0,
     "aggregate-first", NULL, NULL},
    {"gcn, directed", "gcn", "both", false, DIRECTED, 3, "dropout,norm,activation", 0.5, 0,
     "aggregate-first", NULL, NULL},
    {"gcn, directed, in-degrees", "gcn", "in", false, DIRECTED, 3, "activation", 0, 0,
     "aggregate-first", NULL, NULL},
    {"gcn, directed, weighted", "gcn", "both", false, DIRECTED_WEIGHTED, 3, "norm,activation", 0, 0,
     "auto", NULL, NULL},
    {"gcn, weighted", "gcn", "both", false, WEIGHTED, 2, "activation,dropout", 0.3, 0,
     "aggregate-first", NULL, NULL},
    {"gcn, multi-label", "gcn", "both", false, MULTI, 2, "activation,dropout", 0.5, 0,
     "aggregate-first", NULL, NULL},
    {"gcn, transform first", "gcn", "both", false, DIRECTED, 3, "dropout,norm,activation", 0.5, 0.3,
     "auto", NULL, NULL},
    {"gcn, rows before post", "gcn", "both", false, DIRECTED, 3, "norm,dropout,activation", 0.5,
     0.3, "auto", NULL, "quantization.before=conv"},
    {"sage-mean", "sage-mean", "both", false, SYMMETRIC, 3, "dropout,norm,activation", 0.5, 0,
     "aggregate-first", NULL, NULL},
    {"sage-mean, four layers", "sage-mean", "both", false, SYMMETRIC, 4, "norm,activation", 0, 0,
     "aggregate-first", NULL, NULL},
    {"sage-mean, input dropout", "sage-mean", "both", false, SYMMETRIC, 2, "activation,dropout",
     0.5, 0.5, "aggregate-first", NULL, NULL},
    {"sage-mean, directed", "sage-mean", "both", false, DIRECTED, 3, "norm,activation,dropout", 0.5,
     0, "aggregate-first", NULL, NULL},
    {"sage-mean, weighted, transform first", "sage-mean", "both", false, DIRECTED_WEIGHTED, 3,
     "norm,activation", 0, 0.3, "auto", NULL, NULL},
    {"sage-mean with self-loops", "sage-mean", "both", true, SYMMETRIC, 2, "activation", 0, 0,
     "aggregate-first", NULL, NULL},
    {"sage-gcn, multi-label", "sage-gcn", "both", false, MULTI, 3, "dropout,norm,activation", 0.5,
     0, "aggregate-first", NULL, NULL},
    {"mlp, BatchNorm", "mlp", "both", false, DIRECTED_WEIGHTED, 3, "norm,activation,dropout", 0.5,
     0.3, "auto", NULL, "model.norm=batch model.bias=false"},
    {"appnp", "appnp", "both", false, DIRECTED_WEIGHTED, 2, "activation,dropout", 0.5, 0.3, "auto",
     NULL, "model.steps=3"},
    {"gcn2", "gcn2", "both", false, SYMMETRIC, 3, "norm,activation,dropout", 0.5, 0.3, "auto", NULL,
     "model.theta=1.5"},
    {"gcn2, no dropout", "gcn2", "both", false, DIRECTED, 2, "activation", 0, 0, "auto", NULL,
     NULL},
    {"gcn, skips", "gcn", "both", false, SYMMETRIC, 4, "norm,activation,dropout", 0.5, 0,
     "aggregate-first", NULL, "model.skip=residual"},
    {"sage-mean, levels side by side", "sage-mean", "both", false, DIRECTED, 3,
     "norm,activation,dropout", 0.5, 0.3, "auto", NULL, "model.jk=cat"},
    {"sgc, mixed aggregates", "sgc", "both", false, DIRECTED_WEIGHTED, 3, "", 0, 0.3, "auto", NULL,
     "model.mix=[0.5,-1,0.25,2]"},
    {"gcn, maximum of levels, elu", "gcn", "both", false, SYMMETRIC, 3, "activation,dropout", 0.5,
     0, "auto", NULL, "model.jk=max model.activation=elu"},
    {"gcn, rows of their own", "gcn", "both", false, DIRECTED_WEIGHTED, 3,
     "norm,activation,dropout", 0.5, 0.3, "auto", NULL, "model.gcn_self=true model.jk=last"},
    {"gcn, rows of their own, sparse features", "gcn", "in", true, SPARSE, 3, "activation", 0, 0,
     "auto", NULL, "model.gcn_self=true model.skip=residual"},
    {"gcn, BatchNorm", "gcn", "both", false, SYMMETRIC, 3, "norm,activation,dropout", 0.5, 0.3,
     "auto", NULL, "model.norm=batch model.bias=false"},
    {"sage-mean, BatchNorm after dropout, skips", "sage-mean", "both", false, DIRECTED, 3,
     "dropout,activation,norm", 0.3, 0, "auto", NULL, "model.norm=batch model.skip=residual"},
    {"gcn, gelu", "gcn", "both", false, DIRECTED, 3, "norm,activation,dropout", 0.5, 0.3, "auto",
     NULL, "model.activation=gelu"},
    {"gcn, leaky ReLU before post", "gcn", "both", false, DIRECTED, 3, "dropout,norm,activation",
     0.5, 0, "auto", NULL, "quantization.before=conv model.activation=leaky-relu"},
    {"gcn2, elu", "gcn2", "both", false, SYMMETRIC, 2, "activation,norm,dropout", 0.3, 0, "auto",
     NULL, "model.activation=elu"},
    {"gcn, labels as input", "gcn", "both", false, DIRECTED_WEIGHTED, 3, "norm,activation,dropout",
     0.5, 0.3, "auto", NULL, "train.label_input=masked:0.4"},
    {"sage-mean, several labels as input", "sage-mean", "both", false, MULTI, 2, "activation", 0, 0,
     "auto", NULL, "train.label_input=masked:0.6"},
    {"gcn, labels that are numbers", "gcn", "both", true, NUMBERS, 2, "activation", 0, 0, "auto",
     NULL, NULL},
    {"gcn, hinge", "gcn", "both", true, SYMMETRIC, 2, "activation", 0, 0, "auto", NULL,
     "train.loss=hinge"},
    {"mlp, hinge of several labels", "mlp", "both", false, MULTI, 2, "activation", 0, 0, "auto",
     NULL, "train.loss=hinge"},
    {"gcn, sparse features", "gcn", "both", false, SPARSE, 3, "norm,activation,dropout", 0.5, 0.3,
     "auto", NULL, NULL},
    {"gcn, sparse features, labels as input", "gcn", "both", false, SPARSE_DIRECTED_WEIGHTED, 2,
     "activation", 0, 0, "auto", NULL, "train.label_input=masked:0.4"},
    {"sage-mean, sparse features", "sage-mean", "both", false, SPARSE_DIRECTED_WEIGHTED, 2,
     "activation,dropout", 0.5, 0.3, "auto", NULL, NULL},
    {"mlp, sparse features", "mlp", "both", false, SPARSE, 2, "activation", 0, 0.3, "auto", NULL,
     NULL},
    // as published dense, with savings sparse: the oracle has W at the second layer
    {"hgnn, sparse features", "hgnn", "both", false, SPARSE_HYPER, 2, "activation,dropout", 0.5,
     0.3, "aggregate-first", NULL, NULL},
    {"gin, sparse features made dense", "gin", "both", false, SPARSE, 2, "activation", 0, 0.3,
     "auto", NULL, "model.gin_learn_epsilon=true"},
    {"gcn, dropped features multiplied first", "gcn", "both", false, SYMMETRIC, 2, "activation", 0,
     0.3, "transform-first", NULL, NULL},
    {"mlp on a hypergraph", "mlp", "both", false, HYPER, 2, "activation", 0, 0, "auto", NULL, NULL},
};
enum { CASES = sizeof cases / sizeof *cases };

TEST(oracle_equals_finite_differences) { compare_differences(cases, CASES); }

// One rank has all cases, and others share them, three in a round: so each case runs on 2, 3 or 4
// ranks, and every sixth one on 8. FRINGE_LONG: all on all.
static bool has_turn(int i) {
    int size = test_comm.size, round = test_turns(size < 8 ? 3 : 6, 1);
    return size == 1 || i % round == (size < 8 ? size % round : 0);
}

TEST(gradients_equal_the_oracle) {
    for (int i = 0; i < CASES; i++)
        if (has_turn(i))
            run_case(&cases[i], 9);
}

TEST(inference_equals_the_oracle) {
    for (int i = 0; i < CASES; i++)
        if (has_turn(i))
            compare_case_inference(&cases[i], i % 2 == 0);
}

// A gradient of many strips and chunks, which leave while others are made.
TEST(wide_gradients_equal_the_oracle) {
    static const TestGraphKind many = {.nodes = 61, .degree = 5, .features = 290, .classes = 5};
    static const TestGraphKind few = {.nodes = 20, .degree = 4, .features = 3, .classes = 4};
    const Case wide[] = {
        {"gcn, wide", "gcn", "both", false, many, 3, "norm,activation", 0, 0, "aggregate-first",
         NULL, NULL},
        {"gcn, wide, transform first", "gcn", "both", false, many, 3, "norm,activation", 0, 0,
         "auto", NULL, NULL},
        {"sage-mean, wide", "sage-mean", "both", false, many, 2, "norm,activation", 0, 0, "auto",
         NULL, NULL},
        {"gcn, wider than a strip has floats", "gcn", "both", false, few, 2, "activation", 0, 0,
         "aggregate-first", NULL, NULL},
    };
    for (int i = UNDER_SANITIZERS(1, 0); i < 4; i += UNDER_SANITIZERS(2, 1))
        if (has_turn(i))
            run_case(&wide[i], i < 3 ? 270 : 32800);
}
