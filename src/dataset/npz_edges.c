// Lists of edges in an npz: one array of both ends (PyG's edge_index), or one of each (DGL's src
// and dst, scipy's COO). Ids are rows of the features and labels.

#include "npz_layout.h"

const char *npz_weights(const Npz *npz, const Config *config) {
    if (config->data.weights[0] != '\0' && !config_names_file(config->data.weights))
        return config->data.weights;
    return npz_has(npz, "edge_weight") ? "edge_weight" : NULL;
}

static int64_t ids_end(const Pairs *pairs) {
    int64_t source = npz_ids_end(pairs->source, pairs->count);
    int64_t target = npz_ids_end(pairs->target, pairs->count);
    return source > target ? source : target;
}

static bool take_weights(Pairs *pairs, const Npy *npy, const char *key, Error *err) {
    return pairs_set_weights(pairs, npy, err) || error_prefix(err, "array '%s'", key);
}

// Those of data.weights win over the file's own.
static bool read_weights(Pairs *pairs, Npz *npz, const NpzLayout *layout, const Config *config,
                         Warnings *warnings, Error *err) {
    const char *key =
        layout->coo && config->data.weights[0] == '\0' ? "data" : npz_weights(npz, config);
    CLEARED(npy_clear) Npy npy = {0};
    if (config_names_file(config->data.weights)) {
        const char *path = DATASET_PATH(config, config->data.weights);
        if (npz_has(npz, "edge_weight"))
            warnings_add(warnings, "weights are those of data.weights, not 'edge_weight'");
        return npy_read(&npy, path, err) && take_weights(pairs, &npy, path_name(path), err);
    }
    if (key == NULL || (layout->coo && !npz_has(npz, key)))
        return true;
    if (config->data.weights[0] != '\0' && !npz_has(npz, key))
        return error_config(err, "data.weights: there is no array '%s' in it", key);
    if (config->data.weights[0] != '\0' && strcmp(key, "edge_weight") != 0 &&
        npz_has(npz, "edge_weight"))
        warnings_add(warnings, "weights are those of data.weights, not 'edge_weight'");
    return npz_read(npz, key, &npy, err) && take_weights(pairs, &npy, key, err);
}

static bool read_end(int64_t **out, int64_t *count, Npz *npz, const char *key, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    if (!npz_read(npz, key, &npy, err))
        return false;
    bool ok = (npy.rank == 1 || (npy.rank == 2 && npy.shape[1] == 1) ||
               error_data(err, "'%s' must be one-dimensional", key)) &&
              npy_to_int64(&npy, out, err);
    *count = npy.elements;
    for (int64_t e = 0; ok && e < *count; e++)
        if ((*out)[e] < 0)
            ok = error_data(err, "'%s' holds %ld at entry %ld; ids are not negative", key,
                            (*out)[e], e);
    return ok;
}

static bool read_ends(Pairs *pairs, Npz *npz, const NpzLayout *layout, Error *err) {
    int64_t targets = 0;
    *pairs = (Pairs){0};
    if (!read_end(&pairs->source, &pairs->count, npz, layout->ends[0], err) ||
        !read_end(&pairs->target, &targets, npz, layout->ends[1], err))
        return false;
    if (targets != pairs->count)
        return error_data(err, "'%s' has %ld entries and '%s' has %ld", layout->ends[0],
                          pairs->count, layout->ends[1], targets);
    return pairs->count > 0 || error_data(err, "there are no edges in it");
}

// An array whose name does not say where its two directions lie must show it.
static bool read_pairs(Pairs *pairs, Npz *npz, const NpzLayout *layout, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    if (layout->pairs == NULL)
        return read_ends(pairs, npz, layout, err);
    if (!npz_read(npz, layout->pairs, &npy, err))
        return false;
    bool ok = strcmp(layout->pairs, "edge_index") == 0 || npy.rank != 2 || npy.shape[0] != 2 ||
              npy.shape[1] != 2 ||
              error_data(err, "it is (2, 2), which may be two edges either way; call it edge_index "
                              "with sources in the first row");
    return ok && pairs_from_npy(pairs, &npy, false, err);
}

// Without rows of features or labels num_nodes or the largest id says how many nodes there are.
static bool count_nodes(int64_t *nodes, const Pairs *pairs, Npz *npz, const NpzLayout *layout,
                        const Request *request, Error *err) {
    FileCsr shape;
    int64_t rows = npz_layout_rows(layout, npz);
    *nodes = rows > 0 ? rows : request->rows;
    if (layout->coo) {
        if (!file_csr_shape(&shape, npz, "", err) || !file_csr_is_square(&shape, err))
            return false;
        *nodes = shape.csr.rows;
    }
    if (*nodes < 1)
        npz_num_nodes(npz, nodes, &(Error){0});
    *nodes = *nodes < 1 ? ids_end(pairs) : *nodes;
    return *nodes <= DATASET_MAX_NODES ||
           error_data(err, "%ld nodes; up to %d can be used", *nodes, DATASET_MAX_NODES);
}

bool npz_read_edges(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Request *request,
                    Error *err) {
    CLEARED(pairs_clear) Pairs pairs = {0};
    int64_t nodes = 0;
    const Config *config = request->config;
    bool ok = read_pairs(&pairs, npz, layout, err) &&
              read_weights(&pairs, npz, layout, config, &dataset->warnings, err) &&
              count_nodes(&nodes, &pairs, npz, layout, request, err) &&
              pairs_to_numbered_rows(dataset, &pairs, nodes, config->data.undirected, err);
    return ok ||
           error_prefix(err, "array '%s'", layout->pairs != NULL ? layout->pairs : layout->ends[0]);
}
