// Splits: three lists of rows or of the user's ids (train_ids), or masks, in an npz or in .npy
// files; or an array 'split' of an npz, with a word for each node.

#include "internal.h"

const char *split_key(const Config *config, int which) {
    static const char *const usual[3] = {"train_idx", "val_idx", "test_idx"};
    return config->data.split_keys.count > 0 ? config->data.split_keys.word[which] : usual[which];
}

static const char *const split_names[4] = {"none", "training", "validation", "test"};

static bool put_node(Dataset *dataset, int64_t node, uint8_t split, Error *err) {
    uint8_t *place = &dataset->split[node];
    if (*place != SPLIT_NONE)
        return error_data(err, "node %ld is a %s node already", node, split_names[*place]);
    *place = split;
    return true;
}

// A mask: one bool, or 0 or 1, per node.
static bool put_mask(Dataset *dataset, const int64_t *value, uint8_t split, Error *err) {
    for (int64_t i = 0; i < dataset->nodes; i++)
        if (value[i] != 0 && !put_node(dataset, i, split, err))
            return false;
    return true;
}

static bool put_ids(Dataset *dataset, const int64_t *value, int64_t count, uint8_t split,
                    Error *err) {
    for (int64_t k = 0; k < count; k++) {
        if (value[k] < 0 || value[k] >= dataset->nodes)
            return error_data(err, "entry %ld is node %ld, but nodes are 0 to %ld", k, value[k],
                              dataset->nodes - 1);
        if (!put_node(dataset, value[k], split, err))
            return false;
    }
    return true;
}

// An entry per node, each 0 or 1, of which one is there more than once: no list of ids.
static bool is_mask(const Dataset *dataset, const int64_t *value, int64_t count, int64_t rows) {
    if (rows != dataset->nodes || rows < 3)
        return false;
    for (int64_t i = 0; i < count; i++)
        if (value[i] != 0 && value[i] != 1)
            return false;
    return true;
}

typedef struct Values { // the split of one row
    int64_t *value;     // [count]; owned
    int64_t count;
} Values;

static bool row_error(int64_t splits, int64_t row, Error *err) {
    return error_data(err, "it holds %ld split%s, so data.split_row is at most %ld, not %ld",
                      splits, splits == 1 ? "" : "s", splits - 1, row);
}

static bool is_square(const Dataset *dataset, const Npy *npy, Error *err) {
    bool square =
        npy->rank == 2 && npy->shape[0] == dataset->nodes && npy->shape[1] == npy->shape[0];
    return square &&
           !error_data(
               err,
               "it is (%ld, %ld), so it does not say which way its splits lie; save one of them",
               npy->shape[0], npy->shape[1]);
}

// Masks [n, splits], of bools, or of 0 and 1.
static bool has_mask_columns(const Dataset *dataset, const Npy *npy, const Values *all) {
    return npy->shape[0] == dataset->nodes &&
           (npy->kind == NPY_BOOL || is_mask(dataset, all->value, all->count, npy->shape[0]));
}

// Moves one row, or one column of masks, to the front.
static bool choose_split(Values *all, const Dataset *dataset, const Npy *npy, int64_t row,
                         Error *err) {
    bool columns = has_mask_columns(dataset, npy, all);
    int64_t splits = npy->shape[columns ? 1 : 0], length = npy->shape[columns ? 0 : 1];
    if (row >= splits)
        return row_error(splits, row, err);
    for (int64_t i = 0; i < length; i++)
        all->value[i] = all->value[columns ? i * splits + row : row * length + i];
    all->count = length;
    return true;
}

static bool read_values(Values *out, const Dataset *dataset, const Npy *npy, int64_t row,
                        Error *err) {
    *out = (Values){.count = npy->elements};
    if (npy->rank < 1 || npy->rank > 2)
        return error_data(
            err, "it must be a list of node ids, or an array (splits, ids), not %d-dimensional",
            npy->rank);
    return !is_square(dataset, npy, err) && npy_to_int64(npy, &out->value, err) &&
           (npy->rank == 1 || choose_split(out, dataset, npy, row, err));
}

