// The model without data: layers, widths, savings. Kinds of layers are a table; the smallest
// member, and the one to copy, is gcn (layer_linear.c).
#include "internal.h"

extern const LayerKind layer_gcn, layer_sage_mean, layer_sage_gcn, layer_gin, layer_sgc, layer_mlp,
    layer_appnp, layer_gcn2, layer_hgnn, layer_hnhn;
static const LayerKind *const layer_kinds[] = {
    &layer_gcn, &layer_sage_mean, &layer_sage_gcn, &layer_gin,  &layer_sgc,
    &layer_mlp, &layer_appnp,     &layer_gcn2,     &layer_hgnn, &layer_hnhn};
const Family layer_family = FAMILY_WITH_KEYS("model.layer", layer_kinds, LayerKind);

static bool is_last_with_weights(const ModelShape *shape, int l) {
    return shape->weights[l] && weighted_layers(shape, l + 1, shape->layers) == 0;
}

static void read_activation(ModelShape *shape, const Config *config) {
    static const char *const words[] = {[ACTIVATION_RELU] = "relu",
                                        [ACTIVATION_LEAKY_RELU] = "leaky-relu",
                                        [ACTIVATION_ELU] = "elu",
                                        [ACTIVATION_GELU] = "gelu"};
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
        if (strcmp(config->model.activation, words[i]) == 0)
            shape->activation = (Activation)i;
    shape->slope = (float)config->model.slope;
}

// model.post with the steps that have something to do: "norm" needs model.norm, "activation" an
// activation.
static bool read_post(ModelShape *shape, const Config *config, Error *err) {
    static const char *const words[] = {"dropout", "norm", "activation"};
    bool seen[3] = {false, false, false};
    read_activation(shape, config);
    for (int i = 0; i < config->model.post.count; i++) {
        const char *word = config->model.post.word[i];
        int step = 0;
        while (step < 3 && strcmp(words[step], word) != 0)
            step++;
        if (step == 3 || seen[step])
            return error_config(
                err, "model.post: '%s' %s; expected an order of dropout, norm, activation", word,
                step == 3 ? "is unknown" : "stands there twice");
        seen[step] = true;
        bool idle = (step == POST_DROPOUT && config->model.dropout == 0) ||
                    (step == POST_NORM && strcmp(config->model.norm, "none") == 0) ||
                    (step == POST_ACTIVATION && strcmp(config->model.activation, "none") == 0);
        if (!idle)
            shape->post[shape->post_count++] = (PostStep)step;
    }
    for (int i = 0; i < shape->post_count; i++)
        shape->norm |= shape->post[i] == POST_NORM;
    shape->columns = shape->norm && strcmp(config->model.norm, "batch") == 0;
    return true;
}

static bool read_jump(ModelShape *shape, const Config *config, Error *err) {
    if (strcmp(config->model.jk, "none") == 0)
        return true;
    shape->jump = strcmp(config->model.jk, "max") == 0   ? JUMP_MAX
                  : strcmp(config->model.jk, "cat") == 0 ? JUMP_CAT
                                                         : JUMP_LAST;
    return shape->kind->may_jump ||
           error_config(err,
                        "model.jk: %s has no hidden convolutions that a layer on top could read; "
                        "use model.jk=none, or another model.layer",
                        shape->kind->name);
}

// All layers, and the one on top of model.jk.
static bool count_layers(ModelShape *shape, const Config *config, Error *err) {
    if (!read_jump(shape, config, err))
        return false;
    shape->steps = (int)config->model.steps;
    int64_t layers = shape->kind->layers(shape, config) + (shape->jump != JUMP_NONE);
    int64_t beside = layers - shape->stages * config->model.layers;
    if (config->model.layers < 1 || layers > MODEL_LAYERS)
        return error_config(err, "model.layers: expected 1 to %ld, found %ld",
                            (MODEL_LAYERS - beside) / shape->stages, config->model.layers);
    shape->layers = (int)layers;
    return true;
}

static bool read_layers(ModelShape *shape, const Config *config, Error *err) {
    if (!count_layers(shape, config, err))
        return false;
    for (int l = 0; l < shape->layers; l++) {
        shape->weights[l] = rule_of(shape, l)->weights(shape, l);
        shape->aggregates[l] = rule_of(shape, l)->aggregates(shape, l);
    }
    assert(weighted_layers(shape, 0, shape->layers) > 0);
    for (int l = 0; l < shape->layers; l++)
        shape->posted[l] = shape->weights[l] && !is_last_with_weights(shape, l);
    return true;
}

// The width of a hidden layer. A convolution with weights in two layers has one more of them than
// model.hidden has values; the last value serves it.
static int64_t hidden_width(const ModelShape *shape, const ConfigInts *hidden, int l) {
    int conv = convolution_of(shape, l), last = hidden->count - 1;
    return hidden->value[conv < last ? conv : last];
}

