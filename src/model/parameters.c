// The parameters of a model: spans of one flat array in the order of the layers, their names and
// initial values.
#include "internal.h"

int weighted_layers(const ModelShape *shape, int begin, int end) {
    int count = 0;
    for (int l = begin; l < end; l++)
        count += shape->weights[l];
    return count;
}

int convolution_of(const ModelShape *shape, int l) {
    int above = shape->jump != JUMP_NONE && l == shape->layers; // the layer on top is one
    return shape->stages > 1 ? l / shape->stages + above : weighted_layers(shape, 0, l);
}

// The layer that multiplies by the W of layer l.
static int multiplying_layer(const ModelShape *shape, int l) {
    while (l > 0 && shape->transform_first[l] && !multiplies_first(shape, l))
        l--;
    return l;
}

static Parameter *add_parameter(ModelShape *shape, int l, int role, int64_t rows, int64_t columns) {
    assert(shape->parameter_spans < MODEL_PARAMETERS);
    Parameter *p = &shape->parameter[shape->parameter_spans++];
    *p = (Parameter){.layer = role == ROLE_WEIGHT ? multiplying_layer(shape, l) : l,
                     .conv = convolution_of(shape, l),
                     .role = role,
                     .begin = shape->parameter_count,
                     .rows = rows,
                     .columns = columns};
    shape->parameter_count += rows * columns;
    return p;
}

static void name_parameter(Parameter *p, const char *name) {
    const char *number = strchr(name, '#');
    if (number == NULL)
        snprintf(p->name, sizeof p->name, "%s", name);
    else
        snprintf(p->name, sizeof p->name, "%.*s%d%s", (int)(number - name), name, p->conv,
                 number + 1);
}

void parameter_matrix(ModelShape *shape, int l, int role, const char *name, int64_t in,
                      int64_t out) {
    Parameter *p = add_parameter(shape, l, role, in, out);
    p->matrix = true;
    name_parameter(p, name);
}

void parameter_vector(ModelShape *shape, int l, int role, const char *name, int64_t width) {
    name_parameter(add_parameter(shape, l, role, 1, width), name);
}

void parameter_linear(ModelShape *shape, int l, const char *name, int64_t in, int64_t out) {
    char part[sizeof shape->parameter->name];
    snprintf(part, sizeof part, "%s.weight", name);
    parameter_matrix(shape, l, ROLE_WEIGHT, part, in, out);
    snprintf(part, sizeof part, "%s.bias", name);
    if (shape->bias)
        parameter_vector(shape, l, ROLE_BIAS, part, out);
}

void norm_parameters(ModelShape *shape, int l) {
    Parameter *gamma = add_parameter(shape, l, ROLE_GAMMA, 1, shape->width[l + 1]);
    Parameter *beta = add_parameter(shape, l, ROLE_BETA, 1, shape->width[l + 1]);
    int before = 0;
    for (int k = 0; k < l; k++)
        before += shape->posted[k];
    const char *within = shape->columns ? ".module" : ""; // PyG's BatchNorm wraps PyTorch's
    snprintf(gamma->name, sizeof gamma->name, "norms.%d%s.weight", before, within);
    snprintf(beta->name, sizeof beta->name, "norms.%d%s.bias", before, within);
}

// The layer with weights that ends the layers without weights from `layer` on.
static int last_of_run(const ModelShape *shape, int layer) {
    while (layer + 1 < shape->layers && !shape->weights[layer])
        layer++;
    return layer;
}

// A stream is told apart by its layer, its direction (one bit) and the peer of its numbers: the
// n-th matrix of a layer has direction n % 2 and peer n / 2. The layer is the last of its run, for
// lossless.order must not change the weights.
void initial_xavier(const ModelShape *shape, const Parameter *p, uint64_t seed, float *w) {
    int n = 0, layer = last_of_run(shape, p->layer);
    for (const Parameter *q = shape->parameter; q < p; q++)
        n += last_of_run(shape, q->layer) == layer && q->matrix;
    RandomKey key = random_key(seed, RANDOM_WEIGHTS, 0, layer, n % 2);
    double bound = shape->gain * sqrt(6.0 / (double)(p->rows + p->columns));
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t c = 0; c < p->columns; c++)
            w[r * p->columns + c] = (float)(bound * (2 * random_uniform32(key, r, n / 2, c) - 1));
}

// Behind all parameters.
void norm_statistics(ModelShape *shape) {
    shape->state_count = shape->parameter_count;
    for (int l = 0; l < shape->layers && shape->columns; l++)
        if (shape->posted[l]) {
            shape->statistics[l] = shape->state_count;
            shape->state_count += 2 * shape->width[l + 1] + 2;
        }
}

static void initial_statistics(const ModelShape *shape, float *parameters) {
    for (int l = 0; l < shape->layers && shape->columns; l++)
        for (int64_t c = 0; c < 2 * shape->width[l + 1] + 2 && shape->posted[l]; c++)
            parameters[shape->statistics[l] + c] =
                c >= shape->width[l + 1] && c < 2 * shape->width[l + 1] ? 1.0f : 0.0f;
}

void model_spans(GradForm *form, const ModelShape *shape, GradSpan span[MODEL_PARAMETERS]) {
    for (int i = 0; i < shape->parameter_spans; i++) {
        const Parameter *p = &shape->parameter[i];
        span[i] = (GradSpan){p->name, p->begin, p->rows, p->columns};
    }
    form->count = shape->parameter_count;
    form->spans = span;
    form->span_count = shape->parameter_spans;
}

void model_initial(const ModelShape *shape, uint64_t seed, float *parameters) {
    initial_statistics(shape, parameters);
    for (int i = 0; i < shape->parameter_spans; i++) {
        const Parameter *p = &shape->parameter[i];
        if (p->role == ROLE_GAMMA || p->role == ROLE_BETA)
            for (int64_t c = 0; c < p->columns; c++)
                parameters[p->begin + c] = p->role == ROLE_GAMMA ? 1.0f : 0.0f;
        else
            rule_of(shape, p->layer)->initial(shape, p, seed, parameters + p->begin);
    }
}
