// Features, labels and splits of nodes that are known by the user's ids: from an .npz with an array
// `ids`, which names the node of each row, or random features that depend on the id only. The rows
// may have any order, and may be of more or of fewer nodes than there are.

#include "npz_layout.h"

#include <string.h>

typedef struct Join {
    Dataset *dataset;
    const uint64_t *id; // [nodes] ascending; borrowed
    const char *path;
    Npz *npz;
    NpzLayout layout;
    int64_t rows;
    int32_t *node; // [rows] of each row; -1: it is not in the stream. Owned
} Join;

static int32_t find_node(const Join *join, uint64_t id) {
    int64_t begin = 0, end = join->dataset->nodes;
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (join->id[middle] < id)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < join->dataset->nodes && join->id[begin] == id ? (int32_t)begin : -1;
}

// ---- lists of ids

typedef struct IdList {
    const char *key;
    int64_t count;
    int64_t *id; // [count] with all 64 bits; NULL: there is no such array. Owned
} IdList;

static bool list_read(IdList *list, const char *key, Npz *npz, Error *err) {
    Npy npy;
    uint64_t *id = NULL;
    *list = (IdList){.key = key};
    if (!npz_has(npz, key))
        return true;
    if (!npz_read(npz, key, &npy, err))
        return false;
    bool ok = (npy.rank == 1 || error_set(err, EXIT_DATA,
                                          "'%s' is a list of ids, not an array of "
                                          "%d dimensions",
                                          key, npy.rank)) &&
              npy_to_ids(&npy, &id, err);
    list->count = npy.elements;
    list->id = (int64_t *)id;
    npy_clear(&npy);
    return ok;
}

// Sorts the list, in the order of numbers with a sign.
static bool sort_distinct(IdList *list, Error *err) {
    if (list->count > 0)
        sort_int64(list->id, list->count);
    for (int64_t k = 1; k < list->count; k++)
        if (list->id[k] == list->id[k - 1])
            return error_set(err, EXIT_DATA, "'%s' holds %llu twice; remove one of them", list->key,
                             (unsigned long long)list->id[k]);
    return true;
}

// Both are sorted.
static bool check_disjoint(const IdList *one, const IdList *other, Error *err) {
    for (int64_t a = 0, b = 0; a < one->count && b < other->count;) {
        if (one->id[a] == other->id[b])
            return error_set(err, EXIT_DATA, "'%s' and '%s' both hold %llu; a node is in one split",
                             one->key, other->key, (unsigned long long)one->id[a]);
        if (one->id[a] < other->id[b])
            a++;
        else
            b++;
    }
    return true;
}

// ---- whose rows they are

static bool find_nodes(Join *join, const IdList *ids, Error *err) {
    join->rows = ids->count;
    join->node = TRY(int32_t, ids->count, "nodes of rows", err);
    for (int64_t r = 0; join->node != NULL && r < ids->count; r++)
        join->node[r] = find_node(join, (uint64_t)ids->id[r]);
    return join->node != NULL;
}

static bool has_ids(const Join *join, Error *err) {
    return npz_has(join->npz, "ids") ||
           error_set(err, EXIT_DATA,
                     "there is no array 'ids'; add the list of the nodes' ids in the order of the "
                     "rows, numpy.savez(path, ids=..., features=...)");
}

static bool place_rows(Join *join, Error *err) {
    IdList ids;
    if (!has_ids(join, err))
        return false;
    bool ok = list_read(&ids, "ids", join->npz, err) && find_nodes(join, &ids, err) &&
              sort_distinct(&ids, err);
    memory_free(ids.id);
    return ok;
}

static void warn_of_rows(const Join *join) {
    int64_t known = 0;
    char rest[160];
    for (int64_t r = 0; r < join->rows; r++)
        known += join->node[r] >= 0;
    snprintf(rest, sizeof rest, "in %.100s of a node that is not in the stream",
             path_name(join->path));
    warn_of_count(join->dataset, join->rows - known, "row", rest);
    snprintf(rest, sizeof rest, "without a row in %.100s: no features, no label, no split",
             path_name(join->path));
    warn_of_count(join->dataset, join->dataset->nodes - known, "node", rest);
}

// ---- features and labels

static bool fits(const Join *join, const char *key, int64_t rows, Error *err) {
    return rows == join->rows ||
           error_set(err, EXIT_DATA,
                     "'%s' has %lld row%s, but 'ids' has %lld entries; entry i is the id of row i",
                     key, (long long)rows, rows == 1 ? "" : "s", (long long)join->rows);
}

static bool array_fits(const Join *join, const char *key, Error *err) {
    Npy npy;
    if (key == NULL || !npz_has(join->npz, key))
        return true;
    return npz_look(join->npz, key, &npy, err) &&
           (npy.rank == 0 || fits(join, key, npy.shape[0], err));
}

