// The model without data: widths, parameter windows, initial weights. Layers are a table; the
// smallest member to copy is gcn: one row that names a normalisation of halo.h and says whether a
// row has a weight of its own.
#include "internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct LayerKind {
    const char *name;
    const char *normalisation;             // of the Block
    const char *normalisation_other;       // model.gcn_norm = in, or model.self_loops
    bool self_weight;                      // Z = A W + H Ws
    const char *weight, *self, *bias_name; // PyG's names inside convs.N
} LayerKind;

static const LayerKind layer_kinds[] = {
    {"gcn", "gcn", "gcn-in", false, "lin.weight", NULL, "bias"},
    {"sage-mean", "mean", "mean-self", true, "lin_l.weight", "lin_r.weight", "lin_l.bias"},
    {"sage-gcn", "mean-self", "mean-self", false, "lin.weight", NULL, "bias"},
};
const Family layer_family = FAMILY("model.layer", NULL, layer_kinds);

static void add_parameter(ModelShape *shape, int layer, const char *name, int64_t rows,
                          int64_t columns, bool matrix) {
    Parameter *p = &shape->parameter[shape->parameter_windows++];
    *p = (Parameter){.layer = layer,
                     .begin = shape->parameter_count,
                     .rows = rows,
                     .columns = columns,
                     .matrix = matrix};
    snprintf(p->name, sizeof p->name, "%s", name);
    shape->parameter_count += rows * columns;
}

// W, then Ws, b, gamma, beta, as far as the layer has them. The backward pass makes their gradients
// from the last to the first (epoch.c) and says so to gradsync.
static void add_layer(ModelShape *shape, const LayerKind *kind, int layer) {
    int64_t in = shape->width[layer], out = shape->width[layer + 1];
    char name[64];
    snprintf(name, sizeof name, "convs.%d.%s", layer, kind->weight);
    add_parameter(shape, layer, name, in, out, true);
    if (kind->self_weight) {
        snprintf(name, sizeof name, "convs.%d.%s", layer, kind->self);
        add_parameter(shape, layer, name, in, out, true);
    }
    if (shape->bias) {
        snprintf(name, sizeof name, "convs.%d.%s", layer, kind->bias_name);
        add_parameter(shape, layer, name, 1, out, false);
    }
    if (shape->norm && layer < shape->layers - 1) {
        snprintf(name, sizeof name, "norms.%d.weight", layer);
        add_parameter(shape, layer, name, 1, out, false);
        snprintf(name, sizeof name, "norms.%d.bias", layer);
        add_parameter(shape, layer, name, 1, out, false);
    }
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

static bool read_widths(ModelShape *shape, const Config *config, int64_t features, int64_t classes,
                        Error *err) {
    const ConfigInts *hidden = &config->model.hidden;
    if (config->model.layers < 1 || config->model.layers > MODEL_LAYERS)
        return error_set(err, EXIT_CONFIG, "model.layers: expected 1 to %d, found %lld",
                         MODEL_LAYERS, (long long)config->model.layers);
    shape->layers = (int)config->model.layers;
    if (features < 1)
        return error_set(err, EXIT_DATA,
                         "the dataset has no features; add \"random:64\" or \"degree\" "
                         "to data.transforms, or name an .npy in data.features");
    if (classes < 1)
        return error_set(err, EXIT_DATA, "the dataset has no labels; name an .npy in data.labels");
    if (hidden->count != 1 && hidden->count != shape->layers - 1 && shape->layers > 1)
        return error_set(
            err, EXIT_CONFIG,
            "model.hidden: expected 1 width or %d (one for each hidden layer), found %d",
            shape->layers - 1, hidden->count);
    shape->width[0] = features;
    for (int l = 1; l < shape->layers; l++)
        shape->width[l] = hidden->value[hidden->count == 1 ? 0 : l - 1];
    shape->width[shape->layers] = classes;
    return true;
}

bool model_shape(ModelShape *shape, const Config *config, int64_t features, int64_t classes,
                 bool multilabel, Error *err) {
    *shape = (ModelShape){.bias = config->model.bias,
                          .multilabel = multilabel,
                          .gain = config->model.gain,
                          .keep = (float)(1 - config->model.dropout),
                          .input_keep = (float)(1 - config->model.input_dropout)};
    const LayerKind *kind = family_find(&layer_family, config->model.layer, NULL, err);
    if (kind == NULL || !read_widths(shape, config, features, classes, err) ||
        !read_post(shape, config, err))
        return false;
    bool other = strcmp(kind->name, "gcn") == 0 ? strcmp(config->model.gcn_norm, "in") == 0
                                                : config->model.self_loops;
    snprintf(shape->normalisation, sizeof shape->normalisation, "%s",
             other ? kind->normalisation_other : kind->normalisation);
    shape->self_weight = kind->self_weight;
    bool automatic = strcmp(config->lossless.order, "auto") == 0;
    if (strcmp(config->lossless.input_features, "auto") == 0)
        shape->layer0 = shape->input_keep < 1 ? LAYER0_KEPT : LAYER0_ONCE;
    shape->train_rows = strcmp(config->lossless.receptive_field, "auto") == 0;
    shape->cover = strcmp(config->lossless.cover, "min") == 0       ? COVER_MIN
                   : strcmp(config->lossless.cover, "targets") == 0 ? COVER_TARGETS
                                                                    : COVER_SOURCES;
    for (int l = 0; l < shape->layers; l++) {
        shape->transform_first[l] = automatic && shape->width[l + 1] < shape->width[l] &&
                                    (l > 0 || shape->layer0 == LAYER0_EXCHANGED);
        add_layer(shape, kind, l);
    }
    return true;
}

// Evaluation drops nothing out: features of the halo need not be kept.
void model_shape_for_inference(ModelShape *shape) {
    shape->inference = true;
    shape->input_keep = 1;
    if (shape->layer0 == LAYER0_KEPT)
        shape->layer0 = LAYER0_ONCE;
}

int64_t model_exchanged(const ModelShape *shape, int layer, int direction) {
    if (layer == 0 && shape->layer0 != LAYER0_EXCHANGED)
        return 0;
    if (shape->transform_first[layer])
        return shape->width[layer + 1];
    return direction == FORWARD || layer > 0 ? shape->width[layer] : 0;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

void model_initial(const ModelShape *shape, uint64_t seed, float *parameters) {
    for (int i = 0; i < shape->parameter_windows; i++) {
        const Parameter *p = &shape->parameter[i];
        float *w = parameters + p->begin;
        if (!p->matrix) {
            bool gamma = strncmp(p->name, "norms.", 6) == 0 && ends_with(p->name, ".weight");
            for (int64_t c = 0; c < p->columns; c++)
                w[c] = gamma ? 1.0f : 0.0f;
            continue;
        }
        RandomStream stream =
            random_stream(seed, RANDOM_WEIGHTS, 0, p->layer, ends_with(p->name, "lin_r.weight"));
        double bound = shape->gain * sqrt(6.0 / (double)(p->rows + p->columns));
        for (int64_t r = 0; r < p->rows; r++)
            for (int64_t c = 0; c < p->columns; c++)
                w[r * p->columns + c] =
                    (float)(bound * (2 * random_uniform32(stream, r, 0, c) - 1));
    }
}
