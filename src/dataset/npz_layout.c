// Which arrays of an npz hold what. Three kinds of file hold a graph, one a hypergraph:
//
//   gnn-benchmark   adj_data, adj_indices, adj_indptr, adj_shape; attr_..., labels
//   scipy.sparse    data, indices, indptr, shape, format (save_npz)
//   PyG             edge_index (2, edges); x, y, train_mask, val_mask, test_mask
//   hypergraphs     hyperedge_index (2, pins), or node and hyperedge (npz_hypergraph.c)

#include "npz_layout.h"

#include <stdio.h>
#include <string.h>

// The first of the names that is in the archive, or NULL.
static const char *first_of(const Npz *npz, const char *const *names) {
    for (; *names != NULL; names++)
        if (npz_has(npz, *names))
            return *names;
    return NULL;
}

// All arrays, shortened.
static void list_arrays(const Npz *npz, char *out, size_t size) {
    out[0] = '\0';
    for (int i = 0; i < npz_count(npz) && strlen(out) + 64 < size; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s%.40s", i > 0 ? ", " : "",
                 npz_key(npz, i));
    if (out[0] == '\0')
        snprintf(out, size, "none");
}

static void find_nodes(NpzLayout *layout, const Npz *npz) {
    static const char *const features[] = {"attr_matrix", "x", "features", "feat", NULL};
    static const char *const labels[] = {"labels", "y", "label", NULL};
    layout->features = first_of(npz, features);
    layout->labels = first_of(npz, labels);
}

static bool no_graph(const Npz *npz, Error *err) {
    char found[512];
    list_arrays(npz, found, sizeof found);
    return error_set(err, EXIT_DATA,
                     "there is no graph in it; its arrays are %s. fringe reads adj_data, "
                     "adj_indices, adj_indptr, adj_shape (gnn-benchmark), or data, indices, "
                     "indptr, shape (scipy.sparse.save_npz of a CSR matrix), or edge_index (PyG), "
                     "or hyperedge_index, or node and hyperedge (hypergraphs); see docs/data.md",
                     found);
}

bool npz_layout(NpzLayout *layout, const Npz *npz, Error *err) {
    static const char *const benchmark[] = {"adj_data", "adj_indices", "adj_indptr", "adj_shape",
                                            NULL};
    *layout = (NpzLayout){.edge_index = false};
    if (first_of(npz, benchmark) != NULL) {
        *layout = (NpzLayout){.csr = "adj_", .features = "attr_matrix", .labels = "labels"};
        return true;
    }
    find_nodes(layout, npz);
    layout->edge_index = npz_has(npz, "edge_index");
    layout->hypergraph =
        npz_has(npz, "hyperedge_index") || (npz_has(npz, "node") && npz_has(npz, "hyperedge"));
    layout->csr = !layout->edge_index && npz_has(npz, "indptr") ? "" : NULL;
    if (layout->hypergraph && (layout->edge_index || layout->csr != NULL))
        return error_set(err, EXIT_DATA,
                         "it holds a graph and a hypergraph; leave out one of 'edge_index' (or "
                         "'indptr') and 'hyperedge_index' (or 'node')");
    return layout->edge_index || layout->hypergraph || layout->csr != NULL || no_graph(npz, err);
}

bool npz_layout_of_nodes(NpzLayout *layout, const Npz *npz, Error *err) {
    static const char *const others[] = {"ids", "attr_shape", "train_idx", "train_mask", NULL};
    char found[512];
    *layout = (NpzLayout){.edge_index = false};
    find_nodes(layout, npz);
    if (layout->features != NULL || layout->labels != NULL || first_of(npz, others) != NULL)
        return true;
    list_arrays(npz, found, sizeof found);
    return error_set(err, EXIT_DATA,
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
    FileCsr sparse = {.rows = -1};
    if (npz_has(npz, "attr_shape") && file_csr_shape(&sparse, npz, "attr_", &(Error){0}))
        features = sparse.rows;
    return features > labels ? features : labels;
}

bool npz_format(Npz *npz, char format[8], Error *err) {
    Npy npy;
    snprintf(format, 8, "csr");
    if (!npz_has(npz, "format"))
        return true;
    if (!npz_read(npz, "format", &npy, err))
        return false;
    size_t step = npy.item % 4 == 0 ? 4 : 1; // UCS-4, or bytes
    memset(format, 0, 8);
    for (size_t i = 0; npy.kind == NPY_TEXT && npy.elements == 1 && i < 7; i++)
        if (i * step < (size_t)npy.item)
            format[i] = (char)npy.data[i * step];
    npy_clear(&npy);
    return true;
}

bool npz_layout_format(Npz *npz, char format[8], Error *err) {
    return npz_format(npz, format, err) &&
           (strcmp(format, "csr") == 0 || strcmp(format, "csc") == 0 ||
            error_set(err, EXIT_DATA,
                      "its format is '%s'; fringe reads csr and csc: save_npz(path, "
                      "matrix.tocsr())",
                      SHOWN(format)));
}
