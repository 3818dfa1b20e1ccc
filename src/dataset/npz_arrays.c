// The arrays of an npz as they are made, piece by piece, from those of a dataset: the keys of
// gnn-benchmark for graphs, those of npz_hypergraph.c for hypergraphs, and the lists of the splits.

#include "writers.h"

#include <string.h>

static void copy(void *out, const void *from, int64_t at, int64_t count, size_t item) {
    memcpy(out, (const char *)from + (size_t)at * item, (size_t)count * item);
}

static void make_ones(float *out, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        out[k] = 1;
}

// ---- edges and pins

static void make_weights(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    const float *weight = array->dataset->weight;
    if (weight == NULL)
        make_ones(out, count);
    else
        copy(out, weight, place->at, count, sizeof *weight);
    place->at += count;
}

static void make_targets(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    copy(out, array->dataset->target, place->at, count, sizeof *array->dataset->target);
    place->at += count;
}

static void make_offsets(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    const int64_t *offset = array->dataset->offset + place->at;
    if (array->item == sizeof *offset)
        copy(out, offset, 0, count, sizeof *offset);
    for (int64_t k = 0; array->item == sizeof(int32_t) && k < count; k++)
        ((int32_t *)out)[k] = (int32_t)offset[k];
    place->at += count;
}

static void make_shape(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    const Dataset *d = array->dataset;
    bool features = strcmp(array->key, "attr_shape") == 0;
    const int64_t shape[2] = {d->nodes, features ? d->features : d->nodes};
    copy(out, shape, place->at, count, sizeof *shape);
    place->at += count;
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

static void make_roles(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    copy(out, array->dataset->pin_role, place->at, count, 1);
    place->at += count;
}

static void make_hyperedge_weights(const OutArray *array, ArrayPlace *place, int64_t count,
                                   void *out) {
    const float *weight = array->dataset->hyperedge_weight;
    if (weight == NULL)
        make_ones(out, count);
    else
        copy(out, weight, place->at, count, sizeof *weight);
    place->at += count;
}

static void make_nodes(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    copy(out, &array->dataset->nodes, place->at, count, sizeof array->dataset->nodes);
    place->at += count;
}

static void make_node_weights(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    copy(out, array->dataset->node_weight, place->at, count, sizeof *array->dataset->node_weight);
    place->at += count;
}

// ---- features: dense, or the entries that are not 0

static void make_features(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    copy(out, array->dataset->x, place->at, count, sizeof *array->dataset->x);
    place->at += count;
}

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

static void make_label_bits(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    copy(out, array->dataset->labels, place->at, count, 1);
    place->at += count;
}

static void make_numbers(const OutArray *array, ArrayPlace *place, int64_t count, void *out) {
    copy(out, array->dataset->numbers, place->at, count, sizeof *array->dataset->numbers);
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

static void add_matrix(List *list, const char *key, const char *descr, int64_t columns,
                       MakeElements *make) {
    OutArray *array = add(list, key, descr, list->dataset->nodes, make);
    array->rank = 2;
    array->shape[1] = columns;
}

static void add_graph(List *list) {
    int64_t n = list->dataset->nodes, e = list->dataset->edges;
    add(list, "adj_data", "<f4", e, make_weights);
    add(list, "adj_indices", "<i4", e, make_targets);
    add(list, "adj_indptr", e <= INT32_MAX ? "<i4" : "<i8", n + 1, make_offsets);
    add(list, "adj_shape", "<i8", 2, make_shape);
}

// The weights say how many hyperedges there are, so they are written even if all are 1.
static void add_hypergraph(List *list) {
    const Dataset *d = list->dataset;
    add(list, "num_nodes", "<i8", 1, make_nodes);
    add(list, "node", "<i4", d->edges, make_pin_nodes);
    add(list, "hyperedge", "<i4", d->edges, make_targets);
    add(list, "hyperedge_weight", "<f4", d->hyperedges, make_hyperedge_weights);
    if (d->pin_role != NULL)
        add(list, "role", "|u1", d->edges, make_roles);
    if (d->node_weight != NULL)
        add(list, "node_weight", "<i4", d->nodes, make_node_weights);
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
        add_matrix(list, "attr_matrix", "<f4", d->features, make_features);
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
        add_matrix(list, "labels", "|u1", d->classes, make_label_bits);
    else if (d->numbers != NULL)
        add_matrix(list, "labels", "<f4", d->classes, make_numbers);
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
