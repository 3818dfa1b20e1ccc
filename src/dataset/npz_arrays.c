// The arrays of an npz as they are made, piece by piece, from those of a dataset: the keys of
// gnn-benchmark for graphs, those of npz_hypergraph.c for hypergraphs, and the lists of the splits.

#include "writers.h"

static void make_copy(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    const char *from = array->from;
    memcpy(out, from + (size_t)place->at * array->item, (size_t)count * array->item);
    place->at += count;
}

static void make_ones(UNUSED const OutArray *array, UNUSED ArrayPlace *place, int64_t count,
                      void *out) {
    for (int64_t k = 0; k < count; k++)
        ((float *)out)[k] = 1;
}

// ---- edges and pins

static void make_short_offsets(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    int32_t *offset = out;
    for (int64_t k = 0; k < count; k++, place->at++)
        offset[k] = (int32_t)array->dataset->offset[place->at];
}

static void make_shape(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    const Dataset *d = array->dataset;
    bool features = strcmp(array->key, "attr_shape") == 0;
    for (int64_t k = 0; k < count; k++, place->at++)
        ((int64_t *)out)[k] = place->at == 0 || !features ? d->nodes : d->features;
}

static void make_pin_nodes(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    const Dataset *d = array->dataset;
    int32_t *node = out;
    for (int64_t k = 0; k < count; k++, place->at++) {
        while (place->at == d->offset[place->row + 1])
            place->row++;
        node[k] = (int32_t)place->row;
    }
}

// ---- features: dense, or the entries that are not 0

static void make_attr_data(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    float *value = out;
    for (int64_t k = 0; k < count; place->at++)
        if (array->dataset->x[place->at] != 0)
            value[k++] = array->dataset->x[place->at];
}

static void make_attr_indices(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    const Dataset *d = array->dataset;
    int32_t *column = out;
    for (int64_t k = 0; k < count; place->at++)
        if (d->x[place->at] != 0)
            column[k++] = (int32_t)(place->at % d->features);
}

static int64_t row_entries(const Dataset *d, int64_t row) {
    int64_t entries = 0;
    for (int64_t f = 0; f < d->features; f++)
        entries += d->x[row * d->features + f] != 0;
    return entries;
}

static void make_attr_offsets(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    int64_t *offset = out;
    for (int64_t k = 0; k < count; k++, place->row++) {
        offset[k] = place->sum;
        if (place->row < array->dataset->nodes)
            place->sum += row_entries(array->dataset, place->row);
    }
}

// ---- labels and splits

static void make_labels(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    int64_t *label = out;
    for (int64_t k = 0; k < count; k++)
        label[k] = array->dataset->label[place->at + k];
    place->at += count;
}

static void make_split(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    int64_t *node = out;
    for (int64_t k = 0; k < count; place->at++)
        if (array->dataset->split[place->at] == array->split)
            node[k++] = place->at;
}

// ---- the list

typedef struct List {
    OutArray *array; // [OUT_ARRAYS]
    int count;
    const Dataset *dataset;
} List;

// A list of `count` elements; the caller makes it more than that.
static OutArray *add(List *list, const char *key, const char *descr, int64_t count,
                     MakeElements *make) {
    assert(list->count < OUT_ARRAYS);
    OutArray *array = &list->array[list->count++];
    *array = (OutArray){.key = key,
                        .descr = descr,
                        .item = (size_t)(descr[2] - '0'),
                        .rank = 1,
                        .shape = {count, 1},
                        .make = make,
                        .dataset = list->dataset};
    return array;
}

// One that the dataset has as it is written.
static void add_copy(List *list, const char *key, const char *descr, int64_t count,
                     const void *from) {
    add(list, key, descr, count, make_copy)->from = from;
}

static void add_matrix(List *list, const char *key, const char *descr, int64_t columns,
                       const void *from) {
    OutArray *array = add(list, key, descr, list->dataset->nodes, make_copy);
    array->from = from;
    array->rank = 2;
    array->shape[1] = columns;
}

