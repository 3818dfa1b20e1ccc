// Edge lists: lines "source target [weight]" in any dialect of text (table.h), with names of
// columns or without, of numbers or of names (links.h); files of KONECT (konect.h); several files
// that are parts of one (parts.c). Or an .npy array (2, edges) or (edges, 2).

#include "konect.h"
#include "parts.h"

// Gephi's column Type: all Undirected says that each edge stands once.
static bool check_types(const Links *links, bool *undirected, Warnings *warnings, Error *err) {
    int64_t once = 0;
    for (int64_t e = 0; links->word != NULL && e < links->count; e++)
        once += links->word[e] == 'u';
    if (once > 0 && once < links->count)
        return error_data(err,
                          "%s: its column Type says Undirected of %ld of %ld edges; write the "
                          "other direction of these as edges of their own and remove the column",
                          links->table.path, once, links->count);
    if (once > 0)
        warnings_add(warnings, "its column Type says Undirected, so each edge stands for both "
                               "directions");
    *undirected |= once > 0;
    return true;
}

static void warn_of_lines(Dataset *dataset, const Links *links) {
    if (links->table.late > 0)
        warn_of_count(dataset, links->table.late, "comment line",
                      "after the first edge; an id that begins with # % or // needs quotes");
    if (links->kind.negative.line > 0 && !links->is_text)
        warnings_add(&dataset->warnings, "an id is negative, first %s in line %ld",
                     links->kind.negative.word, links->kind.negative.line);
    if (links->weight != NULL && !links->table.header && links->whole && !links->ones)
        warnings_add(&dataset->warnings,
                     "the third column, of whole numbers, is taken as a weight; if it is none set "
                     "data.columns={\"source\": 1, \"target\": 2}, and if lines list three members "
                     "of a hyperedge, set data.format=members");
}

// The comment of a SNAP file is only a hint, so it gives a warning.
static void warn_of_undirected(Dataset *dataset, const Text *text, const Config *config) {
    if (!config->data.undirected && strncmp(text->data, "# Undirected", 12) == 0)
        warnings_add(&dataset->warnings,
                     "the file calls itself undirected; set data.undirected if each "
                     "line stands for both directions");
}

static bool make_konect(Dataset *dataset, const Konect *konect, Links *links, Pairs *pairs,
                        Error *err) {
    int64_t nodes = 0;
    dataset->states_direction = true;
    return konect_rows(konect, links, &nodes, err) &&
           pairs_to_numbered_rows(dataset, pairs, nodes, konect->undirected, err);
}

static bool make_list(Dataset *dataset, const Links *links, Pairs *pairs, const Text *text,
                      const Request *request, Error *err) {
    PairIds ids = {links->is_text ? text->data : NULL, links->is_unsigned,
                   request->config->data.undirected};
    if (!check_types(links, &ids.undirected, &dataset->warnings, err))
        return false;
    dataset->states_direction |= links->word != NULL && ids.undirected;
    return pairs_to_rows(dataset, pairs, &ids, request, err);
}

// "48 278" before 278 edges of nodes up to 48.
static bool first_line_counts(const Links *l) {
    enum { MANY = 8 }; // in fewer lines it may happen
    int64_t edges = l->count - 1;
    bool counts = !l->is_text && edges >= MANY && l->id[1][0] == edges;
    for (int64_t e = 1; counts && e <= edges; e++)
        counts = l->id[0][e] <= l->id[0][0] && l->id[1][e] <= l->id[0][0];
    return counts;
}

// The pairs have the arrays of the links from here on.
static bool make_edges(Dataset *dataset, Links *links, const Konect *konect, Text *text,
                       const Request *request, Error *err) {
    Pairs pairs = {links->count, links->id[0], links->id[1], links->weight};
    if (links->count == 0)
        return error_data(err, "%s: there are no edges in it", request->path);
    if (first_line_counts(links))
        return error_data(err,
                          "%s: its first line, '%ld %ld', is no edge: it counts the nodes and the "
                          "edges behind it; put # before it",
                          request->path, links->id[0][0], links->id[1][0]);
    if (!links->is_text)
        text_clear(text);
    return konect->is ? make_konect(dataset, konect, links, &pairs, err)
                      : make_list(dataset, links, &pairs, text, request, err);
}

