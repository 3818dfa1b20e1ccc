// A CSR matrix in an npz: the arrays PREFIXindptr, PREFIXindices, PREFIXdata and PREFIXshape; and
// the matrices of scipy.sparse.save_npz, CSR, CSC or COO, as rows.

#include "npz_layout.h"

void file_csr_clear(FileCsr *csr) {
    MEMORY_FREE(csr->offset, csr->index, csr->value);
    *csr = (FileCsr){0};
}

static const char *key_of(char out[64], const char *prefix, const char *what) {
    snprintf(out, 64, "%s%s", prefix, what);
    return out;
}
#define KEY(prefix, what) key_of((char[64]){0}, prefix, what)

// Matrices of more columns than a dataset can have are refused once all of it is known.
static bool read_columns(FileCsr *csr, Npz *npz, const char *prefix, Error *err) {
    int64_t below = csr->columns - 1 > INT32_MAX ? (int64_t)INT32_MAX + 1 : csr->columns;
    return npz_below(npz, KEY(prefix, "indices"), "columns", below, &csr->index, &csr->entries,
                     err);
}

static bool read_values(FileCsr *csr, Npz *npz, const char *prefix, int64_t *count, Error *err) {
    Npy npy;
    const char *key = KEY(prefix, "data");
    *count = csr->entries;
    if (csr->values == VALUES_UNREAD)
        return true;
    if (csr->values == VALUES_KEPT)
        return npz_floats(npz, key, &csr->value, count, err);
    bool ok = npz_look(npz, key, &npy, err) &&
              (npy.rank == 1 || error_data(err, "'%s' must be one-dimensional", key));
    *count = npy.elements;
    return ok;
}

bool file_csr_shape(FileCsr *csr, Npz *npz, const char *prefix, Error *err) {
    int64_t *shape = NULL, count = 0;
    bool ok = npz_integers(npz, KEY(prefix, "shape"), &shape, &count, err);
    if (ok && (count != 2 || shape[0] < 0 || shape[1] < 0))
        ok = error_data(err, "'%sshape' must be two numbers of rows and columns", prefix);
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
        return error_data(
            err, "'%sindptr' has %ld entries but the shape says %ld rows; rows + 1 are needed",
            prefix, offsets, csr->rows);
    if (values != csr->entries)
        return error_data(err, "'%sdata' has %ld entries but '%sindices' has %ld", prefix, values,
                          prefix, csr->entries);
    if (csr->offset[0] != 0 || csr->offset[csr->rows] != csr->entries)
        return error_data(
            err,
            "'%sindptr' runs from %ld to %ld where 0 to %ld (the length of '%sindices') is needed",
            prefix, csr->offset[0], csr->offset[csr->rows], csr->entries, prefix);
    for (int64_t i = 0; i < csr->rows; i++)
        if (csr->offset[i + 1] < csr->offset[i])
            return error_data(err, "'%sindptr' falls at row %ld", prefix, i);
    return true;
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
    return npz_integers(npz, KEY(prefix, "indptr"), &csr->offset, &offsets, err) &&
           read_columns(csr, npz, prefix, err) && read_values(csr, npz, prefix, &values, err) &&
           csr_check(csr, prefix, offsets, values, err);
}

// ---- matrices of scipy.sparse.save_npz

bool npz_format(Npz *npz, char format[8], Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
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
    return true;
}

static FileCsr file_csr_of(const Csr *rows, int64_t columns) {
    return (FileCsr){.rows = rows->rows,
                     .columns = columns,
                     .entries = csr_entries(rows),
                     .offset = rows->offset,
                     .index = rows->column,
                     .value = rows->weight};
}

static void transpose(FileCsr *csr) {
    Csr back, rows = {csr->rows, csr->offset, csr->index, csr->value};
    csr_transpose(&back, &rows, csr->columns);
    csr_free(&rows);
    *csr = file_csr_of(&back, csr->rows);
}

static bool read_places(FileCsr *coo, int32_t **row, Npz *npz, Error *err) {
    int64_t rows = 0, values = 0;
    if (!file_csr_shape(coo, npz, "", err) ||
        !npz_below(npz, "row", "rows", coo->rows, row, &rows, err) ||
        !npz_below(npz, "col", "columns", coo->columns, &coo->index, &coo->entries, err))
        return false;
    if (rows != coo->entries)
        return error_data(err, "'row' has %ld entries and 'col' has %ld", rows, coo->entries);
    return read_values(coo, npz, "", &values, err) &&
           (values == coo->entries ||
            error_data(err, "'data' has %ld entries and 'row' has %ld", values, rows));
}