// NULL: they are all 1.
static void add_weights(List *list, const char *key, int64_t count, const float *weight) {
    add(list, key, "<f4", count, weight != NULL ? make_copy : make_ones)->from = weight;
}

static void add_graph(List *list) {
    const Dataset *d = list->dataset;
    add_weights(list, "adj_data", d->edges, d->weight);
    add_copy(list, "adj_indices", "<i4", d->edges, d->target);
    if (d->edges <= INT32_MAX)
        add(list, "adj_indptr", "<i4", d->nodes + 1, make_short_offsets);
    else
        add_copy(list, "adj_indptr", "<i8", d->nodes + 1, d->offset);
    add(list, "adj_shape", "<i8", 2, make_shape);
}

// The weights say how many hyperedges there are, so they are written even if all are 1.
static void add_hypergraph(List *list) {
    const Dataset *d = list->dataset;
    add_copy(list, "num_nodes", "<i8", 1, &d->nodes);
    add(list, "node", "<i4", d->edges, make_pin_nodes);
    add_copy(list, "hyperedge", "<i4", d->edges, d->target);
    add_weights(list, "hyperedge_weight", d->hyperedges, d->hyperedge_weight);
    if (d->pin_role != NULL)
        add_copy(list, "role", "|u1", d->edges, d->pin_role);
    if (d->node_weight != NULL)
        add_copy(list, "node_weight", "<i4", d->nodes, d->node_weight);
}

// Entries that are not 0; -1 if the dense array is smaller, or if there are zeros with a sign,
// which sums of entries do not give back.
static int64_t sparse_entries(const Dataset *d) {
    int64_t all = d->nodes * d->features, entries = 0, signs = 0;
#pragma omp parallel for schedule(static) reduction(+ : entries, signs) if (all > 65536)
    for (int64_t k = 0; k < all; k++) {
        uint32_t bits;
        memcpy(&bits, &d->x[k], sizeof bits);
        entries += d->x[k] != 0;
        signs += bits == UINT32_C(1) << 31;
    }
    return signs > 0 || entries > all / 2 ? -1 : entries;
}

static void add_features(List *list) {
    const Dataset *d = list->dataset;
    if (d->x == NULL)
        return;
    int64_t entries = sparse_entries(d);
    if (entries < 0) {
        add_matrix(list, "attr_matrix", "<f4", d->features, d->x);
        return;
    }
    add(list, "attr_data", "<f4", entries, make_attr_data);
    add(list, "attr_indices", "<i4", entries, make_attr_indices);
    add(list, "attr_indptr", "<i8", d->nodes + 1, make_attr_offsets);
    add(list, "attr_shape", "<i8", 2, make_shape);
}

static void add_labels(List *list) {
    const Dataset *d = list->dataset;
    if (d->labels != NULL)
        add_matrix(list, "labels", "|u1", d->classes, d->labels);
    else if (d->numbers != NULL)
        add_matrix(list, "labels", "<f4", d->classes, d->numbers);
    else if (d->label != NULL)
        add(list, "labels", "<i8", d->nodes, make_labels);
}

// All three, unless no node is in one. A reader refuses an empty list of training nodes.
static void add_splits(List *list) {
    static const char *const keys[] = {"train_idx", "val_idx", "test_idx"};
    const Dataset *d = list->dataset;
    int64_t count[4] = {0};
    for (int64_t i = 0; i < d->nodes; i++)
        count[d->split[i]]++;
    for (int s = count[SPLIT_TRAIN] == 0; s < 3 && count[SPLIT_NONE] < d->nodes; s++)
        add(list, keys[s], "<i8", count[SPLIT_TRAIN + s], make_split)->split =
            (uint8_t)(SPLIT_TRAIN + s);
}

int npz_arrays(OutArray out[OUT_ARRAYS], const Dataset *dataset) {
    List list = {out, 0, dataset};
    (dataset->hyperedges > 0 ? add_hypergraph : add_graph)(&list);
    add_features(&list);
    add_labels(&list);
    add_splits(&list);
    return list.count;
}

int64_t out_array_elements(const OutArray *array) {
    return array->rank == 1 ? array->shape[0] : array->shape[0] * array->shape[1];
}
