// Lines and cells of a table in text. See table.h.

#include "table.h"

#include <ctype.h>
#include <strings.h>

enum { LOOKED_AT = 100 }; // lines that decide

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool ends_line(const char *at) {
    return *at == '\n' || *at == '\0' || (*at == '\r' && (at[1] == '\n' || at[1] == '\0'));
}

// "sep=;" tells Excel the separator, which is found without it.
static bool is_comment(const char *at) {
    return *at == '#' || *at == '%' || (at[0] == '/' && at[1] == '/') ||
           (strncasecmp(at, "sep=", 4) == 0 && !ends_line(at + 4) && ends_line(at + 5));
}

// ---- what is a text

// The first byte that is not UTF-8, or that ends a line as on old Macintoshes; NULL: none.
static const char *first_foreign(const char *at, const char *end) {
    while (at < end) {
        unsigned char c = (unsigned char)*at;
        if (c == '\r' && at + 1 < end && at[1] != '\n')
            return at;
        size_t length = c < 0x80 ? 1 : utf8_length((const unsigned char *)at, (size_t)(end - at));
        if (length == 0)
            return at;
        at += length;
    }
    return NULL;
}

static bool check_letters(const Text *text, const char *path, Error *err) {
    const char *end = text->data + text->bytes, *bad = first_foreign(text->data, end);
    int64_t line = 1;
    if (bad == NULL)
        return true;
    for (const char *at = text->data; at < bad; at++)
        line += *at == '\n';
    if (*bad == '\r')
        return error_data(
            err, "%s:%ld: its lines end in CR alone; convert it: tr '\\r' '\\n' < OLD > NEW", path,
            line);
    return error_data(
        err, "%s:%ld: it is not UTF-8; convert it: iconv -f LATIN1 -t UTF-8 OLD > NEW", path, line);
}

static void remove_mark(Text *text) {
    static const char mark[] = "\xEF\xBB\xBF";
    if (text->bytes < 3 || memcmp(text->data, mark, 3) != 0)
        return;
    memmove(text->data, text->data + 3, text->bytes - 2);
    text->bytes -= 3;
}

// ---- cells

static bool quoted_cell(const Table *table, Scan *scan, Cell *cell, Error *err) {
    const char *at = scan->at + 1;
    *cell = (Cell){.at = (char *)(uintptr_t)at, .quoted = true};
    for (;; at++) {
        if (*at == '\n' || *at == '\0')
            return scan_error(scan, err, TABLE_OPEN_QUOTE);
        if (*at == '"' && at[1] != '"')
            break;
        cell->doubled |= *at == '"';
        at += *at == '"';
    }
    cell->length = at++ - cell->at;
    while (is_blank(*at) && *at != table->separator)
        at++;
    scan->at = at;
    return ends_line(at) || *at == table->separator || table->separator == ' ' ||
           scan_error(scan, err, "something follows a quoted name; quotes stand around all of it");
}

void cell_unquote(Cell *cell) {
    int64_t used = 0;
    for (int64_t i = 0; cell->doubled && i < cell->length; i++) {
        cell->at[used++] = cell->at[i];
        i += cell->at[i] == '"';
    }
    cell->length = cell->doubled ? used : cell->length;
    cell->doubled = false;
}

static bool is_end_of_cell(char c, char separator) {
    return c == '\n' || c == '\0' || c == separator || (separator == ' ' && is_blank(c));
}

static void skip_blanks(const Table *table, Scan *scan) {
    while (*scan->at == ' ' || (*scan->at == '\t' && table->separator != '\t'))
        scan->at++;
}

bool table_cell(const Table *table, Scan *scan, Cell *cell, bool *last, Error *err) {
    skip_blanks(table, scan);
    cell->quoted = cell->doubled = false;
    if (*scan->at == '"') {
        if (!quoted_cell(table, scan, cell, err))
            return false;
    } else {
        const char *at = scan->at;
        cell->at = (char *)(uintptr_t)at;
        while (!is_end_of_cell(*at, table->separator))
            at++;
        scan->at = at;
        while (at > cell->at && (is_blank(at[-1]) || at[-1] == '\r'))
            at--;
        cell->length = at - cell->at;
    }
    if (table->separator == ' ')
        skip_blanks(table, scan);
    *last = ends_line(scan->at);
    scan->at += !*last && table->separator != ' ';
    return true;
}

// All cells of a line; returns how many there are, -1 with an error.
static int cells_of(const Table *table, Scan *scan, Cell cell[TABLE_COLUMNS], Error *err) {
    bool last = scan_at_line_end(scan);
    int count = 0;
    for (; !last; count++) {
        if (count == TABLE_COLUMNS) {
            scan_error(scan, err, "more than %d columns", TABLE_COLUMNS);
            return -1;
        }
        if (!table_cell(table, scan, &cell[count], &last, err))
            return -1;
    }
    return count;
}

bool cell_number(const Table *table, const Cell *cell, float *out) {
    char copy[64], *end;
    if (cell->length == 0 || cell->length >= (int64_t)sizeof copy)
        return false;
    for (int64_t i = 0; i < cell->length; i++) {
        copy[i] = cell->at[i] == ',' && table->separator != ',' ? '.' : cell->at[i];
        if (copy[i] == 0 || strchr("0123456789+-.eE", copy[i]) == NULL)
            return false;
    }
    copy[cell->length] = '\0';
    *out = strtof(copy, &end);
    return *end == '\0' && isfinite(*out);
}

// ---- lines

static bool is_empty(Scan line) { return scan_at_line_end(&line); }

