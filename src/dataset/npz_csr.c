// A CSR matrix in an npz: the arrays PREFIXindptr, PREFIXindices, PREFIXdata and PREFIXshape; and
// the matrices of scipy.sparse.save_npz, CSR, CSC or COO, as rows.

#include "npz_layout.h"

void file_csr_clear(FileCsr *file) {
    csr_free(&file->csr);
    *file = (FileCsr){0};
}

static const char *key_of(char out[64], const char *prefix, const char *what) {
    snprintf(out, 64, "%s%s", prefix, what);
    return out;
}
#define KEY(prefix, what) key_of((char[64]){0}, prefix, what)

// Matrices of more columns than a dataset can have are refused once all of it is known.
static bool read_columns(FileCsr *file, Npz *npz, const char *prefix, Error *err) {
    int64_t below = file->columns - 1 > INT32_MAX ? (int64_t)INT32_MAX + 1 : file->columns;
    return npz_below(npz, KEY(prefix, "indices"), "columns", below, &file->csr.column,
                     &file->entries, err);
}

static bool read_values(FileCsr *file, Npz *npz, const char *prefix, int64_t *count, Error *err) {
    Npy npy;
    const char *key = KEY(prefix, "data");
    *count = file->entries;
    if (file->values == VALUES_UNREAD)
        return true;
    if (file->values == VALUES_KEPT)
        return npz_floats(npz, key, &file->csr.weight, count, err);
    bool ok = npz_look(npz, key, &npy, err) &&
              (npy.rank == 1 || error_data(err, "'%s' must be one-dimensional", key));
    *count = npy.elements;
    return ok;
}

bool file_csr_shape(FileCsr *file, Npz *npz, const char *prefix, Error *err) {
    FREED int64_t *shape = NULL;
    int64_t count = 0;
    if (!npz_integers(npz, KEY(prefix, "shape"), &shape, &count, err))
        return false;
    if (count != 2 || shape[0] < 0 || shape[1] < 0)
        return error_data(err, "'%sshape' must be two numbers of rows and columns", prefix);
    file->csr.rows = shape[0];
    file->columns = shape[1];
    return true;
}

static bool csr_check(const FileCsr *file, const char *prefix, int64_t offsets, int64_t values,
                      Error *err) {
    if (file->csr.rows > INT64_MAX - 1 || offsets != file->csr.rows + 1)
        return error_data(
            err, "'%sindptr' has %ld entries but the shape says %ld rows; rows + 1 are needed",
            prefix, offsets, file->csr.rows);
    if (values != file->entries)
        return error_data(err, "'%sdata' has %ld entries but '%sindices' has %ld", prefix, values,
                          prefix, file->entries);
    if (file->csr.offset[0] != 0 || file->csr.offset[file->csr.rows] != file->entries)
        return error_data(
            err,
            "'%sindptr' runs from %ld to %ld where 0 to %ld (the length of '%sindices') is needed",
            prefix, file->csr.offset[0], file->csr.offset[file->csr.rows], file->entries, prefix);
    for (int64_t i = 0; i < file->csr.rows; i++)
        if (file->csr.offset[i + 1] < file->csr.offset[i])
            return error_data(err, "'%sindptr' falls at row %ld", prefix, i);
    return true;
}

