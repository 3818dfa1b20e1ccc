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
//  1. the own rows of a set have one order for every Pattern: by hops from the training nodes; at
//  each distance forward-central rows first, then forward-marginal ones; inside those, cluster by
//  cluster for locality;
//  2. work on rows takes ranges [begin, end); a set of rows is a short list of ranges, never an
//  index list: what a layer of training needs are the first rows of a shard;
//  3. columns are [0, S) own sources of the set that is read, then [S, S+H) halo; the halo Csr
//  counts its columns from 0;
//  4. halo columns are grouped by sender in the order of the ring, rank-1 first, the order in which
//  they arrive; inside a group in the order of the sender's list. A halo pass may be made sender by
//  sender or at once: each row adds in the same order, so the bits are the same;
//  5. the send list of rank a to b names exactly b's halo columns from a, in b's order: ascending
//  entries of a's [own sources | partial sums];
//  6. so messages carry rows only, no ids; ids stay in side arrays, for the random numbers;
//  7. offset arrays have one entry more than groups.
#ifndef FRINGE_HALO_H
#define FRINGE_HALO_H

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/partition.h"

enum { PATTERN_RANGES = 64, HOPS_ALL = -1 };

// What serves the edges between two ranks: the rows of their sources; sums of them, made by the
// sender, for their targets; or the fewest of both together, a minimum vertex cover (ALGORITHMS A.3
// v). Aggregation is linear, so a partial sum is a row like any other.
typedef enum Cover { COVER_SOURCES, COVER_TARGETS, COVER_MIN } Cover;

// Which of a shard's edges a Pattern holds, and what travels for them.
typedef struct PatternKind {
    int relation;                 // of the shard: which rows read which
    int target_hops, source_hops; // only rows at most so many hops from training nodes; HOPS_ALL
    Cover cover;
} PatternKind;

// Which rows travel between the ranks, and in which order: all that an exchange knows of a Pattern.
// A halo row is one row on its way to one rank: an own source, or a partial aggregate of them.
typedef struct HaloPlan {
    const Comm *comm;        // borrowed, outlives the plan
    int rank, size;          // of comm
    int64_t sources;         // S sources on this rank: own rows [0, S)
    int64_t partials;        // partial aggregates made here for others
    int64_t halo_count;      // H rows that arrive
    int64_t *receive_offset; // [size] offsets: group g (0..size-2) comes from the ring_sender
    int64_t *send_offset;    // [size] offsets: group g goes to the ring_reader
    int32_t *send_row;       // [send_offset[size-1]] ascending inside a group: [sources | partials]
    int64_t *source_id;      // [S + partials] of what may be sent: global ids of own sources; of a
                             // partial aggregate -1 - id of its target
    int64_t *halo_id;        // [H] likewise of what arrives
    int64_t *sources_read;   // [size-1] rows of each group if sources alone travelled
} HaloPlan;

typedef struct Pattern {
    HaloPlan plan;
    PatternKind kind;
    int64_t rows;                  // N targets on this rank: own rows [0, N)
    Csr own;                       // [N] rows over [0, S)
    Csr halo;                      // [halo.rows] over [0, H); only rows that have any
    int32_t *halo_row;             // [halo.rows] ascending: which target each is
    Csr partial;                   // [partials] over [0, S)
    int range_count;               // rows without halo columns, as ranges
    Range central[PATTERN_RANGES]; // if more were needed the shorter ones are left out (they then
                                   // wait for the halo)
    bool borrowed_own; // arrays that point into the shard or another Pattern are not freed
} Pattern;

// Builds a Pattern from the shard's edges; tells every owner what to send. `like` (may be NULL)
// outlives the new Pattern, which borrows its own edges where they are the same. Collective.
Pattern *pattern_new(const Shard *shard, const PatternKind *kind, const Pattern *like,
                     const Comm *comm);
void pattern_free(Pattern *pattern);
// Asserts laws 1 to 7 on this rank; with `deep` also across ranks (collective). For builders and
// tests.
bool pattern_is_valid(const Pattern *pattern, bool deep);
// What pattern_new takes at most, found before it is called: what stays, and the most that is there
// while it works, what stays included (the boundary, the cover's work space, what is asked). A pass
// over the edges.
typedef struct PatternBytes {
    size_t kept, most;
} PatternBytes;
PatternBytes pattern_bound(const Shard *shard, const PatternKind *kind, bool like);
void pattern_plan(MemoryPlan *plan, const Pattern *pattern); // what one that is made has taken
// Own rows at most `hops` from a training node.
int64_t set_reach(const RowSet *set, int hops);

// ---- lists in the order of the ring: group g of a receive list comes from the rank's ring_sender,
// of a send list goes to its ring_reader
// Elements of `bytes` bytes, one for each entry of the lists, from owners (send list) to readers
// (receive list) and back. Of the plan offsets and communicator are read. Collective.
void ring_to_readers(const HaloPlan *plan, const void *sent, void *received, size_t bytes);
void ring_to_owners(const HaloPlan *plan, const void *received, void *sent, size_t bytes);
// The offsets that the owners' lists have, from those of the readers'; to be freed. Collective.
int64_t *ring_offsets_at_owners(const Comm *comm, const int64_t *receive_offset);

typedef struct Block {
    const Pattern *pattern; // borrowed
    float *left;            // [own rows of the set it writes] or NULL (1); owned
    float *right;           // [own rows of the set it reads] or NULL (1); owned
    bool self;              // adds the diagonal: A + I; only where both sets are the same
} Block;

// Normalisations are a table (block.c): name -> diagonals and self, from the shard's global degrees
// (ALGORITHMS A.3).
extern const Family normalisation_family;
bool block_init(Block *block, const char *normalisation, const Pattern *pattern, const Shard *shard,
                Error *err);
void block_clear(Block *block);
// The same operator on other rows, and the operator of the way back: diagonals swapped, on a
// transposed Pattern. Both borrow their diagonals from `block`.
Block block_on(const Block *block, const Pattern *pattern);
Block block_transpose(const Block *block, const Pattern *transposed);

#endif
