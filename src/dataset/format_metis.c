// METIS .graph (METIS programs/io.c: ReadGraph).
//
//   % comment
//   n m [fmt [ncon]]                 fmt: digits for sizes, vertex weights, edge weights
//   [size] [w_1 .. w_ncon] v_1 [e_1] v_2 [e_2] ...       one line per vertex, 1-based
//
// m counts an edge once; the lines list it at both ends. METIS itself does not check for symmetry,
// self-loops and duplicates. They are checked here, since a graph that fails is damaged.

#include "internal.h"

typedef struct Header {
    int64_t vertices, entries; // entries: 2 m
    bool sizes, vertex_weights, edge_weights;
    int64_t constraints;
} Header;

static bool read_flags(Header *header, Scan *scan, Error *err) {
    int64_t format = 0, constraints = 0;
    if (!scan_int64(scan, &format, "fmt", err))
        return false;
    int64_t units = format % 10, tens = format / 10 % 10, hundreds = format / 100;
    if (format < 0 || units > 1 || tens > 1 || hundreds > 1)
        return scan_error(scan, err, "fmt %ld is none of 0, 1, 10, 11, 100, 101, 110, 111", format);
    header->edge_weights = units == 1;
    header->vertex_weights = tens == 1;
    header->sizes = hundreds == 1;
    header->constraints = header->vertex_weights;
    if (scan_at_line_end(scan))
        return true;
    if (!scan_int64(scan, &constraints, "ncon", err))
        return false;
    if (!header->vertex_weights || constraints < 1 || constraints > 1000)
        return scan_error(scan, err, "ncon %ld %s", constraints,
                          header->vertex_weights ? "is out of range"
                                                 : "is given but fmt has no vertex weights");
    header->constraints = constraints;
    return true;
}

// Compares sizes with the file's bytes before memory is taken: a vertex needs a line, an entry two
// characters.
static bool read_header(Header *header, Scan *scan, const Text *text, Error *err) {
    int64_t edges = 0;
    *header = (Header){0};
    if (!scan_skip_comments(scan))
        return scan_error(scan, err, "the file holds no header");
    if (!scan_int64(scan, &header->vertices, "the number of vertices", err) ||
        !scan_int64(scan, &edges, "the number of edges", err))
        return false;
    if (!scan_at_line_end(scan) && !read_flags(header, scan, err))
        return false;
    if (!scan_at_line_end(scan))
        return scan_error(scan, err, "something follows the header 'n m fmt ncon'");
    if (header->vertices < 1 || edges < 1)
        return scan_error(scan, err,
                          "%ld vertices and %ld edges; both must be above 0 (a list of edges needs "
                          "data.format=edges)",
                          header->vertices, edges);
    if (header->vertices > (int64_t)text->bytes || edges > (int64_t)text->bytes)
        return scan_error(scan, err, "%ld vertices and %ld edges do not fit a file of %zu bytes",
                          header->vertices, edges, text->bytes);
    if (header->vertices > DATASET_MAX_NODES)
        return scan_error(scan, err, "%ld vertices; up to %d can be used", header->vertices,
                          DATASET_MAX_NODES);
    header->entries = 2 * edges;
    scan_next_line(scan);
    return true;
}

static bool skip_vertex_numbers(const Header *header, Scan *scan, Error *err) {
    int64_t value = 0;
    for (int64_t k = 0; k < header->sizes + header->constraints; k++) {
        if (!scan_int64(scan, &value, "a vertex size or weight", err))
            return false;
        if (value < 0)
            return scan_error(scan, err, "a vertex size or weight is negative (%ld)", value);
    }
    return true;
}