static bool sparse_fits(const Join *join, Error *err) {
    FileCsr shape;
    return !npz_has(join->npz, "attr_shape") || (file_csr_shape(&shape, join->npz, "attr_", err) &&
                                                 fits(join, "attr_shape", shape.rows, err));
}

// Reads the rows as the nodes of a dataset without edges.
static bool read_rows(const Join *join, Dataset *rows, Error *err) {
    static const Config nothing;
    if (!array_fits(join, join->layout.features, err) ||
        !array_fits(join, join->layout.labels, err) || !sparse_fits(join, err))
        return false;
    return (npz_read_nodes(rows, join->npz, &join->layout, &nothing, err) &&
            features_check(rows, err)) ||
           error_prefix(err, "%s (its row i is node i in what follows)", join->path);
}

// What the rows hold, `bytes` each, at the places of their nodes.
static void put_rows(const Join *join, void *to, const void *from, size_t bytes) {
    for (int64_t r = 0; r < join->rows; r++)
        if (join->node[r] >= 0)
            memcpy((char *)to + (size_t)join->node[r] * bytes,
                   (const char *)from + (size_t)r * bytes, bytes);
}

static bool take_features(const Join *join, const Dataset *rows, Error *err) {
    Dataset *d = join->dataset;
    if (rows->x == NULL)
        return true;
    float *x = TRY(float, d->nodes * rows->features, "features", err);
    if (x == NULL)
        return false;
    put_rows(join, x, rows->x, (size_t)rows->features * sizeof *x);
    dataset_free_arrays(d, d->x);
    d->x = x;
    d->features = rows->features;
    return true;
}

static bool take_labels(const Join *join, const Dataset *rows, Error *err) {
    Dataset *d = join->dataset;
    bool one = rows->label != NULL;
    if (!one && rows->labels == NULL)
        return true;
    int32_t *label = one ? TRY(int32_t, d->nodes, "labels", err) : NULL;
    uint8_t *labels = one ? NULL : TRY(uint8_t, d->nodes * rows->classes, "labels", err);
    if (label == NULL && labels == NULL)
        return false;
    for (int64_t i = 0; one && i < d->nodes; i++)
        label[i] = -1;
    if (one)
        put_rows(join, label, rows->label, sizeof *label);
    else
        put_rows(join, labels, rows->labels, (size_t)rows->classes);
    dataset_free_arrays(d, d->label);
    dataset_free_arrays(d, d->labels);
    d->label = label;
    d->labels = labels;
    d->classes = rows->classes;
    d->multilabel = !one;
    return true;
}

static bool take_rows(const Join *join, Error *err) {
    Dataset rows = {.nodes = join->rows};
    bool ok = read_rows(join, &rows, err) && take_features(join, &rows, err) &&
              take_labels(join, &rows, err);
    if (ok && (rows.x != NULL || rows.label != NULL || rows.labels != NULL))
        warn_of_rows(join);
    dataset_clear(&rows);
    return ok;
}

// ---- splits

enum { SPLITS = 3 };
static const char *const split_keys[SPLITS] = {"train_ids", "val_ids", "test_ids"};

static bool put_split(const Join *join, const IdList *list, uint8_t split, Error *err) {
    Dataset *d = join->dataset;
    int64_t unknown = 0;
    char rest[64];
    for (int64_t k = 0; k < list->count; k++) {
        int32_t node = find_node(join, (uint64_t)list->id[k]);
        unknown += node < 0;
        if (node < 0)
            continue;
        if (d->label != NULL && d->label[node] < 0)
            return error_set(err, EXIT_DATA,
                             "'%s' holds %llu, which has no label; take it out of '%s' or give it "
                             "a label",
                             list->key, (unsigned long long)list->id[k], list->key);
        d->split[node] = split;
    }
    snprintf(rest, sizeof rest, "in '%s' of a node that is not in the stream", list->key);
    warn_of_count(d, unknown, "id", rest);
    return true;
}

static bool read_splits(const Join *join, IdList list[SPLITS], Error *err) {
    for (int s = 0; s < SPLITS; s++) {
        if (!list_read(&list[s], split_keys[s], join->npz, err) || !sort_distinct(&list[s], err))
            return false;
        for (int before = 0; before < s; before++)
            if (!check_disjoint(&list[before], &list[s], err))
                return false;
    }
    return true;
}

static bool take_splits(const Join *join, Error *err) {
    Dataset *d = join->dataset;
    IdList list[SPLITS] = {{0}};
    bool ok = read_splits(join, list, err), any = false;
    for (int s = 0; s < SPLITS; s++)
        any = any || list[s].id != NULL;
    if (ok && any) {
        d->split = dataset_writable(d, d->split, (size_t)d->nodes, "splits");
        memset(d->split, SPLIT_NONE, (size_t)d->nodes);
    }
    for (int s = 0; s < SPLITS; s++) {
        ok = ok && put_split(join, &list[s], (uint8_t)(SPLIT_TRAIN + s), err);
        memory_free(list[s].id);
    }
    return ok;
}

