// A CSR matrix in an npz: the arrays PREFIXindptr, PREFIXindices, PREFIXdata and PREFIXshape.

#include "npz_layout.h"

#include <stdio.h>

void file_csr_clear(FileCsr *csr) {
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

bool file_csr_shape(FileCsr *csr, Npz *npz, const char *prefix, Error *err) {
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

bool file_csr_read(FileCsr *csr, Npz *npz, const char *prefix, Error *err) {
    int64_t offsets = 0, values = 0;
    *csr = (FileCsr){0};
    bool ok = file_csr_shape(csr, npz, prefix, err) &&
              read_list(npz, prefix, "indptr", &csr->offset, NULL, &offsets, err) &&
              read_list(npz, prefix, "indices", &csr->index, NULL, &csr->entries, err) &&
              read_list(npz, prefix, "data", NULL, &csr->value, &values, err) &&
              csr_check(csr, prefix, offsets, values, err);
    if (!ok)
        file_csr_clear(csr);
    return ok;
}

// Counts a CSR matrix as file_csr_read leaves it; returns its entries.
int64_t file_csr_plan(Tally *tally, Npz *npz, const char *prefix) {
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
