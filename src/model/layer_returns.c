// appnp and gcn2: layers that return to the level before the first aggregate, H0, again and again.
// M is the matrix of GCN (PyG's gcn_norm).
//
// appnp (Gasteiger et al.: Predict then Propagate, ICLR 2019, equation 4): model.steps layers
// without weights behind a perceptron of model.layers; H0 is its output.
//
//      Z = (1-a) M H + a H0
//      backward: dA = (1-a) G, dH0 += a G
//
// gcn2 (Chen et al.: Simple and Deep Graph Convolutional Networks, ICML 2020, equation 5):
// model.layers convolutions, without bias, between two linear layers; l counts from 1; H0 is what
// model.post has made of the first one, without its dropout.
//
//      P = (1-a) M H + a H0, Z = (1-b) P + b P W, b = log(theta / l + 1)
//      backward: dP = (1-b) G + b G W^T, dA = (1-a) dP, dH0 += a dP, dW = P^T (b G)
//
// PyG: APPNP behind lin1, lin2, ..., and GCN2Conv (shared weights; weight1 is [in, out] in files)
// between lins.0 and lins.1.
#include "layer_linear.h"

static RowFactor times(float factor) { return (RowFactor){.plain = factor}; }

// out = (1 - alpha) in + alpha H0
static void mix_in(const LayerRun *run, Rows out, Range rows, Rows in, const Poll *poll) {
    float alpha = run->m->shape.alpha;
    run->m->parts.backend->add_scaled(out, rows, times(1 - alpha), in, times(alpha), run->anchor,
                                      poll);
}

// The same backwards, from the gradient of `out`.
static void mix_back(const LayerRun *run, Rows din, Rows dout, const Poll *poll) {
    const Backend *b = run->m->parts.backend;
    float alpha = run->m->shape.alpha;
    Range all = {0, dout.count};
    b->add_scaled(run->danchor, all, times(1), run->danchor, times(alpha), dout, poll);
    b->add_scaled(din, all, times(0), dout, times(1 - alpha), dout, poll);
}

// ---- appnp

static int appnp_layers(const ModelShape *shape, const Config *config) {
    return (int)config->model.layers + shape->steps;
}

static bool appnp_aggregates(const ModelShape *shape, int l) {
    return l >= shape->layers - shape->steps;
}

static bool appnp_weights(const ModelShape *shape, int l) { return !appnp_aggregates(shape, l); }

static void appnp_parameters(ModelShape *shape, int l) {
    char name[32];
    snprintf(name, sizeof name, "lin%d", l + 1);
    parameter_linear(shape, l, name, shape->width[l], shape->width[l + 1]);
}

static void appnp_forward(const LayerRun *run, Range rows, const Poll *poll) {
    if (run->m->shape.weights[run->l])
        linear_forward(run, rows, poll);
    else
        mix_in(run, run->layer->z, rows, run->layer->z, poll);
}

static void appnp_aggregate_gradient(const LayerRun *run, const Poll *poll) {
    if (run->m->shape.weights[run->l])
        linear_aggregate_gradient(run, poll);
    else
        mix_back(run, run->da, run->g, poll);
}

// ---- gcn2

static int gcn2_layers(UNUSED const ModelShape *shape, const Config *config) {
    return (int)config->model.layers + 2;
}

static bool gcn2_aggregates(const ModelShape *shape, int l) {
    return l > 0 && l < shape->layers - 1;
}

static void gcn2_parameters(ModelShape *shape, int l) {
    char name[32];
    int64_t in = shape->width[l], out = shape->width[l + 1];
    if (shape->aggregates[l]) {
        snprintf(name, sizeof name, "convs.%d.weight1", l - 1);
        parameter_matrix(shape, l, ROLE_WEIGHT, name, in, out);
        shape->parameter[shape->parameter_spans - 1].in_out = true;
        return;
    }
    parameter_linear(shape, l, l == 0 ? "lins.0" : "lins.1", in, out);
}

// Layer l is convolution l, counted from 1.
static float beta_of(const LayerRun *run) {
    return (float)log((double)run->m->shape.theta / run->l + 1);
}

static void gcn2_forward(const LayerRun *run, Range rows, const Poll *poll) {
    const Backend *b = run->m->parts.backend;
    Rows z = run->layer->z;
    float beta = beta_of(run);
    if (!run->m->shape.aggregates[run->l]) {
        linear_forward(run, rows, poll);
        return;
    }
    mix_in(run, run->a, rows, run->a, poll);
    b->dense(z, rows, run->a, weights_of(run, ROLE_WEIGHT), NULL, false, poll);
    b->add_scaled(z, rows, times(1 - beta), run->a, times(beta), z, poll);
}

// G becomes b G, which the gradient of W needs.
static void gcn2_aggregate_gradient(const LayerRun *run, const Poll *poll) {
    const Backend *b = run->m->parts.backend;
    Range all = {0, run->g.count};
    float beta = beta_of(run);
    linear_aggregate_gradient(run, poll);
    if (!run->m->shape.aggregates[run->l])
        return;
    b->add_scaled(run->da, all, times(1 - beta), run->g, times(beta), run->da, poll);
    b->add_scaled(run->g, all, times(0), run->g, times(beta), run->g, poll);
    mix_back(run, run->da, run->da, poll);
}

// ---- the rows of the table

#define RETURNS                                                                                    \
    .stages = 1, .returns = true, .normalisation = "gcn-in" /* PyG's */,                           \
    .initial = linear_initial, .keeps_input = linear_keeps_input, .buffers = linear_buffers,       \
    .scratch = linear_scratch, .input_gradient = linear_input_gradient,                            \
    .parameter_gradient = linear_parameter_gradient

const LayerKind layer_appnp = {.name = "appnp",
                               RETURNS,
                               .layers = appnp_layers,
                               .aggregates = appnp_aggregates,
                               .weights = appnp_weights,
                               .parameters = appnp_parameters,
                               .forward = appnp_forward,
                               .aggregate_gradient = appnp_aggregate_gradient};

const LayerKind layer_gcn2 = {.name = "gcn2",
                              RETURNS,
                              .layers = gcn2_layers,
                              .aggregates = gcn2_aggregates,
                              .weights = every_layer,
                              .parameters = gcn2_parameters,
                              .forward = gcn2_forward,
                              .aggregate_gradient = gcn2_aggregate_gradient};