// A layer without weights keeps the width of its input.
static bool read_widths(ModelShape *shape, const Config *config, int64_t features, int64_t classes,
                        Error *err) {
    const ConfigInts *hidden = &config->model.hidden;
    int all = convolution_of(shape, shape->layers);
    if (features < 1)
        return error_data(err, "the dataset has no features; add 'random:64' or 'degree' to "
                               "data.transforms, or name a file of them in data.features");
    if (classes < 1)
        return error_data(err, "the dataset has no labels; name a file of them in data.labels, or "
                               "the column of data.nodes: data.columns={\"label\": ...}");
    if (hidden->count != 1 && hidden->count != all - 1 && all > 1)
        return error_config(
            err, "model.hidden: expected 1 width or %d (one for each hidden layer), found %d",
            all - 1, hidden->count);
    if (hidden->count == 0 && weighted_layers(shape, 0, shape->layers) > 1)
        return error_config(err, "model.hidden: expected a width, found none");
    shape->width[0] = features;
    for (int l = 0; l < shape->layers; l++)
        shape->width[l + 1] = !shape->weights[l]               ? shape->width[l]
                              : is_last_with_weights(shape, l) ? classes
                                                               : hidden_width(shape, hidden, l);
    return true;
}

// The layer that multiplies if layer l is transformed first: so that all aggregates are as narrow,
// the first of the layers without weights before it. Aggregates that are precomputed stay as they
// are.
static int first_to_multiply(const ModelShape *shape, int l) {
    while (shape->kind->may_transform_run && l > shape->feature_layers &&
           shape->aggregates[l - 1] && !shape->weights[l - 1])
        l--;
    return l;
}

// Y = H W before the aggregates of layer l. A reader that applies model.post itself needs H.
static bool may_transform_first(const ModelShape *shape, int l) {
    return shape->weights[l] && shape->aggregates[l] && shape->width[l + 1] < shape->width[l] &&
           !shape->before_post[first_to_multiply(shape, l)];
}

static void transform_first(ModelShape *shape, int l) {
    for (int k = first_to_multiply(shape, l); k <= l; k++) {
        shape->transform_first[k] = true;
        shape->width[k + 1] = shape->width[l + 1];
    }
}

// Does layer 0 multiply before it aggregates though its features are dropped out? They would be
// kept and aggregated in every epoch otherwise.
static bool multiplies_dropped(const ModelShape *shape, const Config *config) {
    int l = first_with_weights(shape);
    return shape->layer0 == LAYER0_KEPT && shape->width[l + 1] < shape->width[0] &&
           strcmp(config->lossless.order, "transform-first") == 0 && first_may_multiply(shape);
}

static void choose_savings(ModelShape *shape, const Config *config) {
    bool conv = strcmp(config->quantization.before, "conv") == 0;
    for (int l = 1; l < shape->layers; l++)
        shape->before_post[l] = conv && shape->posted[l - 1] && shape->aggregates[l];
    bool auto_features = strcmp(config->lossless.input_features, "auto") == 0;
    if (shape->aggregates[0] && (auto_features || (conv && shape->input_keep < 1)))
        shape->layer0 = shape->input_keep < 1 ? LAYER0_KEPT : LAYER0_ONCE;
    if (shape->sparse || multiplies_dropped(shape, config))
        shape->layer0 = LAYER0_EXCHANGED;
    while (shape->layer0 != LAYER0_EXCHANGED && shape->feature_layers < shape->layers &&
           shape->aggregates[shape->feature_layers] &&
           (shape->feature_layers == 0 || !shape->weights[shape->feature_layers - 1]))
        shape->feature_layers++;
    shape->sampled = config->comm.sample < 1;
    shape->train_rows = strcmp(config->lossless.receptive_field, "auto") == 0;
    // Of a minimum cover the way back has another one; where rows are sampled, both ways have the
    // same.
    bool min = strcmp(config->lossless.cover, "min") == 0;
    cover_choose(shape->cover, min && shape->sampled ? "sources" : config->lossless.cover,
                 shape->stages);
    // what is made once, or masked at both ends, are aggregates of the features
    int first = shape->layer0 == LAYER0_ONCE ? shape->feature_layers : shape->layer0 == LAYER0_KEPT;
    bool may = strcmp(config->lossless.order, "aggregate-first") != 0 && shape->mixes == 0 &&
               shape->kind->may_transform_first;
    if (shape->sparse && shape->aggregates[0]) // even where that does not make rows narrower
        transform_first(shape, first_with_weights(shape));
    for (int l = first; l < shape->layers; l++)
        if (may && may_transform_first(shape, l))
            transform_first(shape, l);
}

