// Which arrays of an npz hold what. Three kinds of file hold a graph, one a hypergraph:
//
//   gnn-benchmark   adj_data, adj_indices, adj_indptr, adj_shape; attr_..., labels
//   scipy.sparse    data, indices, indptr, shape, format (save_npz)
//   PyG             edge_index (2, edges); x, y, train_mask, val_mask, test_mask
//   hypergraphs     hyperedge_index (2, pins), or node and hyperedge (npz_hypergraph.c)

#include "npz_layout.h"

// The first of the names that is in the archive, or NULL.
static const char *first_of(const Npz *npz, const char *const *names) {
    for (; *names != NULL; names++)
        if (npz_has(npz, *names))
            return *names;
    return NULL;
}

static void find_nodes(NpzLayout *layout, const Npz *npz) {
    static const char *const features[] = {"attr_matrix",   "x",         "features", "feat",
                                           "node_features", "node_feat", "X",        NULL};
    static const char *const labels[] = {"labels", "y", "label", "node_labels", "node_label", NULL};
    layout->features = first_of(npz, features);
    layout->labels = first_of(npz, labels);
}

// The name of a square array of numbers, a matrix of all pairs; NULL: there is none.
static const char *dense_matrix(Npz *npz) {
    Npy npy;
    for (int i = 0; i < npz_count(npz); i++)
        if (npz_look(npz, npz_key(npz, i), &npy, &(Error){0}) && npy.rank == 2 &&
            npy.shape[0] == npy.shape[1] && npy.shape[0] > 2)
            return npz_key(npz, i);
    return NULL;
}

static bool no_graph(Npz *npz, Error *err) {
    char found[512], format[8] = "";
    const char *dense = dense_matrix(npz);
    npz_list(npz, found, sizeof found);
    if (npz_has(npz, "format") && npz_format(npz, format, &(Error){0}))
        return error_data(err,
                          "it is a scipy matrix of the format '%s', which is not read; save it as "
                          "CSR: scipy.sparse.save_npz(path, matrix.tocsr())",
                          SHOWN(format));
    if (dense != NULL)
        return error_data(err,
                          "'%s' is a square array, a matrix of all pairs, which is not read; save "
                          "its entries instead: edge_index=numpy.stack(numpy.nonzero(%s))",
                          SHOWN(dense), SHOWN(dense));
    return error_data(
        err,
        "there is no graph in it; its arrays are %s. fringe reads adj_data, adj_indices, "
        "adj_indptr, adj_shape (gnn-benchmark), or data, indices, indptr, shape "
        "(scipy.sparse.save_npz of a CSR matrix), or edge_index (PyG), or src and dst (DGL), or "
        "edges, or hyperedge_index, or node and hyperedge (hypergraphs); see docs/data.md",
        found);
}

static void find_edges(NpzLayout *layout, const Npz *npz) {
    static const char *const pairs[] = {"edge_index", "edges", "edge_list", NULL};
    static const char *const ends[][2] = {
        {"row", "col"}, {"src", "dst"}, {"source", "target"}, {"senders", "receivers"}, {"u", "v"}};
    layout->pairs = first_of(npz, pairs);
    for (size_t i = 0; i < sizeof ends / sizeof *ends && layout->pairs == NULL; i++)
        if (layout->ends[0] == NULL && npz_has(npz, ends[i][0]) && npz_has(npz, ends[i][1])) {
            layout->ends[0] = ends[i][0];
            layout->ends[1] = ends[i][1];
            layout->coo = i == 0 && npz_has(npz, "shape");
        }
}

bool npz_layout(NpzLayout *layout, Npz *npz, Error *err) {
    static const char *const benchmark[] = {"adj_data", "adj_indices", "adj_indptr", "adj_shape",
                                            NULL};
    *layout = (NpzLayout){.csr = NULL};
    if (first_of(npz, benchmark) != NULL) {
        *layout = (NpzLayout){.csr = "adj_", .features = "attr_matrix", .labels = "labels"};
        return true;
    }
    find_nodes(layout, npz);
    find_edges(layout, npz);
    bool list = layout->pairs != NULL || layout->ends[0] != NULL;
    layout->hypergraph =
        npz_has(npz, "hyperedge_index") || (npz_has(npz, "node") && npz_has(npz, "hyperedge"));
    layout->csr = !list && npz_has(npz, "indptr") ? "" : NULL;
    if (layout->hypergraph && (list || layout->csr != NULL))
        return error_data(err,
                          "it holds a graph and a hypergraph; leave out one of '%s' and "
                          "'hyperedge_index' (or 'node')",
                          layout->csr != NULL     ? "indptr"
                          : layout->pairs != NULL ? layout->pairs
                                                  : layout->ends[0]);
    return list || layout->hypergraph || layout->csr != NULL || no_graph(npz, err);
}

bool npz_layout_of_nodes(NpzLayout *layout, const Npz *npz, Error *err) {
    static const char *const others[] = {"ids",        "attr_shape", "train_idx",
                                         "train_mask", "train_ids",  NULL};
    char found[512];
    *layout = (NpzLayout){.csr = NULL};
    find_nodes(layout, npz);
    if (layout->features != NULL || layout->labels != NULL || first_of(npz, others) != NULL)
        return true;
    npz_list(npz, found, sizeof found);
    return error_data(err,
                      "there is nothing about nodes in it; its arrays are %s. fringe reads "
                      "attr_data, attr_indices, attr_indptr, attr_shape (CSR), or x; labels, or y; "
                      "and the arrays of data.split_keys",
                      found);
}

// Rows of an array, or -1.
static int64_t rows_of(Npz *npz, const char *key) {
    Npy npy;
    if (key == NULL || !npz_has(npz, key) || !npz_look(npz, key, &npy, &(Error){0}) || npy.rank < 1)
        return -1;
    return npy.shape[0];
}

int64_t npz_ids_end(const int64_t *id, int64_t count) {
    int64_t largest = -1;
    for (int64_t p = 0; p < count; p++)
        largest = id[p] > largest ? id[p] : largest;
    return largest < INT32_MAX ? largest + 1 : (int64_t)INT32_MAX + 1;
}

int64_t npz_layout_rows(const NpzLayout *layout, Npz *npz) {
    int64_t features = rows_of(npz, layout->features), labels = rows_of(npz, layout->labels);
    FileCsr sparse = {.csr.rows = -1};
    if (npz_has(npz, "attr_shape") && file_csr_shape(&sparse, npz, "attr_", &(Error){0}))
        features = sparse.csr.rows;
    return features > labels ? features : labels;
}
