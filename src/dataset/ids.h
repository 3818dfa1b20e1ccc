// Ids of any kind become numbers from 0 (ids.c, ids_text.c).
#pragma once

#include "fringe/dataset.h"

// Text ids lie in a text: the place of the first byte, and how many there are.
enum { SPAN_BITS = 20 };
static inline int64_t span_of(int64_t place, int64_t bytes) { return place << SPAN_BITS | bytes; }
static inline int64_t span_bytes(int64_t span) { return span & ((INT64_C(1) << SPAN_BITS) - 1); }
typedef struct IdColumn {
    int64_t count;
    int64_t *value;   // [count] numbers, or spans of `text`; borrowed
    const char *text; // NULL: numbers
} IdColumn;
enum { ID_COLUMNS = 8 };
typedef struct IdColumns {
    const char *noun; // "node"
    bool is_unsigned; // the numbers are those of uint64_t
    int columns;
    IdColumn of[ID_COLUMNS]; // all numbers, or all text
} IdColumns;
// Replaces all ids by their places in ascending order, and sets *ids to what they were, each once.
// The same at any number of threads.
bool ids_number(IdColumns *columns, NodeIds *ids, Error *err);
bool ids_number_text(IdColumns *columns, NodeIds *ids, Error *err);
// The place of an id; -1: it is none of them.
int64_t ids_find_number(const NodeIds *ids, int64_t number);
int64_t ids_find_text(const NodeIds *ids, const char *text, int64_t bytes);
// The ids of nodes. If `rows` is known (else -1) and the ids are some of 0 to rows-1, they stay,
// and *numbers is `rows`. Says in a warning how rows belong to ids that are not 0 to n-1.
bool ids_number_nodes(IdColumns *columns, NodeIds *ids, int64_t *numbers, int64_t rows,
                      const char *path, Warnings *warnings, Error *err);
