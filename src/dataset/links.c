// Reads the lines of a list of pairs. See links.h.
//
// The idea: ids are read as numbers until one is none; then the text is read again, and ids are
// places in it. So lists of numbers cost nothing for it, and names are never copied.

#include "links.h"

#include <ctype.h>

typedef struct Reading {
    Links *links;
    Text *text;
    const Config *config;
    bool again; // ids turned out to be no numbers
} Reading;

static bool wrong_width(const Links *links, Scan *scan, int count, Error *err) {
    int wanted = links->table.columns;
    return scan_error(
        scan, err,
        "%d column%s where the lines before have %d; if a line lists the members of a "
        "hyperedge, it is a hypergraph: set data.format=members, or pins for lines 'node "
        "hyperedge'",
        count, count == 1 ? "" : "s", wanted);
}

static bool take_id(Reading *r, Cell *cell, int end, const Scan *scan, Error *err) {
    Links *l = r->links;
    int64_t *out = &l->id[end][l->count];
    if (cell->length == 0)
        return scan_error(scan, err, "an id is empty");
    if (cell->length >= INT64_C(1) << SPAN_BITS)
        return scan_error(scan, err, "an id of %ld bytes is too long", cell->length);
    bool number = id_note(&l->kind, r->config, scan->path, scan->line, cell, out);
    if (!l->is_text) {
        r->again = !number;
        return true;
    }
    cell_unquote(cell);
    *out = span_of(cell->at - r->text->data, cell->length);
    return true;
}

static bool take_weight(Links *l, const Cell *cell, const Scan *scan, Error *err) {
    float *weight = &l->weight[l->count];
    if (cell->length > 0 && cell->at[0] == '{')
        return scan_error(scan, err,
                          "'{' begins attributes as networkx writes them; write the list with "
                          "networkx.write_edgelist(graph, path, data=False), or data=['weight']");
    if (!cell_number(&l->table, cell, weight))
        return scan_error(scan, err,
                          "expected a weight (a number that fits a 32-bit float), found '%.*s'; "
                          "data.columns says which columns are what",
                          (int)(cell->length < 24 ? cell->length : 24), cell->at);
    l->whole = l->whole && *weight == truncf(*weight);
    l->ones = l->ones && *weight == 1;
    return true;
}

static bool take_cell(Reading *r, Cell *cell, int column, const Scan *scan, Error *err) {
    Links *l = r->links;
    for (int end = 0; end < 2; end++)
        if (column == l->columns.end[end] && !take_id(r, cell, end, scan, err))
            return false;
    if (column == l->columns.weight && !take_weight(l, cell, scan, err))
        return false;
    if (column == l->columns.word)
        l->word[l->count] = (char)(cell->length > 0 ? tolower((unsigned char)cell->at[0]) : 0);
    return true;
}

static bool read_line(Reading *r, Scan *scan, Error *err) {
    Links *l = r->links;
    Cell cell;
    bool last = false;
    int column = 0;
    for (; !last && !r->again; column++) {
        if (!table_cell(&l->table, scan, &cell, &last, err))
            return false;
        if (column >= l->table.columns) {
            if (cell.length > 0)
                return wrong_width(l, scan, column + 1, err);
            column--;
        } else if (!take_cell(r, &cell, column, scan, err)) {
            return false;
        }
    }
    if (!r->again && column < l->table.columns)
        return wrong_width(l, scan, column, err);
    if (l->line != NULL)
        l->line[l->count] = scan->line;
    l->count += !r->again;
    return true;
}

// Each cell is an id; a separator may end the line.
static bool read_members(Reading *r, Scan *scan, Error *err) {
    Links *l = r->links;
    Cell cell;
    bool last = false;
    for (int64_t begin = l->count; !last && !r->again;) {
        if (!table_cell(&l->table, scan, &cell, &last, err))
            return false;
        if (last && cell.length == 0 && l->count > begin)
            break;
        if (!take_id(r, &cell, 0, scan, err))
            return false;
        l->id[1][l->count] = l->hyperedges;
        if (l->line != NULL)
            l->line[l->count] = scan->line;
        l->count += !r->again;
    }
    l->hyperedges += !r->again;
    return true;
}

static bool read_lines(Reading *r, Error *err) {
    Links *l = r->links;
    bool first = true;
    Scan scan = scan_text(r->text, l->table.path);
    l->count = l->hyperedges = 0;
    l->table.late = 0;
    l->kind = (IdKind){0};
    l->whole = l->ones = true;
    for (; !r->again && table_next(&l->table, &scan, &first); scan_next_line(&scan))
        if (!(l->members ? read_members : read_line)(r, &scan, err))
            return false;
    return true;
}

// A cell ends with its line, with a separator, or, among blanks, with a quote.
static int64_t most_members(const Links *l, const Text *text) {
    int64_t count = text_lines(text);
    for (const char *at = text->data; at < text->data + text->bytes; at++)
        count +=
            *at == l->table.separator || (l->table.separator == ' ' && (*at == '\t' || *at == '"'));
    return count;
}

