// What a .csv with a column of ids says about nodes: data.nodes, or features or labels alone.

#include "roster.h"

#include <strings.h>

enum { OF_ID, OF_LABEL, OF_SPLIT };
typedef struct NodeColumns { // -1: there is none
    int own[3];              // id, label, split
    int mask[3];             // training, validation, test
} NodeColumns;

// ---- its columns

// 1, 0, or -1: it is neither.
static int truth_of(const Cell *cell) {
    static const char *const words[2][3] = {{"0", "0.0", "false"}, {"1", "1.0", "true"}};
    char word[8];
    if (cell->length == 0)
        return 0;
    snprintf(word, sizeof word, "%.*s", (int)(cell->length < 7 ? cell->length : 7), cell->at);
    for (int k = 0; k < 6; k++)
        if (strcasecmp(words[k / 3][k % 3], word) == 0)
            return k / 3;
    return -1;
}

static bool holds_truths(const Sheet *sheet, int column) {
    for (int64_t r = 0; r < sheet->rows; r++)
        if (truth_of(cell_at(sheet, r, column)) < 0)
            return false;
    return true;
}

// Masks as PyG and DGL call them; or else columns of 0 and 1 called train and test, and perhaps
// val. One of these alone, or of other numbers, is a feature.
static void find_masks(int mask[3], const Sheet *sheet) {
    static const char *const words[2][3] = {
        {"trainmask", "valmask validmask validationmask devmask", "testmask"},
        {"train training istrain", "val valid validation dev isval isvalid", "test istest"}};
    for (int w = 0; w < 2 && mask[0] < 0 && mask[1] < 0 && mask[2] < 0; w++)
        for (int k = 0; sheet->table.header && k < 3; k++)
            for (int c = 0; c < sheet->table.columns; c++)
                if (column_is_word(sheet->table.name[c], words[w][k]) &&
                    (w == 0 || (holds_truths(sheet, c) && (k == 0 || mask[0] >= 0))))
                    mask[k] = c;
    if (mask[0] >= 0 && mask[1] < 0 && mask[2] < 0 &&
        !column_is_word(sheet->table.name[mask[0]], words[0][0]))
        mask[0] = -1;
}

// Of a table without names, counted from 1: the first column that holds a word, or else the last.
static int likely_label(const Sheet *sheet) {
    for (int c = 1; sheet->rows > 0 && c < sheet->table.columns; c++)
        if (cell_features(&sheet->table, cell_at(sheet, 0, c), NULL, 0) == 0)
            return c + 1;
    return sheet->table.columns;
}

// What data.columns says of labels and splits is meant for the table that is read for these. In
// another one a column of that name is no feature, and a number says nothing.
static bool find_other(int *column, const Sheet *sheet, const Config *config, const char *what,
                       const char *words, bool meant, Error *err) {
    const char *said = config_column(config, what, 0);
    int named;
    if (meant)
        return column_find(column, &sheet->table, config, what, words, err);
    *column = column_of_words(&sheet->table, words);
    if (said != NULL && !column_is_number(said) &&
        column_said(&named, &sheet->table, what, said, &(Error){0}))
        *column = named;
    return true;
}

// id: the column of ids, if it is known; else -1.
static bool find_columns(NodeColumns *columns, const Sheet *sheet, int id, Use use,
                         const Config *config, Error *err) {
    const bool all = use == USE_ALL;
    const Table *t = &sheet->table;
    if (!t->header && id < 0 && config_column(config, "id", 0) == NULL)
        return error_data(err,
                          "%s: its first line must name its columns, one of them 'id'; or set "
                          "data.columns={\"id\": 1, \"label\": %d}",
                          t->path, t->columns > 1 ? likely_label(sheet) : 2);
    *columns = (NodeColumns){{id, -1, -1}, {-1, -1, -1}};
    if ((id < 0 && !column_find(&columns->own[OF_ID], t, config, "id", WORDS_ID, err)) ||
        !find_other(&columns->own[OF_LABEL], sheet, config, "label", WORDS_LABEL,
                    all && config->data.labels[0] == '\0', err) ||
        !find_other(&columns->own[OF_SPLIT], sheet, config, "split", WORDS_SPLIT, all, err))
        return false;
    find_masks(columns->mask, sheet);
    return columns->own[OF_ID] >= 0 ||
           error_data(err,
                      "%s: none of its columns is called id, node, name or nodeid; set "
                      "data.columns={\"id\": \"...\"}",
                      t->path);
}

