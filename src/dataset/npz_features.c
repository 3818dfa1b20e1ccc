// Sparse features in a file of scipy.sparse.save_npz, CSR or COO, as dense floats.

#include "npz_layout.h"

#include <stdio.h>
#include <string.h>

static bool alloc_rows(Npy *npy, const FileCsr *shape, Error *err) {
    if (shape->columns < 1 || shape->columns > DATASET_MAX_FEATURES)
        return error_set(err, EXIT_DATA, "'shape' says %lld columns; 1 to %d can be used",
                         (long long)shape->columns, DATASET_MAX_FEATURES);
    npy->shape[0] = shape->rows;
    npy->shape[1] = shape->columns;
    npy->elements = shape->rows * shape->columns;
    npy->data = (unsigned char *)TRY(float, npy->elements, "features as dense float32 rows", err);
    return npy->data != NULL;
}

static bool from_csr(Npy *npy, Npz *npz, Error *err) {
    FileCsr csr;
    if (!file_csr_read(&csr, npz, "", false, err))
        return false;
    bool ok = alloc_rows(npy, &csr, err);
    float *x = (float *)(void *)npy->data;
    for (int64_t i = 0; ok && i < csr.rows; i++)
        for (int64_t e = csr.offset[i]; e < csr.offset[i + 1]; e++)
            x[i * csr.columns + csr.index[e]] += csr.value[e];
    file_csr_clear(&csr);
    return ok;
}

static bool read_list(Npy *npy, Npz *npz, const char *key, int64_t count, Error *err) {
    if (!npz_read(npz, key, npy, err))
        return false;
    return (npy->rank == 1 && (count < 0 || npy->elements == count)) ||
           error_set(err, EXIT_DATA, "'%s' is no list as long as the others", key);
}

static bool from_coo(Npy *npy, Npz *npz, Error *err) {
    FileCsr shape;
    Npy row = {0}, column = {0}, value = {0};
    int32_t *at = NULL, *to = NULL;
    float *number = NULL;
    bool ok = file_csr_shape(&shape, npz, "", err) && alloc_rows(npy, &shape, err) &&
              read_list(&row, npz, "row", -1, err) &&
              read_list(&column, npz, "col", row.elements, err) &&
              read_list(&value, npz, "data", row.elements, err) &&
              npy_take_below(&row, "rows", shape.rows, &at, err) &&
              npy_take_below(&column, "columns", shape.columns, &to, err) &&
              npy_to_float(&value, &number, err);
    for (int64_t e = 0; ok && e < value.elements; e++)
        ((float *)(void *)npy->data)[at[e] * shape.columns + to[e]] += number[e];
    memory_free(at);
    memory_free(to);
    memory_free(number);
    npy_clear(&row);
    npy_clear(&column);
    npy_clear(&value);
    return ok;
}

bool features_from_npz(Npy *npy, const char *path, Error *err) {
    char format[8];
    *npy = (Npy){.kind = NPY_FLOAT, .item = 4, .rank = 2};
    snprintf(npy->name, sizeof npy->name, "%.250s", path_name(path));
    Npz *npz = npz_open(path, err);
    bool ok = npz != NULL && npz_format(npz, format, err);
    if (ok && strcmp(format, "coo") == 0)
        ok = from_coo(npy, npz, err);
    else
        ok = ok &&
             (npz_has(npz, "indptr") ||
              error_set(err, EXIT_DATA,
                        "there is no sparse matrix in it, as scipy.sparse.save_npz(path, "
                        "matrix.tocsr()) writes it; an .npz of several arrays is data.nodes")) &&
             (strcmp(format, "csr") == 0 ||
              error_set(err, EXIT_DATA,
                        "its format is '%s'; save features as CSR: save_npz(path, matrix.tocsr())",
                        SHOWN(format))) &&
             from_csr(npy, npz, err);
    npz_close(npz);
    return ok || npz_name_file(err, path);
}
