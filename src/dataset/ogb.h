// What the files of the ogb format share: where a set lies, the rows of its tables, and its binary
// variant.
#pragma once

#include "internal.h"

typedef struct OgbFolder {
    char root[PATH_BYTES];                   // holds raw/ and split/
    char raw[PATH_BYTES], split[PATH_BYTES]; // split: of its type; "" if there is none
    bool binary;                             // raw/data.npz
    bool inverse;                            // add_inverse_edge
} OgbFolder;

// ---- ogb_folder.c
bool ogb_is(const char *path); // a folder of a set, or its raw/
bool ogb_find(OgbFolder *folder, const char *path, Error *err);
bool ogb_has(const char *folder, const char *name);

// ---- ogb_rows.c: numbers of a table: one line a row, at places known by the number of the line
typedef bool OgbRow(void *context, int64_t row, Scan *scan, Error *err);
typedef struct OgbTable {
    int64_t rows;
    const char *counted_by; // what says how many there are
    bool may_be_empty;      // an empty line is a row
    OgbRow *read;
    void *context;
} OgbTable;
bool ogb_take_rows(void *table, TextBlock *block, Error *err); // a TextTaker

typedef struct OgbEdges {
    Ends ends;
    int64_t nodes;
} OgbEdges;
// The contexts are an int64_t, an OgbEdges, and a Dataset with x, label or labels.
OgbRow ogb_count, ogb_edge, ogb_features, ogb_class, ogb_classes;

// ---- ogb_binary.c: edges, features and labels
bool ogb_read_binary(Dataset *dataset, const OgbFolder *folder, const Config *config, Error *err);
