// Weights as files: safetensors with PyG's names and layout (a linear layer is [out, in]), so that
// Python reads and writes them without knowing fringe. Inside, matrices are [in, out]. Weights for
// hypergraphs fit several operators, so their files name the one they were trained with: the
// letters of its normalisation as an array.
#include "fringe/model.h"
#include <stdio.h>
#include <string.h>

// out [columns, rows] = in [rows, columns]
static void transpose(float *out, const float *in, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            out[c * rows + r] = in[r * columns + c];
}

// out [columns, rows] = in [rows, columns], unless files have it as it is.
static void turn(float *out, const float *in, const Parameter *p, int64_t rows, int64_t columns) {
    if (p->in_out)
        memcpy(out, in, (size_t)(rows * columns) * sizeof *out);
    else
        transpose(out, in, rows, columns);
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
    Tensor t = {.type = TENSOR_U8,
                .rank = 1,
                .shape = {(int64_t)strlen(shape->normalisation)},
                .data = shape->normalisation};
    snprintf(t.name, sizeof t.name, "%s", operator_tensor);
    return t;
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
           error_set(err, EXIT_CONFIG,
                     "%s: these weights were trained with normalisation %s, not with %s; set "
                     "model.layer and model.norm_hyper, which choose it, as in their training",
                     file->path, SHOWN(name), shape->normalisation);
}

int model_tensors(const ModelShape *shape, const float *parameters, float *turned, Tensor *tensor) {
    for (int i = 0; i < shape->parameter_windows; i++) {
        const Parameter *p = &shape->parameter[i];
        turn(turned + p->begin, parameters + p->begin, p, p->rows, p->columns);
        tensor[i] = outside(p);
        tensor[i].data = turned + p->begin;
    }
    if (shape->stages > 1)
        tensor[shape->parameter_windows] = operator_name(shape);
    return shape->parameter_windows + (shape->stages > 1);
}

bool model_restore_tensors(const ModelShape *shape, float *parameters, const Tensors *file,
                           Error *err) {
    if (!check_operator(shape, file, err))
        return false;
    for (int i = 0; i < shape->parameter_windows; i++) {
        const Parameter *p = &shape->parameter[i];
        Tensor want = outside(p);
        const Tensor *found = tensors_need(file, p->name, TENSOR_F32, want.rank, want.shape, err);
        if (found == NULL)
            return false;
        turn(parameters + p->begin, found->data, p, p->columns, p->rows);
    }
    return true;
}

bool model_read(const ModelShape *shape, float *parameters, const char *path, Error *err) {
    Tensors file;
    if (!tensors_open(&file, path, err))
        return false;
    bool ok = model_restore_tensors(shape, parameters, &file, err);
    tensors_close(&file);
    return ok;
}
