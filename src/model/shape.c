// The model without data: widths, parameter windows, initial weights. Kinds of layers are a table;
// the smallest member, and the one to copy, is gcn (layer_linear.c).
#include "internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

extern const LayerKind layer_gcn, layer_sage_mean, layer_sage_gcn, layer_gin, layer_sgc;
static const LayerKind *const layer_kinds[] = {&layer_gcn, &layer_sage_mean, &layer_sage_gcn,
                                               &layer_gin, &layer_sgc};
const Family layer_family = FAMILY_OF_POINTERS("model.layer", NULL, layer_kinds);

// Layers with weights among the first `layers`.
static int convolutions(const ModelShape *shape, int layers) {
    int count = 0;
    for (int l = 0; l < layers; l++)
        count += shape->weights[l];
    return count;
}

int layer_keys(const MemberKeys *keys[LAYER_KINDS]) {
    static_assert(sizeof layer_kinds / sizeof *layer_kinds <= LAYER_KINDS, "room for the keys");
    for (int i = 0; i < layer_family.count; i++)
        keys[i] = &layer_kinds[i]->keys;
    return layer_family.count;
}

static Parameter *add_parameter(ModelShape *shape, int l, int role, int64_t rows, int64_t columns) {
    assert(shape->parameter_windows < MODEL_PARAMETERS);
    Parameter *p = &shape->parameter[shape->parameter_windows++];
    *p = (Parameter){.layer = l,
                     .conv = convolutions(shape, l),
                     .role = role,
                     .begin = shape->parameter_count,
                     .rows = rows,
                     .columns = columns};
    shape->parameter_count += rows * columns;
    return p;
}

void parameter_matrix(ModelShape *shape, int l, int role, const char *name, int64_t in,
                      int64_t out) {
    Parameter *p = add_parameter(shape, l, role, in, out);
    p->matrix = true;
    snprintf(p->name, sizeof p->name, "convs.%d.%s", p->conv, name);
}

void parameter_vector(ModelShape *shape, int l, int role, const char *name, int64_t width) {
    Parameter *p = add_parameter(shape, l, role, 1, width);
    snprintf(p->name, sizeof p->name, "convs.%d.%s", p->conv, name);
}

// The norm's come last in the layer that it follows: the backward pass meets it first.
static void norm_parameters(ModelShape *shape, int l) {
    Parameter *gamma = add_parameter(shape, l, ROLE_GAMMA, 1, shape->width[l + 1]);
    Parameter *beta = add_parameter(shape, l, ROLE_BETA, 1, shape->width[l + 1]);
    snprintf(gamma->name, sizeof gamma->name, "norms.%d.weight", gamma->conv);
    snprintf(beta->name, sizeof beta->name, "norms.%d.bias", beta->conv);
}

// model.post with the steps that have something to do: "norm" needs model.norm, "activation" an
// activation.
static bool read_post(ModelShape *shape, const Config *config, Error *err) {
    static const char *const words[] = {"dropout", "norm", "activation"};
    bool seen[3] = {false, false, false};
    for (int i = 0; i < config->model.post.count; i++) {
        const char *word = config->model.post.word[i];
        int step = 0;
        while (step < 3 && strcmp(words[step], word) != 0)
            step++;
        if (step == 3 || seen[step])
            return error_set(err, EXIT_CONFIG,
                             "model.post: '%s' %s; expected an order of dropout, norm, activation",
                             word, step == 3 ? "is unknown" : "stands there twice");
        seen[step] = true;
        bool idle = (step == POST_DROPOUT && config->model.dropout == 0) ||
                    (step == POST_NORM && strcmp(config->model.norm, "none") == 0) ||
                    (step == POST_ACTIVATION && strcmp(config->model.activation, "none") == 0);
        if (!idle)
            shape->post[shape->post_count++] = (PostStep)step;
    }
    for (int i = 0; i < shape->post_count; i++)
        shape->norm |= shape->post[i] == POST_NORM;
    return true;
}

static bool read_layers(ModelShape *shape, const Config *config, Error *err) {
    if (config->model.layers < 1 || shape->kind->layers(config) > MODEL_LAYERS)
        return error_set(err, EXIT_CONFIG, "model.layers: expected 1 to %d, found %lld",
                         MODEL_LAYERS, (long long)config->model.layers);
    shape->layers = shape->kind->layers(config);
    for (int l = 0; l < shape->layers; l++)
        shape->weights[l] = shape->kind->weights(shape, l);
    int all = convolutions(shape, shape->layers);
    assert(all > 0);
    for (int l = 0; l < shape->layers; l++)
        shape->posted[l] = shape->weights[l] && convolutions(shape, l + 1) < all;
    return true;
}

// A layer without weights keeps the width of its input.
static bool read_widths(ModelShape *shape, const Config *config, int64_t features, int64_t classes,
                        Error *err) {
    const ConfigInts *hidden = &config->model.hidden;
    int all = convolutions(shape, shape->layers);
    if (features < 1)
        return error_set(err, EXIT_DATA,
                         "the dataset has no features; add 'random:64' or 'degree' "
                         "to data.transforms, or name an .npy in data.features");
    if (classes < 1)
        return error_set(err, EXIT_DATA, "the dataset has no labels; name an .npy in data.labels");
    if (hidden->count != 1 && hidden->count != all - 1 && all > 1)
        return error_set(
            err, EXIT_CONFIG,
            "model.hidden: expected 1 width or %d (one for each hidden layer), found %d", all - 1,
            hidden->count);
    shape->width[0] = features;
    for (int l = 0; l < shape->layers; l++) {
        int conv = convolutions(shape, l);
        shape->width[l + 1] = !shape->weights[l] ? shape->width[l]
                              : conv == all - 1  ? classes
                                                 : hidden->value[hidden->count == 1 ? 0 : conv];
    }
    return true;
}

