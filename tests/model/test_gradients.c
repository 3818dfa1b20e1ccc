// ranks: 1 2 3 4 8; also on fenced
// If this failed, the distributed loss or gradient would not be that of the formulas (a dense
// double-precision oracle), or would depend on the number of ranks or on the schedule.
#include "gradients.h"

static const Case cases[] = {
    {"gcn, AdaQP's order", SYMMETRIC, 3, "dropout,norm,activation", 0.5, 0, FIRST("")},
    {"gcn, OGB's order", SYMMETRIC, 3, "norm,activation,dropout", 0.5, 0.3, FIRST("")},
    {"gcn, no norm, philox7", SYMMETRIC, 2, "activation,dropout", 0.5, 0.5,
     FIRST("run.random=philox7")},
    {"gcn, one layer", SYMMETRIC, 1, "", 0, 0, FIRST("")},
    // rows of gradients lie where an epoch before left more of them
    {"gcn, four layers", SYMMETRIC, 4, "norm,activation", 0, 0, FIRST("")},
    {"gcn, directed", DIRECTED, 3, "dropout,norm,activation", 0.5, 0, FIRST("")},
    {"gcn, directed, in-degrees", DIRECTED, 3, "activation", 0, 0, FIRST("model.gcn_norm=in")},
    {"gcn, directed, weighted", DIRECTED_WEIGHTED, 3, "norm,activation", 0, 0, AUTO("")},
    {"gcn, weighted", WEIGHTED, 2, "activation,dropout", 0.3, 0, FIRST("")},
    {"gcn, multi-label", MULTI, 2, "activation,dropout", 0.5, 0, FIRST("")},
    {"gcn, transform first", DIRECTED, 3, "dropout,norm,activation", 0.5, 0.3, AUTO("")},
    {"gcn, rows before post", DIRECTED, 3, "norm,dropout,activation", 0.5, 0.3,
     AUTO("quantization.before=conv")},
    {"sage-mean", SYMMETRIC, 3, "dropout,norm,activation", 0.5, 0, FIRST("")},
    {"sage-mean, four layers", SYMMETRIC, 4, "norm,activation", 0, 0, FIRST("")},
    {"sage-mean, input dropout", SYMMETRIC, 2, "activation,dropout", 0.5, 0.5, FIRST("")},
    {"sage-mean, directed", DIRECTED, 3, "norm,activation,dropout", 0.5, 0, FIRST("")},
    {"sage-mean, weighted, transform first", DIRECTED_WEIGHTED, 3, "norm,activation", 0, 0.3,
     AUTO("")},
    {"sage-mean with self-loops", SYMMETRIC, 2, "activation", 0, 0, FIRST("model.self_loops=true")},
    {"sage-gcn, multi-label", MULTI, 3, "dropout,norm,activation", 0.5, 0, FIRST("")},
    {"mlp, BatchNorm", DIRECTED_WEIGHTED, 3, "norm,activation,dropout", 0.5, 0.3,
     AUTO("model.norm=batch model.bias=false")},
    {"appnp", DIRECTED_WEIGHTED, 2, "activation,dropout", 0.5, 0.3, AUTO("model.steps=3")},
    {"gcn2", SYMMETRIC, 3, "norm,activation,dropout", 0.5, 0.3, AUTO("model.theta=1.5")},
    {"gcn2, no dropout", DIRECTED, 2, "activation", 0, 0, AUTO("")},
    {"gcn, skips", SYMMETRIC, 4, "norm,activation,dropout", 0.5, 0, FIRST("model.skip=residual")},
    {"sage-mean, levels side by side", DIRECTED, 3, "norm,activation,dropout", 0.5, 0.3,
     AUTO("model.jk=cat")},
    {"sgc, mixed aggregates", DIRECTED_WEIGHTED, 3, "", 0, 0.3, AUTO("model.mix=[0.5,-1,0.25,2]")},
    {"gcn, maximum of levels, elu", SYMMETRIC, 3, "activation,dropout", 0.5, 0,
     AUTO("model.jk=max model.activation=elu")},
    {"gcn, rows of their own", DIRECTED_WEIGHTED, 3, "norm,activation,dropout", 0.5, 0.3,
     AUTO("model.gcn_self=true model.jk=last")},
    {"gcn, rows of their own, sparse features", SPARSE, 3, "activation", 0, 0,
     AUTO("model.gcn_norm=in model.self_loops=true model.gcn_self=true model.skip=residual")},
    {"gcn, BatchNorm", SYMMETRIC, 3, "norm,activation,dropout", 0.5, 0.3,
     AUTO("model.norm=batch model.bias=false")},
    {"sage-mean, BatchNorm after dropout, skips", DIRECTED, 3, "dropout,activation,norm", 0.3, 0,
     AUTO("model.norm=batch model.skip=residual")},
    {"gcn, gelu", DIRECTED, 3, "norm,activation,dropout", 0.5, 0.3, AUTO("model.activation=gelu")},
    {"gcn, leaky ReLU before post", DIRECTED, 3, "dropout,norm,activation", 0.5, 0,
     AUTO("quantization.before=conv model.activation=leaky-relu")},
    {"gcn2, elu", SYMMETRIC, 2, "activation,norm,dropout", 0.3, 0, AUTO("model.activation=elu")},
    {"gcn, labels as input", DIRECTED_WEIGHTED, 3, "norm,activation,dropout", 0.5, 0.3,
     AUTO("train.label_input=masked:0.4")},
    {"sage-mean, several labels as input", MULTI, 2, "activation", 0, 0,
     AUTO("train.label_input=masked:0.6")},
    {"gcn, labels that are numbers", NUMBERS, 2, "activation", 0, 0, AUTO("model.self_loops=true")},
    {"gcn, hinge", SYMMETRIC, 2, "activation", 0, 0,
     AUTO("model.self_loops=true train.loss=hinge")},
    {"mlp, hinge of several labels", MULTI, 2, "activation", 0, 0, AUTO("train.loss=hinge")},
    {"gcn, sparse features", SPARSE, 3, "norm,activation,dropout", 0.5, 0.3, AUTO("")},
    {"gcn, sparse features, labels as input", SPARSE_DIRECTED_WEIGHTED, 2, "activation", 0, 0,
     AUTO("train.label_input=masked:0.4")},
    {"sage-mean, sparse features", SPARSE_DIRECTED_WEIGHTED, 2, "activation,dropout", 0.5, 0.3,
     AUTO("")},
    {"mlp, sparse features", SPARSE, 2, "activation", 0, 0.3, AUTO("")},
    // as published dense, with savings sparse: the oracle has W at the second layer
    {"hgnn, sparse features", SPARSE_HYPER, 2, "activation,dropout", 0.5, 0.3, FIRST("")},
    {"gin, sparse features made dense", SPARSE, 2, "activation", 0, 0.3,
     AUTO("model.gin_learn_epsilon=true")},
    {"gcn, dropped features multiplied first", SYMMETRIC, 2, "activation", 0, 0.3, LAST("")},
    {"mlp on a hypergraph", HYPER, 2, "activation", 0, 0, AUTO("")},
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
        {"gcn, wide", many, 3, "norm,activation", 0, 0, FIRST("")},
        {"gcn, wide, transform first", many, 3, "norm,activation", 0, 0, AUTO("")},
        {"sage-mean, wide", many, 2, "norm,activation", 0, 0, AUTO("")},
        {"gcn, wider than a strip has floats", few, 2, "activation", 0, 0, FIRST("")},
    };
    for (int i = UNDER_SANITIZERS(1, 0); i < 4; i += UNDER_SANITIZERS(2, 1))
        if (has_turn(i))
            run_case(&wide[i], i < 3 ? 270 : 32800);
}