static bool init(Links *l, const Text *text, bool lines, Error *err) {
    int64_t count = l->members ? most_members(l, text) : text_lines(text);
    for (int end = 0; end < 2; end++)
        l->id[end] = TRY(int64_t, count, "ids of a list", err);
    l->weight = l->columns.weight >= 0 ? TRY(float, count, "weights of a list", err) : NULL;
    l->word = l->columns.word >= 0 ? TRY(char, count, "words of a list", err) : NULL;
    l->line = lines ? TRY(int64_t, count, "lines of a list", err) : NULL;
    return err->code == 0;
}

bool links_read(Links *links, Text *text, const Config *config, const IdKind *others, bool lines,
                Error *err) {
    Reading r = {links, text, config, false};
    IdKind all = *others;
    if (!init(links, text, lines, err))
        return false;
    id_kind_decide(&links->is_text, others, config, &(Error){0});
    if (!read_lines(&r, err))
        return false;
    if (r.again) {
        r.again = false;
        links->is_text = true;
        if (!read_lines(&r, err))
            return false;
    }
    id_kind_add(&all, &links->kind);
    links->kind = all;
    links->is_unsigned = all.huge.line > 0;
    return id_kind_decide(&links->is_text, &all, config, err);
}

void links_clear(Links *links) {
    table_clear(&links->table);
    for (int end = 0; end < 2; end++)
        memory_free(links->id[end]);
    MEMORY_FREE(links->weight, links->word, links->line);
    *links = (Links){0};
}

// ---- columns

void links_name_rest(const LinkColumns *columns, const Table *table, Warnings *warnings) {
    char rest[400] = "";
    int count = 0;
    for (int c = 0; c < table->columns; c++) {
        if (c == columns->end[0] || c == columns->end[1] || c == columns->weight ||
            c == columns->word)
            continue;
        if (strlen(rest) < 300)
            snprintf(rest + strlen(rest), sizeof rest - strlen(rest), "%s'%.40s'%s",
                     count > 0 ? ", " : "", table->name[c],
                     column_is_index(table, c) ? " (an index)" : "");
        count++;
    }
    if (count > 0)
        warnings_add(warnings, "column%s %s %s not read; data.columns names a weight",
                     count == 1 ? "" : "s", SHOWN(rest), count == 1 ? "is" : "are");
}

// ---- other notations

// A name and a colon, with a blank behind or before it, or two numbers around it where the next
// word has none (in "12:30 12:40" it belongs to the ids).
static bool has_colon(const char *line, size_t word) {
    const char *next = line + word + strspn(line + word, " \t,;|");
    size_t digits = strspn(line, "0123456789");
    bool numbers = digits > 0 && digits + 1 < word && line[digits] == ':' &&
                   digits + 1 + strspn(line + digits + 1, "0123456789") == word;
    return (word > 1 && line[word - 1] == ':') || strncmp(next, ": ", 2) == 0 ||
           (numbers && memchr(next, ':', strcspn(next, " \t,;|\r\n")) == NULL);
}

#define ARROW "\xe2\x86\x92"

static bool has_arrow(const char *line, size_t word) {
    const char *next = line + word + strspn(line + word, " \t");
    return strncmp(next, "->", 2) == 0 || strncmp(next, "=>", 2) == 0 ||
           strncmp(next, ARROW, strlen(ARROW)) == 0 || memmem(line, word, "->", 2) != NULL;
}

bool links_check_notation(const Table *table, const Text *text, Error *err) {
    Table copy = *table; // what is counted on the way does not count
    Scan scan = scan_text(text, table->path);
    if (!table_next(&copy, &scan, &(bool){false}))
        return true;
    size_t word = strcspn(scan.at, " \t,;|\r\n");
    const char *cure = NULL;
    if (scan.at[0] != '\0' && strchr("([{", scan.at[0]) != NULL)
        cure = "as Python prints lists; leave brackets out: tr -d '()[]{}' < OLD > NEW";
    else if (has_colon(scan.at, word))
        cure = "a name and a colon, behind which neighbours or members stand: of neighbours write "
               "the edges, sed 's/[:,;]/ /g' OLD | awk '{for (i = 2; i <= NF; i++) print $1, $i}' "
               "> NEW; of the members of hyperedges leave the name out, sed 's/^[^:]*: *//' OLD > "
               "NEW, and set data.format=members";
    else if (has_arrow(scan.at, word))
        cure = "with an arrow; leave it out: sed 's/ *\\(->\\|=>\\|" ARROW "\\) */ /' OLD > NEW";
    return cure == NULL || error_data(err, "%s: its first line begins with '%.*s', %s", table->path,
                                      (int)(word < 40 ? word : 40), scan.at, cure);
}