static bool ascends(const int32_t *row, int64_t count) {
    for (int64_t e = 1; e < count; e++)
        if (row[e - 1] > row[e])
            return false;
    return true;
}

// Rows that ascend need no sorting: the list of columns is that of the matrix.
static bool take_ascending(FileCsr *csr, FileCsr *coo, const int32_t *row, Error *err) {
    coo->offset = TRY(int64_t, coo->rows + 1, "rows of a matrix", err);
    for (int64_t e = 0; coo->offset != NULL && e < coo->entries; e++)
        coo->offset[row[e] + 1]++;
    if (coo->offset != NULL)
        offsets_sum(coo->offset, coo->rows);
    *csr = *coo;
    *coo = (FileCsr){0};
    return csr->offset != NULL;
}

static bool read_coo(FileCsr *csr, Npz *npz, Error *err) {
    CLEARED(file_csr_clear) FileCsr coo = {.values = csr->values};
    Csr rows;
    CLEARED(memory_drop) int32_t *row = NULL;
    npz_read_ahead(npz, 2, (const char *const[]){"row", "col"});
    if (!read_places(&coo, &row, npz, err))
        return false;
    if (ascends(row, coo.entries))
        return take_ascending(csr, &coo, row, err);
    bool ok = csr_from_pairs(&rows, coo.rows, coo.entries, row, coo.index, coo.value,
                             "entries of a matrix", err);
    if (ok)
        *csr = file_csr_of(&rows, coo.columns);
    return ok;
}

bool file_matrix_read(FileCsr *csr, Npz *npz, const char *prefix, MatrixValues values, Error *err) {
    const char *indices = KEY(prefix, "indices"), *data = KEY(prefix, "data");
    char format[8] = "csr";
    *csr = (FileCsr){.values = values};
    if (prefix[0] == '\0' && !npz_format(npz, format, err))
        return false;
    bool by_column = strcmp(format, "csc") == 0, coo = strcmp(format, "coo") == 0;
    if (!coo && !by_column && strcmp(format, "csr") != 0)
        return error_data(
            err,
            "its format is '%s'; fringe reads csr, csc and coo: save_npz(path, matrix.tocsr())",
            SHOWN(format));
    if (values == VALUES_OF_EDGES && !npz_is_all_one(npz, data))
        csr->values = VALUES_KEPT;
    if (!coo)
        npz_read_ahead(npz, csr->values == VALUES_KEPT ? 2 : 1,
                       (const char *const[]){indices, data});
    bool ok = coo ? read_coo(csr, npz, err) : read_lists(csr, npz, prefix, by_column, err);
    if (ok && by_column)
        transpose(csr);
    if (!ok)
        file_csr_clear(csr);
    return ok;
}

// ---- as the edges of a graph

bool file_csr_is_square(const FileCsr *csr, Error *err) {
    if (csr->rows != csr->columns)
        return error_data(err, "the adjacency has %ld rows and %ld columns; it must be square",
                          csr->rows, csr->columns);
    return (csr->rows >= 1 && csr->rows <= DATASET_MAX_NODES) ||
           error_data(err, "%ld nodes; 1 to %d can be used", csr->rows, DATASET_MAX_NODES);
}

bool matrix_take(Dataset *dataset, Npz *npz, const char *prefix, MatrixValues values, Error *err) {
    FileCsr csr;
    if (!file_csr_shape(&csr, npz, prefix, err) || !file_csr_is_square(&csr, err) ||
        !file_matrix_read(&csr, npz, prefix, values, err))
        return false;
    Csr rows = {csr.rows, csr.offset, csr.index, csr.value};
    dataset_set_csr(dataset, &rows);
    return true;
}

bool matrix_read(Dataset *dataset, const char *path, Error *err) {
    CLEARED(npz_drop) Npz *npz = npz_open(path, err);
    progress_begin("read", "%s", path_name(path));
    return npz != NULL &&
           (matrix_take(dataset, npz, "", VALUES_UNREAD, err) || npz_name_file(err, path));
}
