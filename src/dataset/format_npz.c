// npz: the adjacency as CSR or as pairs, features as CSR (attr_...) or dense, labels (n) or (n, K),
// splits. Which names these have depends on who wrote it (npz_layout.c). Only these arrays are
// read, so a pickle beside them (class_names) does no harm.

#include "npz_layout.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A CSR matrix as the file holds it, checked.
typedef struct FileCsr {
    int64_t rows, columns, entries;
    int64_t *offset; // [rows+1]
    int64_t *index;  // [entries]
    float *value;    // [entries]
} FileCsr;

static void csr_clear(FileCsr *csr) {
    memory_free(csr->offset);
    memory_free(csr->index);
    memory_free(csr->value);
    *csr = (FileCsr){0};
}

// Reads one array as one-dimensional integers (or floats) of length *count.
static bool read_list(Npz *npz, const char *prefix, const char *what, int64_t **integers,
                      float **floats, int64_t *count, Error *err) {
    char key[64];
    Npy npy;
    snprintf(key, sizeof key, "%s%s", prefix, what);
    if (!npz_read(npz, key, &npy, err))
        return false;
    *count = npy.elements;
    bool ok = npy.rank == 1 || error_set(err, EXIT_DATA, "'%s' must be one-dimensional", key);
    ok = ok &&
         (integers != NULL ? npy_to_int64(&npy, integers, err) : npy_to_float(&npy, floats, err));
    npy_clear(&npy);
    return ok;
}

static bool read_shape(FileCsr *csr, Npz *npz, const char *prefix, Error *err) {
    int64_t *shape = NULL, count = 0;
    bool ok = read_list(npz, prefix, "shape", &shape, NULL, &count, err);
    if (ok && (count != 2 || shape[0] < 0 || shape[1] < 0))
        ok = error_set(err, EXIT_DATA, "'%sshape' must be two numbers of rows and columns", prefix);
    if (ok) {
        csr->rows = shape[0];
        csr->columns = shape[1];
    }
    memory_free(shape);
    return ok;
}

static bool csr_check(const FileCsr *csr, const char *prefix, int64_t offsets, int64_t values,
                      Error *err) {
    if (csr->rows > INT64_MAX - 1 || offsets != csr->rows + 1)
        return error_set(err, EXIT_DATA,
                         "'%sindptr' has %lld entries but the shape says %lld rows; rows + 1 are "
                         "needed",
                         prefix, (long long)offsets, (long long)csr->rows);
    if (values != csr->entries)
        return error_set(err, EXIT_DATA, "'%sdata' has %lld entries but '%sindices' has %lld",
                         prefix, (long long)values, prefix, (long long)csr->entries);
    if (csr->offset[0] != 0 || csr->offset[csr->rows] != csr->entries)
        return error_set(err, EXIT_DATA,
                         "'%sindptr' runs from %lld to %lld where 0 to %lld (the length of "
                         "'%sindices') is needed",
                         prefix, (long long)csr->offset[0], (long long)csr->offset[csr->rows],
                         (long long)csr->entries, prefix);
    for (int64_t i = 0; i < csr->rows; i++)
        if (csr->offset[i + 1] < csr->offset[i])
            return error_set(err, EXIT_DATA, "'%sindptr' falls at row %lld", prefix, (long long)i);
    for (int64_t e = 0; e < csr->entries; e++)
        if (csr->index[e] < 0 || csr->index[e] >= csr->columns)
            return error_set(
                err, EXIT_DATA, "'%sindices' holds %lld at entry %lld, but columns are 0 to %lld",
                prefix, (long long)csr->index[e], (long long)e, (long long)csr->columns - 1);
    return true;
}

static bool csr_read(FileCsr *csr, Npz *npz, const char *prefix, Error *err) {
    int64_t offsets = 0, values = 0;
    *csr = (FileCsr){0};
    bool ok = read_shape(csr, npz, prefix, err) &&
              read_list(npz, prefix, "indptr", &csr->offset, NULL, &offsets, err) &&
              read_list(npz, prefix, "indices", &csr->index, NULL, &csr->entries, err) &&
              read_list(npz, prefix, "data", NULL, &csr->value, &values, err) &&
              csr_check(csr, prefix, offsets, values, err);
    if (!ok)
        csr_clear(csr);
    return ok;
}

