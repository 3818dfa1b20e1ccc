// Which columns of a list of edges are its ends and its weights: by names, by data.columns, or by
// how many there are.

#include "links.h"

#include <ctype.h>

#define CURE "set data.columns={\"source\": ..., \"target\": ...}"

// Two columns behind the index, if there is one; false if there are not two.
static bool two_columns(const Table *table, int two[2]) {
    two[0] = column_is_index(table, 0);
    two[1] = two[0] + 1;
    return table->columns - two[0] == 2;
}

// Both ends by the order of two columns; one of them may have been found by its name.
static bool complete(LinkColumns *columns, const Table *table, Warnings *warnings, Error *err) {
    // Some take one of these for the source, and others for the target.
    bool odd = table_has_word(table, "head tail");
    int two[2] = {0};
    char names[512] = "";
    for (int c = 0; c < table->columns && strlen(names) < 400; c++)
        text_add(names, sizeof names, ", ", "'%.40s'", table->name[c]);
    if (table_has_word(table, WORDS_NODE) && table_has_word(table, WORDS_HYPEREDGE))
        return error_data(
            err, "%s: its columns are %s, so it looks like a hypergraph: set data.format=pins",
            table->path, SHOWN(names));
    int found = columns->end[0] >= 0 ? 0 : columns->end[1] >= 0 ? 1 : -1;
    if (odd || (!two_columns(table, two) && (found >= 0 || !columns_numbered(table, two))))
        return error_data(err,
                          "%s: its columns are %s, and their names do not say which ones an edge "
                          "leads from and to%s; " CURE,
                          table->path, SHOWN(names),
                          odd ? " (head and tail are used both ways)" : "");
    if (found >= 0) {
        columns->end[1 - found] = two[0] == columns->end[found] ? two[1] : two[0];
    } else {
        columns->end[0] = two[0];
        columns->end[1] = two[1];
    }
    warnings_add(warnings,
                 "edges are taken to lead from column '%s' to '%s' (data.columns can say it "
                 "otherwise), and one id is one node in both",
                 SHOWN(table->name[columns->end[0]]), SHOWN(table->name[columns->end[1]]));
    return true;
}

static bool by_names(LinkColumns *columns, const Table *table, const Config *config,
                     Warnings *warnings, Error *err) {
    if (!column_find(&columns->end[0], table, config, "source", WORDS_SOURCE, err) ||
        !column_find(&columns->end[1], table, config, "target", WORDS_TARGET, err) ||
        !column_find(&columns->weight, table, config, "weight", WORDS_WEIGHT, err))
        return false;
    if ((columns->end[0] < 0 || columns->end[1] < 0) && !complete(columns, table, warnings, err))
        return false;
    for (int c = 0; c < table->columns; c++)
        if (columns->word < 0 && c != columns->end[0] && c != columns->end[1] &&
            column_is_word(table->name[c], "type"))
            columns->word = c;
    links_name_rest(columns, table, warnings);
    return true;
}

// ---- without names

// As many lines as columns, if these are many: numpy.savetxt of a dense adjacency.
static bool looks_dense(const Table *table, const Text *text) {
    enum { MANY = 8 };
    return table->columns >= MANY && text_lines(text) >= table->columns &&
           text_lines(text) <= table->columns + 1;
}

static bool looks_like_hypergraph(const Table *table, const Text *text, Error *err) {
    if (looks_dense(table, text))
        return error_data(err,
                          "%s: it has as many lines as columns, so it looks like a dense matrix; "
                          "write its edges: numpy.save('edges.npy', "
                          "numpy.stack(numpy.nonzero(numpy.loadtxt('%s', delimiter=%s))))",
                          table->path, path_name(table->path),
                          table->separator == ' '    ? "None"
                          : table->separator == '\t' ? "'\\t'"
                          : table->separator == ';'  ? "';'"
                          : table->separator == '|'  ? "'|'"
                                                     : "','");
    if (table->columns == 1)
        return error_data(
            err, "%s: a line holds one column where an edge has two, source and target; %s",
            table->path,
            "the separators known are tab, semicolon, bar, comma and blank, one of which must "
            "stand in every line (a cell in quotes has no line breaks)");
    return error_data(err,
                      "%s: its first line has %d columns without names. If lines list the members "
                      "of hyperedges, it is a hypergraph: set data.format=members. If they are "
                      "edges, set data.columns={\"source\": 1, \"target\": 2}",
                      table->path, table->columns);
}

