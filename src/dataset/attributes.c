// Features and labels as .npy files or as members of an npz, read by the same functions.

#include "roster.h"

bool rows_fit(const Dataset *dataset, const char *what, int64_t rows, Error *err) {
    if (rows == dataset->nodes)
        return true;
    if (dataset->hyperedges > 0 && rows == dataset->hyperedges)
        return error_data(err, HYPEREDGE_FEATURES, what, rows, dataset->nodes);
    return error_data(err, "%s have %ld rows but there are %ld nodes", what, rows, dataset->nodes);
}

bool features_from_npy(Dataset *dataset, Npy *npy, int64_t rows, Error *err) {
    const int64_t columns = npy->rank == 2 ? npy->shape[1] : npy->rank == 1 ? 1 : 0;
    if (columns < 1 || columns > DATASET_MAX_FEATURES)
        return error_data(err, "features must be an array (nodes, 1 to %d columns)",
                          DATASET_MAX_FEATURES);
    if (rows >= 0 && !rows_fit(dataset, "features", npy->shape[0], err))
        return false;
    features_drop(dataset);
    dataset->features = columns;
    return npy_take_float(npy, &dataset->x, err);
}

// One class per node. dataset_check refuses negative numbers other than -1.
static bool take_classes(Dataset *dataset, const int64_t *value, int64_t count, Error *err) {
    int64_t largest = -1;
    for (int64_t i = 0; i < count; i++) {
        if (value[i] < -1 || value[i] >= DATASET_MAX_CLASSES)
            return error_data(
                err, "node %ld has label %ld; labels are numbers of classes from 0, or -1 for none",
                i, value[i]);
        largest = value[i] > largest ? value[i] : largest;
    }
    dataset->label = TRY(int32_t, count, "labels", err);
    for (int64_t i = 0; dataset->label != NULL && i < count; i++)
        dataset->label[i] = (int32_t)value[i];
    dataset->classes = largest + 1;
    return dataset->label != NULL;
}

static bool take_bits(Dataset *dataset, const int64_t *value, int64_t count, int64_t classes,
                      Error *err) {
    for (int64_t i = 0; i < count * classes; i++)
        if (value[i] != 0 && value[i] != 1)
            return error_data(err, "label %ld of node %ld is %ld, neither 0 nor 1", i % classes,
                              i / classes, value[i]);
    dataset->labels = TRY(uint8_t, count * classes, "labels", err);
    for (int64_t i = 0; dataset->labels != NULL && i < count * classes; i++)
        dataset->labels[i] = (uint8_t)value[i];
    dataset->classes = classes;
    dataset->multilabel = true;
    return dataset->labels != NULL;
}

// Each row has at most one 1, and one row has one.
static bool are_one_hot(const int64_t *value, int64_t count, int64_t classes, int64_t *empty) {
    int64_t rows = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t ones = 0;
        for (int64_t k = 0; k < classes; k++) {
            if (value[i * classes + k] != 0 && value[i * classes + k] != 1)
                return false;
            ones += value[i * classes + k];
        }
        if (ones > 1)
            return false;
        rows += ones;
    }
    *empty = count - rows;
    return rows > 0;
}

// The place of the 1 in each row; a row of zeros has no label.
static bool take_one_hot(Dataset *dataset, const int64_t *value, int64_t count, int64_t classes,
                         int64_t empty, Error *err) {
    int32_t *label = TRY(int32_t, count, "labels", err);
    if (label == NULL)
        return false;
    for (int64_t i = 0; i < count; i++) {
        label[i] = -1;
        for (int64_t k = 0; k < classes; k++)
            label[i] = value[i * classes + k] == 1 ? (int32_t)k : label[i];
    }
    dataset->label = label;
    dataset->classes = classes;
    warnings_add(&dataset->warnings,
                 "labels (%ld, %ld) have at most one 1 a row, so they are classes%s; "
                 "data.labels_are=several takes them as several labels a node",
                 count, classes, empty > 0 ? ", and rows of zeros have no label" : "");
    return true;
}

static bool take_columns(Dataset *dataset, const int64_t *value, int64_t count, int64_t classes,
                         Error *err) {
    int64_t empty = 0;
    bool single =
        dataset->labels_are != LABELS_SEVERAL && are_one_hot(value, count, classes, &empty);
    if (single)
        return take_one_hot(dataset, value, count, classes, empty, err);
    if (dataset->labels_are == LABELS_CLASSES)
        return error_data(
            err,
            "labels (%ld, %ld) are not at most one 1 a row, which data.labels_are=classes says",
            count, classes);
    return take_bits(dataset, value, count, classes, err);
}