bool table_next(Table *table, Scan *scan, bool *first) {
    for (; scan->at < scan->end; scan_next_line(scan)) {
        if (is_comment(scan->at)) {
            table->late += !*first;
        } else if (!is_empty(*scan)) {
            bool names = *first && table->header;
            *first = false;
            if (!names)
                return true;
        }
    }
    return false;
}

// ---- the first lines

// Puts the next line that is no comment at the scan; unlike table_next it knows of no header.
static bool next_line(Scan *scan) {
    for (; scan->at < scan->end; scan_next_line(scan))
        if (!is_empty(*scan) && !is_comment(scan->at))
            return true;
    return false;
}

static bool line_has(const char *at, char separator) {
    bool quoted = false;
    for (; *at != '\n' && *at != '\0'; at++) {
        quoted ^= *at == '"';
        if (!quoted && *at == separator)
            return true;
    }
    return false;
}

bool table_line_is_open(const char *at) {
    bool quoted = false;
    for (; *at != '\n' && *at != '\0'; at++)
        quoted ^= *at == '"';
    return quoted;
}

static const char candidates[] = "\t;|,";

static char separator_of(Scan scan) {
    for (const char *c = candidates; *c != '\0'; c++) {
        Scan at = scan;
        int lines = 0, with = 0;
        for (; lines < LOOKED_AT && next_line(&at); scan_next_line(&at), lines++)
            with += line_has(at.at, *c);
        if (lines > 0 && with == lines)
            return *c;
    }
    return ' ';
}

// True if column `c` holds numbers alone in the lines after the first, and there is one.
static bool holds_numbers(const Table *table, Scan scan, int c, Cell *cell) {
    int lines = 0;
    float number;
    scan_next_line(&scan);
    for (; lines < LOOKED_AT && next_line(&scan); scan_next_line(&scan), lines++) {
        int count = cells_of(table, &scan, cell, &(Error){0});
        if (count <= c || !cell_number(table, &cell[c], &number))
            return false;
    }
    return lines > 0;
}

// A line of the text has no more cells than this.
static int most_cells(const Scan *scan) {
    int64_t bytes = scan->end - scan->at;
    return bytes < TABLE_COLUMNS ? (int)bytes + 1 : TABLE_COLUMNS;
}

static bool stands_above_numbers(const Table *table, const Cell *cell, int count, Scan scan) {
    FREED Cell *other = ALLOC(Cell, most_cells(&scan), "cells of a line");
    float number;
    bool any = false, data = cell_number(table, &cell[0], &number); // "0 1 s" names no columns
    for (int c = 0; c < count && !data && !any; c++)
        any = !cell_number(table, &cell[c], &number) && cell[c].length > 0 &&
              isalpha((unsigned char)cell[c].at[0]) && holds_numbers(table, scan, c, other);
    return any;
}

static void take_names(Table *table, const Cell *cell, int count) {
    table->columns = count;
    table->name = memory_alloc((size_t)count * sizeof *table->name, "names of columns");
    for (int c = 0; c < count; c++)
        snprintf(table->name[c], TABLE_NAME, "%.*s",
                 (int)(cell[c].length < 63 ? cell[c].length : 63), cell[c].at);
}

bool table_has_word(const Table *table, const char *words) {
    for (int c = 0; c < table->columns; c++)
        if (column_is_word(table->name[c], words))
            return true;
    return false;
}

// data.columns has words, and all of them stand in the line.
static bool is_named(const Table *table, const Config *config) {
    int words = 0, found = 0;
    for (int i = 0; i < config->data.columns.count; i++) {
        const char *word = strchr(config->data.columns.word[i], '=') + 1;
        words += !column_is_number(word);
        for (int c = 0; c < table->columns; c++)
            found += column_is_word(table->name[c], word) || strcmp(table->name[c], word) == 0;
    }
    return words > 0 && found > 0;
}

static bool look_at_first(Table *table, const Config *config, Scan scan, Error *err) {
    FREED Cell *cell = ALLOC(Cell, most_cells(&scan), "cells of a line");
    Scan at = scan;
    int count = cells_of(table, &at, cell, err);
    while (count > 2 && cell[count - 1].length == 0) // a separator at the end of the line
        count--;
    if (count > 0) {
        take_names(table, cell, count);
        table->header =
            is_named(table, config) ||
            (table_has_word(table, WORDS_SOURCE) && table_has_word(table, WORDS_TARGET)) ||
            (table_has_word(table, WORDS_NODE) && table_has_word(table, WORDS_HYPEREDGE)) ||
            (cell[0].length == 0 && count > 1) || stands_above_numbers(table, cell, count, scan);
    }
    return count >= 0;
}

static bool begin(Table *table, Text *text, const char *path, Error *err) {
    *table = (Table){.path = path, .separator = ' '};
    remove_mark(text);
    return check_letters(text, path, err);
}

bool table_open(Table *table, Text *text, const Config *config, const char *path, Error *err) {
    if (!begin(table, text, path, err))
        return false;
    Scan scan = scan_text(text, path);
    table->separator = separator_of(scan);
    return !next_line(&scan) || look_at_first(table, config, scan, err);
}

static bool stands_anywhere(Scan scan, char separator) {
    for (; next_line(&scan); scan_next_line(&scan))
        if (line_has(scan.at, separator))
            return true;
    return false;
}

bool table_open_ragged(Table *table, Text *text, const char *path, Error *err) {
    if (!begin(table, text, path, err))
        return false;
    for (const char *c = candidates; *c != '\0' && table->separator == ' '; c++)
        if (stands_anywhere(scan_text(text, path), *c))
            table->separator = *c;
    return true;
}

void table_clear(Table *table) {
    memory_free(table->name);
    table->name = NULL;
}
