// gcn, sage-mean, sage-gcn: layers that are linear in the aggregate A = L·M·R·H and, with a self
// weight, in the rows themselves (ALGORITHMS A.3).
//
//   aggregate first   Z = A W + H Ws + b       dW = Aᵀ G     dA = G Wᵀ
//   transform first   Z = L·M·R·(H W) + H Ws + b   dW = Hᵀ dY    (dY: the gradient of H W)
//   both              dWs = Hᵀ G    db = column sums of G    dH gets G Wsᵀ beside the aggregate's
//
// gcn is the smallest kind, and the one to copy.
#include "layer_linear.h"

// ---- shape

int linear_layers(UNUSED const ModelShape *shape, const Config *config) {
    return (int)config->model.layers;
}

bool every_layer(UNUSED const ModelShape *shape, UNUSED int l) { return true; }

bool no_layer(const ModelShape *shape, int l) { return !every_layer(shape, l); }

typedef struct GcnOptions {
    char norm[CONFIG_WORD]; // both | in
    bool self;              // beside the aggregate the row itself, times weights of its own
} GcnOptions;
static const Key gcn_keys[] = {
    {"model.gcn_norm", KEY_WORD, offsetof(GcnOptions, norm), "\"both\"", NULL, "both in", NULL,
     "Scaling of gcn: by in- and out-degree, or (as PyG does) by in-degree at both ends."},
    {"model.gcn_self", KEY_BOOL, offsetof(GcnOptions, self), "false", NULL, NULL, NULL,
     "gcn: adds a node's own row, times weights of its own, in front of the norm (tunedGNN)."},
};

static const GcnOptions *gcn_options(const ModelShape *shape) {
    return (const void *)shape->options;
}

static const char *gcn_normalisation(const ModelShape *shape) {
    return strcmp(gcn_options(shape)->norm, "in") == 0 ? "gcn-in" : "gcn";
}

typedef struct SageMeanOptions {
    bool self_loops; // the mean contains the row itself (AdaQP)
} SageMeanOptions;
static const Key sage_mean_keys[] = {
    {"model.self_loops", KEY_BOOL, offsetof(SageMeanOptions, self_loops), "false", NULL, NULL, NULL,
     "sage-mean: the mean contains the node itself (AdaQP)."},
};

static const char *sage_mean_normalisation(const ModelShape *shape) {
    const SageMeanOptions *options = (const void *)shape->options;
    return options->self_loops ? "mean-self" : "mean";
}

static void add_parameters(ModelShape *shape, int l, bool self) {
    int64_t in = shape->width[l], out = shape->width[l + 1];
    parameter_matrix(shape, l, ROLE_WEIGHT, "convs.#.lin.weight", in, out);
    if (self)
        parameter_matrix(shape, l, ROLE_SELF_WEIGHT, "self_lins.#.weight", in, out);
    if (shape->bias)
        parameter_vector(shape, l, ROLE_BIAS, "convs.#.bias", out);
}
static void gcn_parameters(ModelShape *shape, int l) {
    add_parameters(shape, l, gcn_options(shape)->self);
}
static void sage_gcn_parameters(ModelShape *shape, int l) { add_parameters(shape, l, false); }

static void sage_mean_parameters(ModelShape *shape, int l) {
    int64_t in = shape->width[l], out = shape->width[l + 1];
    parameter_matrix(shape, l, ROLE_WEIGHT, "convs.#.lin_l.weight", in, out);
    parameter_matrix(shape, l, ROLE_SELF_WEIGHT, "convs.#.lin_r.weight", in, out);
    if (shape->bias)
        parameter_vector(shape, l, ROLE_BIAS, "convs.#.lin_l.bias", out);
}

void linear_initial(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w) {
    if (p->matrix)
        initial_xavier(shape, p, seed, w);
    else
        memset(w, 0, (size_t)p->columns * sizeof *w);
}

// ---- memory

// The gradients of Ws, and of W in transform-first layers, need H; the others need only A.
bool linear_keeps_input(const ModelShape *shape, int l) { return multiplies_first(shape, l); }