static bool check_square(const FileCsr *csr, Error *err) {
    if (csr->rows != csr->columns)
        return error_set(err, EXIT_DATA,
                         "the adjacency has %lld rows and %lld columns; it must be "
                         "square",
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
    FileCsr csr;
    Csr rows = {0};
    char format[8] = "csr";
    if ((prefix[0] == '\0' && !npz_layout_format(npz, format, err)) ||
        !csr_read(&csr, npz, prefix, err))
        return false;
    rows.column =
        check_square(&csr, err) ? TRY(int32_t, csr.entries, "edges of a graph", err) : NULL;
    if (rows.column != NULL) {
        for (int64_t e = 0; e < csr.entries; e++)
            rows.column[e] = (int32_t)csr.index[e];
        rows = (Csr){csr.rows, csr.offset, rows.column, csr.value};
        csr.offset = NULL;
        csr.value = NULL;
        take_rows(dataset, &rows, strcmp(format, "csc") == 0);
    }
    csr_clear(&csr);
    return dataset->target != NULL;
}

static int64_t largest_id(const Pairs *pairs) {
    int64_t largest = 0;
    for (int64_t e = 0; e < pairs->count; e++) {
        largest = pairs->source[e] > largest ? pairs->source[e] : largest;
        largest = pairs->target[e] > largest ? pairs->target[e] : largest;
    }
    return largest;
}

static bool read_edge_weight(Pairs *pairs, Npz *npz, bool undirected, Error *err) {
    Npy npy;
    if (!npz_read(npz, "edge_weight", &npy, err))
        return false;
    bool ok = pairs_set_weights(pairs, &npy, undirected, err);
    npy_clear(&npy);
    return ok || error_prefix(err, "array 'edge_weight'");
}

// Ids are rows of x and y. Without these the largest id says how many nodes there are.
static bool read_edge_index(Dataset *dataset, Npz *npz, const NpzLayout *layout,
                            const Request *request, Error *err) {
    Npy npy;
    Pairs pairs = {0};
    bool undirected = request->config->data.undirected;
    if (!npz_read(npz, "edge_index", &npy, err))
        return false;
    bool ok = pairs_from_npy(&pairs, &npy, undirected, err);
    npy_clear(&npy);
    if (ok && npz_has(npz, "edge_weight"))
        ok = read_edge_weight(&pairs, npz, undirected, err);
    int64_t rows = npz_layout_rows(layout, npz), nodes = rows > 0 ? rows : request->rows;
    nodes = ok && nodes < 1 ? largest_id(&pairs) + 1 : nodes;
    if (ok && nodes > DATASET_MAX_NODES)
        ok = error_set(err, EXIT_DATA, "%lld nodes; up to %d can be used", (long long)nodes,
                       DATASET_MAX_NODES);
    ok = ok && pairs_to_numbered_rows(dataset, &pairs, nodes, undirected, err);
    pairs_clear(&pairs);
    return ok || error_prefix(err, "array 'edge_index'");
}

static bool read_graph(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Request *request,
                       Error *err) {
    return layout->edge_index ? read_edge_index(dataset, npz, layout, request, err)
                              : read_csr_graph(dataset, npz, layout->csr, err);
}

// Sparse features become dense float32 rows; duplicate entries are added.
static bool alloc_features(Dataset *dataset, const FileCsr *csr, Error *err) {
    if (csr->rows != dataset->nodes)
        return error_set(err, EXIT_DATA, "'attr_shape' says %lld rows but there are %lld nodes",
                         (long long)csr->rows, (long long)dataset->nodes);
    if (csr->columns > DATASET_MAX_FEATURES)
        return error_set(err, EXIT_DATA, "'attr_shape' says %lld columns; up to %d can be used",
                         (long long)csr->columns, DATASET_MAX_FEATURES);
    if (csr->columns == 0)
        return true;
    dataset->x = TRY(float, csr->rows * csr->columns, "features as dense float32 rows", err);
    if (dataset->x == NULL)
        return false;
    dataset->features = csr->columns;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1]; e++)
            dataset->x[i * csr->columns + csr->index[e]] += csr->value[e];
    return true;
}