static bool read_neighbour(Csr *rows, const Header *header, int64_t vertex, int64_t *entries,
                           Scan *scan, Error *err) {
    int64_t neighbour = 0;
    if (!scan_int64(scan, &neighbour, "a neighbour", err))
        return false;
    if (neighbour < 1 || neighbour > header->vertices)
        return scan_error(scan, err, "neighbour %ld is not in 1..%ld", neighbour, header->vertices);
    if (neighbour == vertex + 1)
        return scan_error(scan, err, "vertex %ld lists itself; METIS graphs have no self-loops",
                          neighbour);
    if (*entries == header->entries)
        return scan_error(scan, err, "the header says %ld edges but more than %ld entries follow",
                          header->entries / 2, header->entries);
    if (header->edge_weights) {
        float weight = 0;
        if (!scan_float(scan, &weight, "an edge weight", err))
            return false;
        if (!(weight > 0))
            return scan_error(scan, err, "edge weight %g is not above 0", (double)weight);
        rows->weight[*entries] = weight;
    }
    rows->column[(*entries)++] = (int32_t)(neighbour - 1);
    return true;
}

static bool read_lines(Csr *rows, const Header *header, Scan *scan, Error *err) {
    int64_t entries = 0;
    for (int64_t vertex = 0; vertex < header->vertices; vertex++) {
        if (!scan_skip_comments(scan))
            return scan_error(scan, err, "the file ends at vertex %ld of %ld", vertex + 1,
                              header->vertices);
        if (!skip_vertex_numbers(header, scan, err))
            return false;
        while (!scan_at_line_end(scan))
            if (!read_neighbour(rows, header, vertex, &entries, scan, err))
                return false;
        rows->offset[vertex + 1] = entries;
        scan_next_line(scan);
    }
    if (entries != header->entries)
        return scan_error(scan, err,
                          "the header says %ld edges, so %ld entries, but %ld were listed",
                          header->entries / 2, header->entries, entries);
    return true;
}

// Checks that every entry occurs once and has the same weight at both ends. Rows of both matrices
// ascend.
static bool check_pairs(const Csr *sorted, const Csr *back, Error *err) {
    for (int64_t i = 0; i < sorted->rows; i++) {
        int64_t begin = sorted->offset[i], end = sorted->offset[i + 1];
        int64_t other = back->offset[i], other_end = back->offset[i + 1];
        for (int64_t e = begin; e < end; e++, other++) {
            int64_t here = i + 1, there = sorted->column[e] + 1LL;
            if (e > begin && sorted->column[e] == sorted->column[e - 1])
                return error_data(err, "vertex %ld lists %ld twice", here, there);
            if (other == other_end || back->column[other] > sorted->column[e])
                return error_data(err, "vertex %ld lists %ld, but %ld does not list %ld", here,
                                  there, there, here);
            if (back->column[other] < sorted->column[e])
                return error_data(err, "vertex %d lists %ld, but %ld does not list %d",
                                  back->column[other] + 1, here, here, back->column[other] + 1);
            if (sorted->weight != NULL && sorted->weight[e] != back->weight[other])
                return error_data(
                    err, "the edge between %ld and %ld weighs %g at one end and %g at the other",
                    here, there, (double)sorted->weight[e], (double)back->weight[other]);
        }
        if (other != other_end)
            return error_data(err, "vertex %d lists %ld, but not the reverse",
                              back->column[other] + 1, i + 1);
    }
    return true;
}

static bool check_symmetry(const Csr *rows, const char *path, Error *err) {
    CLEARED(csr_free) Csr back, sorted;
    csr_transpose(&back, rows, rows->rows);
    csr_transpose(&sorted, &back, back.rows);
    return check_pairs(&sorted, &back, err) || error_prefix(err, "%s", path);
}

static bool parse(Dataset *dataset, Text *text, const Request *request, Error *err) {
    Scan scan = scan_text(text, request->path);
    Header header;
    CLEARED(csr_free) Csr rows = {0};
    if (!read_header(&header, &scan, text, err) ||
        !csr_try(&rows, header.vertices, header.entries, header.edge_weights, "edges of a graph",
                 err) ||
        !read_lines(&rows, &header, &scan, err) || !check_symmetry(&rows, request->path, err))
        return false;
    dataset_set_csr(dataset, &rows);
    if (header.sizes || header.vertex_weights)
        warnings_add(&dataset->warnings, "vertex %s read past: training has no use for them",
                     header.vertex_weights ? "weights" : "sizes");
    return true;
}

const Format format_metis = {
    .name = "metis", .endings = ".graph .metis .chaco", .parse = parse, .factor.word = 16};
