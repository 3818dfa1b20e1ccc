// What a file says about nodes that it names by the user's ids: data.nodes, an .npz with `ids` or a
// .csv with a column of them. Rows may have any order, and be of more or of fewer nodes than the
// graph has.
#pragma once

#include "links.h"
#include "npz_layout.h"

enum { ROSTER_LISTS = 3 };
typedef struct Roster {
    const char *path; // borrowed
    IdKind kind;      // of its ids
    NodeIds known;    // all ids of the file, each once, ascending
    int64_t rows;
    int64_t *row; // [rows] whose row it is: a place in `known`
    struct {
        char key[16]; // "train_ids"
        int64_t count;
        int64_t *id; // [count] places in `known`, ascending; NULL: there is no such list
    } list[ROSTER_LISTS];
    Dataset data; // nodes = rows: features, labels, names of classes and, of a .csv, the split
    bool has_split;
    Warnings warnings;
} Roster;

// True if the archive names its rows by ids.
bool roster_is_in(const Npz *npz);
// Both read the whole file. unsigned_ids: those of streams, which have no sign. Close it also after
// an error.
bool roster_read_npz(Roster *roster, Npz *npz, const char *path, const Config *config,
                     bool unsigned_ids, Error *err);
bool roster_read_csv(Roster *roster, const char *path, const Config *config, Error *err);
// The same of a text in memory, which it takes over.
bool roster_parse_csv(Roster *roster, Text *text, const char *path, const Config *config,
                      Error *err);
void roster_close(Roster *roster);
// Numbers the ids of columns: those of the rows, then those of the lists. (roster.c)
bool roster_number(Roster *roster, IdColumns *columns, Error *err);
// The errors of an .npz that names rows by ids as far as the names of its arrays tell.
bool roster_keys_fit(const Npz *npz, Error *err);

// Puts what the rows hold at their nodes; `where` ("the stream") is for warnings. The ids of the
// dataset are known, or its nodes are ids 0 to n-1. (join.c)
// whole: it is an error if none of the rows is of one of its nodes, as of a snapshot it is not.
bool roster_join(Dataset *dataset, const NodeIds *ids, Roster *roster, const char *where,
                 bool whole, Error *err);

// ---- sheet.c: a whole table
typedef struct Sheet { // a whole table
    Text text;
    Table table;
    int64_t rows, room;
    Cell *cell;    // [rows, columns]
    int64_t *line; // [rows]
} Sheet;
// Takes over the text. words: a first line that has one of them names the columns.
bool sheet_parse(Sheet *sheet, Text *text, const char *path, const char *words,
                 const Config *config, Error *err);
void sheet_close(Sheet *sheet); // also after an error
// Empties the cells of a column that say that nothing is known, as pandas and R write it (NA, NaN,
// null, ?), unless they are quoted. Returns how many.
int64_t sheet_empty_missing(Sheet *sheet, int column);
// How many features a cell has: 1 of a number, or of true (1) and false (0), or those of a list
// such as "0.5, 1", [0.5, 1] or [0.5 1]; 0: others. Writes at most so many.
int64_t cell_features(const Table *table, const Cell *cell, float *out, int64_t most);
static inline const Cell *cell_at(const Sheet *sheet, int64_t row, int column) {
    return &sheet->cell[row * sheet->table.columns + column];
}

// ---- feature_columns.c
typedef struct FeatureColumns {
    int count;
    int64_t features;            // of all of them
    int at[TABLE_COLUMNS];       // their columns
    int64_t wide[TABLE_COLUMNS]; // features of each: 1, or those of its lists
} FeatureColumns;
// All columns that are not taken (NULL: none is) and hold numbers alone, or lists of as many; says
// which ones do not.
bool feature_columns(const Sheet *sheet, const bool *taken, FeatureColumns *out, Warnings *warnings,
                     Error *err);
bool feature_columns_said(const Sheet *sheet, const Config *config, FeatureColumns *out,
                          Error *err); // those that data.columns names
float *feature_numbers(const Sheet *sheet, const FeatureColumns *columns,
                       Error *err); // [rows, features]; the caller frees them
void feature_columns_list(const Sheet *sheet, const FeatureColumns *columns, Warnings *warnings);

// ---- nodes_csv.c: what a table with ids is for: features, labels, or, with the splits, all of it
typedef enum Use { USE_FEATURES, USE_LABELS, USE_ALL } Use;
// False with an error if a row has no id, or that of another row.
bool roster_take_ids(Roster *roster, const Sheet *sheet, int column, const Config *config,
                     Error *err);
// id: its column of ids; -1: it is looked for.
bool roster_take(Roster *roster, Sheet *sheet, int id, Use use, const Config *config, Error *err);
// The only column but that of the ids (-1: none), or the one that is called a label.
int sheet_label_column(const Sheet *sheet, int id, const Config *config, Error *err);
bool sheet_labels(Dataset *data, const Sheet *sheet, int column, const Config *config, Error *err);

// ---- rows_csv.c: features and labels in text, a row for each node in their order, or for each id.
// Both take over the text.
typedef struct TableIds {
    Roster rows; // of a table with a column of ids; path = NULL: it has none
    Sheet sheet; // of labels by rows, if it has other columns; rows = 0: it is not kept
    int label;   // its column
} TableIds;
void table_ids_clear(TableIds *ids);
// False with an error if a column of the labels' table holds ids of nodes in another order.
bool labels_are_in_order(const Dataset *dataset, const TableIds *ids, Error *err);
// ids = NULL: a column of ids is refused.
bool features_from_csv(Npy *npy, TableIds *ids, Text *text, const char *path, const Config *config,
                       Error *err);
bool labels_from_csv(Npy *npy, NodeIds *names, TableIds *ids, Text *text, const char *path,
                     const Config *config, Error *err);

// ---- classes.c: words of classes become numbers
typedef struct ClassWords {
    int64_t count;
    int64_t *span; // [count] of `text`; 0 bytes: none. Borrowed
    const char *text;
    bool several;       // names separated by ;
    int64_t most;       // classes, more are refused; 0: any number
    const Table *table; // how numbers are written, if the words may be numbers to predict; or NULL
    bool numbers;       // they are
} ClassWords;
// Sets label (or labels), classes and names of a dataset with as many nodes.
bool classes_take(Dataset *dataset, const ClassWords *words, Error *err);
