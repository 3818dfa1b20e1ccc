// What steps of data.transforms take from the data that they are fitted to: means, deviations and
// values of columns. A run keeps them as a file, and data.fitted applies them to other data.

#include "internal.h"

enum { STEPS_TEXT = CONFIG_LIST * (CONFIG_WORD + 1) + 1, ARRAYS_OF_STEP = 2 };

static void join_steps(char out[STEPS_TEXT], const ConfigWords *steps) {
    out[0] = '\0';
    for (int i = 0; i < steps->count; i++)
        text_add(out, STEPS_TEXT, " ", "%s", steps->word[i]);
}

static int put_step(Tensor *out, int step, const FittedStep *fit) {
    int64_t columns = fit->columns;
    if (columns == 0)
        return 0;
    if (fit->begin == NULL) {
        out[0] = tensor_vector(TENSOR_F64, columns, fit->mean, "%d.mean", step);
        out[1] = tensor_vector(TENSOR_F64, columns, fit->deviation, "%d.deviation", step);
    } else { // wide numbers first, so that all are aligned
        out[0] = tensor_vector(TENSOR_I64, columns + 1, fit->begin, "%d.begin", step);
        out[1] = tensor_vector(TENSOR_F32, fit->begin[columns], fit->value, "%d.value", step);
    }
    return ARRAYS_OF_STEP;
}

bool fitted_write(const Dataset *dataset, const ConfigWords *steps, const char *path, Error *err) {
    char text[STEPS_TEXT];
    Tensor all[ARRAYS_OF_STEP * CONFIG_LIST], sorted[ARRAYS_OF_STEP * CONFIG_LIST];
    int count = 0, put = 0;
    join_steps(text, steps);
    for (int i = 0; i < dataset->fitted_steps; i++)
        count += put_step(all + count, i, &dataset->fitted[i]);
    for (int narrow = 0; narrow < 2; narrow++)
        for (int i = 0; i < count; i++)
            if ((all[i].type == TENSOR_F32) == (narrow == 1))
                sorted[put++] = all[i];
    return tensors_replace(path, sorted, count, (const char *const[]){"transforms", text, NULL},
                           err);
}

static const void *find(const Tensors *map, int step, const char *name, TensorType type,
                        int64_t *extent) {
    char whole[32];
    snprintf(whole, sizeof whole, "%d.%s", step, name);
    const Tensor *t = tensors_find(map, whole);
    if (t == NULL || t->type != type || t->rank != 1)
        return NULL;
    *extent = t->shape[0];
    return t->data;
}

static void *copy_of(const void *from, size_t bytes) {
    return memcpy(memory_alloc(bytes, "what steps take from data"), from, bytes);
}

static bool ascends(const int64_t *begin, int64_t columns, int64_t values) {
    bool ok = begin[0] == 0 && begin[columns] == values;
    for (int64_t f = 0; ok && f < columns; f++)
        ok = begin[f] <= begin[f + 1];
    return ok;
}

// A step without arrays stays empty; false: what is there does not agree.
static bool take_step(FittedStep *fit, const Tensors *map, int step) {
    int64_t means = 0, deviations = 0, begins = 0, values = 0;
    const double *mean = find(map, step, "mean", TENSOR_F64, &means);
    const double *deviation = find(map, step, "deviation", TENSOR_F64, &deviations);
    const int64_t *begin = find(map, step, "begin", TENSOR_I64, &begins);
    const float *value = find(map, step, "value", TENSOR_F32, &values);
    if (mean != NULL && deviation != NULL && means == deviations) {
        fit->columns = means;
        fit->mean = copy_of(mean, (size_t)means * sizeof *mean);
        fit->deviation = copy_of(deviation, (size_t)means * sizeof *deviation);
    } else if (begin != NULL && value != NULL && begins > 1 && ascends(begin, begins - 1, values)) {
        fit->columns = begins - 1;
        fit->begin = copy_of(begin, (size_t)begins * sizeof *begin);
        fit->value = copy_of(value, (size_t)values * sizeof *value);
    } else
        return mean == NULL && deviation == NULL && begin == NULL && value == NULL;
    return true;
}

static bool take_all(Dataset *dataset, const Tensors *map, const ConfigWords *steps, Error *err) {
    char text[STEPS_TEXT], theirs[STEPS_TEXT];
    join_steps(text, steps);
    if (tensors_metadata(map, "transforms", theirs, sizeof theirs) == NULL)
        return error_data(err,
                          "%s: it holds nothing that steps of data.transforms took from data; name "
                          "the fitted.safetensors of a run",
                          map->path);
    if (strcmp(text, theirs) != 0)
        return error_config(err,
                            "data.fitted: %s is of the steps '%s', but data.transforms has '%s'; "
                            "give the same ones",
                            map->path, theirs, text);
    for (int i = 0; i < steps->count; i++) {
        ConfigWords alone = {.count = 1};
        memcpy(alone.word[0], steps->word[i], sizeof alone.word[0]);
        if (!take_step(&dataset->fitted[i], map, i) ||
            (dataset_steps_fit(&alone) && dataset->fitted[i].columns == 0))
            return error_data(err, "%s: the arrays of step %d, %s, do not agree", map->path, i,
                              alone.word[0]);
    }
    return true;
}

bool fitted_read(Dataset *dataset, const Config *config, Error *err) {
    const ConfigWords *steps = &config->data.transforms;
    CLEARED(tensors_close) Tensors map = {0};
    if (config->data.fitted[0] == '\0' || !dataset_steps_fit(steps))
        return true;
    if (!tensors_open(&map, DATASET_PATH(config, config->data.fitted), err))
        return false;
    fitted_begin(dataset, steps->count);
    dataset->fitted_before = true;
    return take_all(dataset, &map, steps, err);
}
