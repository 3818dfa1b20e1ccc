// npz: the adjacency as CSR or as pairs, or the pins of a hypergraph; features as CSR (attr_...) or
// dense, labels (n) or (n, K), splits. Which names these have depends on who wrote it
// (npz_layout.c). Only these arrays are read, so a pickle beside them (class_names) does no harm.

#include "npz_layout.h"

static bool read_graph(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Request *request,
                       Error *err) {
    if (layout->hypergraph)
        return npz_read_hypergraph(dataset, npz, layout, request, err);
    if (layout->csr == NULL)
        return npz_read_edges(dataset, npz, layout, request, err);
    if (request->config->data.weights[0] != '\0')
        return error_config(
            err, "data.weights: the graph is a matrix, whose values ('%sdata') are the weights",
            layout->csr);
    return matrix_take(dataset, npz, layout->csr, VALUES_OF_EDGES, err);
}

bool npz_read_dataset(Dataset *dataset, Npz *npz, const Request *request, Error *err) {
    NpzLayout layout;
    bool ok = npz_layout(&layout, npz, err) && read_graph(dataset, npz, &layout, request, err) &&
              npz_read_nodes(dataset, npz, &layout, request->config, err);
    if (ok)
        npz_name_unread(dataset, npz, &layout, request->config);
    return ok || npz_name_file(err, request->path);
}

static bool read_archive(Dataset *dataset, const Request *request, Error *err) {
    CLEARED(npz_drop) Npz *npz = npz_open(request->path, err);
    return npz != NULL && npz_read_dataset(dataset, npz, request, err);
}

const Format format_npz = {.name = "npz",
                           .matches = npz_is_archive,
                           .holds_splits = true,
                           .read = read_archive,
                           .factor.number = 24};