static bool gcn_keeps_input(const ModelShape *shape, int l) {
    return gcn_options(shape)->self || linear_keeps_input(shape, l);
}

void linear_buffers(Model *m, const Allocator *allocator, int l) {
    if (m->shape.aggregates[l] && !m->shape.transform_first[l])
        alloc_aggregate(m, allocator, l);
}

int64_t linear_scratch(const Model *m, int l) {
    int64_t in = m->shape.width[l], out = m->shape.width[l + 1];
    int64_t matrix = l == 0 && m->shape.sparse ? 0 : matrix_gradient_scratch(m, in, out);
    int64_t vector = m->parts.backend->column_sums_scratch(m->rows, out);
    if (l == 0 && m->shape.label_rate > 0)
        matrix = max64(matrix, matrix_gradient_scratch(m, classes_of(m), out));
    return max64(matrix, vector);
}

// ---- the rule

void linear_forward(const LayerRun *run, Range rows, const Poll *poll) {
    const Backend *b = run->m->parts.backend;
    const DeviceFloat *bias = weights_of(run, ROLE_BIAS), *ws = weights_of(run, ROLE_SELF_WEIGHT);
    Rows z = run->layer->z;
    if (!run->transformed && ws != NULL) { // not of sparse features, which are transformed
        b->dense_sum(z, rows, run->a, weights_of(run, ROLE_WEIGHT), run->h, ws, bias, poll);
        return;
    }
    if (!run->transformed)
        input_times(run, z, rows, run->a, weights_of(run, ROLE_WEIGHT), bias, false, poll);
    if (ws != NULL)
        input_times(run, z, rows, run->h, ws, run->transformed ? bias : NULL, true, poll);
    else if (run->transformed && bias != NULL)
        b->add_bias(z, rows, bias, poll);
}

void linear_aggregate_gradient(const LayerRun *run, const Poll *poll) {
    run->m->parts.backend->dense_transposed(run->da, (Range){0, run->g.count}, run->g,
                                            weights_of(run, ROLE_WEIGHT), false, poll);
}

void linear_input_gradient(const LayerRun *run, Range rows, const Poll *poll) {
    const DeviceFloat *ws = weights_of(run, ROLE_SELF_WEIGHT);
    if (ws != NULL)
        run->m->parts.backend->dense_transposed(run->dh, rows, run->g, ws, true, poll);
}

void linear_parameter_gradient(const LayerRun *run, const Parameter *p, const Poll *poll) {
    Model *m = run->m;
    if (p->role == ROLE_BIAS)
        m->parts.backend->column_sums(flat_at(m->gradient, p->begin), run->g, m->scratch);
    else if (p->role == ROLE_SELF_WEIGHT)
        matrix_gradient(m, p, run->h, run->g, poll);
    else if (run->transformed)
        matrix_gradient(m, p, run->h, run->dy, poll);
    else
        matrix_gradient(m, p, run->a, run->g, poll);
}

// ---- the rows of the table

const LayerKind layer_gcn = {.name = "gcn",
                             ON_GRAPHS,
                             .weights = every_layer,
                             .keys = {gcn_keys, 2, sizeof(GcnOptions)},
                             .normalised = gcn_normalisation,
                             .parameters = gcn_parameters,
                             .keeps_input = gcn_keeps_input,
                             LINEAR_RULE};

const LayerKind layer_sage_mean = {.name = "sage-mean",
                                   ON_GRAPHS,
                                   .weights = every_layer,
                                   .keys = {sage_mean_keys, 1, sizeof(SageMeanOptions)},
                                   .normalised = sage_mean_normalisation,
                                   .parameters = sage_mean_parameters,
                                   .keeps_input = every_layer,
                                   LINEAR_RULE};

const LayerKind layer_sage_gcn = {.name = "sage-gcn",
                                  ON_GRAPHS,
                                  .weights = every_layer,
                                  .normalisation = "mean-self",
                                  .parameters = sage_gcn_parameters,
                                  .keeps_input = linear_keeps_input,
                                  LINEAR_RULE};
