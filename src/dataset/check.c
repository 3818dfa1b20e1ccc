// The checks that every Dataset must pass, and the last steps of every reader.

#include "internal.h"

void fitted_clear(Dataset *dataset) {
    for (int i = 0; i < dataset->fitted_steps; i++) {
        FittedStep *fit = &dataset->fitted[i];
        MEMORY_FREE(fit->mean, fit->deviation, fit->begin, fit->value);
    }
    memory_free(dataset->fitted);
    dataset->fitted = NULL;
    dataset->fitted_steps = 0;
    dataset->fitted_before = false;
}

void dataset_clear(Dataset *dataset) {
    void *const arrays[] = {&dataset->offset,           &dataset->target,
                            &dataset->weight,           &dataset->split,
                            &dataset->pin_role,         &dataset->node_weight,
                            &dataset->hyperedge_weight, &dataset->names.bytes,
                            &dataset->names.offset};
    fitted_clear(dataset);
    features_drop(dataset);
    labels_drop(dataset);
    dataset_drop_ids(dataset);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        dataset_drop(dataset, arrays[i]);
    if (dataset->mapped)
        tensors_close(&dataset->map);
    *dataset = (Dataset){0};
}

// --- the checks

static bool check_sizes(const Dataset *d, Error *err) {
    if (d->nodes < 1 || d->nodes > DATASET_MAX_NODES)
        return error_data(err, "%ld nodes; 1 to %d can be used", d->nodes, DATASET_MAX_NODES);
    if (d->edges < 0 || d->offset[0] != 0 || d->offset[d->nodes] != d->edges)
        return error_data(
            err, "row offsets run from %ld to %ld where 0 to %ld (the stored edges) are needed",
            d->offset[0], d->offset[d->nodes], d->edges);
    if (d->features < 0 || d->features > DATASET_MAX_FEATURES || d->classes < 0 ||
        d->classes > DATASET_MAX_CLASSES)
        return error_data(err, "%ld features and %ld classes; up to %d of each", d->features,
                          d->classes, DATASET_MAX_FEATURES);
    return true;
}

static bool check_offsets(const Dataset *d, Error *err) {
    for (int64_t i = 0; i < d->nodes; i++)
        if (d->offset[i + 1] < d->offset[i] || d->offset[i + 1] > d->edges)
            return error_data(err, "row offsets fall at node %ld (from %ld to %ld)", i,
                              d->offset[i], d->offset[i + 1]);
    return true;
}

static bool check_edges(const Dataset *d, Error *err) {
    int64_t bad = INT64_MAX; // the first edge to no node
#pragma omp parallel for schedule(static) reduction(min : bad) if (d->edges > 65536)
    for (int64_t e = 0; e < d->edges; e++)
        if ((d->target[e] < 0 || d->target[e] >= d->nodes) && e < bad)
            bad = e;
    if (bad < INT64_MAX)
        return error_data(err, "stored edge %ld leads to node %d, but nodes are 0 to %ld", bad,
                          d->target[bad], d->nodes - 1);
    for (int64_t e = 0; d->weight != NULL && e < d->edges; e++)
        if (!isfinite(d->weight[e]) || d->weight[e] < 0)
            return error_data(
                err,
                "stored edge %ld weighs %g; weights must be finite and not negative: give others "
                "(data.weights), or name the two ends of edges alone (data.columns)",
                e, (double)d->weight[e]);
    return true;
}

bool features_check(const Dataset *d, Error *err) {
    int64_t bad = INT64_MAX; // the first element that is not finite
    if (d->sparse.offset != NULL)
        return sparse_check(d, err);
    if (d->x == NULL)
        return true;
#pragma omp parallel for schedule(static) reduction(min : bad) if (d->nodes * d->features > 65536)
    for (int64_t i = 0; i < d->nodes; i++) {
        const float *row = d->x + i * d->features;
        float sum = 0; // a NaN or infinity makes 0 * x and the sum NaN
        for (int64_t f = 0; f < d->features; f++)
            sum += 0 * row[f];
        for (int64_t f = 0; sum != 0 && f < d->features; f++)
            if (!isfinite(row[f]) && i * d->features + f < bad)
                bad = i * d->features + f;
    }
    if (bad == INT64_MAX)
        return true;
    return error_data(err, "feature %ld of node %ld is %s; features must be finite",
                      bad % d->features, bad / d->features,
                      isnan(d->x[bad]) ? "not a number" : "infinite");
}

static bool check_labels(const Dataset *d, Error *err) {
    int64_t entries = d->labels == NULL ? 0 : d->nodes * d->classes;
    for (int64_t i = 0; i < entries; i++)
        if (d->labels[i] > 1)
            return error_data(err, "label %ld of node %ld is %d, neither 0 nor 1", i % d->classes,
                              i / d->classes, d->labels[i]);
    for (int64_t i = 0; d->label != NULL && i < d->nodes; i++)
        if (d->label[i] < -1 || d->label[i] >= d->classes)
            return error_data(err, "node %ld has label %d; labels are 0 to %ld, or -1 for none", i,
                              d->label[i], d->classes - 1);
    for (int64_t i = 0; d->numbers != NULL && i < d->nodes * d->classes; i++)
        if (isinf(d->numbers[i]))
            return error_data(err,
                              "label %ld of node %ld is infinite; numbers to predict are finite, "
                              "or not a number (nan) where a node has none",
                              i % d->classes, i / d->classes);
    return true;
}

bool dataset_is_labelled(const Dataset *d, int64_t node) {
    bool has = d->label == NULL || d->label[node] >= 0;
    for (int64_t k = 0; d->numbers != NULL && k < d->classes; k++)
        has = has && !isnan(d->numbers[node * d->classes + k]);
    return has;
}

