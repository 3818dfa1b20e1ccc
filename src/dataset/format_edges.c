// Edge lists as SNAP writes them: "source target [weight]" per line, '#' (or '%') begins a comment
// line. Ids need not be contiguous: they are renumbered in ascending order. If features or labels
// with R rows are given and the ids are below R but incomplete, each id is its row, and missing ids
// are isolated nodes.

#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Pairs {
    int64_t count;
    int64_t *source, *target; // [count] ids of the file, then of the graph
    float *weight;            // [count], or NULL if the lines have two columns
} Pairs;

static void pairs_clear(Pairs *pairs) {
    memory_free(pairs->source);
    memory_free(pairs->target);
    memory_free(pairs->weight);
    *pairs = (Pairs){0};
}

static int64_t count_lines(const Text *text) {
    int64_t lines = 1;
    const char *at = text->data, *end = text->data + text->bytes;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

static void skip_comma(Scan *scan) {
    if (!scan_at_line_end(scan) && *scan->at == ',')
        scan->at++;
}

// Reads one line; the first line decides whether there are weights.
static bool read_line(Pairs *pairs, bool *weighted, Scan *scan, Error *err) {
    int64_t ends[2];
    for (int k = 0; k < 2; k++) {
        if (!scan_int64(scan, &ends[k], k == 0 ? "a source id" : "a target id", err))
            return false;
        if (ends[k] < 0)
            return scan_error(scan, err, "id %lld is negative", (long long)ends[k]);
        skip_comma(scan);
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
    int64_t room = count_lines(text) * (request->config->data.undirected ? 2 : 1);
    bool weighted = false;
    *pairs = (Pairs){0, TRY(int64_t, room, "edges of a list", err),
                     TRY(int64_t, room, "edges of a list", err),
                     TRY(float, room, "weights of a list", err)};
    if (pairs->source == NULL || pairs->target == NULL || pairs->weight == NULL)
        return false;
    Scan scan = scan_text(text, request->path);
    for (; scan.at < scan.end; scan_next_line(&scan)) {
        if (*scan.at == '#' || *scan.at == '%' || scan_at_line_end(&scan))
            continue;
        if (!read_line(pairs, &weighted, &scan, err))
            return false;
    }
    if (pairs->count == 0)
        return error_set(err, EXIT_DATA, "%s: there are no edges in it", request->path);
    if (!weighted) {
        memory_free(pairs->weight);
        pairs->weight = NULL;
    }
    return true;
}

// Appends the reverse of every edge; a self-loop stays single.
static void add_reverses(Pairs *pairs) {
    int64_t count = pairs->count;
    for (int64_t e = 0; e < count; e++) {
        if (pairs->source[e] == pairs->target[e])
            continue;
        pairs->source[pairs->count] = pairs->target[e];
        pairs->target[pairs->count] = pairs->source[e];
        if (pairs->weight != NULL)
            pairs->weight[pairs->count] = pairs->weight[e];
        pairs->count++;
    }
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The distinct ids, ascending: list[0..*count). NULL if there is no memory.
static int64_t *distinct_ids(const Pairs *pairs, int64_t *count, Error *err) {
    int64_t *list = TRY(int64_t, 2 * pairs->count, "ids of a list", err);
    if (list == NULL)
        return NULL;
    memcpy(list, pairs->source, (size_t)pairs->count * sizeof *list);
    memcpy(list + pairs->count, pairs->target, (size_t)pairs->count * sizeof *list);
    qsort(list, (size_t)(2 * pairs->count), sizeof *list, compare_ids);
    *count = 0;
    for (int64_t k = 0; k < 2 * pairs->count; k++)
        if (k == 0 || list[k] != list[k - 1])
            list[(*count)++] = list[k];
    return list;
}

static int64_t place_of(const int64_t *list, int64_t count, int64_t id) {
    const int64_t *found = bsearch(&id, list, (size_t)count, sizeof *list, compare_ids);
    return found - list;
}

// Maps ids to 0 .. n-1, their positions in the ascending list. For dense ids a table is faster than
// a search.
static bool renumber(Pairs *pairs, const int64_t *list, int64_t count, Error *err) {
    int64_t largest = list[count - 1];
    if (largest == count - 1)
        return true;
    bool dense = largest < 8 * count;
    int32_t *place = dense ? TRY(int32_t, largest + 1, "places of ids", err) : NULL;
    if (dense && place == NULL)
        return false;
    for (int64_t k = 0; dense && k < count; k++)
        place[list[k]] = (int32_t)k;
    for (int64_t e = 0; e < pairs->count; e++) {
        int64_t *ends[2] = {&pairs->source[e], &pairs->target[e]};
        for (int k = 0; k < 2; k++)
            *ends[k] = dense ? place[*ends[k]] : place_of(list, count, *ends[k]);
    }
    memory_free(place);
    return true;
}

// Sets *nodes, and renumbers the ids unless they are rows already.
static bool number_nodes(Pairs *pairs, int64_t *nodes, const Request *request, Error *err) {
    int64_t count = 0;
    int64_t *list = distinct_ids(pairs, &count, err);
    if (list == NULL)
        return false;
    bool rows = request->rows > count && list[count - 1] < request->rows;
    *nodes = rows ? request->rows : count;
    bool ok = *nodes <= DATASET_MAX_NODES ||
              error_set(err, EXIT_DATA, "%s: %lld nodes; up to %d can be used", request->path,
                        (long long)*nodes, DATASET_MAX_NODES);
    ok = ok && (rows || renumber(pairs, list, count, err));
    memory_free(list);
    return ok;
}

static bool build_rows(Dataset *dataset, const Pairs *pairs, int64_t nodes, Error *err) {
    int32_t *ends = TRY(int32_t, 2 * pairs->count, "ends of edges", err);
    Csr rows;
    if (ends == NULL)
        return false;
    for (int64_t e = 0; e < pairs->count; e++) {
        ends[e] = (int32_t)pairs->source[e];
        ends[pairs->count + e] = (int32_t)pairs->target[e];
    }
    bool ok = csr_from_pairs(&rows, nodes, pairs->count, ends, ends + pairs->count, pairs->weight,
                             "edges of a graph", err);
    if (ok)
        dataset_set_csr(dataset, &rows);
    memory_free(ends);
    return ok;
}

// The comment of a SNAP file is only a hint, so it gives a warning.
static void warn_of_undirected(Dataset *dataset, const Text *text, const Config *config) {
    if (!config->data.undirected && strncmp(text->data, "# Undirected", 12) == 0)
        warnings_add(&dataset->warnings,
                     "the file calls itself undirected; set data.undirected if each "
                     "line stands for both directions");
}

static bool read(Dataset *dataset, const Request *request, Error *err) {
    Text text;
    Pairs pairs = {0};
    int64_t nodes = 0;
    if (!text_read(&text, request->path, err))
        return false;
    bool ok = read_pairs(&pairs, &text, request, err);
    if (ok)
        warn_of_undirected(dataset, &text, request->config);
    text_clear(&text);
    if (ok && request->config->data.undirected)
        add_reverses(&pairs);
    ok =
        ok && number_nodes(&pairs, &nodes, request, err) && build_rows(dataset, &pairs, nodes, err);
    pairs_clear(&pairs);
    if (!ok)
        return false;
    dataset->split = TRY(uint8_t, dataset->nodes, "splits", err);
    return dataset->split != NULL;
}

// The peak is at the sort of the ids, since qsort allocates a copy.
static void plan(Tally *tally, const Request *request) {
    TextFacts facts;
    if (!text_facts(&facts, request->path))
        return;
    float third;
    int64_t ends[2];
    bool weighted = sscanf(facts.first, "%" SCNd64 "%*[ \t,]%" SCNd64 "%*[ \t,]%f", &ends[0],
                           &ends[1], &third) == 3;
    int64_t edges = facts.lines * (request->config->data.undirected ? 2 : 1);
    size_t pair = 2 * sizeof(int64_t) + (weighted ? sizeof(float) : 0), text = text_most(&facts);
    size_t ids = memory_product(edges, 4 * sizeof(int64_t));
    tally->edges = edges;
    tally->weight = weighted ? sizeof(float) : 0;
    tally->nodes = facts.largest < 2 * edges ? facts.largest + 1 : 2 * edges;
    tally->nodes = request->rows > tally->nodes ? request->rows : tally->nodes;
    tally_add(tally, text + memory_product(edges, pair));
    tally_sub(tally, text);
    tally_add(tally, ids);
    tally_sub(tally, ids);
    size_t ends_and_pairs = memory_product(edges, 2 * sizeof(int32_t) + pair);
    tally_add(tally, memory_product(edges, 2 * sizeof(int32_t)) + tally_rows(tally, edges));
    tally_sub(tally, ends_and_pairs);
    tally_add(tally, (size_t)tally->nodes);
}

static bool matches(const char *path) {
    static const char *const endings[] = {".txt",      ".txt.gz",      ".tsv",   ".tsv.gz",
                                          ".csv",      ".csv.gz",      ".edges", ".edges.gz",
                                          ".edgelist", ".edgelist.gz", NULL};
    return format_file_ends(path, endings);
}

const Format format_edges = {.name = "edges", .matches = matches, .read = read, .plan = plan};
