// Edges as pairs of node ids, of an edge list, and how they become the rows of a Csr. Ids need not
// be contiguous: they are renumbered in ascending order. If features or labels with R rows are
// given and the ids are below R but incomplete, each id is its row, and missing ids are isolated
// nodes.

#include "internal.h"

#include <stdlib.h>
#include <string.h>

void pairs_clear(Pairs *pairs) {
    memory_free(pairs->source);
    memory_free(pairs->target);
    memory_free(pairs->weight);
    *pairs = (Pairs){0};
}

bool pairs_init(Pairs *pairs, int64_t count, bool weighted, bool undirected, Error *err) {
    int64_t room = undirected ? 2 * count : count;
    *pairs = (Pairs){.source = TRY(int64_t, room, "edges of a list", err),
                     .target = TRY(int64_t, room, "edges of a list", err),
                     .weight = weighted ? TRY(float, room, "weights of a list", err) : NULL};
    return pairs->source != NULL && pairs->target != NULL && (!weighted || pairs->weight != NULL);
}

// Both ends of an edge lie in a column of [2, E], or in a row of [E, 2].
bool pairs_from_npy(Pairs *pairs, const Npy *npy, bool undirected, Error *err) {
    bool columns = npy->rank == 2 && npy->shape[0] == 2,
         rows = npy->rank == 2 && npy->shape[1] == 2;
    if (!columns && !rows)
        return error_set(err, EXIT_DATA,
                         "an edge list must be an array (2, edges) or (edges, 2) of node ids");
    int64_t *ids = NULL, count = npy->elements / 2;
    if (count == 0)
        return error_set(err, EXIT_DATA, "there are no edges in it");
    if (!npy_to_int64(npy, &ids, err))
        return false;
    bool ok = pairs_init(pairs, count, false, undirected, err);
    for (int64_t e = 0; ok && e < count; e++) {
        pairs->source[e] = columns ? ids[e] : ids[2 * e];
        pairs->target[e] = columns ? ids[count + e] : ids[2 * e + 1];
        if (pairs->source[e] < 0 || pairs->target[e] < 0)
            ok =
                error_set(err, EXIT_DATA, "edge %lld leads from %lld to %lld; ids are not negative",
                          (long long)e, (long long)pairs->source[e], (long long)pairs->target[e]);
    }
    pairs->count = count;
    memory_free(ids);
    return ok;
}

bool pairs_set_weights(Pairs *pairs, const Npy *npy, bool undirected, Error *err) {
    float *weight = NULL;
    if (npy->elements != pairs->count)
        return error_set(err, EXIT_DATA, "there are %lld weights, but %lld edges",
                         (long long)npy->elements, (long long)pairs->count);
    pairs->weight = TRY(float, (undirected ? 2 : 1) * pairs->count, "weights of a list", err);
    if (pairs->weight == NULL || !npy_to_float(npy, &weight, err))
        return false;
    memcpy(pairs->weight, weight, (size_t)pairs->count * sizeof *weight);
    memory_free(weight);
    return true;
}

