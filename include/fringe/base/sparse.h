// Compressed sparse rows: one struct for the edges of a graph, of a part and of a kernel's matrix,
// and the operations on them. Columns have 32 bits, since ids of nodes and ids inside a part are
// below 2^31; offsets have 64 bits, since there may be more edges.
//
// These hold edges and are deliberately not a Csr:
// - Dataset (dataset.h) and ShardRelation (partition.h): their arrays may lie in a mapped,
//   read-only file, and a ShardRelation also lists the remote rows that it names. dataset_csr lends
//   a dataset's edges as a Csr.
// - Pairs (src/dataset/internal.h): the edges of a list in its order, between ids of 64 bits.
// - MetisGraph (src/partition/metis.c): offsets and columns have METIS's index type.
#pragma once

#include "fringe/base/error.h"

typedef struct Csr {
    int64_t rows;
    int64_t *offset; // [rows+1]
    int32_t *column; // [offset[rows]]
    float *weight;   // [offset[rows]] or NULL: all 1
} Csr;

static inline int64_t csr_entries(const Csr *csr) { return csr->offset[csr->rows]; }

// Bytes of the arrays of a Csr, and of one with so many rows and entries.
size_t csr_bytes(const Csr *csr);
size_t csr_bytes_of(int64_t rows, int64_t entries, bool weighted);

// Zeroed arrays; csr_free frees them and empties *csr. `what` names them in messages.
void csr_alloc(Csr *csr, int64_t rows, int64_t entries, bool weighted, const char *what);
// The same for sizes read from a file: false with EXIT_MEMORY and an empty *csr instead of an
// abort.
bool csr_try(Csr *csr, int64_t rows, int64_t entries, bool weighted, const char *what, Error *err);
void csr_free(Csr *csr);

// offset[rows+1] from 0: offset[i + 1] turns from the count of row i into the end of row i.
void offsets_sum(int64_t *offset, int64_t rows);
// Filling row i has moved offset[i] to the row's end, so all offsets are one row early: puts them
// back.
void offsets_shift_back(int64_t *offset, int64_t rows);

// out[c] = the rows of `in` that hold column c, ascending in any case, with their weights.
// Allocates out's arrays, with `columns` rows. Takes time linear in the entries. Transposing twice
// sorts the rows stably.
void csr_transpose(Csr *out, const Csr *in, int64_t columns);
// The same of some columns; the rows of `out` that are not wanted[columns] are empty.
void csr_transpose_some(Csr *out, const Csr *in, int64_t columns, const bool *wanted);
// Adds an entry (row[e], column[e]) with weight[e] (NULL: no weights) for every e < count; entries
// of a row keep the order of the list. Rows are in [0, rows). EXIT_MEMORY as csr_try.
bool csr_from_pairs(Csr *out, int64_t rows, int64_t count, const int32_t *row,
                    const int32_t *column, const float *weight, const char *what, Error *err);

bool csr_is_ascending(const Csr *csr); // inside each row; equal columns are allowed
// Offsets begin at 0 and never fall; columns ascend inside each row and are in [0, columns).
bool csr_is_valid(const Csr *csr, int64_t columns);
// Its entries into x [rows, columns], tight, which is zero.
void sparse_put_rows(const Csr *csr, int64_t columns, float *x);
// True if a square matrix equals its transpose (weights compared as numbers). Columns are in [0,
// rows). False also if a row does not ascend. Takes 8 bytes per row meanwhile.
bool csr_is_symmetric(const Csr *csr);
