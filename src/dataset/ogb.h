// What the files of the ogb format share: where a set lies, and its binary variant.
#ifndef FRINGE_DATASET_OGB_H
#define FRINGE_DATASET_OGB_H

#include "internal.h"

typedef struct OgbFolder {
    char root[DATASET_PATH];                     // holds raw/ and split/
    char raw[DATASET_PATH], split[DATASET_PATH]; // split: of its type; "" if there is none
    bool binary;                                 // raw/data.npz
    bool inverse;                                // add_inverse_edge
} OgbFolder;

// ---- ogb_folder.c
bool ogb_is(const char *path); // a folder of a set, or its raw/
bool ogb_find(OgbFolder *folder, const char *path, Error *err);
bool ogb_has(const char *folder, const char *name);

// ---- ogb_binary.c: edges, features and labels
bool ogb_read_binary(Dataset *dataset, const OgbFolder *folder, const Config *config, Error *err);
void ogb_plan_binary(Tally *tally, const OgbFolder *folder, const Config *config);

#endif