// by_column: CSC, the rows of whose transpose are read.
static bool read_lists(FileCsr *file, Npz *npz, const char *prefix, bool by_column, Error *err) {
    int64_t offsets = 0, values = 0;
    if (!file_csr_shape(file, npz, prefix, err))
        return false;
    if (by_column) {
        int64_t columns = file->csr.rows;
        file->csr.rows = file->columns;
        file->columns = columns;
    }
    return npz_integers(npz, KEY(prefix, "indptr"), &file->csr.offset, &offsets, err) &&
           read_columns(file, npz, prefix, err) && read_values(file, npz, prefix, &values, err) &&
           csr_check(file, prefix, offsets, values, err);
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

static void transpose(FileCsr *file) {
    Csr back;
    int64_t columns = file->csr.rows;
    csr_transpose(&back, &file->csr, file->columns);
    csr_free(&file->csr);
    file->csr = back;
    file->columns = columns;
}

static bool read_places(FileCsr *coo, int32_t **row, Npz *npz, Error *err) {
    int64_t rows = 0, values = 0;
    if (!file_csr_shape(coo, npz, "", err) ||
        !npz_below(npz, "row", "rows", coo->csr.rows, row, &rows, err) ||
        !npz_below(npz, "col", "columns", coo->columns, &coo->csr.column, &coo->entries, err))
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
static bool take_ascending(FileCsr *file, FileCsr *coo, const int32_t *row, Error *err) {
    coo->csr.offset = TRY(int64_t, coo->csr.rows + 1, "rows of a matrix", err);
    for (int64_t e = 0; coo->csr.offset != NULL && e < coo->entries; e++)
        coo->csr.offset[row[e] + 1]++;
    if (coo->csr.offset != NULL)
        offsets_sum(coo->csr.offset, coo->csr.rows);
    *file = *coo;
    *coo = (FileCsr){0};
    return file->csr.offset != NULL;
}

static bool read_coo(FileCsr *file, Npz *npz, Error *err) {
    CLEARED(file_csr_clear) FileCsr coo = {.values = file->values};
    FREED int32_t *row = NULL;
    npz_read_ahead(npz, 2, (const char *const[]){"row", "col"});
    if (!read_places(&coo, &row, npz, err))
        return false;
    if (ascends(row, coo.entries))
        return take_ascending(file, &coo, row, err);
    file->columns = coo.columns;
    file->entries = coo.entries;
    return csr_from_pairs(&file->csr, coo.csr.rows, coo.entries, row, coo.csr.column,
                          coo.csr.weight, "entries of a matrix", err);
}

bool file_matrix_read(FileCsr *file, Npz *npz, const char *prefix, MatrixValues values,
                      Error *err) {
    const char *indices = KEY(prefix, "indices"), *data = KEY(prefix, "data");
    char format[8] = "csr";
    *file = (FileCsr){.values = values};
    if (prefix[0] == '\0' && !npz_format(npz, format, err))
        return false;
    bool by_column = strcmp(format, "csc") == 0, coo = strcmp(format, "coo") == 0;
    if (!coo && !by_column && strcmp(format, "csr") != 0)
        return error_data(
            err,
            "its format is '%s'; fringe reads csr, csc and coo: save_npz(path, matrix.tocsr())",
            SHOWN(format));
    if (values == VALUES_OF_EDGES && !npz_is_all_one(npz, data))
        file->values = VALUES_KEPT;
    if (!coo)
        npz_read_ahead(npz, file->values == VALUES_KEPT ? 2 : 1,
                       (const char *const[]){indices, data});
    bool ok = coo ? read_coo(file, npz, err) : read_lists(file, npz, prefix, by_column, err);
    if (ok && by_column)
        transpose(file);
    if (!ok)
        file_csr_clear(file);
    return ok;
}

// ---- as the edges of a graph

bool file_csr_is_square(const FileCsr *file, Error *err) {
    if (file->csr.rows != file->columns)
        return error_data(err, "the adjacency has %ld rows and %ld columns; it must be square",
                          file->csr.rows, file->columns);
    return (file->csr.rows >= 1 && file->csr.rows <= DATASET_MAX_NODES) ||
           error_data(err, "%ld nodes; 1 to %d can be used", file->csr.rows, DATASET_MAX_NODES);
}

bool matrix_take(Dataset *dataset, Npz *npz, const char *prefix, MatrixValues values, Error *err) {
    FileCsr file;
    if (!file_csr_shape(&file, npz, prefix, err) || !file_csr_is_square(&file, err) ||
        !file_matrix_read(&file, npz, prefix, values, err))
        return false;
    dataset_set_csr(dataset, &file.csr);
    return true;
}

bool matrix_read(Dataset *dataset, const char *path, Error *err) {
    CLEARED(npz_drop) Npz *npz = npz_open(path, err);
    progress_begin("read", "%s", path_name(path));
    return npz != NULL &&
           (matrix_take(dataset, npz, "", VALUES_UNREAD, err) || npz_name_file(err, path));
}
