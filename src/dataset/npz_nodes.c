// What an npz says about nodes: features as CSR (attr_..., or all of the archive) or dense, labels
// (n) or (n, K).

#include "npz_layout.h"

// Sparse features become dense float32 rows, unless data.features_as wants them as they are;
// duplicate entries are added.
static bool take_sparse(Dataset *dataset, const FileCsr *file, const char *shape,
                        const Config *config, Error *err) {
    if (!rows_fit(dataset, shape, file->csr.rows, err))
        return false;
    if (file->columns > DATASET_MAX_FEATURES)
        return error_data(err, "sparse features have %ld columns; up to %d can be used",
                          file->columns, DATASET_MAX_FEATURES);
    if (file->columns == 0)
        return true;
    if (sparse_is_wanted(config, file->csr.rows, file->columns, file->entries))
        return sparse_from_file(dataset, file, err);
    features_drop(dataset);
    dataset->features = 0;
    dataset->x = TRY(float, file->csr.rows * file->columns, "features as dense float32 rows", err);
    if (dataset->x == NULL)
        return false;
    dataset->features = file->columns;
    for (int64_t i = 0; i < file->csr.rows; i++)
        for (int64_t e = file->csr.offset[i]; e < file->csr.offset[i + 1]; e++)
            dataset->x[i * file->columns + file->csr.column[e]] += file->csr.weight[e];
    return true;
}

static bool has_attr(const Npz *npz) {
    return npz_has(npz, "attr_data") || npz_has(npz, "attr_indices") ||
           npz_has(npz, "attr_indptr") || npz_has(npz, "attr_shape");
}

static bool is_matrix(const Npz *npz) {
    return npz_has(npz, "shape") && npz_has(npz, "data") && !has_attr(npz);
}

static bool read_features(Dataset *dataset, Npz *npz, const NpzLayout *layout, bool matrix,
                          const Config *config, Error *err) {
    if (matrix || has_attr(npz)) {
        CLEARED(file_csr_clear) FileCsr file = {0};
        return file_matrix_read(&file, npz, matrix ? "" : "attr_", VALUES_KEPT, err) &&
               take_sparse(dataset, &file,
                           matrix ? "features ('shape')" : "features ('attr_shape')", config, err);
    }
    CLEARED(npy_clear) Npy npy = {0};
    if (layout->features == NULL || !npz_has(npz, layout->features))
        return true;
    if (!npz_read(npz, layout->features, &npy, err))
        return false;
    return features_from_npy(dataset, &npy, dataset->nodes, err);
}

// A file of data.features without any is refused. numpy.savez(path, x) calls its array arr_0.
static bool layout_of_features(NpzLayout *layout, Npz *npz, Error *err) {
    bool unnamed = npz_count(npz) == 1 && npz_has(npz, "arr_0");
    bool known = npz_layout_of_nodes(layout, npz, &(Error){0}) &&
                 (layout->features != NULL || has_attr(npz));
    if (unnamed)
        layout->features = "arr_0";
    return known || unnamed ||
           error_data(
               err, "there are no features in it; fringe reads a matrix of scipy.sparse.save_npz, "
                    "attr_data, attr_indices, attr_indptr and attr_shape (CSR), or x");
}

// Features have no ids of their own: those in the file are to be the nodes', in their order.
static bool ids_agree(const Dataset *dataset, Npz *npz, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    FREED int64_t *id = NULL;
    const NodeIds *ids = &dataset->ids;
    if (!npz_has(npz, "ids"))
        return true;
    if (!npz_read(npz, "ids", &npy, err))
        return false;
    bool same = npy.elements == dataset->nodes && (ids->count == 0 || ids->number != NULL) &&
                npy_to_int64(&npy, &id, &(Error){0});
    for (int64_t i = 0; same && i < dataset->nodes; i++)
        same = id[i] == (ids->count > 0 ? ids->number[i] : i);
    return same || error_data(err, "its 'ids' are not those of the nodes in ascending order; give "
                                   "the file as data.nodes instead of data.features");
}

// Before anything of that many rows is allocated.
static bool matrix_fits(const Dataset *dataset, Npz *npz, Error *err) {
    FileCsr shape;
    return file_csr_shape(&shape, npz, "", err) &&
           rows_fit(dataset, "features ('shape')", shape.csr.rows, err);
}

bool npz_read_features(Dataset *dataset, Npz *npz, const Config *config, Error *err) {
    NpzLayout layout = {.csr = NULL};
    bool matrix = is_matrix(npz);
    return ids_agree(dataset, npz, err) &&
           (matrix ? matrix_fits(dataset, npz, err) : layout_of_features(&layout, npz, err)) &&
           read_features(dataset, npz, &layout, matrix, config, err);
}

int64_t npz_feature_rows(Npz *npz) {
    NpzLayout layout;
    FileCsr shape;
    if (is_matrix(npz))
        return file_csr_shape(&shape, npz, "", &(Error){0}) ? shape.csr.rows : -1;
    if (!layout_of_features(&layout, npz, &(Error){0}))
        return -1;
    layout.labels = NULL;
    return npz_layout_rows(&layout, npz);
}

static bool read_labels(Dataset *dataset, Npz *npz, const NpzLayout *layout, Error *err) {
    return layout->labels == NULL || !npz_has(npz, layout->labels) ||
           npz_take(dataset, npz, layout->labels, labels_from_npy, err);
}

bool npz_read_nodes(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Config *config,
                    Error *err) {
    return (config->data.features[0] != '\0' ||
            read_features(dataset, npz, layout, false, config, err)) &&
           (config->data.labels[0] != '\0' || read_labels(dataset, npz, layout, err));
}