static bool put_values(Dataset *dataset, const Npy *npy, const Values *values, uint8_t split,
                       Error *err) {
    bool mask = npy->kind == NPY_BOOL;
    if (mask && values->count != dataset->nodes)
        return error_data(err, "the mask has %ld entries but there are %ld nodes", values->count,
                          dataset->nodes);
    mask = mask || is_mask(dataset, values->value, values->count, values->count);
    if (!(mask ? put_mask(dataset, values->value, split, err)
               : put_ids(dataset, values->value, values->count, split, err)))
        return false;
    if (split == SPLIT_TRAIN && !has_split(dataset, SPLIT_TRAIN))
        return error_data(err, "it is empty, so there is nothing to learn from");
    return true;
}

// An array of one split serves for every row, but for training nodes.
static bool put_split(Dataset *dataset, const Npy *npy, uint8_t split, const Config *config,
                      Error *err) {
    int64_t row = config->data.split_row;
    Values values;
    if (split == SPLIT_TRAIN && npy->rank == 1 && row > 0)
        return row_error(1, row, err);
    bool ok = read_values(&values, dataset, npy, row, err) &&
              put_values(dataset, npy, &values, split, err);
    memory_free(values.value);
    if (ok && split == SPLIT_TRAIN && npy->rank == 2 && npy->elements > values.count && row == 0 &&
        !config_is_said(config, "data.split_row"))
        warnings_add(
            &dataset->warnings,
            "the training nodes are the first of %ld splits; data.split_row chooses another one",
            npy->elements / values.count);
    return ok;
}

static bool is_usual(const Config *config, int which) {
    static const Config nothing;
    return strcmp(split_key(config, which), split_key(&nothing, which)) == 0;
}

// What others call them, where the file has these instead of the default lists.
static const char *const other_names[3][10] = {
    {"train_mask", "train_masks", "train_index", "idx_train", "train_ids", "train", NULL},
    {"valid_idx", "val_mask", "valid_mask", "val_masks", "idx_val", "val_ids", "valid_ids", "val",
     "valid", NULL},
    {"test_mask", "test_masks", "test_index", "idx_test", "test_ids", "test", NULL}};

static const char *name_inside(const Config *config, const Npz *npz, int which) {
    const char *key = split_key(config, which);
    if (!is_usual(config, which) || npz == NULL || npz_has(npz, key))
        return key;
    for (const char *const *name = other_names[which]; *name != NULL; name++)
        if (npz_has(npz, *name))
            return *name;
    return key;
}

bool splits_read_key(const Config *config, const Npz *npz, const char *key) {
    for (int which = 0; which < 3; which++)
        if (strcmp(name_inside(config, npz, which), key) == 0)
            return true;
    return false;
}

// ---- lists of the user's ids

static bool names_ids(const char *key) {
    size_t length = strlen(key);
    return length > 4 && strcmp(key + length - 4, "_ids") == 0;
}

// The row of each id, in place; -1: of no node.
static bool find_numbers(const NodeIds *ids, Values *values, Error *err) {
    if (ids->count > 0 && ids->number == NULL)
        return error_data(err,
                          "it holds numbers, but the ids of the nodes are text; save it as text");
    for (int64_t k = 0; ids->count > 0 && k < values->count; k++)
        values->value[k] = ids_find_number(ids, values->value[k]);
    return true;
}

static bool find_texts(const NodeIds *ids, const Npy *npy, Values *values, Error *err) {
    FREED char *text = NULL;
    if (ids->count == 0 || ids->number != NULL)
        return error_data(
            err, "it holds text, but the ids of the nodes are numbers; save it as numbers");
    bool ok = npy_to_text(npy, &text, &values->value, err);
    for (int64_t k = 0; ok && k < values->count; k++) {
        int64_t span = values->value[k];
        values->value[k] = ids_find_text(ids, text + (span >> SPAN_BITS), span_bytes(span));
    }
    return ok;
}

