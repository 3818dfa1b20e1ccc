// ranks: 1 3; also on fenced
// If this failed, sgc would not be one linear layer on features that went through K aggregates, or
// would take keys that mean nothing to it.
#include "gradients.h"

static const Case cases[] = {
    {"sgc", SYMMETRIC, 2, "", 0, 0, AUTO("")},
    {"sgc, features dropped out", SYMMETRIC, 3, "", 0, 0.3, AUTO("")},
    {"sgc, one step", DIRECTED, 1, "", 0, 0.5, FIRST("")},
    {"sgc, weighted, four steps", DIRECTED_WEIGHTED, 4, "", 0, 0, AUTO("model.bias=false")},
    {"sgc, multi-label", MULTI, 2, "", 0, 0.2, AUTO("")},
};
enum { CASES = sizeof cases / sizeof *cases };

TEST(oracle_equals_finite_differences) { compare_differences(cases, CASES); }

TEST(gradients_equal_the_oracle) {
    for (int i = 0; i < CASES; i++)
        run_case(&cases[i], 9);
}

TEST(inference_equals_the_oracle) { compare_inference(cases, CASES); }

TEST(it_has_one_linear_layer) {
    Config config = case_config(&cases[0]);
    config.model.layers = 4;
    ModelShape shape;
    assert_ok(model_shape(&shape, &config, 13, 5, false, &err));
    assert_int_equal(shape.layers, 4);
    assert_int_equal(shape.parameter_spans, 2);
    assert_int_equal(shape.parameter[0].layer, 3); // the last of its steps
    assert_string_equal(shape.parameter[0].name, "convs.0.lin.weight");
    assert_string_equal(shape.parameter[1].name, "convs.0.lin.bias");
    assert_int_equal(shape.parameter_count, 13 * 5 + 5);
}

// What it does not use is warned of (test_idle), and changes nothing.
TEST(what_means_nothing_changes_nothing) {
    static const char *const said[] = {"model.hidden=[256]", "model.post=[]", "model.norm=layer"};
    for (int i = 0; i < 3; i++) {
        ModelShape shape;
        Config config = CONFIGURED("model.layer=sgc", said[i]);
        assert_ok(model_shape(&shape, &config, 13, 5, false, &err));
        assert_int_equal(shape.parameter_count, 13 * 5 + 5);
    }
}
