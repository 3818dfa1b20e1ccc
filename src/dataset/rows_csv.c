// Features or labels in text whose rows are nodes in their order, unless a column holds ids.

#include "roster.h"

#include <errno.h>

// ---- a column of ids

static bool can_be_ids(const Sheet *sheet, int column, const Config *config) {
    Error err = {0};
    float number;
    CLEARED(roster_close) Roster roster = {.path = sheet->table.path};
    for (int64_t r = 0; r < sheet->rows; r++)
        if (cell_number(&sheet->table, cell_at(sheet, r, column), &number) &&
            number != floorf(number))
            return false;
    return roster_take_ids(&roster, sheet, column, config, &err);
}

// The column of ids: the one that data.columns says, or one that is called so; -1: there is none.
// What is said may be meant for another table: a number for data.nodes, a name for any that has it.
static bool ids_beside(int *column, const Sheet *sheet, const Config *config, Error *err) {
    const char *said = sheet->table.columns > 1 ? config_column(config, "id", 0) : NULL;
    const bool number = said != NULL && column_is_number(said);
    const bool nodes = config->data.nodes[0] != '\0';
    const bool both = config->data.features[0] != '\0' && config->data.labels[0] != '\0';
    Error missing = {0};
    *column = -1;
    if (said != NULL)
        column_said(column, &sheet->table, "id", said, &missing);
    if (number && nodes && *column >= 0 && !can_be_ids(sheet, *column, config))
        *column = -1;
    if (*column < 0)
        *column = column_of_words(&sheet->table, "id ids nodeid");
    if (*column < 0 && missing.code != 0 && !number && !nodes && !both)
        *err = missing;
    return err->code == 0;
}

// ---- ids among the columns of labels

// A whole number, also as 40.0.
static bool whole_number(const Cell *cell, int64_t *out) {
    char copy[32], *end;
    if (cell->length == 0 || cell->length >= (int64_t)sizeof copy)
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)cell->length, cell->at);
    errno = 0;
    *out = strtoll(copy, &end, 10);
    if (*end == '.')
        end += 1 + strspn(end + 1, "0");
    return errno == 0 && end > copy && *end == '\0';
}

static int64_t node_of_cell(const Dataset *d, const Cell *cell) {
    int64_t number;
    if (d->ids.bytes != NULL)
        return ids_find_text(&d->ids, cell->at, cell->length);
    if (!whole_number(cell, &number))
        return -1;
    if (d->ids.count > 0)
        return ids_find_number(&d->ids, number);
    return number >= 0 && number < d->nodes ? number : -1;
}

// The nodes that a column names, each counted once, are most of its rows, and not all of them are
// at their places. Numbers of the rows, from 0 or from 1, are no ids.
static bool names_others(const Dataset *dataset, const Sheet *sheet, int column) {
    enum { LEAST = 4 }; // rows whose ids are no accident
    FREED uint8_t *seen = ALLOC(uint8_t, dataset->nodes, "nodes of a column");
    int64_t nodes = 0, in_place = 0, counted = 0, first = 0, number;
    for (int64_t r = 0; r < sheet->rows; r++) {
        const Cell *cell = cell_at(sheet, r, column);
        int64_t node = node_of_cell(dataset, cell);
        bool whole = whole_number(cell, &number);
        first = r == 0 && whole ? number : first;
        counted += whole && number == first + r && (first == 0 || first == 1);
        in_place += node == r;
        nodes += node >= 0 && !seen[node];
        if (node >= 0)
            seen[node] = 1;
    }
    return sheet->rows >= LEAST && nodes * 2 > sheet->rows && in_place < sheet->rows &&
           counted < sheet->rows;
}

bool labels_are_in_order(const Dataset *dataset, const TableIds *ids, Error *err) {
    const Table *table = &ids->sheet.table;
    for (int c = 0; ids->sheet.rows > 0 && c < table->columns; c++)
        if (c != ids->label && names_others(dataset, &ids->sheet, c))
            return error_data(err,
                              "its column '%s' holds ids of nodes, and its rows are not in the "
                              "order of these; set data.columns={\"id\": \"%s\"}, or leave that "
                              "column out",
                              COLUMN_SHOWN(table, c), COLUMN_SHOWN(table, c));
    return true;
}