static bool read_features(Dataset *dataset, Npz *npz, const NpzLayout *layout, Error *err) {
    static const char *const parts[] = {"attr_data", "attr_indices", "attr_indptr", "attr_shape"};
    bool sparse = false;
    for (int i = 0; i < 4; i++)
        sparse = sparse || npz_has(npz, parts[i]);
    if (sparse) {
        FileCsr csr;
        if (!csr_read(&csr, npz, "attr_", err))
            return false;
        bool ok = alloc_features(dataset, &csr, err);
        csr_clear(&csr);
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

// Errors of npz_read already name the file.
static bool name_file(Error *err, const char *path) {
    size_t length = strlen(path);
    return strncmp(err->text, path, length) == 0 ? false : error_prefix(err, "%s", path);
}

static bool read_archive(Dataset *dataset, const Request *request, Error *err) {
    Npz *npz = npz_open(request->path, err);
    if (npz == NULL)
        return false;
    NpzLayout layout;
    bool ok = npz_layout(&layout, npz, err) && read_graph(dataset, npz, &layout, request, err);
    if (ok) {
        dataset->split = TRY(uint8_t, dataset->nodes, "splits", err);
        ok = dataset->split != NULL;
    }
    if (ok && request->config->data.features[0] == '\0')
        ok = read_features(dataset, npz, &layout, err);
    if (ok && request->config->data.labels[0] == '\0')
        ok = read_labels(dataset, npz, &layout, err);
    ok = ok && splits_read(dataset, request->config, npz, request->path, err);
    npz_close(npz);
    return ok || name_file(err, request->path);
}

// ---- the plan

// Counts a CSR matrix as csr_read leaves it; returns its entries.
static int64_t plan_csr(Tally *tally, Npz *npz, const char *prefix) {
    static const struct {
        const char *what;
        size_t item;
    } lists[] = {
        {"indptr", sizeof(int64_t)}, {"indices", sizeof(int64_t)}, {"data", sizeof(float)}};
    int64_t entries = 0;
    for (int i = 0; i < 3; i++) {
        char key[64];
        Npy npy;
        Error ignored = {0};
        snprintf(key, sizeof key, "%s%s", prefix, lists[i].what);
        if (npz_look(npz, key, &npy, &ignored))
            entries = tally_array(tally, &npy, lists[i].item);
    }
    return entries;
}

static void plan_features(Tally *tally, Npz *npz, const NpzLayout *layout) {
    Error ignored = {0};
    Npy npy;
    FileCsr shape = {0};
    if (npz_has(npz, "attr_shape") && read_shape(&shape, npz, "attr_", &ignored) &&
        shape.columns <= DATASET_MAX_FEATURES && shape.rows == tally->nodes) {
        size_t before = tally->now;
        plan_csr(tally, npz, "attr_");
        size_t csr = tally->now - before;
        tally_add(tally, memory_product(tally->nodes * shape.columns, sizeof(float)));
        tally_sub(tally, csr);
        tally->features = shape.columns;
    } else if (layout->features != NULL && npz_look(npz, layout->features, &npy, &ignored)) {
        tally_array(tally, &npy, sizeof(float));
        tally->features = npy.rank == 2 ? npy.shape[1] : 0;
    }
}

static void plan_csr_graph(Tally *tally, Npz *npz, const char *prefix) {
    char key[64];
    Npy npy;
    snprintf(key, sizeof key, "%sindptr", prefix);
    tally->weight = sizeof(float); // freed later if all are 1
    tally->edges = plan_csr(tally, npz, prefix);
    if (npz_look(npz, key, &npy, &(Error){0}))
        tally->nodes = npy.elements - 1;
    tally_add(tally, memory_product(tally->edges, sizeof(int32_t)));
    tally_sub(tally, memory_product(tally->edges, sizeof(int64_t)));
    if (prefix[0] == '\0') { // a csc matrix is transposed
        tally_add(tally, tally_rows(tally, tally->edges));
        tally_sub(tally, tally_rows(tally, tally->edges));
    }
}

// The ids as they are stored, as 64-bit numbers, as pairs, as 32-bit ends of edges and as rows.
static void plan_edge_index(Tally *tally, Npz *npz, const NpzLayout *layout,
                            const Request *request) {
    Npy npy;
    if (!npz_look(npz, "edge_index", &npy, &(Error){0}))
        return;
    int64_t rows = npz_layout_rows(layout, npz), both = request->config->data.undirected ? 2 : 1;
    tally->edges = npy.elements / 2 * both;
    tally->nodes = rows > 0 ? rows : request->rows > 0 ? request->rows : 2 * tally->edges;
    size_t weight = npz_has(npz, "edge_weight") ? 2 * sizeof(float) : 0;
    size_t pairs = memory_product(tally->edges, 2 * sizeof(int64_t) + weight);
    size_t read = memory_product(npy.elements, (size_t)npy.item + sizeof(int64_t));
    tally_add(tally, pairs + read);
    tally_sub(tally, read);
    size_t ends = memory_product(tally->edges, 2 * sizeof(int32_t));
    tally_add(tally, ends + tally_rows(tally, tally->edges));
    tally_sub(tally, ends + pairs);
}

static void plan_labels(Tally *tally, Npz *npz, const NpzLayout *layout) {
    Npy npy;
    if (layout->labels == NULL || !npz_has(npz, layout->labels) ||
        !npz_look(npz, layout->labels, &npy, &(Error){0}))
        return;
    size_t numbers = memory_product(tally_array(tally, &npy, sizeof(int64_t)), sizeof(int64_t));
    tally_add(tally, numbers / 2);
    tally_sub(tally, numbers);
}

static void plan(Tally *tally, const Request *request) {
    NpzLayout layout;
    Npz *npz = npz_open(request->path, &(Error){0});
    if (npz == NULL)
        return;
    if (npz_layout(&layout, npz, &(Error){0})) {
        if (layout.edge_index)
            plan_edge_index(tally, npz, &layout, request);
        else
            plan_csr_graph(tally, npz, layout.csr);
        tally_add(tally, (size_t)tally->nodes);
        if (request->config->data.features[0] == '\0')
            plan_features(tally, npz, &layout);
        if (request->config->data.labels[0] == '\0')
            plan_labels(tally, npz, &layout);
    }
    npz_close(npz);
}

// A zip archive begins with PK.
static bool begins_like_zip(const char *path) {
    char head[2] = "";
    int64_t size;
    int descriptor = file_open(path, &size, &(Error){0});
    if (descriptor < 0)
        return false;
    bool zip = read(descriptor, head, 2) == 2 && head[0] == 'P' && head[1] == 'K';
    close(descriptor);
    return zip;
}

static bool matches(const char *path) {
    return format_file_ends(path, (const char *const[]){".npz", NULL}) || begins_like_zip(path);
}

// reads_splits: splits are read while the archive is open.
const Format format_npz = {
    .name = "npz", .matches = matches, .reads_splits = true, .read = read_archive, .plan = plan};
