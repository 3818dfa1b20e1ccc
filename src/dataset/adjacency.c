// Adjacency rows. The idea: transposing a CSR by counting sort yields ascending rows, so sorting is
// transposing twice, and a pattern is symmetric if it equals its transpose.

#include "internal.h"

#include <string.h>

bool adjacency_take(Adjacency *rows, int64_t nodes, int64_t edges, bool weighted, Error *err) {
    *rows = (Adjacency){nodes, edges, TRY(int64_t, nodes + 1, "row offsets of a graph", err), NULL,
                        NULL};
    rows->target = TRY(int32_t, edges, "targets of a graph", err);
    rows->weight = weighted ? TRY(float, edges, "weights of a graph", err) : NULL;
    if (rows->offset != NULL && rows->target != NULL && (!weighted || rows->weight != NULL))
        return true;
    adjacency_give(rows);
    return false;
}

void adjacency_give(Adjacency *rows) {
    memory_give(rows->offset);
    memory_give(rows->target);
    memory_give(rows->weight);
    *rows = (Adjacency){0};
}

Adjacency rows_of(const Dataset *dataset) {
    return (Adjacency){dataset->nodes, dataset->edges, dataset->offset, dataset->target,
                       dataset->weight};
}

void rows_set(Dataset *dataset, Adjacency *rows) {
    dataset_give(dataset, dataset->offset);
    dataset_give(dataset, dataset->target);
    dataset_give(dataset, dataset->weight);
    dataset->nodes = rows->nodes;
    dataset->edges = rows->edges;
    dataset->offset = rows->offset;
    dataset->target = rows->target;
    dataset->weight = rows->weight;
    *rows = (Adjacency){0};
}

bool rows_ascending(const Adjacency *rows) {
    for (int64_t i = 0; i < rows->nodes; i++)
        for (int64_t e = rows->offset[i] + 1; e < rows->offset[i + 1]; e++)
            if (rows->target[e - 1] > rows->target[e])
                return false;
    return true;
}

// offset[i+1] holds the count of row i: makes it the end of row i, offset[0] = 0.
static void sum_counts(int64_t *offset, int64_t nodes) {
    offset[0] = 0;
    for (int64_t i = 0; i < nodes; i++)
        offset[i + 1] += offset[i];
}

// Filling row i moves offset[i] to its end; afterwards every entry stands one row too early.
static void shift_back(int64_t *offset, int64_t nodes) {
    memmove(offset + 1, offset, (size_t)nodes * sizeof *offset);
    offset[0] = 0;
}

void rows_transpose(Adjacency *out, const Adjacency *in) {
    *out =
        (Adjacency){in->nodes, in->edges, TAKE(int64_t, in->nodes + 1, "row offsets, transposed"),
                    TAKE(int32_t, in->edges, "targets, transposed"), NULL};
    if (in->weight != NULL)
        out->weight = TAKE(float, in->edges, "weights, transposed");
    for (int64_t e = 0; e < in->edges; e++)
        out->offset[in->target[e] + 1]++;
    sum_counts(out->offset, in->nodes);
    for (int64_t i = 0; i < in->nodes; i++)
        for (int64_t e = in->offset[i]; e < in->offset[i + 1]; e++) {
            int64_t place = out->offset[in->target[e]]++;
            out->target[place] = (int32_t)i;
            if (in->weight != NULL)
                out->weight[place] = in->weight[e];
        }
    shift_back(out->offset, in->nodes);
}

bool rows_from_pairs(Adjacency *out, int64_t nodes, int64_t count, const int32_t *source,
                     const int32_t *target, const float *weight, Error *err) {
    if (!adjacency_take(out, nodes, count, weight != NULL, err))
        return false;
    for (int64_t e = 0; e < count; e++)
        out->offset[source[e] + 1]++;
    sum_counts(out->offset, nodes);
    for (int64_t e = 0; e < count; e++) {
        int64_t place = out->offset[source[e]]++;
        out->target[place] = target[e];
        if (weight != NULL)
            out->weight[place] = weight[e];
    }
    shift_back(out->offset, nodes);
    return true;
}

int64_t rows_loops(const Adjacency *rows) {
    int64_t loops = 0;
    for (int64_t i = 0; i < rows->nodes; i++)
        for (int64_t e = rows->offset[i]; e < rows->offset[i + 1]; e++)
            loops += rows->target[e] == i;
    return loops;
}

int64_t rows_duplicates(const Adjacency *rows) {
    int64_t duplicates = 0;
    for (int64_t i = 0; i < rows->nodes; i++)
        for (int64_t e = rows->offset[i] + 1; e < rows->offset[i + 1]; e++)
            duplicates += rows->target[e - 1] == rows->target[e];
    return duplicates;
}

bool dataset_is_symmetric(const Dataset *dataset) {
    Adjacency rows = rows_of(dataset), back;
    rows_transpose(&back, &rows);
    size_t edges = (size_t)rows.edges;
    bool same =
        memcmp(rows.offset, back.offset, ((size_t)rows.nodes + 1) * sizeof *rows.offset) == 0 &&
        memcmp(rows.target, back.target, edges * sizeof *rows.target) == 0;
    for (size_t e = 0; same && rows.weight != NULL && e < edges; e++)
        same = rows.weight[e] == back.weight[e];
    adjacency_give(&back);
    return same;
}