// The words of the first line, if they stand in no other, are perhaps names.
static bool stands_again(const Text *text, const char *word) {
    size_t bytes = strlen(word);
    const char *end = text->data + text->bytes, *at = memchr(text->data, '\n', text->bytes);
    return bytes == 0 || bytes >= TABLE_NAME - 1 ||
           (at != NULL && memmem(at, (size_t)(end - at), word, bytes) != NULL);
}

static void warn_of_first_line(const Table *table, const Text *text, Warnings *warnings) {
    if (text->data[0] == '#' || text->data[0] == '%' || isdigit((unsigned char)table->name[0][0]) ||
        table->name[0][0] == '-' || stands_again(text, table->name[0]) ||
        stands_again(text, table->name[1]))
        return;
    warnings_add(
        warnings,
        "the first line, '%.40s' and '%.40s', is read as an edge although neither stands in "
        "another line; if they are names of columns, set data.columns={\"source\": "
        "\"%.40s\", \"target\": \"%.40s\"}",
        table->name[0], table->name[1], table->name[0], table->name[1]);
}

static bool is_number(const Table *table, int c) {
    float number;
    Cell cell = {table->name[c], (int64_t)strlen(table->name[c]), false, false};
    return cell_number(table, &cell, &number);
}

static bool by_width(LinkColumns *columns, const Table *table, const Text *text,
                     const Config *config, Warnings *warnings, Error *err) {
    bool said =
        config_column(config, "source", 0) != NULL || config_column(config, "target", 0) != NULL;
    if (said) {
        if (!column_find(&columns->end[0], table, config, "source", "", err) ||
            !column_find(&columns->end[1], table, config, "target", "", err) ||
            !column_find(&columns->weight, table, config, "weight", "", err))
            return false;
        if (columns->end[0] < 0 || columns->end[1] < 0)
            return error_config(err, "%s: data.columns names no %s; " CURE, table->path,
                                columns->end[0] < 0 ? "source" : "target");
        return true;
    }
    if (!links_check_notation(table, text, err))
        return false;
    if (table->columns < 2 || table->columns > 3)
        return looks_like_hypergraph(table, text, err);
    columns->end[0] = 0;
    columns->end[1] = 1;
    if (table->columns == 3 && !is_number(table, 2) && table->name[2][0] != '{')
        return error_data(err,
                          "%s: expected a weight (a number) in the third column, found '%s'; set "
                          "data.columns={\"source\": 1, \"target\": 2} to leave it out, or "
                          "{\"source\": 1, \"target\": 3} if edges lead there",
                          table->path, SHOWN(table->name[2]));
    if (!column_find(&columns->weight, table, config, "weight", "", err))
        return false;
    if (columns->weight < 0)
        columns->weight = table->columns == 3 ? 2 : -1;
    warn_of_first_line(table, text, warnings);
    return true;
}

bool edge_columns(LinkColumns *columns, const Table *table, const Text *text, const Config *config,
                  Warnings *warnings, Error *err) {
    *columns = (LinkColumns){{-1, -1}, -1, -1};
    if (!(table->header ? by_names(columns, table, config, warnings, err)
                        : by_width(columns, table, text, config, warnings, err)))
        return false;
    return columns->end[0] != columns->end[1] ||
           error_config(err, "%s: source and target are the same column; " CURE, table->path);
}
