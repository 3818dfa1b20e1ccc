// A CSR matrix in an npz: the arrays PREFIXindptr, PREFIXindices, PREFIXdata and PREFIXshape.

#include "npz_layout.h"

#include <stdio.h>

void file_csr_clear(FileCsr *csr) {
    memory_free(csr->offset);
    memory_free(csr->index);
    memory_free(csr->value);
    *csr = (FileCsr){0};
}

static bool read_list(Npy *npy, Npz *npz, const char *prefix, const char *what, Error *err) {
    char key[64];
    snprintf(key, sizeof key, "%s%s", prefix, what);
    if (!npz_read(npz, key, npy, err))
        return false;
    return npy->rank == 1 || error_set(err, EXIT_DATA, "'%s' must be one-dimensional", key);
}

// One-dimensional integers of length *count.
static bool read_integers(Npz *npz, const char *prefix, const char *what, int64_t **out,
                          int64_t *count, Error *err) {
    Npy npy;
    bool ok = read_list(&npy, npz, prefix, what, err) && npy_to_int64(&npy, out, err);
    *count = npy.elements;
    npy_clear(&npy);
    return ok;
}

// Matrices of more columns than a dataset can have are refused once all of it is known.
static bool read_columns(FileCsr *csr, Npz *npz, const char *prefix, Error *err) {
    Npy npy;
    int64_t below = csr->columns - 1 > INT32_MAX ? (int64_t)INT32_MAX + 1 : csr->columns;
    bool ok = read_list(&npy, npz, prefix, "indices", err) &&
              npy_take_below(&npy, "columns", below, &csr->index, err);
    csr->entries = npy.elements;
    npy_clear(&npy);
    return ok;
}

static bool look_at_list(Npy *npy, Npz *npz, const char *prefix, const char *what, Error *err) {
    char key[64];
    snprintf(key, sizeof key, "%s%s", prefix, what);
    return npz_look(npz, key, npy, err);
}

static bool count_values(Npz *npz, const char *prefix, int64_t *count, Error *err) {
    Npy npy;
    bool ok =
        look_at_list(&npy, npz, prefix, "data", err) &&
        (npy.rank == 1 || error_set(err, EXIT_DATA, "'%sdata' must be one-dimensional", prefix));
    *count = npy.elements;
    return ok;
}

static bool read_values(FileCsr *csr, Npz *npz, const char *prefix, int64_t *count, Error *err) {
    Npy npy;
    if (csr->ones)
        return count_values(npz, prefix, count, err);
    bool ok = read_list(&npy, npz, prefix, "data", err) && npy_take_float(&npy, &csr->value, err);
    *count = npy.elements;
    npy_clear(&npy);
    return ok;
}

bool file_csr_shape(FileCsr *csr, Npz *npz, const char *prefix, Error *err) {
    int64_t *shape = NULL, count = 0;
    bool ok = read_integers(npz, prefix, "shape", &shape, &count, err);
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
    return true;
}

static void read_ahead(FileCsr *csr, Npz *npz, const char *prefix, bool weights) {
    char indices[64], data[64];
    snprintf(indices, sizeof indices, "%sindices", prefix);
    snprintf(data, sizeof data, "%sdata", prefix);
    csr->ones = weights && npz_is_all_one(npz, data);
    npz_read_ahead(npz, csr->ones ? 1 : 2, (const char *const[]){indices, data});
}

bool file_csr_read(FileCsr *csr, Npz *npz, const char *prefix, bool weights, Error *err) {
    int64_t offsets = 0, values = 0;
    *csr = (FileCsr){0};
    read_ahead(csr, npz, prefix, weights);
    bool ok = file_csr_shape(csr, npz, prefix, err) &&
              read_integers(npz, prefix, "indptr", &csr->offset, &offsets, err) &&
              read_columns(csr, npz, prefix, err) && read_values(csr, npz, prefix, &values, err) &&
              csr_check(csr, prefix, offsets, values, err);
    if (!ok)
        file_csr_clear(csr);
    return ok;
}
