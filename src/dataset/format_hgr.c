// hMETIS .hgr (hMETIS manual 1.5.3): a hypergraph, one line for each hyperedge.
//
//   % comment
//   m n [fmt]                        fmt: 1 weights of hyperedges, 10 of vertices, 11 both
//   [weight] v_1 v_2 ...             m lines, 1-based
//   [weight]                         n lines, if fmt is 10 or 11

#include "internal.h"

typedef struct Header {
    int64_t hyperedges, vertices;
    bool hyperedge_weights, vertex_weights;
} Header;

// A file of B bytes may announce this many vertices, most of which are in no hyperedge.
enum { VERTICES_OF_A_BYTE = 16, VERTICES_OF_ANY_FILE = 1 << 20 };

// Compares sizes with the file's bytes before memory is taken.
static bool check_header(const Header *header, const Scan *scan, size_t bytes, Error *err) {
    int64_t most = (int64_t)bytes * VERTICES_OF_A_BYTE + VERTICES_OF_ANY_FILE;
    if (header->hyperedges > (int64_t)bytes || header->vertices > most)
        return scan_error(scan, err,
                          "%ld hyperedges of %ld vertices do not fit a file of %zu bytes",
                          header->hyperedges, header->vertices, bytes);
    Error found = {0};
    return hypergraph_fits(header->vertices, header->hyperedges, &found) ||
           scan_error(scan, err, "%s", found.text);
}

static bool read_header(Header *header, Scan *scan, Error *err) {
    int64_t format = 0;
    size_t bytes = (size_t)(scan->end - scan->at);
    *header = (Header){0};
    if (!scan_skip_comments(scan))
        return scan_error(scan, err, "the file holds no header");
    if (!scan_int64(scan, &header->hyperedges, "the number of hyperedges", err) ||
        !scan_int64(scan, &header->vertices, "the number of vertices", err) ||
        (!scan_at_line_end(scan) && !scan_int64(scan, &format, "fmt", err)))
        return false;
    if (!scan_at_line_end(scan))
        return scan_error(scan, err, "something follows the header 'hyperedges vertices fmt'");
    if (format != 0 && format != 1 && format != 10 && format != 11)
        return scan_error(scan, err, "fmt %ld is none of 0, 1, 10, 11", format);
    header->hyperedge_weights = format % 10 == 1;
    header->vertex_weights = format >= 10;
    if (!check_header(header, scan, bytes, err))
        return false;
    scan_next_line(scan);
    return true;
}

static bool read_pins(Pins *pins, const Header *header, int64_t hyperedge, Scan *scan, Error *err) {
    if (scan_at_line_end(scan))
        return scan_error(scan, err, "hyperedge %ld has no pins", hyperedge + 1);
    while (!scan_at_line_end(scan)) {
        int64_t vertex = 0;
        if (!scan_int64(scan, &vertex, "a pin", err))
            return false;
        if (vertex < 1 || vertex > header->vertices)
            return scan_error(scan, err, "pin %ld is not in 1..%ld", vertex, header->vertices);
        pins->node[pins->count] = vertex - 1;
        pins->hyperedge[pins->count++] = hyperedge;
    }
    return true;
}

static bool read_hyperedges(Pins *pins, float *weight, const Header *header, Scan *scan,
                            Error *err) {
    for (int64_t h = 0; h < header->hyperedges; h++) {
        if (!scan_skip_comments(scan))
            return scan_error(scan, err, "the file ends at hyperedge %ld of %ld", h + 1,
                              header->hyperedges);
        if ((weight != NULL && !scan_weight(scan, &weight[h], "hyperedge", err)) ||
            !read_pins(pins, header, h, scan, err))
            return false;
        scan_next_line(scan);
    }
    return true;
}

static bool read_vertices(int32_t *weight, const Header *header, Scan *scan, Error *err) {
    for (int64_t i = 0; i < header->vertices; i++, scan_next_line(scan)) {
        int64_t value = 0;
        if (!scan_skip_comments(scan))
            return scan_error(scan, err, "the file ends at the weight of vertex %ld of %ld", i + 1,
                              header->vertices);
        if (!scan_int64(scan, &value, "the weight of a vertex", err))
            return false;
        if (value < 0 || value > INT32_MAX)
            return scan_error(scan, err, "a vertex weighs %ld; 0 to %d can be used", value,
                              INT32_MAX);
        if (!scan_at_line_end(scan))
            return scan_error(scan, err, "something follows the weight of a vertex");
        weight[i] = (int32_t)value;
    }
    return true;
}

