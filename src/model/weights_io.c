// Weights as files: safetensors with PyG's names and layout (a linear layer is [out, in]), so that
// Python reads and writes them without knowing fringe. Inside, matrices are [in, out]. Weights for
// hypergraphs fit several operators, so their files name the one they were trained with: the
// letters of its normalisation as an array.
#include "fringe/model.h"

// out [columns, rows] = in [rows, columns], unless files have it as it is.
static void turn(float *out, const float *in, const Parameter *p, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            out[p->in_out ? r * columns + c : c * rows + r] = in[r * columns + c];
}

static Tensor outside(const Parameter *p) {
    Tensor t = {.type = TENSOR_F32, .rank = p->matrix ? 2 : 1, .shape = {p->columns, p->rows, 0}};
    if (!p->matrix)
        t.shape[1] = 0;
    if (p->in_out)
        t.shape[0] = p->rows, t.shape[1] = p->columns;
    snprintf(t.name, sizeof t.name, "%s", p->name);
    return t;
}

static const char *const operator_tensor = "normalisation";

static Tensor operator_name(const ModelShape *shape) {
    const char *name = shape->normalisation;
    return tensor_vector(TENSOR_U8, (int64_t)strlen(name), name, "%s", operator_tensor);
}

// Files from elsewhere name no operator.
static bool check_operator(const ModelShape *shape, const Tensors *file, Error *err) {
    const Tensor *said = shape->stages > 1 ? tensors_find(file, operator_tensor) : NULL;
    size_t bytes = said != NULL ? tensor_bytes(said) : 0;
    char name[sizeof shape->normalisation] = "";
    if (said == NULL)
        return true;
    memcpy(name, said->data, bytes < sizeof name ? bytes : sizeof name - 1);
    return strcmp(name, shape->normalisation) == 0 ||
           error_config(err,
                        "%s: these weights were trained with normalisation %s, not with %s; set "
                        "model.layer and model.norm_hyper, which choose it, as in their training",
                        file->path, SHOWN(name), shape->normalisation);
}

// Running statistics of the norm behind layer l, the `before`-th: mean, variance, and a count of
// epochs, which PyTorch has as int64.
enum { STATISTICS = 3 };
static Tensor statistics_tensor(const ModelShape *shape, int l, int before, int which) {
    static const char *const names[] = {"running_mean", "running_var", "num_batches_tracked"};
    Tensor t = {.type = which < 2 ? TENSOR_F32 : TENSOR_I64,
                .rank = which < 2,
                .shape = {which < 2 ? shape->width[l + 1] : 0}};
    snprintf(t.name, sizeof t.name, "norms.%d.module.%s", before, names[which]);
    return t;
}

static int put_statistics(const ModelShape *shape, const float *parameters, float *turned,
                          Tensor *tensor) {
    int before = 0;
    for (int l = 0; l < shape->layers && shape->columns; l++) {
        if (!shape->posted[l])
            continue;
        int64_t width = shape->width[l + 1], epochs;
        float *at = turned + shape->statistics[l];
        memcpy(at, parameters + shape->statistics[l], (size_t)(2 * width) * sizeof *at);
        epochs = (int64_t)parameters[shape->statistics[l] + 2 * width];
        memcpy(at + 2 * width, &epochs, sizeof epochs);
        for (int which = 0; which < STATISTICS; which++) {
            tensor[before * STATISTICS + which] = statistics_tensor(shape, l, before, which);
            tensor[before * STATISTICS + which].data = at + which * width;
        }
        before++;
    }
    return before * STATISTICS;
}

static bool get_statistics(const ModelShape *shape, float *parameters, const Tensors *file,
                           Error *err) {
    int before = 0;
    for (int l = 0; l < shape->layers && shape->columns; l++) {
        if (!shape->posted[l])
            continue;
        float *at = parameters + shape->statistics[l];
        int64_t width = shape->width[l + 1], epochs;
        for (int which = 0; which < STATISTICS; which++) {
            Tensor want = statistics_tensor(shape, l, before, which);
            const Tensor *found =
                tensors_need(file, want.name, want.type, want.rank, want.shape, err);
            if (found == NULL)
                return false;
            if (which < 2)
                memcpy(at + which * width, found->data, (size_t)width * sizeof *at);
            else
                memcpy(&epochs, found->data, sizeof epochs);
        }
        at[2 * width] = (float)epochs;
        at[2 * width + 1] = 0;
        before++;
    }
    return true;
}

int model_tensors(const ModelShape *shape, const float *parameters, float *turned, Tensor *tensor) {
    for (int i = 0; i < shape->parameter_spans; i++) {
        const Parameter *p = &shape->parameter[i];
        turn(turned + p->begin, parameters + p->begin, p, p->rows, p->columns);
        tensor[i] = outside(p);
        tensor[i].data = turned + p->begin;
    }
    int count = shape->parameter_spans;
    count += put_statistics(shape, parameters, turned, tensor + count);
    if (shape->stages > 1)
        tensor[count++] = operator_name(shape);
    return count;
}

// Weights that were trained with labels say nothing without them.
static bool check_labels(const ModelShape *shape, const Tensors *file, Error *err) {
    return shape->label_rate > 0 || tensors_find(file, "label.weight") == NULL ||
           error_config(err,
                        "%s: these weights were trained with labels as input; set "
                        "train.label_input=masked:RATE as in their training",
                        file->path);
}

bool model_restore_tensors(const ModelShape *shape, float *parameters, const Tensors *file,
                           Error *err) {
    if (!check_operator(shape, file, err) || !check_labels(shape, file, err))
        return false;
    for (int i = 0; i < shape->parameter_spans; i++) {
        const Parameter *p = &shape->parameter[i];
        Tensor want = outside(p);
        const Tensor *found = tensors_need(file, p->name, TENSOR_F32, want.rank, want.shape, err);
        if (found == NULL)
            return false;
        turn(parameters + p->begin, found->data, p, p->columns, p->rows);
    }
    return get_statistics(shape, parameters, file, err);
}

bool model_read(const ModelShape *shape, float *parameters, const char *path, Error *err) {
    CLEARED(tensors_close) Tensors file = {0};
    if (!tensors_open(&file, path, err))
        return false;
    return model_restore_tensors(shape, parameters, &file, err);
}
