// gin: the graph isomorphism layer (Xu et al.: How Powerful are Graph Neural Networks?, ICLR 2019,
// eq. 4.1) with a perceptron of two matrices: PyG's GINConv(Sequential(Linear, ReLU, Linear)).
//
//   A = (M + I) H      S = A + ε H      U = S W + b      R = max(0, U)      Z = R W2 + b2
//   dW2 = Rᵀ G         dU = [U > 0] (G W2ᵀ)              dW = Sᵀ dU
//   dA = dU Wᵀ         dH = (M + I)ᵀ dA + ε dA           dε = sum of dA ∘ H
//
// ε stays outside the aggregate, so that the aggregate of the features can be precomputed. U and,
// in backward, dU share the memory of z: R is computed from U before Z is, and z is no longer
// needed when its gradient G exists. The hidden width of the MLP is the layer's output width.
#include "layer_linear.h"

enum { OUTER_WEIGHT = ROLE_OWN, OUTER_BIAS, EPSILON }; // roles
enum { PARTIALS, HIDDEN };                             // own rows: S where A must stay, and R

typedef struct GinOptions {
    double epsilon;
    bool learned;
} GinOptions;
static const Key gin_keys[] = {
    {"model.gin_epsilon", KEY_DOUBLE, offsetof(GinOptions, epsilon), "0", "[-1000, 1000]", NULL,
     NULL, "gin: the node itself counts 1 + so much; where it is learned, at the start."},
    {"model.gin_learn_epsilon", KEY_BOOL, offsetof(GinOptions, learned), "false", NULL, NULL, NULL,
     "gin: each layer learns its own."},
};

static const GinOptions *options_of(const ModelShape *shape) {
    return (const void *)shape->options;
}

// ---- shape

static void gin_parameters(ModelShape *shape, int l) {
    int64_t in = shape->width[l], out = shape->width[l + 1];
    parameter_linear(shape, l, "convs.#.nn.0", in, out);
    parameter_matrix(shape, l, OUTER_WEIGHT, "convs.#.nn.2.weight", out, out);
    if (shape->bias)
        parameter_vector(shape, l, OUTER_BIAS, "convs.#.nn.2.bias", out);
    parameter_vector(shape, l, EPSILON, "convs.#.eps", 1);
}

static void gin_initial(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w) {
    linear_initial(shape, p, seed, w);
    if (p->role == EPSILON)
        *w = (float)options_of(shape)->epsilon;
}

// ---- memory

static bool gin_keeps_input(const ModelShape *shape, UNUSED int l) {
    return options_of(shape)->learned;
}

static void gin_buffers(Model *m, const Allocator *allocator, int l) {
    Layer *layer = &m->layer[l];
    int64_t in = m->shape.width[l], out = m->shape.width[l + 1];
    alloc_aggregate(m, allocator, l);
    if (is_made_once(&m->shape, l))
        layer->own[PARTIALS] = alloc_rows(allocator, m->rows, in, "aggregated rows");
    layer->own[HIDDEN] = alloc_level(m, allocator, l + 1, m->rows, "hidden rows of perceptrons");
    if (!m->shape.inference)
        layer->bits = alloc_device(allocator, (size_t)(m->rows * rows_stride(out) / 8),
                                   "dropout and activation bits");
}

static int64_t gin_scratch(const Model *m, int l) {
    int64_t in = m->shape.width[l], out = m->shape.width[l + 1];
    int64_t matrix =
        max64(matrix_gradient_scratch(m, in, out), matrix_gradient_scratch(m, out, out));
    return max64(matrix, m->parts.backend->column_sums_scratch(m->rows, out));
}

// ---- the rule

// A precomputed A must stay; otherwise S takes the place of A.
static Rows sums_of(const LayerRun *run) {
    const Layer *layer = run->layer;
    return layer->own[PARTIALS].at != NULL ? layer->own[PARTIALS] : layer->a;
}

static Post relu(const Model *m) {
    return (Post){.count = 1, .step = {POST_ACTIVATION}, .keep = 1, .training = m->training};
}

static const RowFactor one = {.plain = 1};
static RowFactor epsilon_of(const LayerRun *run) {
    return (RowFactor){.times = 1, .at = weights_of(run, EPSILON)};
}

