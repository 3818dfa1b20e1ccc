// halo: shard -> Blocks. A Block is a sparse operator spread over the ranks, Y = L · A · R · X; its
// Pattern is A and how it lies on the ranks; L and R are diagonals. GCN and GraphSAGE differ only
// in the diagonals and in `self` (A + I instead of A), so they share Patterns and no weight is
// stored for them. The transpose swaps the diagonals and takes the transposed Pattern; a symmetric
// Pattern is its own transpose, stored once.
//
// A message is a row as the aggregation reads it: already scaled by R. So halo columns weigh 1 (or
// the stored edge weight), and each rank needs the diagonals of its own rows only.
//
// The numbering law (pattern_is_valid asserts it; code cites it by number):
//  1. the own rows of a shard have one order for every Pattern: forward-central rows first, then
//  forward-marginal
//     ones; inside each, cluster by cluster for locality;
//  2. work on rows takes ranges [begin, end); a set of rows is a short list of ranges, never an
//  index list;
//  3. columns are [0, S) own sources, then [S, S+H) halo; the halo Csr counts its columns from 0;
//  4. halo columns are grouped by sender in the order of the ring, rank-1 first, the order in which
//  they arrive;
//     inside a group in the order of the sender's list. A halo pass may be made sender by sender or
//     at once: each row adds in the same order, so the bits are the same;
//  5. the send list of rank a to b names exactly b's halo columns from a, in b's order: ascending
//  rows of a;
//  6. so messages carry rows only, no ids; global ids stay in a side array, for the random numbers;
//  7. offset arrays have one entry more than groups.
#ifndef FRINGE_HALO_H
#define FRINGE_HALO_H

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/partition.h"

enum { PATTERN_RANGES = 64 };

typedef struct Pattern {
    int rank, size;
    int64_t rows;       // N targets on this rank
    int64_t sources;    // S own sources
    int64_t halo_count; // H
    Csr own;            // [N] rows over [0, S)
    Csr halo;           // [halo.rows] over [0, H); only rows that have any
    int32_t *halo_row;  // [halo.rows] ascending: which target each is
    int range_count;    // rows without halo columns, as ranges; for a symmetric graph one: [0,
                        // central)
    Range central[PATTERN_RANGES]; // if more were needed the shorter ones are left out (they then
                                   // wait for the halo)
    int64_t *receive_offset; // [size] offsets: group g (0..size-2) comes from (rank - 1 - g + size)
                             // % size
    int64_t *send_offset;    // [size] offsets: group g goes to (rank + 1 + g) % size
    int32_t *send_row;       // [send_offset[size-1]] ascending inside a group
    int64_t *gid;            // [S + H] global ids, own then halo
    const Comm *comm;        // borrowed, outlives the Pattern
    bool borrowed_own;       // arrays that point into the shard are not freed
} Pattern;

// Builds the Pattern of the shard's forward (or backward) edges; exchanges the send lists.
// Collective.
Pattern *pattern_new(const Shard *shard, bool backward, const Comm *comm);
void pattern_free(Pattern *pattern);
// Asserts laws 1 to 7 on this rank; with `deep` also across ranks (collective). For builders and
// tests.
bool pattern_is_valid(const Pattern *pattern, bool deep);
void pattern_plan(MemoryPlan *plan, const Shard *shard, bool backward); // bytes pattern_new takes

typedef struct Block {
    const Pattern *pattern;    // borrowed
    const Pattern *transposed; // borrowed; the same object if symmetric
    float *left;               // [N] or NULL (1); owned
    float *right;              // [N] or NULL (1); owned
    bool self;                 // adds the diagonal: A + I
} Block;

// Normalisations are a table: name -> diagonals and self, from the shard's global degrees
// (ALGORITHMS A.3).
//   gcn            self; left = 1/sqrt(d_in + 1), right = 1/sqrt(d_out + 1)        ("both")
//   gcn-in         self; left = right = 1/sqrt(d_in + 1)                            ("in", PyG)
//   mean           left = 1/max(1, d_in)                                            GraphSAGE
//   mean-self      self; left = 1/(d_in + 1)                                        GraphSAGE-gcn;
//   AdaQP's SAGE
bool block_init(Block *block, const char *normalisation, const Pattern *pattern,
                const Pattern *transposed, const Shard *shard, Error *err);
void block_clear(Block *block);
// The operator of the backward pass: diagonals swapped, Patterns swapped. Borrows everything from
// `block`.
Block block_transpose(const Block *block);

// What a report says of a Pattern: own, central, marginal, boundary rows, halo rows, messages.
typedef struct HaloCounts {
    int64_t own, central, marginal, boundary, halo, sent;
} HaloCounts;
HaloCounts pattern_counts(const Pattern *pattern);

#endif
