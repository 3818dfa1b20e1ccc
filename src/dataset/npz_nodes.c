// What an npz says about nodes: features as CSR (attr_...) or dense, labels (n) or (n, K).

#include "npz_layout.h"

#include <string.h>

// Sparse features become dense float32 rows, unless data.features_as wants them as they are;
// duplicate entries are added.
static bool take_sparse(Dataset *dataset, const FileCsr *csr, const Config *config, Error *err) {
    if (!rows_fit(dataset, "features ('attr_shape')", csr->rows, err))
        return false;
    if (csr->columns > DATASET_MAX_FEATURES)
        return error_set(err, EXIT_DATA, "'attr_shape' says %lld columns; up to %d can be used",
                         (long long)csr->columns, DATASET_MAX_FEATURES);
    if (csr->columns == 0)
        return true;
    if (sparse_is_wanted(config, csr->rows, csr->columns, csr->entries))
        return sparse_from_file(dataset, csr, err);
    features_drop(dataset);
    dataset->features = 0;
    dataset->x = TRY(float, csr->rows * csr->columns, "features as dense float32 rows", err);
    if (dataset->x == NULL)
        return false;
    dataset->features = csr->columns;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1]; e++)
            dataset->x[i * csr->columns + csr->index[e]] += csr->value[e];
    return true;
}

static bool read_features(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Config *config,
                          Error *err) {
    static const char *const parts[] = {"attr_data", "attr_indices", "attr_indptr", "attr_shape"};
    bool sparse = false;
    for (int i = 0; i < 4; i++)
        sparse = sparse || npz_has(npz, parts[i]);
    if (sparse) {
        FileCsr csr;
        if (!file_csr_read(&csr, npz, "attr_", false, err))
            return false;
        bool ok = take_sparse(dataset, &csr, config, err);
        file_csr_clear(&csr);
        return ok;
    }
    Npy npy;
    if (layout->features == NULL || !npz_has(npz, layout->features))
        return true;
    if (!npz_read(npz, layout->features, &npy, err))
        return false;
    bool ok = features_from_npy(dataset, &npy, dataset->nodes, err);
    npy_clear(&npy);
    return ok;
}

static bool read_labels(Dataset *dataset, Npz *npz, const NpzLayout *layout, Error *err) {
    Npy npy;
    if (layout->labels == NULL || !npz_has(npz, layout->labels))
        return true;
    if (!npz_read(npz, layout->labels, &npy, err))
        return false;
    bool ok = labels_from_npy(dataset, &npy, dataset->nodes, err) ||
              error_prefix(err, "array '%s'", layout->labels);
    npy_clear(&npy);
    return ok;
}

bool npz_read_nodes(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Config *config,
                    Error *err) {
    return (config->data.features[0] != '\0' || read_features(dataset, npz, layout, config, err)) &&
           (config->data.labels[0] != '\0' || read_labels(dataset, npz, layout, err));
}

bool npz_name_file(Error *err, const char *path) {
    size_t length = strlen(path);
    return strncmp(err->text, path, length) == 0 ? false : error_prefix(err, "%s", path);
}
