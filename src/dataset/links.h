// Lists of pairs of ids in text: edges and pins are read by the same steps.
#pragma once

#include "table.h"

// ---- ids_kind.c: numbers or text
// What the ids of some files have shown. auto: numbers if all are written as numbers are (0 or
// -?[1-9][0-9]*), text if none is made of digits alone, else the config must say it.
typedef struct IdSeen {
    const char *path; // of the file; borrowed
    int64_t line;     // where it was first; 0: nowhere
    char word[40];
} IdSeen;
struct IdKind {
    IdSeen odd;            // is not written as numbers are
    IdSeen digits;         // is made of digits alone
    IdSeen negative, huge; // needs a sign; needs all 64 bits
};
bool ids_are_text(const Config *config); // data.ids=text
// Notes an id. True if it is a number, or, for data.ids=number, means one ("007").
bool id_note(IdKind *kind, const Config *config, const char *path, int64_t line, const Cell *cell,
             int64_t *number);
void id_kind_add(IdKind *to, const IdKind *more);
// Decides for all of them. False with an error.
bool id_kind_decide(bool *text, const IdKind *kind, const Config *config, Error *err);

typedef struct LinkColumns { // of the table; -1: there is none
    int end[2], weight, word;
} LinkColumns;

typedef struct Links {
    Table table;
    LinkColumns columns;
    int64_t count;
    int64_t *id[2];     // [count] numbers, or spans of the text
    float *weight;      // [count] or NULL
    char *word;         // [count] the first letter of columns.word, in lower case, or NULL
    int64_t *line;      // [count] of the file
    bool members;       // a line lists those of a hyperedge, whose number id[1] is
    int64_t hyperedges; // of members
    bool is_text, is_unsigned;
    bool whole, ones; // all weights are; known after links_read
    IdKind kind;
} Links;
// Reads all lines; table and columns, or members, are set. `kind`: what is known of the ids of
// other files. `lines`: keep them. Clear it also after an error.
bool links_read(Links *links, Text *text, const Config *config, const IdKind *kind, bool lines,
                Error *err);
void links_clear(Links *links);
// False with a cure if the first line is one of another notation: brackets, name and colon, arrows.
bool links_check_notation(const Table *table, const Text *text, Error *err);
// Warns of the columns of a table with names that are none of these.
void links_name_rest(const LinkColumns *columns, const Table *table, Warnings *warnings);

// ---- edge_columns.c
// Which columns are the ends and the weight of edges. Says in warnings what is not read.
bool edge_columns(LinkColumns *columns, const Table *table, const Text *text, const Config *config,
                  Warnings *warnings, Error *err);
