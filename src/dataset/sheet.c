// A whole table of text in memory: what a .csv says about nodes. See roster.h.

#include "roster.h"

#include <strings.h>

void sheet_close(Sheet *sheet) {
    text_clear(&sheet->text);
    table_clear(&sheet->table);
    MEMORY_FREE(sheet->cell, sheet->line);
    *sheet = (Sheet){0};
}

static bool read_row(Sheet *sheet, Scan *scan, Error *err) {
    int columns = sheet->table.columns;
    Cell *row = sheet->cell + sheet->rows * columns, extra;
    const char *begin = scan->at;
    bool last = false;
    int c = 0;
    for (; c < columns && !last; c++) {
        if (!table_cell(&sheet->table, scan, &row[c], &last, err))
            return false;
        cell_unquote(&row[c]);
    }
    while (!last) {
        if (!table_cell(&sheet->table, scan, &extra, &last, err))
            return false;
        c += extra.length > 0;
    }
    if (c != columns && table_line_is_open(begin))
        return scan_error(scan, err, TABLE_OPEN_QUOTE);
    if (c != columns)
        return scan_error(scan, err, "%d column%s where the first line has %d", c,
                          c == 1 ? "" : "s", columns);
    sheet->line[sheet->rows++] = scan->line;
    return true;
}

bool sheet_parse(Sheet *sheet, Text *text, const char *path, const char *words,
                 const Config *config, Error *err) {
    bool first = true;
    *sheet = (Sheet){.text = *text};
    *text = (Text){0};
    if (!table_open(&sheet->table, &sheet->text, config, path, err))
        return false;
    if (sheet->table.columns == 0)
        return error_data(err, "%s: there is nothing in it", path);
    // Names of nodes are words as those of columns are, so a word of a file of nodes is a header.
    sheet->table.header = sheet->table.header || table_has_word(&sheet->table, words);
    int64_t lines = text_lines(&sheet->text);
    sheet->cell = TRY(Cell, lines * sheet->table.columns, "cells of a table", err);
    sheet->line = TRY(int64_t, lines, "lines of a table", err);
    Scan scan = scan_text(&sheet->text, path);
    for (; err->code == 0 && table_next(&sheet->table, &scan, &first); scan_next_line(&scan))
        read_row(sheet, &scan, err);
    return err->code == 0 &&
           (sheet->rows > 0 || error_data(err, "%s: there are no rows in it", path));
}

int64_t sheet_empty_missing(Sheet *sheet, int column) {
    int64_t missing = 0;
    char word[8];
    for (int64_t r = 0; r < sheet->rows; r++) {
        Cell *cell = &sheet->cell[r * sheet->table.columns + column];
        if (cell->quoted || cell->length == 0 || cell->length >= (int64_t)sizeof word)
            continue;
        snprintf(word, sizeof word, "%.*s", (int)cell->length, cell->at);
        if (text_lists("NA N/A n/a #N/A NaN nan NULL null <NA> ?", word)) {
            cell->length = 0;
            missing++;
        }
    }
    return missing;
}

// A number, or 1 for true and 0 for false.
static bool cell_feature(const Table *table, const Cell *cell, float *out) {
    bool is_true = cell->length == 4 && strncasecmp(cell->at, "true", 4) == 0;
    bool is_false = cell->length == 5 && strncasecmp(cell->at, "false", 5) == 0;
    if (!is_true && !is_false)
        return cell_number(table, cell, out);
    *out = is_true;
    return true;
}

static const char *behind_blanks(const char *at, const char *end) {
    while (at < end && *at == ' ')
        at++;
    return at;
}

int64_t cell_features(const Table *table, const Cell *cell, float *out, int64_t most) {
    static const Table plain = {.separator = ','}; // no decimal commas
    const char *at = cell->at, *end = at + cell->length;
    float number;
    if (cell_feature(table, cell, &number)) {
        if (most > 0)
            *out = number;
        return 1;
    }
    bool square = cell->length >= 2 && *at == '[' && end[-1] == ']';
    bool round = cell->length >= 2 && *at == '(' && end[-1] == ')'; // (5) is -5 to accountants
    bool brackets = square || (round && (memchr(at, ',', (size_t)cell->length) != NULL ||
                                         memchr(at, ' ', (size_t)cell->length) != NULL));
    at += brackets;
    end -= brackets;
    for (int64_t count = 1;; count++) {
        at = behind_blanks(at, end);
        Cell item = {.at = (char *)(uintptr_t)at};
        while (at < end && *at != ',' && *at != ' ')
            at++;
        item.length = at - item.at;
        if (!cell_number(&plain, &item, &number))
            return 0;
        if (count <= most)
            out[count - 1] = number;
        at = behind_blanks(at, end);
        if (at == end)
            return count;
        if (*at != ',' && !brackets) // numbers between blanks alone may be anything
            return 0;
        at += *at == ',';
    }
}
