// Arrays beside a graph: features, labels and splits as .npy files or as members of an npz, read by
// the same functions.

#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool features_from_npy(Dataset *dataset, const Npy *npy, int64_t rows, Error *err) {
    if (npy->rank != 2 || npy->shape[1] < 1 || npy->shape[1] > DATASET_MAX_FEATURES)
        return error_set(err, EXIT_DATA, "features must be an array (nodes, 1 to %d columns)",
                         DATASET_MAX_FEATURES);
    if (rows >= 0 && npy->shape[0] != rows)
        return error_set(err, EXIT_DATA, "features have %lld rows but there are %lld nodes",
                         (long long)npy->shape[0], (long long)rows);
    float *x = NULL;
    if (!npy_to_float(npy, &x, err))
        return false;
    dataset_free_arrays(dataset, dataset->x);
    dataset->x = x;
    dataset->features = npy->shape[1];
    return true;
}

// One class per node. dataset_check refuses negative numbers other than -1.
static bool take_classes(Dataset *dataset, const int64_t *value, int64_t count, Error *err) {
    int64_t largest = -1;
    for (int64_t i = 0; i < count; i++) {
        if (value[i] < -1 || value[i] >= DATASET_MAX_CLASSES)
            return error_set(err, EXIT_DATA,
                             "node %lld has label %lld; labels are numbers of classes from 0, or "
                             "-1 for none",
                             (long long)i, (long long)value[i]);
        largest = value[i] > largest ? value[i] : largest;
    }
    int32_t *label = TRY(int32_t, count, "labels", err);
    if (label == NULL)
        return false;
    for (int64_t i = 0; i < count; i++)
        label[i] = (int32_t)value[i];
    dataset->label = label;
    dataset->classes = largest + 1;
    return true;
}

static bool take_bits(Dataset *dataset, const int64_t *value, int64_t count, int64_t classes,
                      Error *err) {
    for (int64_t i = 0; i < count * classes; i++)
        if (value[i] != 0 && value[i] != 1)
            return error_set(err, EXIT_DATA, "label %lld of node %lld is %lld, neither 0 nor 1",
                             (long long)(i % classes), (long long)(i / classes),
                             (long long)value[i]);
    uint8_t *labels = TRY(uint8_t, count * classes, "labels", err);
    if (labels == NULL)
        return false;
    for (int64_t i = 0; i < count * classes; i++)
        labels[i] = (uint8_t)value[i];
    dataset->labels = labels;
    dataset->classes = classes;
    dataset->multilabel = true;
    return true;
}

// Whole numbers stored as floats, as OGB does; not a number: no label.
static bool whole_numbers(const Npy *npy, int64_t **out, Error *err) {
    float *x = NULL;
    if (!npy_to_float(npy, &x, err))
        return false;
    int64_t *value = TRY(int64_t, npy->elements, "labels", err), bad = -1;
    for (int64_t i = 0; value != NULL && i < npy->elements; i++) {
        bool whole = fabsf(x[i]) < (float)DATASET_MAX_CLASSES && x[i] == truncf(x[i]);
        value[i] = whole ? (int64_t)x[i] : -1;
        bad = bad < 0 && !whole && !isnan(x[i]) ? i : bad;
    }
    if (bad >= 0)
        error_set(err, EXIT_DATA, "entry %lld is %g; labels are whole numbers", (long long)bad,
                  (double)x[bad]);
    memory_free(x);
    *out = value;
    return err->code == 0;
}

bool labels_from_npy(Dataset *dataset, const Npy *npy, int64_t rows, Error *err) {
    int64_t columns = npy->rank == 2 ? npy->shape[1] : 1;
    if (npy->rank < 1 || npy->rank > 2 || columns < 1 || columns > DATASET_MAX_CLASSES)
        return error_set(err, EXIT_DATA, "labels must be an array (nodes) or (nodes, classes)");
    if (rows >= 0 && npy->shape[0] != rows)
        return error_set(err, EXIT_DATA, "labels have %lld entries but there are %lld nodes",
                         (long long)npy->shape[0], (long long)rows);
    int64_t *value = NULL;
    if (!(npy->kind == NPY_FLOAT ? whole_numbers : npy_to_int64)(npy, &value, err)) {
        memory_free(value);
        return false;
    }
    dataset_free_arrays(dataset, dataset->label);
    dataset_free_arrays(dataset, dataset->labels);
    dataset->label = NULL;
    dataset->labels = NULL;
    dataset->multilabel = false;
    bool ok = columns == 1 ? take_classes(dataset, value, npy->shape[0], err)
                           : take_bits(dataset, value, npy->shape[0], columns, err);
    memory_free(value);
    return ok;
}

// --- splits

const char *split_key(const Config *config, int which) {
    static const char *const usual[3] = {"train_idx", "val_idx", "test_idx"};
    return config->data.split_keys.count > 0 ? config->data.split_keys.word[which] : usual[which];
}

static const char *const split_names[4] = {"none", "training", "validation", "test"};

// A mask: one bool, or 0 or 1, per node.
static bool put_mask(Dataset *dataset, const int64_t *value, uint8_t split, Error *err) {
    for (int64_t i = 0; i < dataset->nodes; i++) {
        if (value[i] == 0)
            continue;
        if (dataset->split[i] != SPLIT_NONE)
            return error_set(err, EXIT_DATA, "node %lld is a %s node already", (long long)i,
                             split_names[dataset->split[i]]);
        dataset->split[i] = split;
    }
    return true;
}