bool roster_take_ids(Roster *roster, const Sheet *sheet, int column, const Config *config,
                     Error *err) {
    bool text;
    roster->rows = sheet->rows;
    roster->row = TRY(int64_t, sheet->rows, "ids of nodes", err);
    for (int64_t r = 0; err->code == 0 && r < sheet->rows; r++) {
        const Cell *cell = cell_at(sheet, r, column);
        if (cell->length == 0 || cell->length >= INT64_C(1) << SPAN_BITS)
            return error_data(err, "%s:%ld: its id is %s", sheet->table.path, sheet->line[r],
                              cell->length == 0 ? "empty" : "too long");
        id_note(&roster->kind, config, roster->path, sheet->line[r], cell, &roster->row[r]);
    }
    if (err->code != 0 || !id_kind_decide(&text, &roster->kind, config, err))
        return false;
    for (int64_t r = 0; text && r < sheet->rows; r++)
        roster->row[r] = span_of(cell_at(sheet, r, column)->at - sheet->text.data,
                                 cell_at(sheet, r, column)->length);
    IdColumns columns = {.columns = 1,
                         .of = {{sheet->rows, roster->row, text ? sheet->text.data : NULL}}};
    if (!roster_number(roster, &columns, err))
        return false;
    FREED int64_t *line = TRY(int64_t, roster->known.count, "lines of nodes", err);
    for (int64_t r = 0; err->code == 0 && r < sheet->rows; r++) {
        int64_t *first = &line[roster->row[r]];
        if (*first != 0)
            error_data(err, "%s:%ld: the id '%s' stands in line %ld already; a node has one row",
                       sheet->table.path, sheet->line[r],
                       SHOWN(NODE_ID(&roster->known, roster->row[r])), *first);
        *first = sheet->line[r];
    }
    return err->code == 0;
}

static int64_t *spans_of(const Sheet *sheet, int column, Error *err) {
    int64_t *span = TRY(int64_t, sheet->rows, "words of a column", err);
    for (int64_t r = 0; span != NULL && r < sheet->rows; r++) {
        const Cell *cell = cell_at(sheet, r, column);
        int64_t bytes = cell->length < (1 << SPAN_BITS) ? cell->length : (1 << SPAN_BITS) - 1;
        span[r] = span_of(cell->at - sheet->text.data, bytes);
    }
    return span;
}

bool sheet_labels(Dataset *data, const Sheet *sheet, int column, const Config *config, Error *err) {
    FREED int64_t *span = spans_of(sheet, column, err);
    ClassWords words = {sheet->rows,
                        span,
                        sheet->text.data,
                        strcmp(config->data.labels_are, "several") == 0,
                        sheet->rows / 2,
                        strcmp(config->data.labels_are, "classes") != 0 ? &sheet->table : NULL,
                        strcmp(config->data.labels_are, "numbers") == 0};
    bool ok = span != NULL &&
              (classes_take(data, &words, err) || error_prefix(err, "%s", sheet->table.path));
    if (ok && data->numeric && !words.numbers)
        warnings_add(&data->warnings, "labels are not all whole, so they are numbers to predict "
                                      "(train.loss=mse); data.labels_are=classes takes each as the "
                                      "name of a class");
    return ok;
}

static bool take_split(Roster *roster, const Sheet *sheet, int column, Error *err) {
    roster->data.split = TRY(uint8_t, sheet->rows, "splits", err);
    for (int64_t r = 0; err->code == 0 && r < sheet->rows; r++) {
        const Cell *cell = cell_at(sheet, r, column);
        int found = split_of_word(cell->at, cell->length);
        if (found < 0)
            return error_data(err, "%s:%ld: the split '%.*s' is none of train, val, test, none",
                              sheet->table.path, sheet->line[r],
                              (int)(cell->length < 31 ? cell->length : 31), cell->at);
        roster->data.split[r] = (uint8_t)found;
    }
    roster->has_split = true;
    return err->code == 0;
}

static bool take_masks(Roster *roster, const Sheet *sheet, const int mask[3], Error *err) {
    roster->data.split = TRY(uint8_t, sheet->rows, "splits", err);
    roster->has_split = true;
    for (int64_t r = 0; err->code == 0 && r < sheet->rows; r++)
        for (int k = 0; k < 3; k++) {
            int is = mask[k] >= 0 ? truth_of(cell_at(sheet, r, mask[k])) : 0;
            if (is < 0 || (is == 1 && roster->data.split[r] != SPLIT_NONE))
                return error_data(err, "%s:%ld: column '%s' %s", sheet->table.path, sheet->line[r],
                                  SHOWN(sheet->table.name[mask[k]]),
                                  is < 0 ? "is a mask, but holds neither true, false, 1 nor 0 here"
                                         : "has a node that another mask has, too");
            if (is == 1)
                roster->data.split[r] = (uint8_t)(SPLIT_TRAIN + k);
        }
    return err->code == 0;
}

// A column of splits wins over masks.
static bool take_splits(Roster *roster, const Sheet *sheet, const NodeColumns *columns,
                        Error *err) {
    bool masks = columns->mask[0] >= 0 || columns->mask[1] >= 0 || columns->mask[2] >= 0;
    if (columns->own[OF_SPLIT] < 0)
        return !masks || take_masks(roster, sheet, columns->mask, err);
    if (masks)
        warnings_add(&roster->warnings, "%s: masks are not read beside the column of splits",
                     path_name(sheet->table.path));
    return take_split(roster, sheet, columns->own[OF_SPLIT], err);
}

