// Features or labels in text whose rows are nodes in their order, unless a column holds ids.

#include "roster.h"

static bool is_digits(const Cell *cell) {
    for (int64_t i = 0; i < cell->length; i++)
        if (cell->at[i] < '0' || cell->at[i] > '9')
            return false;
    return true;
}

// Numbers by their size, names by their bytes.
static int order_of(const Cell *a, const Cell *b) {
    int64_t shorter = a->length < b->length ? a->length : b->length;
    if (a->length != b->length && is_digits(a) && is_digits(b))
        return a->length < b->length ? -1 : 1;
    int order = memcmp(a->at, b->at, (size_t)shorter);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}
static int by_cell(const void *a, const void *b) { return order_of(a, b); }

// Each cell is another, and none is empty or a fraction. *ascending: in the order of the nodes.
static bool holds_ids(const Sheet *sheet, int column, bool *ascending) {
    FREED Cell *cell = ALLOC(Cell, sheet->rows, "a column");
    float number;
    bool ids = true;
    *ascending = true;
    for (int64_t r = 0; r < sheet->rows && ids; r++) {
        cell[r] = *cell_at(sheet, r, column);
        ids = cell[r].length > 0 &&
              (is_digits(&cell[r]) || !cell_number(&sheet->table, &cell[r], &number));
        *ascending = *ascending && (r == 0 || order_of(&cell[r - 1], &cell[r]) < 0);
    }
    if (ids && !*ascending)
        qsort(cell, (size_t)sheet->rows, sizeof *cell, by_cell);
    for (int64_t r = 1; r < sheet->rows && ids; r++)
        ids = order_of(&cell[r - 1], &cell[r]) != 0;
    return ids;
}

// The column of ids of a table whose rows would be nodes in their order: one that is called so, or
// that data.columns says, by a number if each of its cells is another; -1: it has none.
static int ids_beside(const Sheet *sheet, const Config *config) {
    const char *said = config_column(config, "id", 0);
    int column = -1;
    bool ascending;
    for (int c = 0; sheet->table.header && c < sheet->table.columns; c++)
        if (column_is_word(sheet->table.name[c], "id ids nodeid"))
            return c;
    if (said == NULL || sheet->table.columns == 1 ||
        !column_said(&column, &sheet->table, "id", said, &(Error){0}))
        return -1;
    bool number = strspn(said, "0123456789") == strlen(said);
    return !number || holds_ids(sheet, column, &ascending) ? column : -1;
}

// The rows of labels are taken in their order, which a column of ids in another one forbids.
static bool in_order(const Sheet *sheet, int label, Error *err) {
    char name[TABLE_NAME];
    bool ascending;
    for (int c = 0; c < sheet->table.columns; c++)
        if (c != label && holds_ids(sheet, c, &ascending) && !ascending)
            return error_data(
                err,
                "%s: its column '%s' seems to hold ids, which are not in the order of "
                "nodes; set data.columns={\"id\": ...} to find nodes by it, or leave "
                "it out",
                sheet->table.path, SHOWN(column_shown(&sheet->table, c, name)));
    return true;
}

static bool refuse_ids(const Sheet *sheet, int id, const char *key, Error *err) {
    char name[TABLE_NAME];
    return id >= 0 &&
           !error_data(err,
                       "%s: its column '%s' names nodes by ids; give the file as data.nodes "
                       "instead of %s, whose rows are nodes in their order",
                       sheet->table.path, SHOWN(column_shown(&sheet->table, id, name)), key);
}

bool features_from_csv(Npy *npy, Roster *by_id, Text *text, const char *path, const Config *config,
                       Error *err) {
    CLEARED(sheet_close) Sheet sheet;
    Warnings warnings = {0};
    FREED FeatureColumns *columns = ALLOC(FeatureColumns, 1, "columns of features");
    bool ok = sheet_parse(&sheet, text, path, WORDS_ID, config, err);
    int id = ok ? ids_beside(&sheet, config) : -1;
    if (id >= 0 && by_id != NULL)
        return roster_take(by_id, &sheet, id, USE_FEATURES, config, err);
    ok = ok && !refuse_ids(&sheet, id, "data.features", err);
    for (int c = 0; ok && c < sheet.table.columns; c++)
        sheet_empty_missing(&sheet, c);
    ok = ok && feature_columns(&sheet, NULL, columns, &warnings, err);
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

bool labels_from_csv(Npy *npy, NodeIds *names, Roster *by_id, Text *text, const char *path,
                     const Config *config, Error *err) {
    CLEARED(sheet_close) Sheet sheet;
    Dataset data = {0};
    bool ok = sheet_parse(&sheet, text, path, WORDS_LABEL, config, err);
    int id = ok ? ids_beside(&sheet, config) : -1;
    if (id >= 0 && by_id != NULL)
        return roster_take(by_id, &sheet, id, USE_LABELS, config, err);
    ok = ok && !refuse_ids(&sheet, id, "data.labels", err);
    int column = ok ? sheet_label_column(&sheet, -1, config, err) : -1;
    ok = ok && err->code == 0 && in_order(&sheet, column, err);
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
    return ok;
}