static bool check_split(const Dataset *d, Error *err) {
    static const char *const names[] = {"no", "training", "validation", "test"};
    for (int64_t i = 0; i < d->nodes; i++) {
        if (d->split[i] > SPLIT_TEST)
            return error_data(err, "node %ld is in split %d; splits are 0 to 3", i, d->split[i]);
        if (d->split[i] != SPLIT_NONE && !dataset_is_labelled(d, i))
            return error_data(err,
                              "node %ld is a %s node but has no label (%s); take it out of the "
                              "split or give it a label",
                              i, names[d->split[i]],
                              d->numeric ? "nan" : "-1; classes are numbers from 0");
    }
    return true;
}

bool dataset_check(const Dataset *dataset, const char *name, Error *err) {
    assert(dataset->offset != NULL && dataset->target != NULL && dataset->split != NULL);
    assert((dataset->features > 0) == (dataset->x != NULL || dataset->sparse.offset != NULL));
    bool ok = check_sizes(dataset, err) && check_offsets(dataset, err) &&
              (dataset->hyperedges > 0 ? hypergraph_check : check_edges)(dataset, err) &&
              features_check(dataset, err) && check_labels(dataset, err) &&
              check_split(dataset, err);
    return ok || error_prefix(err, "%s", name);
}

bool dataset_needs_split(const char *name, Error *err) {
    return error_data(err,
                      "%s: no node is in the training split; name index files in data.splits, give "
                      "masks where the dataset is written, or draw one: data.splits=random:0.6,0.2 "
                      "(shares), or data.splits=per-class:20,500,1000 (so many a class)",
                      name);
}

bool dataset_can_train(const Dataset *dataset, Error *err) {
    return has_split(dataset, SPLIT_TRAIN) || dataset_needs_split(dataset->name, err);
}

// --- the last steps of every reader

static void sort_rows(Dataset *dataset) {
    Csr rows = dataset_csr(dataset), back, sorted;
    if (csr_is_ascending(&rows))
        return;
    if (rows.weight == NULL && !dataset->mapped) {
        csr_sort_columns(&rows, rows.rows);
        return;
    }
    csr_transpose(&back, &rows, rows.rows);
    csr_transpose(&sorted, &back, back.rows);
    csr_free(&back);
    dataset_set_csr(dataset, &sorted);
}

static void drop_unit_weights(Dataset *dataset) {
    for (int64_t e = 0; dataset->weight != NULL && e < dataset->edges; e++)
        if (dataset->weight[e] != 1)
            return;
    dataset_drop(dataset, &dataset->weight);
}

void dataset_finish(Dataset *dataset) {
    if (dataset->hyperedges > 0) {
        hypergraph_finish(dataset);
        return;
    }
    sort_rows(dataset);
    drop_unit_weights(dataset);
}

// A class without nodes costs a column of the model and is never right. Classes of MATLAB and R
// begin at 1; codes of a catalogue have gaps.
static void warn_of_classes(Dataset *dataset) {
    FREED bool *found = ALLOC(bool, dataset->classes + 1, "classes");
    int64_t used = 0;
    for (int64_t i = 0; dataset->label != NULL && i < dataset->nodes; i++) {
        bool *of_node = &found[dataset->label[i] >= 0 ? dataset->label[i] : dataset->classes];
        used += of_node < found + dataset->classes && !*of_node;
        *of_node = true;
    }
    if (used > 0 && used == dataset->classes - 1 && !found[0])
        warnings_add(&dataset->warnings, "labels begin at 1, so class 0 has no nodes; subtract 1 "
                                         "from all of them if they count from 1");
    else if (used > 0 && 2 * used < dataset->classes)
        warnings_add(&dataset->warnings,
                     "%ld of the %ld classes have no nodes; number the labels from 0 without gaps, "
                     "or give them as names, in a column of data.nodes",
                     dataset->classes - used, dataset->classes);
}

// Nodes to be scored whose class is not learned: their answers are never right.
static void warn_of_unlearned(Dataset *dataset) {
    if (dataset->label == NULL || !has_split(dataset, SPLIT_TRAIN))
        return;
    FREED bool *learned = ALLOC(bool, dataset->classes, "classes");
    int64_t others = 0;
    for (int64_t i = 0; i < dataset->nodes; i++)
        if (dataset->split[i] == SPLIT_TRAIN)
            learned[dataset->label[i]] = true;
    for (int64_t i = 0; i < dataset->nodes; i++)
        others += dataset->split[i] > SPLIT_TRAIN && !learned[dataset->label[i]];
    warn_of_count(dataset, others, "node",
                  "of validation and test with a class that no training node has");
}

static void warn_of_edges(Dataset *dataset) {
    Csr rows = dataset_csr(dataset);
    int64_t zeros = 0;
    for (int64_t e = 0; dataset->weight != NULL && e < dataset->edges; e++)
        zeros += dataset->weight[e] == 0;
    warn_of_count(dataset, zeros, "edge", "of weight 0, which adds nothing to a sum");
    warn_of_count(dataset, csr_loops(&rows), "self-loop", "stored");
    warn_of_count(dataset, csr_duplicates(&rows), "edge", "stored more than once");
}

void dataset_warn_of_oddities(Dataset *dataset) {
    int64_t unlabelled = 0;
    for (int64_t i = 0; i < dataset->nodes; i++)
        unlabelled += !dataset_is_labelled(dataset, i);
    warn_of_classes(dataset);
    warn_of_unlearned(dataset);
    (dataset->hyperedges > 0 ? hypergraph_warn : warn_of_edges)(dataset);
    warn_of_count(dataset, unlabelled, "node", "without label");
}