// Appends the reverse of every edge; a self-loop stays single.
static void add_reverses(Pairs *pairs) {
    int64_t count = pairs->count;
    for (int64_t e = 0; e < count; e++) {
        if (pairs->source[e] == pairs->target[e])
            continue;
        pairs->source[pairs->count] = pairs->target[e];
        pairs->target[pairs->count] = pairs->source[e];
        if (pairs->weight != NULL)
            pairs->weight[pairs->count] = pairs->weight[e];
        pairs->count++;
    }
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The distinct ids, ascending: list[0..*count). NULL if there is no memory.
static int64_t *distinct_ids(const Pairs *pairs, int64_t *count, Error *err) {
    int64_t *list = TRY(int64_t, 2 * pairs->count, "ids of a list", err);
    if (list == NULL)
        return NULL;
    memcpy(list, pairs->source, (size_t)pairs->count * sizeof *list);
    memcpy(list + pairs->count, pairs->target, (size_t)pairs->count * sizeof *list);
    qsort(list, (size_t)(2 * pairs->count), sizeof *list, compare_ids);
    *count = 0;
    for (int64_t k = 0; k < 2 * pairs->count; k++)
        if (k == 0 || list[k] != list[k - 1])
            list[(*count)++] = list[k];
    return list;
}

static int64_t place_of(const int64_t *list, int64_t count, int64_t id) {
    const int64_t *found = bsearch(&id, list, (size_t)count, sizeof *list, compare_ids);
    return found - list;
}

// Maps ids to 0 .. n-1, their positions in the ascending list. For dense ids a table is faster than
// a search.
static bool renumber(Pairs *pairs, const int64_t *list, int64_t count, Error *err) {
    int64_t largest = list[count - 1];
    if (largest == count - 1)
        return true;
    bool dense = largest < 8 * count;
    int32_t *place = dense ? TRY(int32_t, largest + 1, "places of ids", err) : NULL;
    if (dense && place == NULL)
        return false;
    for (int64_t k = 0; dense && k < count; k++)
        place[list[k]] = (int32_t)k;
    for (int64_t e = 0; e < pairs->count; e++) {
        int64_t *ends[2] = {&pairs->source[e], &pairs->target[e]};
        for (int k = 0; k < 2; k++)
            *ends[k] = dense ? place[*ends[k]] : place_of(list, count, *ends[k]);
    }
    memory_free(place);
    return true;
}

// Sets *nodes, and renumbers the ids unless they are rows already.
static bool number_nodes(Pairs *pairs, int64_t *nodes, const Request *request, Warnings *warnings,
                         Error *err) {
    int64_t count = 0;
    int64_t *list = distinct_ids(pairs, &count, err);
    if (list == NULL)
        return false;
    bool rows = request->rows > count && list[count - 1] < request->rows;
    *nodes = rows ? request->rows : count;
    if (!rows && list[count - 1] >= count)
        warnings_add(warnings,
                     "node ids run from %lld to %lld%s; the %lld nodes are numbered 0 to "
                     "%lld in ascending order of their ids",
                     (long long)list[0], (long long)list[count - 1],
                     list[count - 1] - list[0] + 1 > count ? " with gaps" : "", (long long)count,
                     (long long)count - 1);
    if (rows && list[0] == 1 && list[count - 1] == request->rows - 1 && count == request->rows - 1)
        warnings_add(warnings,
                     "node ids run from 1 to %lld and are taken as rows, the first of which is 0, "
                     "so node 0 has no edge; subtract 1 if ids begin at 1",
                     (long long)list[count - 1]);
    bool ok = *nodes <= DATASET_MAX_NODES ||
              error_set(err, EXIT_DATA, "%s: %lld nodes; up to %d can be used", request->path,
                        (long long)*nodes, DATASET_MAX_NODES);
    ok = ok && (rows || renumber(pairs, list, count, err));
    memory_free(list);
    return ok;
}

static bool build_rows(Dataset *dataset, const Pairs *pairs, int64_t nodes, Error *err) {
    int32_t *ends = TRY(int32_t, 2 * pairs->count, "ends of edges", err);
    Csr rows;
    if (ends == NULL)
        return false;
    for (int64_t e = 0; e < pairs->count; e++) {
        ends[e] = (int32_t)pairs->source[e];
        ends[pairs->count + e] = (int32_t)pairs->target[e];
    }
    bool ok = csr_from_pairs(&rows, nodes, pairs->count, ends, ends + pairs->count, pairs->weight,
                             "edges of a graph", err);
    if (ok)
        dataset_set_csr(dataset, &rows);
    memory_free(ends);
    return ok;
}

bool pairs_to_rows(Dataset *dataset, Pairs *pairs, const Request *request, Error *err) {
    int64_t nodes = 0;
    if (request->config->data.undirected)
        add_reverses(pairs);
    return number_nodes(pairs, &nodes, request, &dataset->warnings, err) &&
           build_rows(dataset, pairs, nodes, err);
}

bool pairs_to_numbered_rows(Dataset *dataset, Pairs *pairs, int64_t nodes, bool undirected,
                            Error *err) {
    for (int64_t e = 0; e < pairs->count; e++)
        if (pairs->source[e] >= nodes || pairs->target[e] >= nodes)
            return error_set(err, EXIT_DATA,
                             "edge %lld leads from %lld to %lld, but nodes are 0 to %lld",
                             (long long)e, (long long)pairs->source[e], (long long)pairs->target[e],
                             (long long)nodes - 1);
    if (undirected)
        add_reverses(pairs);
    return build_rows(dataset, pairs, nodes, err);
}
