// npz: the adjacency as CSR or as pairs, or the pins of a hypergraph; features as CSR (attr_...) or
// dense, labels (n) or (n, K), splits. Which names these have depends on who wrote it
// (npz_layout.c). Only these arrays are read, so a pickle beside them (class_names) does no harm.

#include "npz_layout.h"

#include <unistd.h>

static bool check_square(const FileCsr *csr, Error *err) {
    if (csr->rows != csr->columns)
        return error_set(err, EXIT_DATA,
                         "the adjacency has %lld rows and %lld columns; it must be square",
                         (long long)csr->rows, (long long)csr->columns);
    if (csr->rows < 1 || csr->rows > DATASET_MAX_NODES)
        return error_set(err, EXIT_DATA, "%lld nodes; 1 to %d can be used", (long long)csr->rows,
                         DATASET_MAX_NODES);
    return true;
}

// The rows of a csc matrix are those of its transpose.
static void take_rows(Dataset *dataset, Csr *rows, bool transposed) {
    Csr back;
    if (transposed) {
        csr_transpose(&back, rows, rows->rows);
        csr_free(rows);
        *rows = back;
    }
    dataset_set_csr(dataset, rows);
}

static bool read_csr_graph(Dataset *dataset, Npz *npz, const char *prefix, Error *err) {
    CLEARED(file_csr_clear) FileCsr csr = {0};
    Csr rows = {0};
    char format[8] = "csr";
    if ((prefix[0] == '\0' && !npz_layout_format(npz, format, err)) ||
        !file_csr_read(&csr, npz, prefix, true, err))
        return false;
    if (check_square(&csr, err)) {
        rows = (Csr){csr.rows, csr.offset, csr.index, csr.value};
        csr = (FileCsr){0};
        take_rows(dataset, &rows, strcmp(format, "csc") == 0);
    }
    return dataset->target != NULL;
}

static bool read_graph(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Request *request,
                       Error *err) {
    if (layout->hypergraph)
        return npz_read_hypergraph(dataset, npz, layout, request, err);
    if (layout->csr == NULL)
        return npz_read_edges(dataset, npz, layout, request, err);
    if (request->config->data.weights[0] != '\0')
        return error_set(err, EXIT_CONFIG,
                         "data.weights: the graph is a matrix, whose values ('%sdata') are the "
                         "weights",
                         layout->csr);
    return read_csr_graph(dataset, npz, layout->csr, err);
}

bool npz_read_dataset(Dataset *dataset, Npz *npz, const Request *request, Error *err) {
    NpzLayout layout;
    bool ok = npz_layout(&layout, npz, err) && read_graph(dataset, npz, &layout, request, err);
    if (ok && dataset->split == NULL) {
        dataset->split = TRY(uint8_t, dataset->nodes, "splits", err);
        ok = dataset->split != NULL;
    }
    ok = ok && npz_read_nodes(dataset, npz, &layout, request->config, err);
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