static void find_taken(bool *taken, const NodeColumns *columns) {
    for (int k = 0; k < 3; k++) {
        if (columns->own[k] >= 0)
            taken[columns->own[k]] = true;
        if (columns->mask[k] >= 0)
            taken[columns->mask[k]] = true;
    }
}

// A table of features alone has such columns by accident, or has labels among its features.
static void tell_taken(const Sheet *sheet, const bool *taken, int id, Warnings *warnings) {
    for (int c = 0; c < sheet->table.columns; c++)
        if (taken[c] && c != id)
            warnings_add(warnings,
                         "%s: column '%s' has the name of labels or splits, so it is no feature; "
                         "data.columns={\"features\": [...]} names those that are",
                         path_name(sheet->table.path), SHOWN(sheet->table.name[c]));
}

static bool take_features(Roster *roster, const Sheet *sheet, const NodeColumns *own, Use use,
                          const Config *config, Error *err) {
    FREED FeatureColumns *columns = ALLOC(FeatureColumns, 1, "columns of features");
    FREED bool *taken = ALLOC(bool, TABLE_COLUMNS, "columns of features");
    const bool said = config_column(config, "features", 0) != NULL;
    Warnings left = {0};
    find_taken(taken, own);
    if (said ? !feature_columns_said(sheet, config, columns, err)
             : !feature_columns(sheet, taken, columns, &left, err))
        return false;
    if (use == USE_FEATURES && left.text[0] != '\0')
        return error_data(err, "%s; features are numbers", left.text);
    if (use == USE_FEATURES && columns->count == 0)
        return error_data(err, "%s: it has no column of features", sheet->table.path);
    if (use == USE_FEATURES && !said)
        tell_taken(sheet, taken, own->own[OF_ID], &roster->warnings);
    warnings_add_all(&roster->warnings, &left);
    if (columns->count > 0)
        roster->data.x = feature_numbers(sheet, columns, err);
    roster->data.features = columns->features;
    feature_columns_list(sheet, columns, &roster->warnings);
    return err->code == 0;
}

static void empty_missing(Sheet *sheet, const NodeColumns *columns, Warnings *warnings) {
    for (int c = 0; c < sheet->table.columns; c++) {
        int64_t missing = c != columns->own[OF_ID] ? sheet_empty_missing(sheet, c) : 0;
        if (missing > 0 && c == columns->own[OF_LABEL])
            warnings_add(warnings,
                         "%s: %ld label%s NA, null or the like, so %s; in quotes they name a class",
                         path_name(sheet->table.path), missing, missing == 1 ? " is" : "s are",
                         missing == 1 ? "this node has none" : "these nodes have none");
    }
}

int sheet_label_column(const Sheet *sheet, int id, const Config *config, Error *err) {
    int found = -1, columns = 0, last = -1;
    if (!column_find(&found, &sheet->table, config, "label", WORDS_LABEL, err))
        return -1;
    for (int c = 0; c < sheet->table.columns; c++)
        if (c != id && !column_is_index(&sheet->table, c)) {
            columns++;
            last = c;
        }
    if (found < 0 && columns != 1)
        error_data(err,
                   "%s: %d columns, none of them called label; set data.columns={\"label\": ...}, "
                   "or {\"id\": 1, \"label\": 2} if one of them holds the ids of nodes",
                   sheet->table.path, columns);
    return found >= 0 ? found : last;
}

bool roster_take(Roster *roster, Sheet *sheet, int id, Use use, const Config *config, Error *err) {
    const bool all = use == USE_ALL; // but for what the config names a file of its own for
    const bool features = use == USE_FEATURES || (all && config->data.features[0] == '\0');
    const bool labels = use == USE_LABELS || (all && config->data.labels[0] == '\0');
    NodeColumns columns;
    *roster = (Roster){.path = sheet->table.path};
    bool ok = find_columns(&columns, sheet, id, use, config, err) &&
              roster_take_ids(roster, sheet, columns.own[OF_ID], config, err);
    roster->data.nodes = sheet->rows;
    if (ok && use == USE_LABELS)
        columns.own[OF_LABEL] = sheet_label_column(sheet, id, config, err);
    if (!ok || err->code != 0)
        return false;
    empty_missing(sheet, &columns, &roster->warnings);
    return (!features || take_features(roster, sheet, &columns, use, config, err)) &&
           (!labels || columns.own[OF_LABEL] < 0 ||
            sheet_labels(&roster->data, sheet, columns.own[OF_LABEL], config, err)) &&
           (!all || take_splits(roster, sheet, &columns, err));
}

bool roster_parse_csv(Roster *roster, Text *text, const char *path, const Config *config,
                      Error *err) {
    CLEARED(sheet_close) Sheet sheet;
    *roster = (Roster){.path = path};
    return sheet_parse(&sheet, text, path, WORDS_ID, config, err) &&
           roster_take(roster, &sheet, -1, USE_ALL, config, err);
}

bool roster_read_csv(Roster *roster, const char *path, const Config *config, Error *err) {
    Text text = {0};
    *roster = (Roster){.path = path};
    return text_read(&text, path, err) && roster_parse_csv(roster, &text, path, config, err);
}