static bool put_list_of_ids(Dataset *dataset, const Npy *npy, uint8_t split, const char *key,
                            Error *err) {
    Values values = {.count = npy->elements};
    char rest[100];
    bool text = npy->kind == NPY_TEXT;
    bool ok =
        text ? find_texts(&dataset->ids, npy, &values, err)
             : npy_to_int64(npy, &values.value, err) && find_numbers(&dataset->ids, &values, err);
    int64_t known = 0, all = values.count;
    for (int64_t k = 0; ok && k < all; k++)
        if (values.value[k] >= 0)
            values.value[known++] = values.value[k];
    ok = ok && put_ids(dataset, values.value, known, split, err);
    snprintf(rest, sizeof rest, "in '%.40s' of a node that is not in the graph", key);
    warn_of_count(dataset, ok ? all - known : 0, "id", rest);
    memory_free(values.value);
    return ok;
}

// Reads one of the three: a separate file, or a member of `npz`, the file at `path`.
static bool read_split(Dataset *dataset, const Config *config, Npz *npz, const char *path,
                       int which, Error *err) {
    const char *key = name_inside(config, npz, which);
    CLEARED(npy_clear) Npy npy = {0};
    const char *own = DATASET_PATH(config, key);
    if (config_names_file(key)) {
        path = own;
        if (!npy_read(&npy, path, err))
            return false;
    } else if (npz == NULL) {
        return error_data(err,
                          "the split '%s' cannot be found: data.splits names no .npz file, and a "
                          "list in a file of its own ends in .npy (of text: "
                          "numpy.save(\"train.npy\", numpy.loadtxt(\"train.txt\", int)))",
                          key);
    } else if (!npz_read(npz, key, &npy, err)) {
        return false;
    }
    uint8_t split = (uint8_t)(SPLIT_TRAIN + which);
    bool ok = names_ids(key) ? put_list_of_ids(dataset, &npy, split, key, err)
                             : put_split(dataset, &npy, split, config, err);
    return ok || error_prefix(err, "%s: split '%s'", path, key);
}

// --- the three of them

// True if `npz` has one of them, under the config's names.
static bool has_splits(const Config *config, const Npz *npz) {
    for (int which = 0; which < 3; which++)
        if (npz != NULL && npz_has(npz, name_inside(config, npz, which)))
            return true;
    return false;
}

// True if the config names no array, and `npz` has none of the usual name.
static bool is_absent(const Config *config, const Npz *npz, int which) {
    return is_usual(config, which) && npz != NULL && !npz_has(npz, name_inside(config, npz, which));
}

static bool are_usual(const Config *config) {
    return is_usual(config, 0) && is_usual(config, 1) && is_usual(config, 2);
}

static bool has_words(const Config *config, Npz *npz) {
    return are_usual(config) && splits_are_words(npz);
}

// True if there should be splits: the config names a file or other keys than the default ones.
static bool splits_are_named(const Config *config) {
    return config->data.splits[0] != '\0' || !are_usual(config);
}

// All nodes that have a label and are not training nodes. False if there are none.
static bool test_the_rest(Dataset *dataset, Error *err) {
    int64_t count = 0;
    for (int64_t i = 0; i < dataset->nodes; i++)
        if (dataset->split[i] == SPLIT_NONE && dataset_is_labelled(dataset, i)) {
            dataset->split[i] = SPLIT_TEST;
            count++;
        }
    if (count == 0)
        return error_data(err, "the split names training nodes only, and no labelled node is left "
                               "to be a test node; add test nodes to the split");
    warnings_add(&dataset->warnings,
                 "the split names training nodes only, so the test nodes are the other %ld%s "
                 "nodes, and there are no validation nodes",
                 count, dataset->label == NULL ? "" : " labelled");
    return true;
}

