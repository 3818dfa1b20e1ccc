// Matrix Market files of coordinates (NIST; mmio.c). A matrix of weights: entry (i, j) is the edge
// from node i - 1 to node j - 1, and explicit zeros are no edges. A matrix that is not square, or
// any with data.hyperedges, is the incidence of a hypergraph: its entries are pins, whose values
// are not read, and hyperedges are its columns or its rows. Those without a pin are left out.
//
//   %%MatrixMarket matrix coordinate real|integer|pattern general|symmetric
//   % comments
//   rows columns entries
//   i j [value]

#include "internal.h"

#include <strings.h>

typedef struct Matrix {
    bool pattern;            // no values
    bool symmetric;          // only one of (i, j) and (j, i) is stored
    bool incidence, by_rows; // hyperedges are rows
    int64_t rows, columns, entries;
    int64_t above; // entries above the diagonal of a symmetric matrix
} Matrix;

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words != NULL; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

static bool read_banner(Matrix *m, Scan *scan, Error *err) {
    char banner[16] = "", object[16] = "", form[16] = "", field[16] = "", symmetry[20] = "";
    sscanf(scan->at, "%15s %15s %15s %15s %19s", banner, object, form, field, symmetry);
    if (strcasecmp(banner, "%%MatrixMarket") != 0 || strcasecmp(object, "matrix") != 0)
        return scan_error(scan, err,
                          "it does not begin with '%%%%MatrixMarket matrix', as in "
                          "'%%%%MatrixMarket matrix coordinate pattern general'");
    if (strcasecmp(form, "coordinate") != 0)
        return scan_error(scan, err,
                          "it is a matrix of the form '%s'; a graph is one of 'coordinate', which "
                          "scipy.io.mmwrite(NEW, scipy.sparse.coo_matrix(scipy.io.mmread(OLD))) "
                          "writes",
                          form);
    if (!is_one_of(field, (const char *const[]){"real", "integer", "pattern", NULL}))
        return scan_error(scan, err, "its values are '%s'; a graph has real, integer or pattern",
                          field);
    if (!is_one_of(symmetry, (const char *const[]){"general", "symmetric", NULL}))
        return scan_error(scan, err,
                          "'%s' is not read; a graph is general or symmetric, and its weights are "
                          "not negative (abs of the matrix, in scipy)",
                          symmetry);
    m->pattern = strcasecmp(field, "pattern") == 0;
    m->symmetric = strcasecmp(symmetry, "symmetric") == 0;
    scan_next_line(scan);
    return true;
}

// Blank lines and comments may stand anywhere.
static bool skip_blank(Scan *scan) {
    while (scan->at < scan->end && (*scan->at == '%' || scan_at_line_end(scan)))
        scan_next_line(scan);
    return scan->at < scan->end;
}

static bool sizes_fit(const Matrix *m, const Scan *scan, Error *err) {
    int64_t nodes = m->incidence && m->by_rows ? m->columns : m->rows;
    if (m->incidence)
        return hypergraph_fits(nodes, m->rows + m->columns - nodes, err) ||
               error_prefix(err, "%s:%ld", scan->path, scan->line);
    return (nodes >= 1 && nodes <= DATASET_MAX_NODES) ||
           scan_error(scan, err, "%ld nodes; 1 to %d can be used", nodes, DATASET_MAX_NODES);
}

static bool read_sizes(Matrix *m, Scan *scan, const Config *config, Error *err) {
    const char *key = config->data.hyperedges;
    skip_blank(scan);
    if (!scan_int64(scan, &m->rows, "the number of rows", err) ||
        !scan_int64(scan, &m->columns, "the number of columns", err) ||
        !scan_int64(scan, &m->entries, "the number of entries", err))
        return false;
    m->by_rows = strcmp(key, "rows") == 0;
    m->incidence = m->rows != m->columns || m->by_rows || strcmp(key, "columns") == 0;
    if (m->incidence && m->symmetric)
        return scan_error(scan, err,
                          "a symmetric matrix is that of a graph; remove data.hyperedges, or write "
                          "the incidence matrix as a general one");
    if (!sizes_fit(m, scan, err))
        return false;
    if (m->entries < 0 || m->entries > (scan->end - scan->at) / 4 + 1)
        return scan_error(
            scan, err,
            "it says that there are %ld entries, which do not fit into the rest of the file",
            m->entries);
    scan_next_line(scan);
    return true;
}