bool model_shape_of(ModelShape *shape, const LayerKind *kind, const Config *config,
                    int64_t features, int64_t classes, LabelKind labels, bool sparse, Error *err) {
    *shape = (ModelShape){.kind = kind,
                          .stages = kind->stages,
                          .bias = config->model.bias,
                          .loss = loss_find(config->train.loss, labels, err),
                          .weighs_rows = strcmp(config->train.sample, "all") != 0,
                          .gain = config->model.gain,
                          .keep = (float)(1 - config->model.dropout),
                          .input_keep = (float)(1 - config->model.input_dropout),
                          .random = config_random(config)};
    if (strcmp(config->run.precision, "bf16") == 0)
        shape->rows = ROWS_BF16;
    assert(kind->keys.bytes <= sizeof shape->options);
    config_values(config, &kind->keys, shape->options);
    if (shape->loss == NULL)
        return false;
    shape->named = loss_score(shape->loss, config->train.metric, labels, &(Error){0});
    if (!read_layers(shape, config, err) || !read_widths(shape, config, features, classes, err) ||
        !read_post(shape, config, err) || !read_levels(shape, config, err) ||
        !read_label_input(shape, config, labels, err))
        return false;
    shape->dense_why = sparse ? why_not_sparse(shape, config) : NULL;
    shape->sparse = sparse && shape->dense_why == NULL;
    snprintf(shape->normalisation, sizeof shape->normalisation, "%s",
             kind->normalised != NULL ? kind->normalised(shape) : kind->normalisation);
    choose_savings(shape, config);
    for (int l = 0; l < shape->layers; l++) {
        if (shape->weights[l])
            rule_of(shape, l)->parameters(shape, l);
        if (l == 0 && shape->label_rate > 0)
            label_parameter(shape);
        if (shape->norm && shape->posted[l])
            norm_parameters(shape, l);
    }
    norm_statistics(shape);
    return true;
}

bool model_shape_of_shard(ModelShape *shape, const Config *config, const Shard *shard, Error *err) {
    const LayerKind *kind = family_find(&layer_family, config->model.layer, NULL, err);
    return kind != NULL && model_shape_of(shape, kind, config, shard->features, shard->classes,
                                          shard_labels(shard), shard->is_sparse, err);
}

bool model_shape(ModelShape *shape, const Config *config, int64_t features, int64_t classes,
                 LabelKind labels, Error *err) {
    const LayerKind *kind = family_find(&layer_family, config->model.layer, NULL, err);
    return kind != NULL &&
           model_shape_of(shape, kind, config, features, classes, labels, false, err);
}

// Evaluation drops nothing out: features of the halo need not be kept.
void model_shape_for_inference(ModelShape *shape) {
    shape->inference = true;
    shape->input_keep = 1;
    if (shape->layer0 == LAYER0_KEPT)
        shape->layer0 = LAYER0_ONCE;
    for (int l = 0; l < shape->feature_layers; l++)
        shape->transform_first[l] = false;
}

bool model_fits(const ModelShape *shape, const Shard *shard, Error *err) {
    if (shape->columns && shard->set[NODES].total < 2)
        return error_data(err,
                          "%s has one node, of which model.norm=batch has no variance; use "
                          "model.norm=layer or none",
                          shard->dataset_name);
    if (shape->stages == shard->sets || !model_reads_edges(shape))
        return true;
    char names[2][128] = {"", ""}; // of the kinds for graphs, and for hypergraphs
    for (int i = 0; i < layer_family.count; i++)
        text_add(names[layer_kinds[i]->stages - 1], sizeof names[0], ", ", "%s",
                 layer_kinds[i]->name);
    if (shape->stages > 1)
        return error_config(err,
                            "model.layer: %s is for hypergraphs, but %s is a graph; use one of %s",
                            shape->kind->name, shard->dataset_name, names[0]);
    return error_config(err,
                        "model.layer: %s is for graphs, but %s is a hypergraph; use one of %s, or "
                        "expand it with data.transforms=clique or star",
                        shape->kind->name, shard->dataset_name, names[1]);
}

bool wants_input_gradient(const ModelShape *shape, int l) {
    bool below = false;
    for (int k = 0; k < l; k++)
        below |= uses_weights(shape, k);
    return below;
}

RowsType level_type(const ModelShape *shape, int level) {
    for (int l = level; l < shape->layers; l++)
        if (multiplies_first(shape, l) || (shape->weights[l] && !shape->transform_first[l]))
            return shape->rows;
    return ROWS_FP32;
}

// What a reader makes of rows before post is rounded nowhere, so they are floats.
RowsType model_exchanged_rows(const ModelShape *shape, int l, int direction) {
    bool before = direction == FORWARD && shape->before_post[l];
    return before ? ROWS_FP32 : level_type(shape, l + shape->transform_first[l]);
}

int64_t model_exchanged(const ModelShape *shape, int l, int direction) {
    bool once = shape->layer0 == LAYER0_ONCE && l < shape->feature_layers;
    if (once || !shape->aggregates[l] || (l == 0 && shape->layer0 == LAYER0_KEPT))
        return 0;
    if (shape->transform_first[l])
        return shape->width[l + 1];
    return direction == FORWARD || wants_input_gradient(shape, l) ? shape->width[l] : 0;
}
