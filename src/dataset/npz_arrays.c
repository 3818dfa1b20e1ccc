// The arrays of an npz as they are made, piece by piece, from those of a dataset: the keys of
// gnn-benchmark for graphs, those of npz_hypergraph.c for hypergraphs, and the lists of the splits.

#include "writers.h"

static void make_copy(ArraySource *s, int64_t first, int64_t count, void *out) {
    memcpy(out, (const char *)s->from + (size_t)first * s->item, (size_t)count * s->item);
}

static void make_ones(UNUSED ArraySource *s, UNUSED int64_t first, int64_t count, void *out) {
    for (int64_t k = 0; k < count; k++)
        ((float *)out)[k] = 1;
}

// ---- edges and pins

static void make_short_offsets(ArraySource *s, int64_t first, int64_t count, void *out) {
    for (int64_t k = 0; k < count; k++)
        ((int32_t *)out)[k] = (int32_t)s->dataset->offset[first + k];
}

static void make_pin_nodes(ArraySource *s, int64_t first, int64_t count, void *out) {
    for (int64_t k = 0; k < count; k++) {
        while (first + k == s->dataset->offset[s->row + 1])
            s->row++;
        ((int32_t *)out)[k] = (int32_t)s->row;
    }
}

// ---- features: dense, or the entries that are not 0

static void make_attr_data(ArraySource *s, UNUSED int64_t first, int64_t count, void *out) {
    float *value = out;
    for (int64_t k = 0; k < count; s->at++)
        if (s->dataset->x[s->at] != 0)
            value[k++] = s->dataset->x[s->at];
}

static void make_attr_indices(ArraySource *s, UNUSED int64_t first, int64_t count, void *out) {
    int32_t *column = out;
    for (int64_t k = 0; k < count; s->at++)
        if (s->dataset->x[s->at] != 0)
            column[k++] = (int32_t)(s->at % s->dataset->features);
}

static int64_t row_entries(const Dataset *d, int64_t row) {
    int64_t entries = 0;
    for (int64_t f = 0; f < d->features; f++)
        entries += d->x[row * d->features + f] != 0;
    return entries;
}

static void make_attr_offsets(ArraySource *s, int64_t first, int64_t count, void *out) {
    for (int64_t row = first; row < first + count; row++) {
        ((int64_t *)out)[row - first] = s->sum;
        if (row < s->dataset->nodes)
            s->sum += row_entries(s->dataset, row);
    }
}

// ---- labels and splits

static void make_labels(ArraySource *s, int64_t first, int64_t count, void *out) {
    for (int64_t k = 0; k < count; k++)
        ((int64_t *)out)[k] = s->dataset->label[first + k];
}

static void make_split(ArraySource *s, UNUSED int64_t first, int64_t count, void *out) {
    int64_t *node = out;
    for (int64_t k = 0; k < count; s->at++)
        if (s->dataset->split[s->at] == s->split)
            node[k++] = s->at;
}

// ---- the list

static bool make(void *context, int64_t first, int64_t count, void *out, UNUSED Error *err) {
    ArraySource *s = context;
    if (first == 0)
        s->at = s->row = s->sum = 0;
    s->make(s, first, count, out);
    return true;
}

// A list of `count` elements; the caller makes it more than that.
static ArraySource *add(DatasetArrays *list, const char *key, const char *descr, int64_t count,
                        MakeElements *how) {
    assert(list->count < NPZ_OUT);
    ArraySource *source = &list->source[list->count];
    *source =
        (ArraySource){.make = how, .dataset = list->dataset, .item = (size_t)(descr[2] - '0')};
    list->out[list->count++] = (NpzOut){.key = key,
                                        .descr = descr,
                                        .item = source->item,
                                        .rank = 1,
                                        .shape = {count, 1},
                                        .packed = list->packed,
                                        .make = make,
                                        .context = source};
    return source;
}

// One that the dataset has as it is written.
static void add_copy(DatasetArrays *list, const char *key, const char *descr, int64_t count,
                     const void *from) {
    add(list, key, descr, count, make_copy)->from = from;
}

static void add_matrix(DatasetArrays *list, const char *key, const char *descr, int64_t columns,
                       const void *from) {
    add_copy(list, key, descr, list->dataset->nodes, from);
    list->out[list->count - 1].rank = 2;
    list->out[list->count - 1].shape[1] = columns;
}

static void add_shape(DatasetArrays *list, const char *key, int64_t columns) {
    ArraySource *source = add(list, key, "<i8", 2, make_copy);
    source->shape[0] = list->dataset->nodes;
    source->shape[1] = columns;
    source->from = source->shape;
}

// NULL: they are all 1.
static void add_weights(DatasetArrays *list, const char *key, int64_t count, const float *weight) {
    add(list, key, "<f4", count, weight != NULL ? make_copy : make_ones)->from = weight;
}

static void add_graph(DatasetArrays *list) {
    const Dataset *d = list->dataset;
    add_weights(list, "adj_data", d->edges, d->weight);
    add_copy(list, "adj_indices", "<i4", d->edges, d->target);
    if (d->edges <= INT32_MAX)
        add(list, "adj_indptr", "<i4", d->nodes + 1, make_short_offsets);
    else
        add_copy(list, "adj_indptr", "<i8", d->nodes + 1, d->offset);
    add_shape(list, "adj_shape", d->nodes);
}

// The weights say how many hyperedges there are, so they are written even if all are 1.
static void add_hypergraph(DatasetArrays *list) {
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

static void add_features(DatasetArrays *list) {
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
    add_shape(list, "attr_shape", d->features);
}

static void add_labels(DatasetArrays *list) {
    const Dataset *d = list->dataset;
    if (d->labels != NULL)
        add_matrix(list, "labels", "|u1", d->classes, d->labels);
    else if (d->numbers != NULL)
        add_matrix(list, "labels", "<f4", d->classes, d->numbers);
    else if (d->label != NULL)
        add(list, "labels", "<i8", d->nodes, make_labels);
}

// All three, unless no node is in one. A reader refuses an empty list of training nodes.
static void add_splits(DatasetArrays *list) {
    static const char *const keys[] = {"train_idx", "val_idx", "test_idx"};
    const Dataset *d = list->dataset;
    int64_t count[4] = {0};
    for (int64_t i = 0; i < d->nodes; i++)
        count[d->split[i]]++;
    for (int s = count[SPLIT_TRAIN] == 0; s < 3 && count[SPLIT_NONE] < d->nodes; s++)
        add(list, keys[s], "<i8", count[SPLIT_TRAIN + s], make_split)->split =
            (uint8_t)(SPLIT_TRAIN + s);
}

void npz_arrays(DatasetArrays *arrays) {
    (arrays->dataset->hyperedges > 0 ? add_hypergraph : add_graph)(arrays);
    add_features(arrays);
    add_labels(arrays);
    add_splits(arrays);
}