static bool find_columns(Links *links, const Konect *konect, const Text *text,
                         const Request *request, Warnings *warnings, Error *err) {
    if (links->table.columns == 0)
        return error_data(err, "%s: there are no edges in it", request->path);
    return konect->is
               ? konect_columns(&links->columns, &links->table, warnings, err)
               : edge_columns(&links->columns, &links->table, text, request->config, warnings, err);
}

static bool parse(Dataset *dataset, Text *text, const Request *request, Error *err) {
    CLEARED(links_clear) Links links = {0};
    Konect konect = {0};
    const Config *config = request->config;
    if (strncmp(text->data, "%%MatrixMarket", 14) == 0)
        return error_data(err,
                          "%s: it is a Matrix Market file, whose first line of numbers is no edge; "
                          "set data.format=mtx",
                          request->path);
    bool ok = table_open(&links.table, text, config, request->path, err) &&
              konect_look(&konect, text, request->path, err) &&
              find_columns(&links, &konect, text, request, &dataset->warnings, err) &&
              links_read(&links, text, config, node_files_id_kind(request->node_files), false, err);
    if (ok) {
        warn_of_undirected(dataset, text, config);
        warn_of_lines(dataset, &links);
    }
    return ok && make_edges(dataset, &links, &konect, text, request, err);
}

static void warn_of_padding(Dataset *dataset, const Pairs *pairs) {
    int64_t count = 0;
    for (int64_t e = 0; e < pairs->count; e++)
        count += pairs->source[e] == -1 || pairs->target[e] == -1;
    warn_of_count(dataset, count, "edge",
                  "of a node -1, which is usually padding: remove such edges");
}

static bool read_array(Dataset *dataset, const Request *request, Error *err) {
    Npy npy;
    CLEARED(pairs_clear) Pairs pairs = {0};
    if (!npy_read(&npy, request->path, err))
        return false;
    bool ok = pairs_from_npy(&pairs, &npy, true, err) || error_prefix(err, "%s", request->path);
    npy_clear(&npy);
    if (ok)
        warn_of_padding(dataset, &pairs);
    PairIds ids = {NULL, false, request->config->data.undirected};
    return ok && pairs_to_rows(dataset, &pairs, &ids, request, err);
}

static bool read_edges(Dataset *dataset, const Request *request, Error *err) {
    CLEARED(text_clear) Text text = {0};
    const char *path = request->path;
    if (path_ends(path, ".npy") && !file_is_folder(path))
        return read_array(dataset, request, err);
    return (parts_are(path) ? parts_read(&text, path, request->config, err)
                            : text_read(&text, path, err)) &&
           parse(dataset, &text, request, err);
}

enum { LOOKED_AT = 4096 }; // bytes

// Two numbers in the first line, names of both ends, or what KONECT begins with.
static bool looks_like_edges(const char *path) {
    static const Config nothing;
    CLEARED(text_clear) Text text = {ALLOC(char, LOOKED_AT + 1, "the beginning of a file"), 0};
    CLEARED(table_clear) Table table = {0};
    text.bytes = text_head(path, text.data, LOOKED_AT + 1);
    char *last = memrchr(text.data, '\n', text.bytes);
    if (last != NULL && text.bytes == LOOKED_AT)
        text.bytes = (size_t)(last + 1 - text.data);
    text.data[text.bytes] = '\0';
    return text.bytes > 0 && memchr(text.data, 0, text.bytes) == NULL &&
           table_open(&table, &text, &nothing, path, &(Error){0}) && table.columns >= 2 &&
           (table.header || konect_begins(text.data) ||
            (table.columns <= 3 && strspn(table.name[0], "0123456789") == strlen(table.name[0]) &&
             strspn(table.name[1], "0123456789") == strlen(table.name[1])));
}

static bool matches(const char *path) {
    bool named =
        text_ends(path, ".txt .tsv .csv .edges .edgelist .ncol") || path_ends(path, ".npy");
    return (named && !file_is_folder(path)) || parts_are(path) || looks_like_edges(path);
}

const Format format_edges = {.name = "edges",
                             .matches = matches,
                             .read = read_edges,
                             .parse = parse,
                             .factor = {.word = 24, .number = 32}};
