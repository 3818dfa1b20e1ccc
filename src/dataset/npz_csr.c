// A CSR matrix in an npz: the arrays PREFIXindptr, PREFIXindices, PREFIXdata and PREFIXshape; and
// the matrices of scipy.sparse.save_npz, CSR, CSC or COO, as rows.

#include "npz_layout.h"

#include <stdio.h>
#include <string.h>

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

// by_column: CSC, the rows of whose transpose are read.
static bool read_lists(FileCsr *csr, Npz *npz, const char *prefix, bool by_column, Error *err) {
    int64_t offsets = 0, values = 0;
    if (!file_csr_shape(csr, npz, prefix, err))
        return false;
    if (by_column) {
        int64_t columns = csr->rows;
        csr->rows = csr->columns;
        csr->columns = columns;
    }
    return read_integers(npz, prefix, "indptr", &csr->offset, &offsets, err) &&
           read_columns(csr, npz, prefix, err) && read_values(csr, npz, prefix, &values, err) &&
           csr_check(csr, prefix, offsets, values, err);
}

bool file_csr_read(FileCsr *csr, Npz *npz, const char *prefix, bool weights, Error *err) {
    *csr = (FileCsr){0};
    read_ahead(csr, npz, prefix, weights);
    bool ok = read_lists(csr, npz, prefix, false, err);
    if (!ok)
        file_csr_clear(csr);
    return ok;
}

// ---- matrices of scipy.sparse.save_npz

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

static void transpose(FileCsr *csr) {
    Csr back, rows = {csr->rows, csr->offset, csr->index, csr->value};
    csr_transpose(&back, &rows, csr->columns);
    csr_free(&rows);
    *csr = (FileCsr){.rows = back.rows,
                     .columns = csr->rows,
                     .entries = csr->entries,
                     .offset = back.offset,
                     .index = back.column,
                     .value = back.weight};
}

static bool read_places(FileCsr *coo, int32_t **row, Npz *npz, Error *err) {
    Npy npy;
    int64_t rows = 0, values = 0;
    if (!file_csr_shape(coo, npz, "", err) || !read_list(&npy, npz, "", "row", err))
        return false;
    bool ok = npy_take_below(&npy, "rows", coo->rows, row, err);
    rows = npy.elements;
    npy_clear(&npy);
    if (!ok || !read_list(&npy, npz, "", "col", err))
        return false;
    ok = npy_take_below(&npy, "columns", coo->columns, &coo->index, err);
    coo->entries = npy.elements;
    npy_clear(&npy);
    return ok && read_values(coo, npz, "", &values, err) &&
           ((rows == coo->entries && values == coo->entries) ||
            error_set(err, EXIT_DATA, "'row' has %lld entries, 'col' %lld and 'data' %lld",
                      (long long)rows, (long long)coo->entries, (long long)values));
}

// Entries of a row stay in the order of the file.
static bool sort_by_row(FileCsr *csr, const FileCsr *coo, const int32_t *row, Error *err) {
    Csr rows;
    if (!csr_try(&rows, coo->rows, coo->entries, true, "sparse features", err))
        return false;
    for (int64_t e = 0; e < coo->entries; e++)
        rows.offset[row[e] + 1]++;
    for (int64_t i = 0; i < coo->rows; i++)
        rows.offset[i + 1] += rows.offset[i];
    for (int64_t e = coo->entries; e-- > 0;) {
        int64_t at = --rows.offset[row[e] + 1];
        rows.column[at] = coo->index[e];
        rows.weight[at] = coo->value[e];
    }
    memmove(rows.offset, rows.offset + 1, (size_t)coo->rows * sizeof *rows.offset);
    rows.offset[coo->rows] = coo->entries;
    *csr = (FileCsr){.rows = coo->rows,
                     .columns = coo->columns,
                     .entries = coo->entries,
                     .offset = rows.offset,
                     .index = rows.column,
                     .value = rows.weight};
    return true;
}

static bool read_coo(FileCsr *csr, Npz *npz, Error *err) {
    FileCsr coo = {0};
    int32_t *row = NULL;
    bool ok = read_places(&coo, &row, npz, err) && sort_by_row(csr, &coo, row, err);
    memory_free(row);
    file_csr_clear(&coo);
    return ok;
}

bool file_matrix_read(FileCsr *csr, Npz *npz, Error *err) {
    char format[8];
    *csr = (FileCsr){0};
    if (!npz_format(npz, format, err))
        return false;
    bool by_column = strcmp(format, "csc") == 0, coo = strcmp(format, "coo") == 0;
    bool ok = coo || by_column || strcmp(format, "csr") == 0
                  ? (coo ? read_coo(csr, npz, err) : read_lists(csr, npz, "", by_column, err))
                  : error_set(err, EXIT_DATA,
                              "its format is '%s'; fringe reads csr, csc and coo: save_npz(path, "
                              "matrix.tocsr())",
                              SHOWN(format));
    if (ok && by_column)
        transpose(csr);
    if (!ok)
        file_csr_clear(csr);
    return ok;
}
