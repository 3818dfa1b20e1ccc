// Tables in text: lines of cells that a separator divides, as people export them.
//
// The separator is the first of tab ; | , that stands outside of quotes in each of the first 100
// lines, else blanks. Cells may be quoted ("" is a quote), and lose blanks at both ends. Lines that
// begin with # % // are comments. The first other line may hold the names of the columns.
#pragma once

#include "internal.h"

enum { TABLE_COLUMNS = 4096, TABLE_NAME = 64 };

typedef struct Cell {
    char *at;       // in the text, not 0-terminated
    int64_t length; // without quotes and blanks around it
    bool quoted;
    bool doubled; // it holds "" for a quote
} Cell;
static inline Cell cell_of_span(const char *text, int64_t span) {
    return (Cell){.at = (char *)(uintptr_t)text + (span >> SPAN_BITS), .length = span_bytes(span)};
}

#define TABLE_OPEN_QUOTE "a quote is not closed in its line; cells have no line breaks here"
typedef struct Table {
    const char *path;         // for messages
    char separator;           // ' ': blanks
    bool header;              // the first line that is no comment holds names
    int columns;              // of that line
    int64_t late;             // comments after the first line of cells
    char (*name)[TABLE_NAME]; // [columns] as they stand there, or NULL
} Table;

// Looks at the first lines. `named`: a word of the header that the config says, or NULL. Removes a
// byte order mark. False with an error: it is no text in UTF-8, or a line is too wide.
bool table_open(Table *table, Text *text, const Config *config, const char *path, Error *err);
// Lines of as many cells as each likes: the separator is the first of tab ; | , that stands in any
// of them, and none holds names.
bool table_open_ragged(Table *table, Text *text, const char *path, Error *err);
void table_clear(Table *table);
// Moves the scan to the next line of cells: past comments, empty lines and, first, the header.
// False: there is none.
bool table_next(Table *table, Scan *scan, bool *first);
// Reads the next cell of the line and moves past its separator. False with an error (a quote that
// is not closed). *last: no other cell follows.
bool table_cell(const Table *table, Scan *scan, Cell *cell, bool *last, Error *err);
bool table_line_is_open(const char *at); // a quote is not closed in the line that begins there
void cell_unquote(Cell *cell);           // once, in the text itself: the line cannot be read again
// A finite number, with a decimal comma where the separator is another one.
bool cell_number(const Table *table, const Cell *cell, float *out);

// ---- columns.c
// The first of `words` (blanks between them) that is a name; -1: there is none.
int column_of_words(const Table *table, const char *words);
// The column that data.columns names under `what`, or else that of the words. False with an error:
// data.columns names none that is there.
bool column_find(int *column, const Table *table, const Config *config, const char *what,
                 const char *words, Error *err);
// The column that data.columns names so under `what`, by a name or a number from 1.
bool column_said(int *column, const Table *table, const char *what, const char *name, Error *err);
// The two columns of one name but for 1 and 2 at its end, such as protein1 and protein2; false if
// there is a third, or another such pair.
bool columns_numbered(const Table *table, int two[2]);
const char *column_shown(const Table *table, int column,
                         char out[TABLE_NAME]); // its name, or from 1
#define COLUMN_SHOWN(table, column) SHOWN(column_shown(table, column, (char[TABLE_NAME]){0}))
bool column_is_index(const Table *table, int column); // of pandas: no name, or "Unnamed: 0"
#define WORDS_SOURCE                                                                               \
    "source src from u node1 start startid sender origin fromid fromnode fromnodeid sourceid "     \
    "srcid"
#define WORDS_TARGET                                                                               \
    "target dst to v node2 end endid receiver dest destination toid tonode tonodeid targetid "     \
    "dstid"
#define WORDS_WEIGHT "weight w weights edgeweight"
#define WORDS_HYPEREDGE "hyperedge hyperedgeid edge edgeid net netid"
#define WORDS_NODE "node nodeid vertex vertexid"
#define WORDS_ID "id ids node name nodeid"
#define WORDS_LABEL "label labels y class classes target mltarget"
#define WORDS_SPLIT "split splits set"
// What data.columns says is a number of a column, not its name.
static inline bool column_is_number(const char *said) {
    return strspn(said, "0123456789") == strlen(said);
}
bool column_is_word(const char *name, const char *words);
bool table_has_word(const Table *table,
                    const char *words); // the name of one of its columns (table.c)
