// ranks: 1 3; also on fenced
// If this failed, a convolution on a hypergraph would not be its paper's operator, or would depend
// on ranks, savings or schedules: a hyperedge shared by two ranks would be summed wrongly.
#include "gradients.h"

static const Case cases[] = {
    {"hgnn", HYPER, 2, "activation", 0, 0, FIRST("")},
    {"hgnn row", HYPER_DIRECTED_WEIGHTED, 3, "dropout,norm,activation", 0.4, 0,
     FIRST("model.norm_hyper=row")},
    {"hgnn, features dropped out", HYPER_DIRECTED_WEIGHTED, 2, "norm,activation", 0, 0.3,
     FIRST("")},
    {"hnhn", HYPER, 2, "norm,activation,dropout", 0.4, 0, FIRST("")},
    {"hnhn, features dropped out", HYPER_DIRECTED_WEIGHTED, 1, "activation", 0, 0.2, FIRST("")},
    {"hgnn, levels side by side", HYPER, 2, "activation,dropout", 0.4, 0, FIRST("model.jk=cat")},
    {"hnhn, skips", HYPER_DIRECTED_WEIGHTED, 2, "norm,activation", 0, 0,
     AUTO("model.skip=residual")},
    {"hnhn, BatchNorm", HYPER, 2, "dropout,norm,activation", 0.3, 0, AUTO("model.norm=batch")},
    {"hgnn, a linear layer on top", HYPER_DIRECTED_WEIGHTED, 2, "norm,activation", 0, 0,
     FIRST("model.jk=last")},
};
enum { CASES = sizeof cases / sizeof *cases };

TEST(oracle_equals_finite_differences) { compare_differences(cases, CASES); }

// 1e-12: sums of a few hundred doubles.
TEST(two_stages_are_one_formula) {
    static const char *const names[] = {"hyper-sym", "hyper-row"};
    for (int i = 0; i < CASES; i++) {
        Comm alone;
        comm_self(&alone);
        OWNED(TestGraph) w = test_graph(cases[i].graph, 42, &alone);
        OracleGraph graph = oracle_graph(&w.dataset);
        for (int k = 0; k < 2; k++) {
            double *one = oracle_hyper_operator(&graph, names[k]);
            double *two = oracle_hyper_stages(&graph, names[k]), most = 0;
            for (int64_t e = 0; e < (int64_t)graph.n * graph.n; e++)
                most = fmax(most, fabs(one[e] - two[e]));
            assert_true(most <= 1e-12);
        }
    }
}

// The oracle takes the name of the operator from the shape, so it cannot see a wrong one.
TEST(layers_have_their_operators) {
    static const char *const operators[CASES] = {"hyper-sym",  "hyper-row",  "hyper-sym",
                                                 "hyper-mean", "hyper-mean", "hyper-sym",
                                                 "hyper-mean", "hyper-mean", "hyper-sym"};
    for (int i = 0; i < CASES; i++) {
        Dataset sizes = {.features = 13, .classes = 5};
        Config config = case_config(&cases[i]);
        ModelShape shape = case_shape(&cases[i], &config, &sizes);
        assert_string_equal(shape.normalisation, operators[i]);
    }
}

TEST(gradients_equal_the_oracle) {
    for (int i = 0; i < CASES; i++)
        run_case(&cases[i], 9);
}

// Hidden layers that are wider than the features: Θ stays where it is in the first convolution, and
// goes before both aggregates of the others.
TEST(wide_gradients_equal_the_oracle) {
    for (int i = 0; i < CASES; i++)
        run_case(&cases[i], 19);
}

TEST(inference_equals_the_oracle) { compare_inference(cases, CASES); }
