// ranks: 1 3; also on fenced
// If this failed, gin would not be the layer of its paper, its two matrices would start from the
// same random numbers, or an ε that is fixed would move.
#include "gradients.h"

#define LEARNED "model.gin_learn_epsilon=true"

static const Case cases[] = {
    {"gin", SYMMETRIC, 3, "activation,dropout", 0.4, 0, AUTO(LEARNED)},
    {"gin, features dropped out", DIRECTED, 3, "norm,activation", 0, 0.3, AUTO(LEARNED)},
    {"gin, weighted", DIRECTED_WEIGHTED, 2, "dropout,norm,activation", 0.3, 0, FIRST(LEARNED)},
    {"gin, one layer", SYMMETRIC, 1, "", 0, 0, AUTO(LEARNED)},
    {"gin, multi-label, four layers", MULTI, 4, "activation", 0, 0, AUTO(LEARNED)},
    {"gin, without bias", WEIGHTED, 2, "activation", 0, 0.2, AUTO("model.bias=false")},
};
enum { CASES = sizeof cases / sizeof *cases, LEARNING = CASES - 1 };

TEST(oracle_equals_finite_differences) { compare_differences(cases, LEARNING); }

TEST(gradients_equal_the_oracle) {
    for (int i = 0; i < LEARNING; i++) {
        run_case(&cases[i], 9);
        run_case(&cases[i], 5); // hidden rows as wide as logits
    }
}

TEST(inference_equals_the_oracle) { compare_inference(cases, CASES); }

TEST(a_fixed_epsilon_has_no_gradient) {
    const Case *c = &cases[LEARNING];
    OWNED(TestGraph) w = test_graph(c->graph, 42, &test_comm);
    Config config = case_config(c);
    CLEARED(unmake) Made made = {0};
    make(&made, c, &w, &config, "overlap");
    float *g = TEST_ARRAY(float, made.shape.parameter_count);
    Truth want = truth_of(c, &w, &config);
    distributed(&made, want.p, g);
    int epsilons = 0;
    for (int i = 0; i < made.shape.parameter_spans; i++)
        if (strstr(made.shape.parameter[i].name, ".eps") != NULL) {
            epsilons++;
            assert_true(g[made.shape.parameter[i].begin] == 0);
            want.gradient[made.shape.parameter[i].begin] = 0;
        }
    assert_int_equal(epsilons, 2);
    compare_windows(c, &made.shape, g, want.gradient);
}

// Of every kind: no two matrices share a random stream, and ε starts where the config says.
TEST(no_two_matrices_start_alike) {
    for (int k = 0; k < layer_family.count; k++) {
        Case c = cases[3];
        c.name = family_word(&layer_family, k);
        c.setting = "model.gin_epsilon=0.25";
        c.layers = 3;
        Config config = case_config(&c);
        config.model.hidden = (ConfigInts){1, {8}};
        ModelShape shape;
        assert_ok(model_shape(&shape, &config, 8, 8, false, &err));
        float *p = TEST_ARRAY(float, shape.parameter_count);
        model_initial(&shape, 7, p);
        for (int i = 0; i < shape.parameter_spans; i++) {
            const Parameter *a = &shape.parameter[i];
            if (strstr(a->name, ".eps") != NULL)
                assert_true(p[a->begin] == 0.25f);
            for (int j = 0; j < i && a->matrix; j++) {
                const Parameter *b = &shape.parameter[j];
                if (b->matrix && memcmp(p + a->begin, p + b->begin, 8 * sizeof *p) == 0)
                    fail_msg("%s: %s and %s", c.name, a->name, b->name);
            }
        }
    }
}