static bool put_ids(Dataset *dataset, const int64_t *value, int64_t count, uint8_t split,
                    Error *err) {
    for (int64_t k = 0; k < count; k++) {
        if (value[k] < 0 || value[k] >= dataset->nodes)
            return error_set(err, EXIT_DATA, "entry %lld is node %lld, but nodes are 0 to %lld",
                             (long long)k, (long long)value[k], (long long)dataset->nodes - 1);
        uint8_t *place = &dataset->split[value[k]];
        if (*place != SPLIT_NONE)
            return error_set(err, EXIT_DATA, "node %lld is a %s node already", (long long)value[k],
                             split_names[*place]);
        *place = split;
    }
    return true;
}

// An entry per node, each 0 or 1, of which one is there more than once: no list of ids.
static bool is_mask(const Dataset *dataset, const int64_t *value, int64_t count) {
    if (count != dataset->nodes || count < 3)
        return false;
    for (int64_t i = 0; i < count; i++)
        if (value[i] != 0 && value[i] != 1)
            return false;
    return true;
}

static bool put_split(Dataset *dataset, const Npy *npy, uint8_t split, Error *err) {
    if (npy->rank != 1)
        return error_set(err, EXIT_DATA, "it must be a list of node ids, not %d-dimensional",
                         npy->rank);
    bool mask = npy->kind == NPY_BOOL;
    if (mask && npy->elements != dataset->nodes)
        return error_set(err, EXIT_DATA, "the mask has %lld entries but there are %lld nodes",
                         (long long)npy->elements, (long long)dataset->nodes);
    int64_t *value = NULL;
    if (!npy_to_int64(npy, &value, err))
        return false;
    mask = mask || is_mask(dataset, value, npy->elements);
    bool ok = mask ? put_mask(dataset, value, split, err)
                   : put_ids(dataset, value, npy->elements, split, err);
    memory_free(value);
    if (ok && split == SPLIT_TRAIN &&
        memchr(dataset->split, SPLIT_TRAIN, (size_t)dataset->nodes) == NULL)
        return error_set(err, EXIT_DATA, "it is empty, so there is nothing to learn from");
    return ok;
}

// PyG's masks, where the dataset's own file has these instead of the default lists.
static const char *name_inside(const Config *config, const Npz *npz, int which) {
    static const char *const masks[3] = {"train_mask", "val_mask", "test_mask"};
    static const Config nothing;
    const char *key = split_key(config, which);
    bool usual = strcmp(key, split_key(&nothing, which)) == 0;
    return usual && npz != NULL && !npz_has(npz, key) && npz_has(npz, masks[which]) ? masks[which]
                                                                                    : key;
}

// Reads one of the three: a separate file, or a member of `npz`, the file at `path`.
static bool read_split(Dataset *dataset, const Config *config, Npz *npz, const char *path,
                       int which, Error *err) {
    const char *key = name_inside(config, npz, which);
    char own[DATASET_PATH];
    Npy npy;
    if (config_split_is_file(key)) {
        dataset_path(config, key, own);
        path = own;
        if (!npy_read(&npy, path, err))
            return false;
    } else if (npz == NULL) {
        return error_set(err, EXIT_DATA,
                         "the split '%s' cannot be found: data.splits names no .npz file", key);
    } else if (!npz_read(npz, key, &npy, err)) {
        return false;
    }
    bool ok = put_split(dataset, &npy, (uint8_t)(SPLIT_TRAIN + which), err);
    npy_clear(&npy);
    return ok || error_prefix(err, "%s: split '%s'", path, key);
}

// True if there should be splits: the config names a file or other keys than the default ones, or
// the dataset's own file has one of the three.
static bool split_wanted(const Config *config, const Npz *inside) {
    static const Config nothing;
    bool wanted = config->data.splits[0] != '\0';
    for (int which = 0; which < 3; which++) {
        const char *key = split_key(config, which);
        wanted = wanted || strcmp(key, split_key(&nothing, which)) != 0 ||
                 (inside != NULL && npz_has(inside, name_inside(config, inside, which)));
    }
    return wanted;
}

bool splits_read(Dataset *dataset, const Config *config, Npz *inside, const char *inside_path,
                 Error *err) {
    if (!split_wanted(config, inside))
        return true;
    if (config->data.split_keys.count != 0 && config->data.split_keys.count != 3)
        return error_set(err, EXIT_CONFIG,
                         "data.split_keys needs three entries (training, validation, test), not %d",
                         config->data.split_keys.count);
    char path[DATASET_PATH];
    Npz *own = NULL;
    if (config->data.splits[0] != '\0') {
        dataset_path(config, config->data.splits, path);
        own = npz_open(path, err);
        if (own == NULL)
            return false;
    }
    // a dataset directory may have splits in its read-only mapping
    dataset->split = dataset_writable(dataset, dataset->split, (size_t)dataset->nodes, "splits");
    memset(dataset->split, SPLIT_NONE, (size_t)dataset->nodes);
    bool ok = true;
    for (int which = 0; ok && which < 3; which++)
        ok = read_split(dataset, config, own != NULL ? own : inside,
                        own != NULL ? path : inside_path, which, err);
    npz_close(own);
    return ok;
}