// ---- all of it

// Lists of rows and masks would be read as if there were no ids.
static bool check_keys(const Join *join, Error *err) {
    static const char *const of_rows[] = {"train_idx",  "val_idx",  "test_idx",
                                          "train_mask", "val_mask", "test_mask"};
    bool any = join->layout.features != NULL || join->layout.labels != NULL ||
               npz_has(join->npz, "attr_shape");
    for (int s = 0; s < SPLITS; s++)
        any = any || npz_has(join->npz, split_keys[s]);
    for (int k = 0; k < 2 * SPLITS; k++)
        if (npz_has(join->npz, of_rows[k]))
            return error_set(err, EXIT_DATA,
                             "'%s' is about rows, but beside 'ids' a split is a list of ids; name "
                             "it '%s'",
                             of_rows[k], split_keys[k % SPLITS]);
    return any || error_set(err, EXIT_DATA,
                            "there is nothing about nodes beside 'ids'; add any of 'features', "
                            "'labels', 'train_ids', 'val_ids', 'test_ids'");
}

static bool join_file(Join *join, Error *err) {
    return place_rows(join, err) && npz_layout_of_nodes(&join->layout, join->npz, err) &&
           check_keys(join, err) && take_rows(join, err) && take_splits(join, err);
}

static bool join_random(Dataset *dataset, const uint64_t *id, const char *width, int64_t seed,
                        Error *err) {
    int64_t columns;
    if (!random_width(&columns, width, DATASET_MAX_FEATURES, err))
        return false;
    float *x = TRY(float, dataset->nodes *columns, "random features", err);
    if (x == NULL)
        return false;
    random_rows(x, dataset->nodes, columns, seed, id);
    dataset_free_arrays(dataset, dataset->x);
    dataset->x = x;
    dataset->features = columns;
    return true;
}

// The F of "random:F"; NULL: a path.
static const char *width_of(const char *nodes) {
    static const char random[] = "random:";
    return strncmp(nodes, random, sizeof random - 1) == 0 ? nodes + sizeof random - 1 : NULL;
}

bool dataset_join_fits(const char *nodes, Error *err) {
    int64_t columns;
    if (width_of(nodes) != NULL)
        return random_width(&columns, width_of(nodes), DATASET_MAX_FEATURES, err);
    Join join = {.path = nodes, .npz = npz_open(nodes, err)};
    if (join.npz == NULL)
        return false;
    bool ok = has_ids(&join, err) && npz_layout_of_nodes(&join.layout, join.npz, err) &&
              check_keys(&join, err);
    npz_close(join.npz);
    return ok || npz_name_file(err, nodes);
}

bool dataset_join(Dataset *dataset, const uint64_t *id, const char *nodes, int64_t seed,
                  Error *err) {
    if (width_of(nodes) != NULL)
        return join_random(dataset, id, width_of(nodes), seed, err);
    Join join = {.dataset = dataset, .id = id, .path = nodes, .npz = npz_open(nodes, err)};
    if (join.npz == NULL)
        return false;
    bool ok = join_file(&join, err);
    npz_close(join.npz);
    memory_free(join.node);
    return ok || npz_name_file(err, nodes);
}

// ---- the plan

static int64_t plan_ids(Tally *tally, Npz *npz, const char *key) {
    Npy npy;
    if (!npz_has(npz, key) || !npz_look(npz, key, &npy, &(Error){0}))
        return 0;
    return tally_array(tally, &npy, sizeof(uint64_t));
}

// Nodes take as many bytes each as rows do.
void join_plan(Tally *tally, Npz *npz) {
    static const Config nothing;
    NpzLayout layout;
    int64_t nodes = tally->nodes, lists = 0;
    size_t before = tally->now;
    int64_t rows = plan_ids(tally, npz, "ids");
    if (rows == 0 || !npz_layout_of_nodes(&layout, npz, &(Error){0}))
        return;
    tally_sub(tally, memory_product(rows, sizeof(uint64_t) - sizeof(int32_t)));
    tally->nodes = rows;
    npz_plan_nodes(tally, npz, &layout, &nothing);
    tally->nodes = nodes;
    size_t of_rows = tally->now - before;
    tally_add(tally, memory_product(nodes, of_rows / (size_t)rows + 1));
    tally_sub(tally, of_rows);
    for (int s = 0; s < SPLITS; s++)
        lists += plan_ids(tally, npz, split_keys[s]);
    tally_sub(tally, memory_product(lists, sizeof(uint64_t)));
}
