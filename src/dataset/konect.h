// What the first lines of a file of KONECT say (konect.c).
#pragma once

#include "links.h"

typedef struct Konect {
    bool is, undirected;
    int64_t nodes; // 0: not said
} Konect;
bool konect_begins(const char *text);
// False with an error: it is bipartite.
bool konect_look(Konect *konect, const Text *text, const char *path, Error *err);
bool konect_columns(LinkColumns *columns, const Table *table, Warnings *warnings, Error *err);
// Ids become rows; sets *nodes.
bool konect_rows(const Konect *konect, Links *links, int64_t *nodes, Error *err);
