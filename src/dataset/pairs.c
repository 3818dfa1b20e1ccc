// Edges as pairs of node ids, of an edge list, and how they become the rows of a Csr.

#include "internal.h"

void pairs_clear(Pairs *pairs) {
    MEMORY_FREE(pairs->source, pairs->target, pairs->weight);
    *pairs = (Pairs){0};
}

bool pairs_init(Pairs *pairs, int64_t count, Error *err) {
    *pairs = (Pairs){.source = TRY(int64_t, count, "edges of a list", err),
                     .target = TRY(int64_t, count, "edges of a list", err)};
    return pairs->source != NULL && pairs->target != NULL;
}

static bool pairs_shape(const Npy *npy, Error *err) {
    bool two = npy->rank == 2 && (npy->shape[0] == 2 || npy->shape[1] == 2);
    if (!two && npy->rank == 2 && npy->shape[0] == npy->shape[1])
        return error_data(err,
                          "a square array (%ld, %ld) is a matrix of all pairs; save its entries: "
                          "numpy.save('edges.npy', numpy.stack(numpy.nonzero(matrix)))",
                          npy->shape[0], npy->shape[1]);
    return two ||
           error_data(err, "an edge list must be an array (2, edges) or (edges, 2) of node ids");
}

// Both ends of an edge lie in a column of [2, E], or in a row of [E, 2].
bool pairs_from_npy(Pairs *pairs, const Npy *npy, bool signs, Error *err) {
    int64_t *ids = NULL, count = npy->elements / 2;
    if (!pairs_shape(npy, err))
        return false;
    bool columns = npy->shape[0] == 2;
    if (count == 0)
        return error_data(err, "there are no edges in it");
    if (!npy_to_int64(npy, &ids, err))
        return false;
    bool ok = pairs_init(pairs, count, err);
    for (int64_t e = 0; ok && e < count; e++) {
        pairs->source[e] = columns ? ids[e] : ids[2 * e];
        pairs->target[e] = columns ? ids[count + e] : ids[2 * e + 1];
        if (!signs && (pairs->source[e] < 0 || pairs->target[e] < 0))
            ok = error_data(err, "edge %ld leads from %ld to %ld; ids are not negative", e,
                            pairs->source[e], pairs->target[e]);
    }
    pairs->count = count;
    memory_free(ids);
    return ok;
}

bool pairs_set_weights(Pairs *pairs, const Npy *npy, Error *err) {
    if (npy->rank > 2 || (npy->rank == 2 && npy->shape[1] != 1))
        return error_data(err,
                          "it has %d dimensions with more than one number for each edge; a weight "
                          "is one number: save one of its columns, array[:, 0]",
                          npy->rank);
    if (npy->elements != pairs->count)
        return error_data(err, "there are %ld weights, but %ld edges", npy->elements, pairs->count);
    memory_free(pairs->weight);
    pairs->weight = NULL;
    return npy_to_float(npy, &pairs->weight, err);
}

// ---- rows

// Adds the reverse of each edge that is no self-loop and has none in the list.
static bool add_reverses(Csr *rows, const NodeIds *ids, Error *err) {
    CLEARED(csr_free) Csr there, back;
    csr_transpose(&back, rows, rows->rows);
    csr_free(rows);
    csr_transpose(&there, &back, back.rows); // with rows that ascend
    return csr_unite(rows, &there, &back, ids, err);
}

static bool build_rows(Dataset *dataset, const Pairs *pairs, int64_t nodes, bool undirected,
                       Error *err) {
    int32_t *ends = TRY(int32_t, 2 * pairs->count, "ends of edges", err);
    Csr rows = {0};
    if (ends == NULL)
        return false;
    for (int64_t e = 0; e < pairs->count; e++) {
        ends[e] = (int32_t)pairs->source[e];
        ends[pairs->count + e] = (int32_t)pairs->target[e];
    }
    bool ok = csr_from_pairs(&rows, nodes, pairs->count, ends, ends + pairs->count, pairs->weight,
                             "edges of a graph", err);
    memory_free(ends);
    ok = ok && (!undirected || add_reverses(&rows, &dataset->ids, err));
    if (ok)
        dataset_set_csr(dataset, &rows);
    return ok;
}

// Weights of a file beside the list, one for each of its lines.
static bool weights_beside(Pairs *pairs, const Config *config, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    if (!config_names_file(config->data.weights))
        return config->data.weights[0] == 0 ||
               error_config(err,
                            "data.weights: '%s' is no file; beside a list of edges name a .npy "
                            "with one number for each edge",
                            config->data.weights);
    const char *path = DATASET_PATH(config, config->data.weights);
    return npy_read(&npy, path, err) &&
           (pairs_set_weights(pairs, &npy, err) || error_prefix(err, "%s", path));
}

// Ids that stand in the file of nodes alone are nodes without an edge.
static bool check_isolated(Dataset *dataset, int64_t known, const char *path, Error *err) {
    int64_t isolated = known > 0 ? dataset_isolated(dataset) : 0;
    if (known > 0 && isolated == known)
        return error_data(
            err,
            "%s: none of the %ld ids of data.nodes stands in it; both must call a node the same",
            path, known);
    warn_of_count(dataset, isolated, "node", "of data.nodes in no edge");
    return true;
}

bool pairs_to_rows(Dataset *dataset, Pairs *pairs, const PairIds *are, const Request *request,
                   Error *err) {
    int64_t nodes = 0;
    IdColumns columns = {
        "node",
        are->is_unsigned,
        2,
        {{pairs->count, pairs->source, are->text}, {pairs->count, pairs->target, are->text}}};
    Pairs own = *pairs;
    bool beside = config_names_file(request->config->data.weights);
    own.weight = beside ? NULL : pairs->weight;
    bool numbered = node_files_add_ids(request->node_files, &columns, err) &&
                    ids_number_nodes(&columns, &dataset->ids, &nodes,
                                     node_files_have_ids(request->node_files) ? -1 : request->rows,
                                     request->path, &dataset->warnings, err);
    int64_t known = columns.columns == 3 ? columns.of[2].count : 0;
    if (columns.columns == 3)
        memory_free(columns.of[2].value);
    if (!numbered)
        return false;
    if (beside && pairs->weight != NULL)
        warnings_add(&dataset->warnings,
                     "weights are those of data.weights, not of the edges' file");
    bool ok = weights_beside(&own, request->config, err) &&
              build_rows(dataset, &own, nodes, are->undirected, err) &&
              check_isolated(dataset, known, request->path, err);
    if (beside)
        memory_free(own.weight);
    return ok;
}

// Ids 1 to n.
static bool count_from_one(const Pairs *pairs, int64_t nodes) {
    int64_t least = INT64_MAX, most = -1;
    for (int64_t e = 0; e < pairs->count; e++) {
        int64_t a = pairs->source[e], b = pairs->target[e];
        least = a < least ? a : least;
        least = b < least ? b : least;
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    return least >= 1 && most == nodes;
}

bool pairs_to_numbered_rows(Dataset *dataset, Pairs *pairs, int64_t nodes, bool undirected,
                            Error *err) {
    for (int64_t e = 0; e < pairs->count; e++)
        if (pairs->source[e] >= nodes || pairs->target[e] >= nodes)
            return error_data(err, "edge %ld leads from %ld to %ld, but nodes are 0 to %ld%s", e,
                              pairs->source[e], pairs->target[e], nodes - 1,
                              count_from_one(pairs, nodes)
                                  ? "; the ids count from 1: subtract 1 from all of them"
                                  : "");
    return build_rows(dataset, pairs, nodes, undirected, err);
}