static void choose_savings(ModelShape *shape, const Config *config) {
    if (strcmp(config->lossless.input_features, "auto") == 0)
        shape->layer0 = shape->input_keep < 1 ? LAYER0_KEPT : LAYER0_ONCE;
    while (shape->layer0 != LAYER0_EXCHANGED && shape->leading < shape->layers &&
           (shape->leading == 0 || !shape->weights[shape->leading - 1]))
        shape->leading++;
    shape->train_rows = strcmp(config->lossless.receptive_field, "auto") == 0;
    shape->cover = strcmp(config->lossless.cover, "min") == 0       ? COVER_MIN
                   : strcmp(config->lossless.cover, "targets") == 0 ? COVER_TARGETS
                                                                    : COVER_SOURCES;
    // what is made once, or masked at both ends, are aggregates of the features
    int first = shape->layer0 == LAYER0_ONCE ? shape->leading : shape->layer0 == LAYER0_KEPT;
    for (int l = first; l < shape->layers; l++)
        shape->transform_first[l] = strcmp(config->lossless.order, "auto") == 0 &&
                                    shape->kind->may_transform_first && shape->weights[l] &&
                                    shape->width[l + 1] < shape->width[l];
}

static bool check_unused(const LayerKind *kind, const Config *config, Error *err) {
    for (const char *const *key = kind->unused; *key != NULL; key++)
        if (config_is_said(config, *key))
            return error_set(err, EXIT_CONFIG, "%s: means nothing to model.layer=%s; leave it out",
                             *key, kind->name);
    return true;
}

bool model_shape_of(ModelShape *shape, const LayerKind *kind, const Config *config,
                    int64_t features, int64_t classes, bool multilabel, Error *err) {
    *shape = (ModelShape){.kind = kind,
                          .bias = config->model.bias,
                          .multilabel = multilabel,
                          .gain = config->model.gain,
                          .keep = (float)(1 - config->model.dropout),
                          .input_keep = (float)(1 - config->model.input_dropout)};
    if (!check_unused(kind, config, err) || !read_layers(shape, config, err) ||
        !read_widths(shape, config, features, classes, err) || !read_post(shape, config, err))
        return false;
    assert(kind->keys.bytes <= sizeof shape->options);
    config_values(config, &kind->keys, shape->options);
    snprintf(shape->normalisation, sizeof shape->normalisation, "%s", kind->normalisation(shape));
    choose_savings(shape, config);
    for (int l = 0; l < shape->layers; l++) {
        if (shape->weights[l])
            kind->parameters(shape, l);
        if (shape->norm && shape->posted[l])
            norm_parameters(shape, l);
    }
    return true;
}

bool model_shape(ModelShape *shape, const Config *config, int64_t features, int64_t classes,
                 bool multilabel, Error *err) {
    const LayerKind *kind = family_find(&layer_family, config->model.layer, NULL, err);
    return kind != NULL && model_shape_of(shape, kind, config, features, classes, multilabel, err);
}

// Evaluation drops nothing out: features of the halo need not be kept.
void model_shape_for_inference(ModelShape *shape) {
    shape->inference = true;
    shape->input_keep = 1;
    if (shape->layer0 == LAYER0_KEPT)
        shape->layer0 = LAYER0_ONCE;
    for (int l = 0; l < shape->leading; l++)
        shape->transform_first[l] = false;
}

bool wants_input_gradient(const ModelShape *shape, int l) { return convolutions(shape, l) > 0; }

int64_t model_exchanged(const ModelShape *shape, int l, int direction) {
    bool once = shape->layer0 == LAYER0_ONCE && l < shape->leading;
    if (once || (l == 0 && shape->layer0 == LAYER0_KEPT))
        return 0;
    if (shape->transform_first[l])
        return shape->width[l + 1];
    return direction == FORWARD || wants_input_gradient(shape, l) ? shape->width[l] : 0;
}

// A stream is told apart by its layer, its direction (one bit) and the peer of its numbers: the
// n-th matrix of a layer has direction n % 2 and peer n / 2.
void initial_xavier(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w) {
    int n = 0;
    for (const Parameter *q = shape->parameter; q < p; q++)
        n += q->layer == p->layer && q->matrix;
    RandomStream stream = random_stream(seed, RANDOM_WEIGHTS, 0, p->layer, n % 2);
    double bound = shape->gain * sqrt(6.0 / (double)(p->rows + p->columns));
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t c = 0; c < p->columns; c++)
            w[r * p->columns + c] =
                (float)(bound * (2 * random_uniform32(stream, r, n / 2, c) - 1));
}

static void initial_norm(const Parameter *p, float *w) {
    for (int64_t c = 0; c < p->columns; c++)
        w[c] = p->role == ROLE_GAMMA ? 1.0f : 0.0f;
}

void model_initial(const ModelShape *shape, uint64_t seed, float *parameters) {
    for (int i = 0; i < shape->parameter_windows; i++) {
        const Parameter *p = &shape->parameter[i];
        if (p->role == ROLE_GAMMA || p->role == ROLE_BETA)
            initial_norm(p, parameters + p->begin);
        else
            shape->kind->initial(shape, p, seed, parameters + p->begin);
    }
}
