// Features or labels in text whose rows are nodes in their order, unless a column holds ids.

#include "roster.h"

// The column of ids: the one that data.columns says, or one that is called so; -1: there is none.
static int ids_beside(const Sheet *sheet, const Config *config) {
    const char *said = config_column(config, "id", 0);
    int column;
    if (said != NULL && sheet->table.columns > 1 &&
        column_said(&column, &sheet->table, "id", said, &(Error){0}))
        return column;
    for (int c = 0; sheet->table.header && c < sheet->table.columns; c++)
        if (column_is_word(sheet->table.name[c], "id ids nodeid"))
            return c;
    return -1;
}

static bool has_fraction(const Sheet *sheet, int column) {
    float number;
    for (int64_t r = 0; r < sheet->rows; r++)
        if (cell_number(&sheet->table, cell_at(sheet, r, column), &number) &&
            number != floorf(number))
            return true;
    return false;
}

// Notes the column as ids, if each of its cells may be one, and another.
static bool note_ids(TableIds *ids, const Sheet *sheet, int column, const Config *config) {
    Error err = {0};
    char name[TABLE_NAME];
    ids->perhaps = (Roster){.path = sheet->table.path};
    if (!has_fraction(sheet, column) &&
        roster_take_ids(&ids->perhaps, sheet, column, config, &err)) {
        snprintf(ids->column, sizeof ids->column, "%s",
                 SHOWN(column_shown(&sheet->table, column, name)));
        return true;
    }
    roster_close(&ids->perhaps);
    ids->perhaps = (Roster){0};
    return false;
}

static bool refuse_ids(const Sheet *sheet, int id, const char *key, Error *err) {
    char name[TABLE_NAME];
    return id >= 0 &&
           !error_data(err,
                       "%s: its column '%s' names nodes by ids; give the file as data.nodes "
                       "instead of %s, whose rows are nodes in their order",
                       sheet->table.path, SHOWN(column_shown(&sheet->table, id, name)), key);
}

bool features_from_csv(Npy *npy, TableIds *ids, Text *text, const char *path, const Config *config,
                       Error *err) {
    CLEARED(sheet_close) Sheet sheet;
    Warnings warnings = {0};
    FREED FeatureColumns *columns = ALLOC(FeatureColumns, 1, "columns of features");
    bool ok = sheet_parse(&sheet, text, path, WORDS_ID, config, err);
    int id = ok ? ids_beside(&sheet, config) : -1;
    if (id >= 0 && ids != NULL)
        return roster_take(&ids->rows, &sheet, id, USE_FEATURES, config, err);
    ok = ok && !refuse_ids(&sheet, id, "data.features", err);
    for (int c = 0; ok && c < sheet.table.columns; c++)
        sheet_empty_missing(&sheet, c);
    ok = ok && feature_columns(&sheet, NULL, columns, &warnings, err);
    if (ok && warnings.text[0] != 0)
        ok = error_data(err, "%s; features are numbers", warnings.text);
    *npy = (Npy){.kind = NPY_FLOAT, .item = 4, .rank = 2};
    if (ok && ids != NULL)
        note_ids(ids, &sheet, 0, config);
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
    bool ok = sheet_parse(&sheet, text, path, WORDS_LABEL, config, err);
    int id = ok ? ids_beside(&sheet, config) : -1;
    if (id >= 0 && ids != NULL)
        return roster_take(&ids->rows, &sheet, id, USE_LABELS, config, err);
    ok = ok && !refuse_ids(&sheet, id, "data.labels", err);
    int column = ok ? sheet_label_column(&sheet, -1, config, err) : -1;
    for (int c = 0; ids != NULL && column >= 0 && c < sheet.table.columns; c++)
        if (c != column && note_ids(ids, &sheet, c, config))
            break;
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