static bool read_entry(Matrix *m, Pairs *pairs, Scan *scan, Error *err) {
    int64_t end[2];
    float value = 1;
    for (int k = 0; k < 2; k++) {
        if (!scan_int64(scan, &end[k], k == 0 ? "a row" : "a column", err))
            return false;
        int64_t most = k == 0 ? m->rows : m->columns;
        if (end[k] < 1 || end[k] > most)
            return scan_error(scan, err, "%s %ld is not one of 1 to %ld", k == 0 ? "row" : "column",
                              end[k], most);
    }
    if (!m->pattern && !scan_float(scan, &value, "a value", err))
        return false;
    if (!scan_at_line_end(scan))
        return scan_error(scan, err, "there is more than one entry in the line");
    m->above += m->symmetric && end[0] < end[1];
    for (int back = 0; value != 0 && back <= (m->symmetric && end[0] != end[1]); back++) {
        pairs->source[pairs->count] = end[back] - 1;
        pairs->target[pairs->count] = end[1 - back] - 1;
        pairs->weight[pairs->count++] = value;
    }
    return true;
}

static bool read_entries(Matrix *m, Pairs *pairs, Scan *scan, Error *err) {
    int64_t entries = 0;
    int64_t room = m->symmetric ? 2 * m->entries : m->entries;
    if (!pairs_init(pairs, room, err))
        return false;
    pairs->weight = TRY(float, room, "weights of a list", err);
    if (pairs->weight == NULL)
        return false;
    for (; skip_blank(scan); scan_next_line(scan), entries++) {
        if (entries == m->entries)
            return scan_error(scan, err,
                              "there are more than the %ld entries that the file announces",
                              m->entries);
        if (!read_entry(m, pairs, scan, err))
            return false;
    }
    return entries == m->entries ||
           error_data(err, "%s: there are %ld entries, but the file announces %ld", scan->path,
                      entries, m->entries);
}

// Numbers those hyperedges that have pins; returns how many there are, or -1 with an error.
static int64_t leave_out_empty(Pins *pins, int64_t hyperedges, Error *err) {
    FREED int32_t *number = TRY(int32_t, hyperedges, "numbers of hyperedges", err);
    int64_t count = 0;
    if (number == NULL)
        return -1;
    for (int64_t p = 0; p < pins->count; p++)
        number[pins->hyperedge[p]] = 1;
    for (int64_t h = 0; h < hyperedges; h++)
        number[h] = number[h] != 0 ? (int32_t)count++ : -1;
    for (int64_t p = 0; p < pins->count; p++)
        pins->hyperedge[p] = number[pins->hyperedge[p]];
    return count;
}

static bool make_hypergraph(Dataset *d, const Matrix *m, const Pairs *pairs, const char *path,
                            Error *err) {
    int64_t *of_row = pairs->source, *of_column = pairs->target;
    Pins pins = {.count = pairs->count,
                 .node = m->by_rows ? of_column : of_row,
                 .hyperedge = m->by_rows ? of_row : of_column};
    int64_t nodes = m->by_rows ? m->columns : m->rows, all = m->rows + m->columns - nodes;
    int64_t hyperedges = leave_out_empty(&pins, all, err);
    if (hyperedges == 0)
        return error_data(err, "%s: there are no pins in it", path);
    if (hyperedges < 0 || !pins_to_rows(d, &pins, nodes, hyperedges, err))
        return false;
    const char *kind = m->by_rows ? "row" : "column", *other = m->by_rows ? "columns" : "rows";
    warnings_add(&d->warnings,
                 "read as the incidence matrix of a hypergraph: %ss are hyperedges, %s are nodes "
                 "(data.hyperedges)",
                 kind, other);
    warn_of_count(d, all - hyperedges, kind, "without entries, which is no hyperedge");
    return true;
}

static bool make_graph(Dataset *d, const Matrix *m, Pairs *pairs, Error *err) {
    if (!pairs_to_numbered_rows(d, pairs, m->rows, false, err))
        return false;
    warn_of_count(d, m->above, "value",
                  "above the diagonal of a symmetric matrix, which stores "
                  "those below; read as if it were below");
    d->states_direction = m->symmetric;
    return true;
}

static bool parse(Dataset *d, Text *text, const Request *request, Error *err) {
    Matrix m = {0};
    CLEARED(pairs_clear) Pairs pairs = {0};
    Scan scan = scan_text(text, request->path);
    if (!read_banner(&m, &scan, err) || !read_sizes(&m, &scan, request->config, err))
        return false;
    if (request->config->data.undirected && !m.symmetric) // a symmetric one has both directions
        return error_config(err,
                            "%s: data.undirected is for lists of edges; the file is a general "
                            "matrix, which data.transforms symmetrize makes undirected",
                            request->path);
    return read_entries(&m, &pairs, &scan, err) &&
           (m.incidence ? make_hypergraph(d, &m, &pairs, request->path, err)
                        : make_graph(d, &m, &pairs, err));
}

const Format format_mtx = {.name = "mtx", .endings = ".mtx", .parse = parse, .factor.word = 32};