static void warn_of_rest(Warnings *warnings, Scan *scan, const char *path) {
    int64_t more = 0, first = 0;
    for (; scan->at < scan->end; scan_next_line(scan)) {
        if (*scan->at == '%' || scan_at_line_end(scan))
            continue;
        first = more++ == 0 ? scan->line : first;
    }
    if (more > 0)
        warnings_add(warnings, "%s:%ld: more lines than the header announces; %ld not read",
                     path_name(path), first, more);
}

// At least the pins.
static int64_t count_words(const char *text, size_t bytes) {
    int64_t words = 0;
    for (size_t i = 0; i < bytes; i++)
        words += text[i] > ' ' && (i == 0 || text[i - 1] <= ' ');
    return words;
}

// The header of a METIS graph is "nodes edges", its lines list neighbours: the second number is
// half of the pins, and each line that lists another one is listed there. Sums over the pins, and
// over the pins the other way, tell whether they are the same.
static bool looks_like_a_graph(const Header *header, const Pins *pins) {
    uint64_t there = 0, back = 0;
    if (header->hyperedge_weights || header->vertex_weights || pins->count != 2 * header->vertices)
        return false;
    for (int64_t p = 0; p < pins->count; p++) {
        if (pins->node[p] >= header->hyperedges || pins->node[p] == pins->hyperedge[p])
            return false;
        int64_t pin[] = {pins->hyperedge[p], pins->node[p]}, other[] = {pin[1], pin[0]};
        there += hash_bytes(pin, sizeof pin);
        back += hash_bytes(other, sizeof other);
    }
    return there == back;
}

static bool check_kind(const Header *header, const Pins *pins, const Request *request, Error *err) {
    return strcmp(request->config->data.format, "hgr") == 0 || !looks_like_a_graph(header, pins) ||
           error_data(err,
                      "%s: this looks like a METIS graph of %ld nodes: each line lists the lines "
                      "that list it; set data.format=metis to read it as a graph, or "
                      "data.format=hgr if it is a hypergraph",
                      request->path, header->hyperedges);
}

// The weights go into the dataset, the pins into a list.
static bool read_lines(Dataset *dataset, Pins *pins, const Header *header, Scan *scan, Error *err) {
    if (header->hyperedge_weights)
        dataset->hyperedge_weight = TRY(float, header->hyperedges, "weights of hyperedges", err);
    if (header->vertex_weights)
        dataset->node_weight = TRY(int32_t, header->vertices, "weights of vertices", err);
    return err->code == 0 && read_hyperedges(pins, dataset->hyperedge_weight, header, scan, err) &&
           (!header->vertex_weights || read_vertices(dataset->node_weight, header, scan, err));
}

static bool parse(Dataset *dataset, Text *text, const Request *request, Error *err) {
    Scan scan = scan_text(text, request->path);
    Header header;
    CLEARED(pins_clear) Pins pins = {0};
    if (!read_header(&header, &scan, err))
        return false;
    bool ok = pins_init(&pins, count_words(text->data, text->bytes), err) &&
              read_lines(dataset, &pins, &header, &scan, err) &&
              check_kind(&header, &pins, request, err) &&
              pins_to_rows(dataset, &pins, header.vertices, header.hyperedges, err);
    if (ok)
        warn_of_rest(&dataset->warnings, &scan, request->path);
    return ok;
}

// "zoo/hypergraph.hgr" -> "zoo".
static bool name_inside(const char *path, char name[DATASET_NAME], UNUSED Error *err) {
    const char *folder = FOLDER_OF(path);
    const char *last = path_name(folder);
    if (strncmp(path_name(path), "hypergraph.hgr", 14) == 0 && last[0] != '.' && last[0] != '\0')
        dataset_name_of(name, folder);
    return true;
}

const Format format_hgr = {.name = "hgr",
                           .endings = ".hgr",
                           .name_inside = name_inside,
                           .parse = parse,
                           .factor.word = 40};
