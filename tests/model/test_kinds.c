// ranks: 1 3; also on fenced
// If this failed, a layer without weights would not be its aggregate alone, wherever it stands; or
// what depends on the features alone would be made again in every epoch.
#include "gradients.h"

// Weights in the second half of a convolution, as those of a hypergraph have them.
static int two_for_one(const ModelShape *shape, const Config *config) {
    (void)shape;
    return 2 * (int)config->model.layers;
}
static bool in_odd_layers(const ModelShape *shape, int l) {
    (void)shape;
    return l % 2 == 1;
}
static bool in_the_last(const ModelShape *shape, int l) { return l == shape->layers - 1; }
static bool in_the_first(const ModelShape *shape, int l) {
    (void)shape;
    return l == 0;
}

static LayerKind halves, halves_with_self, simple, simple_with_self, spread;

static LayerKind named(const char *name) {
    const LayerKind *kind = family_find(&layer_family, name, NULL, &(Error){0});
    assert_non_null(kind);
    return *kind;
}

static void make_kinds(void) {
    const LayerKind layer_gcn = named("gcn"), layer_sage_mean = named("sage-mean");
    halves = layer_gcn;
    halves.layers = two_for_one;
    halves.weights = in_odd_layers;
    halves_with_self = layer_sage_mean;
    halves_with_self.layers = two_for_one;
    halves_with_self.weights = in_odd_layers;
    simple = layer_gcn;
    simple.weights = in_the_last;
    simple_with_self = layer_sage_mean;
    simple_with_self.weights = in_the_last;
    spread = layer_gcn;
    spread.weights = in_the_first;
}

static const Case cases[] = {
    {"halves", SYMMETRIC, 2, "activation,dropout", 0.4, 0, FIRST(""), .kind = &halves},
    {"halves, norm, features dropped out", DIRECTED_WEIGHTED, 2, "dropout,norm,activation", 0.4,
     0.3, AUTO(""), .kind = &halves},
    {"halves with self weights", DIRECTED, 2, "norm,activation", 0, 0, AUTO(""),
     .kind = &halves_with_self},
    {"halves with self weights, features dropped out", SYMMETRIC, 2, "activation", 0, 0.3,
     FIRST(""), .kind = &halves_with_self},
    {"weights in the last of three", SYMMETRIC, 3, "", 0, 0, FIRST(""), .kind = &simple},
    {"weights in the last of three, features dropped out", DIRECTED, 3, "", 0, 0.5,
     AUTO("model.gcn_norm=in"), .kind = &simple},
    {"weights and self weights in the last of four", WEIGHTED, 4, "", 0, 0, AUTO(""),
     .kind = &simple_with_self},
    {"weights in the first of three", MULTI, 3, "activation", 0, 0.2, AUTO(""), .kind = &spread},
};
enum { CASES = sizeof cases / sizeof *cases };

TEST(oracle_equals_finite_differences) {
    make_kinds();
    compare_differences(cases, CASES);
}

TEST(gradients_equal_the_oracle) {
    make_kinds();
    for (int i = 0; i < CASES; i++)
        run_case(&cases[i], 9);
}

TEST(inference_equals_the_oracle) {
    make_kinds();
    compare_inference(cases, CASES);
}

// Names count convolutions, and so do hidden widths.
TEST(layers_without_weights_have_no_names) {
    make_kinds();
    Config config = case_config(&cases[0]);
    config.model.hidden = (ConfigInts){1, {7}};
    ModelShape shape;
    assert_ok(model_shape_of(&shape, &halves, &config, 13, 5, LABEL_CLASS, false, &err));
    static const int64_t width[] = {13, 13, 7, 7, 5};
    assert_int_equal(shape.layers, 4);
    assert_memory_equal(shape.width, width, sizeof width);
    assert_int_equal(shape.parameter_spans, 4);
    assert_string_equal(shape.parameter[0].name, "convs.0.lin.weight");
    assert_string_equal(shape.parameter[3].name, "convs.1.bias");
    assert_int_equal(shape.parameter[3].layer, 3);
}

static int64_t made_once(const char *layer0, double input_dropout, const LayerKind *kind) {
    Config config = case_config(&cases[0]);
    snprintf(config.lossless.input_features, CONFIG_WORD, "%s", layer0);
    config.model.layers = 3;
    config.model.input_dropout = input_dropout;
    ModelShape shape;
    assert_ok(model_shape_of(&shape, kind, &config, 13, 5, LABEL_CLASS, false, &err));
    int64_t floats = 0;
    for (int l = 0; l < shape.layers; l++)
        floats += model_exchanged(&shape, l, FORWARD) + model_exchanged(&shape, l, BACKWARD);
    return floats;
}

// Floats of a halo row in an epoch: nothing of what the features alone decide.
TEST(what_features_decide_is_sent_once) {
    make_kinds();
    assert_int_equal(made_once("auto", 0, &simple), 0);
    assert_int_equal(made_once("auto", 0.5, &simple), 2 * 13); // all but the first
    assert_int_equal(made_once("exchange", 0, &simple), 3 * 13);
    assert_int_equal(made_once("auto", 0, &halves), 4 * 2 * 9); // all but the first convolution
    assert_int_equal(made_once("auto", 0, &spread), 2 * 2 * 5);
}
