// Adjacency matrices as scipy.sparse.save_npz writes them (COO: row, col; CSR: indptr, indices), of
// graphs so large that no array is held twice.

#include "npz_layout.h"

typedef struct Matrix {
    Npz *npz;
    char format[8];
    int64_t nodes;
} Matrix;

static bool read_shape(Matrix *m, int64_t nodes, Error *err) {
    FileCsr shape;
    if (!npz_format(m->npz, m->format, err) || !file_csr_shape(&shape, m->npz, "", err))
        return false;
    m->nodes = shape.rows;
    if (strcmp(m->format, "csr") != 0 && strcmp(m->format, "coo") != 0)
        return error_set(err, EXIT_DATA,
                         "its format is '%s'; fringe reads csr and coo here: save_npz(path, "
                         "matrix.tocsr())",
                         SHOWN(m->format));
    if (shape.rows != shape.columns || shape.rows < 1 || shape.rows > DATASET_MAX_NODES)
        return error_set(err, EXIT_DATA,
                         "'shape' is %lld x %lld; that of a graph is square, with 1 to %d rows",
                         (long long)shape.rows, (long long)shape.columns, DATASET_MAX_NODES);
    return nodes < 0 || nodes == shape.rows ||
           error_set(err, EXIT_DATA, "'shape' says %lld nodes, but there are %lld rows of features",
                     (long long)shape.rows, (long long)nodes);
}

// ---- COO

static bool ascends(const Ends *ends) {
    for (int64_t e = 1; e < ends->count; e++)
        if (ends->source[e - 1] > ends->source[e])
            return false;
    return true;
}

// Rows that ascend need no sorting: the list of columns is that of the Csr.
static bool take_ascending(Dataset *d, Ends *ends, int64_t nodes, Error *err) {
    Csr rows = {.rows = nodes, .offset = TRY(int64_t, nodes + 1, "edges of a graph", err)};
    if (rows.offset == NULL)
        return false;
    for (int64_t e = 0; e < ends->count; e++)
        rows.offset[ends->source[e] + 1]++;
    offsets_sum(rows.offset, nodes);
    rows.column = ends->target;
    ends->target = NULL;
    dataset_set_csr(d, &rows);
    return true;
}

static bool read_coo(Dataset *d, const Matrix *m, Error *err) {
    CLEARED(ends_clear) Ends ends = {0};
    int64_t columns = 0;
    npz_read_ahead(m->npz, 2, (const char *const[]){"row", "col"});
    bool ok = npz_below(m->npz, "row", "nodes", m->nodes, &ends.source, &ends.count, err) &&
              npz_below(m->npz, "col", "nodes", m->nodes, &ends.target, &columns, err);
    if (ok && columns != ends.count)
        ok = error_set(err, EXIT_DATA, "'row' has %lld entries and 'col' has %lld",
                       (long long)ends.count, (long long)columns);
    return ok && (ascends(&ends) ? take_ascending(d, &ends, m->nodes, err)
                                 : ends_to_rows(d, &ends, m->nodes, false, err));
}

// ---- CSR

static bool check_offsets(const Csr *rows, int64_t entries, Error *err) {
    if (rows->offset[0] != 0 || rows->offset[rows->rows] != entries)
        return error_set(err, EXIT_DATA,
                         "'indptr' runs from %lld to %lld where 0 to %lld (the length of "
                         "'indices') is needed",
                         (long long)rows->offset[0], (long long)rows->offset[rows->rows],
                         (long long)entries);
    for (int64_t i = 0; i < rows->rows; i++)
        if (rows->offset[i + 1] < rows->offset[i])
            return error_set(err, EXIT_DATA, "'indptr' falls at row %lld", (long long)i);
    return true;
}

static bool read_offsets(const Matrix *m, Csr *rows, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    if (!npz_read(m->npz, "indptr", &npy, err))
        return false;
    bool ok = (npy.rank == 1 && npy.elements == m->nodes + 1) ||
              error_set(err, EXIT_DATA, "'indptr' has %lld entries; %lld are needed, rows + 1",
                        (long long)npy.elements, (long long)m->nodes + 1);
    return ok && npy_to_int64(&npy, &rows->offset, err);
}

static bool read_csr(Dataset *d, const Matrix *m, Error *err) {
    CLEARED(csr_free) Csr rows = {.rows = m->nodes};
    int64_t entries = 0;
    bool ok = read_offsets(m, &rows, err) &&
              npz_below(m->npz, "indices", "nodes", m->nodes, &rows.column, &entries, err) &&
              check_offsets(&rows, entries, err);
    if (ok)
        dataset_set_csr(d, &rows);
    return ok;
}

bool matrix_parse(Dataset *d, Npz *npz, const char *path, int64_t nodes, Error *err) {
    Matrix m = {.npz = npz};
    return (read_shape(&m, nodes, err) &&
            (strcmp(m.format, "coo") == 0 ? read_coo : read_csr)(d, &m, err)) ||
           npz_name_file(err, path);
}

bool matrix_read(Dataset *d, const char *path, int64_t nodes, Error *err) {
    CLEARED(npz_drop) Npz *npz = npz_open(path, err);
    progress_begin("read", "%s", path_name(path));
    return npz != NULL && matrix_parse(d, npz, path, nodes, err);
}