// A split that stays empty is said.
static void warn_of_empty(Dataset *dataset, bool no_val, bool no_train) {
    int64_t count[4] = {0};
    for (int64_t i = 0; i < dataset->nodes; i++)
        count[dataset->split[i]]++;
    if (no_val || (count[SPLIT_VAL] == 0 && count[SPLIT_TEST] > 0 && !no_train))
        warnings_add(&dataset->warnings, "there are no validation nodes%s",
                     no_val ? ": the split has no val_idx" : "");
    if (count[SPLIT_TEST] == 0 && count[SPLIT_VAL] > 0)
        warnings_add(&dataset->warnings, "there are no test nodes");
}

// Validation and test may be missing; if both are, the rest is tested. Training may be missing from
// what is only evaluated.
static bool read_all(Dataset *dataset, const Config *config, const SplitSource *source,
                     Error *err) {
    bool absent[3];
    for (int which = 0; which < 3; which++)
        absent[which] = is_absent(config, source->npz, which);
    bool rest = absent[SPLIT_VAL - 1] && absent[SPLIT_TEST - 1];
    absent[SPLIT_TRAIN - 1] &= !rest;
    splits_begin(dataset);
    for (int which = 0; which < 3; which++)
        if (!absent[which] && !read_split(dataset, config, source->npz, source->path, which, err))
            return false;
    warn_of_empty(dataset, absent[SPLIT_VAL - 1] && !rest, absent[SPLIT_TRAIN - 1]);
    if (absent[SPLIT_TRAIN - 1])
        warnings_add(&dataset->warnings,
                     "the split names no training nodes, so there is nothing to learn from");
    return !rest || test_the_rest(dataset, err);
}

static bool read_source(Dataset *dataset, const Config *config, const SplitSource *source,
                        Error *err) {
    if (has_splits(config, source->npz) || !has_words(config, source->npz)) {
        if (splits_are_words(source->npz))
            warnings_add(&dataset->warnings, "array 'split' is not read beside other splits");
        return read_all(dataset, config, source, err);
    }
    splits_begin(dataset);
    bool ok = splits_read_words(dataset, source, err);
    warn_of_empty(dataset, false, false);
    return ok;
}

static bool read_own(Dataset *dataset, const Config *config, Error *err) {
    const char *path = DATASET_PATH(config, config->data.splits);
    if (format_begins_as_text(path))
        return error_data(err,
                          "%s: data.splits is an .npz with train_idx, val_idx and test_idx (or "
                          "train_ids, ...), and this is text; give the split as a column of "
                          "data.nodes, which may be a .csv (fringe convert makes an .npz of JSON)",
                          path);
    if (!npz_is_archive(path))
        return error_data(err,
                          "%s: data.splits is an .npz with train_idx, val_idx and test_idx, which "
                          "are lists of nodes or masks, and this is none; for example "
                          "numpy.savez(\"splits.npz\", train_idx=..., val_idx=..., test_idx=...)",
                          path);
    CLEARED(npz_drop) Npz *own = npz_open(path, err);
    return own != NULL && read_source(dataset, config, &(SplitSource){own, path}, err);
}

bool splits_read(Dataset *dataset, const Config *config, const SplitSource *sources, int count,
                 Error *err) {
    if (config->data.split_keys.count != 0 && config->data.split_keys.count != 3)
        return error_config(
            err, "data.split_keys needs three entries (training, validation, test), not %d",
            config->data.split_keys.count);
    if (config_splits_are_drawn(config))
        return splits_draw(dataset, config, err);
    if (config->data.splits[0] != '\0')
        return read_own(dataset, config, err);
    for (int i = 0; i < count; i++)
        if (has_splits(config, sources[i].npz) || has_words(config, sources[i].npz))
            return read_source(dataset, config, &sources[i], err);
    SplitSource none = {NULL, ""};
    return !splits_are_named(config) ||
           read_all(dataset, config, count > 0 ? &sources[0] : &none, err);
}
