// Hypergraphs as bipartite lists: "node hyperedge [weight] [role]" per line. The weight is that of
// the hyperedge, so all its lines agree. Role: s (source), t (target), b (both). '#' or '%' begins
// a comment line; the first line may hold the names of the columns.

#include "internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct List {
    Pins pins;
    float *weight; // [count] of the pin's hyperedge
    int64_t *line; // [count] of the file
    bool weighted, roles;
} List;

static bool list_init(List *list, int64_t room, Error *err) {
    if (!pins_init(&list->pins, room, true, err))
        return false;
    list->weight = TRY(float, room, "weights of a list", err);
    list->line = TRY(int64_t, room, "lines of a list", err);
    return list->weight != NULL && list->line != NULL;
}

static void list_clear(List *list) {
    pins_clear(&list->pins);
    memory_free(list->weight);
    memory_free(list->line);
}

// --- lines

static bool read_id(int64_t *id, const char *what, Scan *scan, Error *err) {
    if (!scan_int64(scan, id, what, err))
        return false;
    if (*id < 0)
        return scan_error(scan, err, "id %lld is negative", (long long)*id);
    scan_skip_comma(scan);
    return true;
}

static bool read_role(uint8_t *role, Scan *scan, Error *err) {
    char word = *scan->at++;
    *role = word == 's' ? PIN_SOURCE : word == 't' ? PIN_TARGET : PIN_BOTH;
    return (strchr("stb", word) != NULL && scan_at_line_end(scan)) ||
           scan_error(scan, err, "expected the role s, t or b at the end of the line");
}

// Every line has the columns of the first one.
static bool check_columns(List *list, bool weighted, bool role, const Scan *scan, Error *err) {
    if (list->pins.count == 0) {
        list->weighted = weighted;
        list->roles = role;
    }
    if (weighted != list->weighted)
        return scan_error(scan, err, "%s weight, where the lines before have %s",
                          weighted ? "a" : "no", weighted ? "none" : "one");
    return role == list->roles || scan_error(scan, err, "%s role, where the lines before have %s",
                                             role ? "a" : "no", role ? "none" : "one");
}

static bool read_line(List *list, Scan *scan, Error *err) {
    Pins *pins = &list->pins;
    int64_t place = pins->count;
    if (!read_id(&pins->node[place], "a node id", scan, err) ||
        !read_id(&pins->hyperedge[place], "a hyperedge id", scan, err))
        return false;
    bool weighted = !scan_at_line_end(scan) && !isalpha((unsigned char)*scan->at);
    if (weighted && !scan_weight(scan, &list->weight[place], "hyperedge", err))
        return false;
    if (weighted)
        scan_skip_comma(scan);
    bool role = !scan_at_line_end(scan);
    if ((role && !read_role(&pins->role[place], scan, err)) ||
        !check_columns(list, weighted, role, scan, err))
        return false;
    list->line[place] = scan->line;
    pins->count++;
    return true;
}

static bool read_list(List *list, const Text *text, const char *path, Error *err) {
    bool first = true;
    if (!list_init(list, text_lines(text), err))
        return false;
    Scan scan = scan_text(text, path);
    for (; scan.at < scan.end; scan_next_line(&scan)) {
        if (*scan.at == '#' || *scan.at == '%' || scan_at_line_end(&scan))
            continue;
        if (!(first && scan_at_names(&scan)) && !read_line(list, &scan, err))
            return false;
        first = false;
    }
    if (list->pins.count > 0)
        return true;
    return error_set(err, EXIT_DATA, "%s: there are no pins in it", path);
}

// --- the hypergraph

// The weights of hyperedges, whose ids are numbers by now.
static bool agree_on_weights(Dataset *dataset, const List *list, const char *path, Error *err) {
    const Pins *pins = &list->pins;
    float *weight = TRY(float, dataset->hyperedges, "weights of hyperedges", err);
    int64_t *line = TRY(int64_t, dataset->hyperedges, "first lines of hyperedges", err);
    for (int64_t p = 0; err->code == 0 && p < pins->count; p++) {
        int64_t h = pins->hyperedge[p];
        if (line[h] == 0) {
            line[h] = list->line[p];
            weight[h] = list->weight[p];
        } else if (weight[h] != list->weight[p]) {
            error_set(err, EXIT_DATA,
                      "%s:%lld: the hyperedge weighs %g here, but %g in line %lld; the lines of a "
                      "hyperedge have one weight",
                      path, (long long)list->line[p], (double)list->weight[p], (double)weight[h],
                      (long long)line[h]);
        }
    }
    memory_free(line);
    hypergraph_set_weights(dataset, weight);
    return err->code == 0;
}

static bool number(Dataset *dataset, Pins *pins, int64_t *nodes, int64_t *hyperedges,
                   const Request *request, Error *err) {
    Ids of_nodes = {"node", pins->count, {pins->node}};
    Ids of_hyperedges = {"hyperedge", pins->count, {pins->hyperedge}};
    return ids_number(&of_nodes, nodes, request->rows, request->path, &dataset->warnings, err) &&
           ids_number(&of_hyperedges, hyperedges, -1, request->path, &dataset->warnings, err);
}

static bool make(Dataset *dataset, List *list, const Request *request, Error *err) {
    int64_t nodes = 0, hyperedges = 0;
    if (!number(dataset, &list->pins, &nodes, &hyperedges, request, err))
        return false;
    if (!list->roles) {
        memory_free(list->pins.role);
        list->pins.role = NULL;
    }
    if (!pins_to_rows(dataset, &list->pins, nodes, hyperedges, err))
        return error_prefix(err, "%s", request->path);
    return !list->weighted || agree_on_weights(dataset, list, request->path, err);
}

bool pins_parse(Dataset *dataset, Text *text, const Request *request, Error *err) {
    List list = {0};
    bool ok = read_list(&list, text, request->path, err);
    text_clear(text);
    ok = ok && make(dataset, &list, request, err);
    list_clear(&list);
    return ok;
}

static bool read(Dataset *dataset, const Request *request, Error *err) {
    return text_parse(pins_parse, dataset, request, err);
}

// The list, the sort of its ids (qsort allocates a copy, too), and the rows.
static void plan(Tally *tally, const Request *request) {
    TextFacts facts;
    if (!text_facts(&facts, request->path))
        return;
    int64_t pins = facts.lines, most = facts.largest < pins ? facts.largest + 1 : pins;
    size_t beside = memory_product(pins, sizeof(float) + sizeof(int64_t) + 2 * sizeof(int64_t));
    tally->nodes = request->rows > most ? request->rows : most;
    tally->hyperedges = most;
    tally_add(tally, text_most(&facts));
    tally_add(tally, beside + memory_product(most, sizeof(float) + sizeof(int64_t)));
    pins_plan(tally, pins, true);
    tally_sub(tally, text_most(&facts) + beside + memory_product(most, sizeof(int64_t)));
}

static bool matches(const char *path) {
    static const char *const endings[] = {".pins",        ".pins.gz",     ".pins.tsv",
                                          ".pins.tsv.gz", ".pins.csv",    ".pins.csv.gz",
                                          ".pins.txt",    ".pins.txt.gz", NULL};
    return format_file_ends(path, endings);
}

const Format format_pins = {.name = "pins", .matches = matches, .read = read, .plan = plan};
