// Compressed sparse rows: the one struct for the edges of a graph, of a part and of a kernel's
// matrix, and what is done with all of them. Columns are 32 bits wide, for ids inside a part and
// ids of nodes are below 2^31; offsets are 64 bits wide, for edges may be more.
//
// What holds edges and is deliberately no Csr:
// - Dataset (dataset.h) and ShardEdges (partition.h): their arrays may lie in a mapped, read-only
//   file, and a ShardEdges comes with the rows of other parts that it names. dataset_csr lends a
//   dataset's edges as a Csr.
// - FileCsr (src/dataset/format_npz.c): what a file claims, with columns of 64 bits, before any of
// it
//   has been checked.
// - MetisGraph (src/partition/metis.c): offsets and columns are as wide as METIS was built for.
#ifndef FRINGE_BASE_SPARSE_H
#define FRINGE_BASE_SPARSE_H

#include "fringe/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Csr {
    int64_t rows;
    int64_t *offset; // [rows+1]
    int32_t *column; // [offset[rows]]
    float *weight;   // [offset[rows]] or NULL: all 1
} Csr;

static inline int64_t csr_entries(const Csr *csr) { return csr->offset[csr->rows]; }

// Bytes of its arrays, and of those that so many rows and entries would have.
size_t csr_bytes(const Csr *csr);
size_t csr_bytes_of(int64_t rows, int64_t entries, bool weighted);

// Zeroed arrays; csr_free frees them and empties *csr. `what` names them in messages.
void csr_alloc(Csr *csr, int64_t rows, int64_t entries, bool weighted, const char *what);
// The same for sizes read from a file: false with EXIT_MEMORY and an empty *csr instead of an
// abort.
bool csr_try(Csr *csr, int64_t rows, int64_t entries, bool weighted, const char *what, Error *err);
void csr_free(Csr *csr);

// out[c] = the rows of `in` that name column c, ascending whatever the order inside the rows of
// `in` is; weights go along. Allocates out's arrays, of `columns` rows. Linear in the entries, and
// twice is a sort: of entries of one column the first stays the first.
void csr_transpose(Csr *out, const Csr *in, int64_t columns);
// Entry (row[e], column[e]) with weight[e] (NULL: none has one) for every e < count; inside a row
// they keep the order of the list. Rows are in [0, rows). EXIT_MEMORY as csr_try.
bool csr_from_pairs(Csr *out, int64_t rows, int64_t count, const int32_t *row,
                    const int32_t *column, const float *weight, const char *what, Error *err);

bool csr_is_ascending(const Csr *csr); // inside each row; equal columns are fine
// Offsets begin at 0 and never fall; columns ascend inside each row and are in [0, columns).
bool csr_is_valid(const Csr *csr, int64_t columns);
// Does a square one equal its transpose (weights compared as numbers)? Columns are in [0, rows).
// False also where a row does not ascend. Takes 8 bytes a row while it looks.
bool csr_is_symmetric(const Csr *csr);

#endif
