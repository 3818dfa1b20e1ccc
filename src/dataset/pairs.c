// Edges as pairs of node ids, of an edge list, and how they become the rows of a Csr.

#include "internal.h"

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
    Ids ids = {"node", pairs->count, {pairs->source, pairs->target}};
    return ids_number(&ids, &nodes, request->rows, request->path, &dataset->warnings, err) &&
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