static void gin_forward(const LayerRun *run, Range rows, const Poll *poll) {
    const Model *m = run->m;
    const Backend *b = m->parts.backend;
    const Layer *layer = run->layer;
    Rows sums = sums_of(run), hidden = layer->own[HIDDEN];
    Post post = relu(m);
    b->add_scaled(sums, rows, one, run->a, epsilon_of(run), run->h, poll);
    b->dense(layer->z, rows, sums, weights_of(run, ROLE_WEIGHT), weights_of(run, ROLE_BIAS), false,
             poll);
    b->post_forward(hidden, rows, layer->z, &post, (PostSaved){.positive = layer->bits},
                    m->on.gid[NODES], poll);
    b->dense(layer->z, rows, hidden, weights_of(run, OUTER_WEIGHT), weights_of(run, OUTER_BIAS),
             false, poll);
}

// dU shares the memory of z.
static Rows hidden_gradient(const LayerRun *run) { return rows_first(run->layer->z, run->g.count); }

static void make_hidden_gradient(const LayerRun *run, const Poll *poll) {
    const Model *m = run->m;
    Rows du = hidden_gradient(run);
    Post post = relu(m);
    m->parts.backend->dense_transposed(du, (Range){0, du.count}, run->g,
                                       weights_of(run, OUTER_WEIGHT), false, poll);
    m->parts.backend->post_backward(du, du, du, &post, (PostSaved){.positive = run->layer->bits},
                                    NULL, NULL, m->scratch, poll);
}

static void gin_aggregate_gradient(const LayerRun *run, const Poll *poll) {
    Rows du = hidden_gradient(run);
    make_hidden_gradient(run, poll);
    run->m->parts.backend->dense_transposed(run->da, (Range){0, du.count}, du,
                                            weights_of(run, ROLE_WEIGHT), false, poll);
}

static void gin_input_gradient(const LayerRun *run, Range rows, const Poll *poll) {
    run->m->parts.backend->add_scaled(run->dh, rows, one, run->dh, epsilon_of(run), run->da, poll);
}

// The first layer has no dA: it uses that the sum of dU Wᵀ ∘ H equals the sum of dU ∘ H W. The
// gradient of an ε that is not learned is 0.
static void epsilon_gradient(const LayerRun *run, DeviceFloat *d, const Poll *poll) {
    const Backend *b = run->m->parts.backend;
    Rows du = hidden_gradient(run), da = run->da;
    if (!options_of(&run->m->shape)->learned) {
        b->dot(d, rows_first(du, 0), rows_first(du, 0));
    } else if (da.at != NULL) {
        b->dot(d, da, rows_first(run->h, da.count));
    } else {
        Rows hw = rows_first(gradient_rows(run->m, run->l + 1, 2), du.count);
        b->dense(hw, (Range){0, du.count}, run->h, weights_of(run, ROLE_WEIGHT), NULL, false, poll);
        b->dot(d, du, hw);
    }
}

// ε is the last span, whose gradient is made first.
static void gin_parameter_gradient(const LayerRun *run, const Parameter *p, const Poll *poll) {
    Model *m = run->m;
    DeviceFloat *d = flat_at(m->gradient, p->begin);
    switch (p->role) {
    case EPSILON:
        if (run->da.at == NULL)
            make_hidden_gradient(run, poll);
        epsilon_gradient(run, d, poll);
        break;
    case OUTER_BIAS:
        m->parts.backend->column_sums(d, run->g, m->scratch);
        break;
    case OUTER_WEIGHT:
        matrix_gradient(m, p, run->layer->own[HIDDEN], run->g, poll);
        break;
    case ROLE_BIAS:
        m->parts.backend->column_sums(d, hidden_gradient(run), m->scratch);
        break;
    case ROLE_WEIGHT:
        matrix_gradient(m, p, sums_of(run), hidden_gradient(run), poll);
        break;
    }
}

const LayerKind layer_gin = {
    .name = "gin",
    ON_GRAPHS,
    .keys = {gin_keys, 2, sizeof(GinOptions)},
    .normalisation = "sum",
    .weights = every_layer,
    .parameters = gin_parameters,
    .initial = gin_initial,
    .keeps_input = gin_keeps_input,
    .buffers = gin_buffers,
    .scratch = gin_scratch,
    .forward = gin_forward,
    .aggregate_gradient = gin_aggregate_gradient,
    .input_gradient = gin_input_gradient,
    .parameter_gradient = gin_parameter_gradient,
};