void labels_are(Dataset *dataset, const Config *config) {
    dataset->labels_are = strcmp(config->data.labels_are, "classes") == 0   ? LABELS_CLASSES
                          : strcmp(config->data.labels_are, "several") == 0 ? LABELS_SEVERAL
                          : strcmp(config->data.labels_are, "numbers") == 0 ? LABELS_NUMBERS
                                                                            : LABELS_AUTO;
}

static bool labels_from_text(Dataset *dataset, const Npy *npy, Error *err) {
    FREED char *text = NULL;
    FREED int64_t *span = NULL;
    bool ok = npy_to_text(npy, &text, &span, err);
    ClassWords words = {npy->elements, span, text, dataset->labels_are == LABELS_SEVERAL, 0,
                        NULL,          false};
    return ok && classes_take(dataset, &words, err);
}

// Whole numbers stored as floats, as OGB does; not a number: no label.
static bool whole_numbers(const Npy *npy, int64_t **out, Error *err) {
    FREED float *x = NULL;
    if (!npy_to_float(npy, &x, err))
        return false;
    int64_t *value = TRY(int64_t, npy->elements, "labels", err), bad = -1;
    for (int64_t i = 0; value != NULL && i < npy->elements; i++) {
        bool whole = fabsf(x[i]) < (float)DATASET_MAX_CLASSES && x[i] == truncf(x[i]);
        value[i] = whole ? (int64_t)x[i] : -1;
        bad = bad < 0 && !whole && !isnan(x[i]) ? i : bad;
    }
    if (bad >= 0)
        error_data(err,
                   "entry %ld is %g; labels are whole numbers, and data.labels_are=numbers takes "
                   "them as numbers to predict",
                   bad, (double)x[bad]);
    *out = value;
    return err->code == 0;
}

static bool take_whole(Dataset *dataset, Npy *npy, int64_t columns, Error *err) {
    FREED int64_t *value = NULL;
    return (npy->kind == NPY_FLOAT ? whole_numbers : npy_to_int64)(npy, &value, err) &&
           (columns == 1 ? take_classes(dataset, value, npy->shape[0], err)
                         : take_columns(dataset, value, npy->shape[0], columns, err));
}

// ---- labels that are numbers

// Some finite value is not whole.
static bool has_fraction(const Npy *npy, bool *has, Error *err) {
    FREED float *x = NULL;
    if (!npy_to_float(npy, &x, err))
        return false;
    for (int64_t i = 0; i < npy->elements && !*has; i++)
        *has = isfinite(x[i]) && x[i] != truncf(x[i]);
    return true;
}

// Said, or floats that are not whole where nothing is said.
static bool are_numbers(Dataset *dataset, const Npy *npy, bool *numbers, Error *err) {
    *numbers = dataset->labels_are == LABELS_NUMBERS;
    if (*numbers || dataset->labels_are != LABELS_AUTO || npy->kind != NPY_FLOAT)
        return true;
    if (!has_fraction(npy, numbers, err))
        return false;
    if (*numbers)
        warnings_add(&dataset->warnings,
                     "labels are not whole, so they are numbers to predict (train.loss=mse); "
                     "data.labels_are=classes takes none but whole ones");
    return true;
}

static bool take_numbers(Dataset *dataset, Npy *npy, int64_t columns, Error *err) {
    dataset->numeric = true;
    dataset->classes = columns;
    return npy_to_float(npy, &dataset->numbers, err);
}

bool labels_from_npy(Dataset *dataset, Npy *npy, int64_t rows, Error *err) {
    bool numbers;
    int64_t columns = npy->rank == 2 ? npy->shape[1] : 1;
    if (npy->rank < 1 || npy->rank > 2 || columns < 1 || columns > DATASET_MAX_CLASSES)
        return error_data(err, "labels must be an array (nodes) or (nodes, classes)");
    if (rows >= 0 && npy->shape[0] != rows)
        return error_data(err, "labels have %ld entries but there are %ld nodes", npy->shape[0],
                          rows);
    if (npy->kind == NPY_TEXT && columns == 1 && dataset->labels_are != LABELS_NUMBERS)
        return labels_from_text(dataset, npy, err);
    if (!are_numbers(dataset, npy, &numbers, err))
        return false;
    labels_drop(dataset);
    return numbers ? take_numbers(dataset, npy, columns, err)
                   : take_whole(dataset, npy, columns, err);
}
