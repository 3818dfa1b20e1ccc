// Edge lists as SNAP writes them: "source target [weight]" per line, '#' (or '%') begins a comment
// line; the first line may hold the names of the columns. Or an .npy array (2, edges) or (edges,
// 2).

#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Reads one line; the first line decides whether there are weights.
static bool read_line(Pairs *pairs, bool *weighted, Scan *scan, Error *err) {
    int64_t ends[2];
    for (int k = 0; k < 2; k++) {
        if (!scan_int64(scan, &ends[k], k == 0 ? "a source id" : "a target id", err))
            return false;
        if (ends[k] < 0)
            return scan_error(scan, err, "id %lld is negative", (long long)ends[k]);
        scan_skip_comma(scan);
    }
    bool third = !scan_at_line_end(scan);
    if (pairs->count == 0)
        *weighted = third;
    if (third != *weighted)
        return scan_error(scan, err, "%s columns where the lines before have %s",
                          third ? "three" : "two", third ? "two" : "three");
    if (third && !scan_float(scan, &pairs->weight[pairs->count], "a weight", err))
        return false;
    if (!scan_at_line_end(scan))
        return scan_error(scan, err, "more than 'source target weight' in one line");
    pairs->source[pairs->count] = ends[0];
    pairs->target[pairs->count++] = ends[1];
    return true;
}

// Counts lines first, so that memory is taken once and in proportion to the file. With `undirected`
// there is room for all reverse edges.
static bool read_pairs(Pairs *pairs, const Text *text, const Request *request, Error *err) {
    bool weighted = false;
    if (!pairs_init(pairs, text_lines(text), true, request->config->data.undirected, err))
        return false;
    bool first = true;
    if (strncmp(text->data, "%%MatrixMarket", 14) == 0)
        return error_set(err, EXIT_DATA,
                         "%s: it is a Matrix Market file, whose first line of numbers is no edge; "
                         "write it as npz with scipy.sparse.save_npz",
                         request->path);
    Scan scan = scan_text(text, request->path);
    for (; scan.at < scan.end; scan_next_line(&scan)) {
        if (*scan.at == '#' || *scan.at == '%' || scan_at_line_end(&scan))
            continue;
        if (!(first && scan_at_names(&scan)) && !read_line(pairs, &weighted, &scan, err))
            return false;
        first = false;
    }
    if (pairs->count == 0)
        return error_set(err, EXIT_DATA, "%s: there are no edges in it", request->path);
    if (!weighted) {
        memory_free(pairs->weight);
        pairs->weight = NULL;
    }
    return true;
}

// The comment of a SNAP file is only a hint, so it gives a warning.
static void warn_of_undirected(Dataset *dataset, const Text *text, const Config *config) {
    if (!config->data.undirected && strncmp(text->data, "# Undirected", 12) == 0)
        warnings_add(&dataset->warnings,
                     "the file calls itself undirected; set data.undirected if each "
                     "line stands for both directions");
}

static bool is_npy(const char *path) {
    return format_file_ends(path, (const char *const[]){".npy", NULL});
}

static bool make(Dataset *dataset, Pairs *pairs, const Request *request, Error *err) {
    if (!pairs_to_rows(dataset, pairs, request, err))
        return false;
    dataset->split = TRY(uint8_t, dataset->nodes, "splits", err);
    return dataset->split != NULL;
}

bool edges_parse(Dataset *dataset, Text *text, const Request *request, Error *err) {
    Pairs pairs = {0};
    bool ok = read_pairs(&pairs, text, request, err);
    if (ok)
        warn_of_undirected(dataset, text, request->config);
    text_clear(text);
    ok = ok && make(dataset, &pairs, request, err);
    pairs_clear(&pairs);
    return ok;
}

static bool read_array(Dataset *dataset, const Request *request, Error *err) {
    Npy npy;
    Pairs pairs = {0};
    if (!npy_read(&npy, request->path, err))
        return false;
    bool ok = pairs_from_npy(&pairs, &npy, request->config->data.undirected, err) ||
              error_prefix(err, "%s", request->path);
    npy_clear(&npy);
    ok = ok && make(dataset, &pairs, request, err);
    pairs_clear(&pairs);
    return ok;
}

static bool read(Dataset *dataset, const Request *request, Error *err) {
    return is_npy(request->path) ? read_array(dataset, request, err)
                                 : text_parse(edges_parse, dataset, request, err);
}

// The peak is at the sort of the ids, since qsort allocates a copy. `before`: bytes of the file
// while the pairs are made.
static void plan_pairs(Tally *tally, int64_t edges, int64_t largest, size_t before,
                       const Request *request) {
    size_t pair = 2 * sizeof(int64_t) + tally->weight, ids = memory_product(edges, 32);
    tally->edges = edges;
    tally->nodes = largest < 2 * edges ? largest + 1 : 2 * edges;
    tally->nodes = request->rows > tally->nodes ? request->rows : tally->nodes;
    tally_add(tally, before + memory_product(edges, pair));
    tally_sub(tally, before);
    tally_add(tally, ids);
    tally_sub(tally, ids);
    size_t ends_and_pairs = memory_product(edges, 2 * sizeof(int32_t) + pair);
    tally_add(tally, memory_product(edges, 2 * sizeof(int32_t)) + tally_rows(tally, edges));
    tally_sub(tally, ends_and_pairs);
    tally_add(tally, (size_t)tally->nodes);
}

static void plan_array(Tally *tally, const Request *request, int64_t both) {
    Npy npy;
    if (!npy_look(&npy, request->path, &(Error){0}))
        return;
    size_t bytes = memory_product(npy.elements, (size_t)npy.item + sizeof(int64_t));
    plan_pairs(tally, npy.elements / 2 * both, INT64_MAX - 1, bytes, request);
}

static void plan(Tally *tally, const Request *request) {
    TextFacts facts;
    int64_t both = request->config->data.undirected ? 2 : 1;
    if (is_npy(request->path)) {
        plan_array(tally, request, both);
        return;
    }
    if (!text_facts(&facts, request->path))
        return;
    float third;
    int64_t ends[2];
    bool weighted = sscanf(facts.first, "%" SCNd64 "%*[ \t,]%" SCNd64 "%*[ \t,]%f", &ends[0],
                           &ends[1], &third) == 3;
    tally->weight = weighted ? sizeof(float) : 0;
    plan_pairs(tally, facts.lines * both, facts.largest, text_most(&facts), request);
}

static bool matches(const char *path) {
    static const char *const endings[] = {".txt",      ".txt.gz",      ".tsv",   ".tsv.gz",
                                          ".csv",      ".csv.gz",      ".edges", ".edges.gz",
                                          ".edgelist", ".edgelist.gz", ".npy",   NULL};
    return format_file_ends(path, endings);
}

const Format format_edges = {.name = "edges", .matches = matches, .read = read, .plan = plan};