void table_ids_clear(TableIds *ids) {
    roster_close(&ids->rows);
    sheet_close(&ids->sheet);
}

// ---- both

static bool refuse_ids(const Sheet *sheet, int id, const char *key, Error *err) {
    return id >= 0 &&
           !error_data(err,
                       "%s: its column '%s' names nodes by ids; give the file as data.nodes "
                       "instead of %s, whose rows are nodes in their order",
                       sheet->table.path, COLUMN_SHOWN(&sheet->table, id), key);
}

bool features_from_csv(Npy *npy, TableIds *ids, Text *text, const char *path, const Config *config,
                       Error *err) {
    CLEARED(sheet_close) Sheet sheet;
    Warnings warnings = {0};
    FREED FeatureColumns *columns = ALLOC(FeatureColumns, 1, "columns of features");
    bool ok = sheet_parse(&sheet, text, path, WORDS_ID, config, err);
    int id = -1;
    ok = ok && ids_beside(&id, &sheet, config, err);
    if (ok && id >= 0 && ids != NULL)
        return roster_take(&ids->rows, &sheet, id, USE_FEATURES, config, err);
    ok = ok && !refuse_ids(&sheet, id, "data.features", err);
    for (int c = 0; ok && c < sheet.table.columns; c++)
        sheet_empty_missing(&sheet, c);
    ok = ok && (config_column(config, "features", 0) != NULL
                    ? feature_columns_said(&sheet, config, columns, err)
                    : feature_columns(&sheet, NULL, columns, &warnings, err));
    if (ok && warnings.text[0] != 0)
        ok = error_data(err, "%s; features are numbers", warnings.text);
    *npy = (Npy){.kind = NPY_FLOAT, .item = 4, .rank = 2};
    if (ok)
        npy->data = (unsigned char *)feature_numbers(&sheet, columns, err);
    npy->shape[0] = sheet.rows;
    npy->shape[1] = columns->features;
    npy->elements = sheet.rows * columns->features;
    snprintf(npy->name, sizeof npy->name, "%.250s", path_name(path));
    return err->code == 0;
}

bool labels_from_csv(Npy *npy, NodeIds *names, TableIds *ids, Text *text, const char *path,
                     const Config *config, Error *err) {
    CLEARED(sheet_close) Sheet sheet;
    Dataset data = {0};
    bool ok = sheet_parse(&sheet, text, path, WORDS_LABEL " " WORDS_ID, config, err);
    int id = -1;
    ok = ok && ids_beside(&id, &sheet, config, err);
    if (ok && id >= 0 && ids != NULL)
        return roster_take(&ids->rows, &sheet, id, USE_LABELS, config, err);
    ok = ok && !refuse_ids(&sheet, id, "data.labels", err);
    int column = ok ? sheet_label_column(&sheet, -1, config, err) : -1;
    data.nodes = sheet.rows;
    if (column >= 0)
        sheet_empty_missing(&sheet, column);
    ok = ok && err->code == 0 && sheet_labels(&data, &sheet, column, config, err);
    *npy = (Npy){.kind = NPY_INT, .item = 4, .rank = 1, .shape = {sheet.rows}};
    npy->elements = sheet.rows;
    if (ok && data.multilabel) {
        *npy = (Npy){.kind = NPY_UINT, .item = 1, .rank = 2, .shape = {sheet.rows, data.classes}};
        npy->elements = sheet.rows * data.classes;
    }
    if (data.numeric)
        npy->kind = NPY_FLOAT;
    npy->data = (unsigned char *)(data.numeric      ? (void *)data.numbers
                                  : data.multilabel ? (void *)data.labels
                                                    : (void *)data.label);
    *names = data.names;
    snprintf(npy->name, sizeof npy->name, "%.250s", path_name(path));
    if (ok && ids != NULL && sheet.table.columns > 1) {
        *ids = (TableIds){.sheet = sheet, .label = column};
        sheet = (Sheet){0};
    }
    return ok;
}
