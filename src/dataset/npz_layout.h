// The names of arrays in the kinds of npz that hold a graph (npz_layout.c).
#ifndef FRINGE_DATASET_NPZ_LAYOUT_H
#define FRINGE_DATASET_NPZ_LAYOUT_H

#include "internal.h"

typedef struct NpzLayout {
    const char *csr; // what precedes "indptr", ... of the adjacency; NULL: edge_index
    bool edge_index;
    const char *features, *labels; // dense features, labels; NULL: none
} NpzLayout;

// Errors list the arrays that the archive has and those that are read.
bool npz_layout(NpzLayout *layout, const Npz *npz, Error *err);
int64_t npz_layout_rows(const NpzLayout *layout, Npz *npz); // of features or labels; -1: neither
bool npz_layout_format(Npz *npz, char format[8], Error *err);

#endif
