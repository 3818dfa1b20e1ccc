// halo: shard -> Blocks. A Block is a sparse operator distributed over the ranks, Y = L · A · R ·
// X. Its Pattern holds A and its distribution; L and R are diagonal matrices. GCN and GraphSAGE
// differ only in the diagonals and in `self` (A + I instead of A), so they share Patterns and store
// no weights. The transposed Block swaps the diagonals and uses the transposed Pattern; a symmetric
// Pattern is its own transpose and is stored once.
//
// The sender scales a halo row by R before it sends it. So entries of halo columns are 1 (or the
// stored edge weight), and each rank needs the diagonals of its own rows only.
//
// The invariants of numbering (pattern_is_valid asserts it; code cites it by number):
//  1. the own rows of a set have one order for every Pattern: by hops from the training nodes; at
//  each distance forward-central rows first, then forward-marginal ones; inside those, cluster by
//  cluster for locality;
//  2. functions take ranges [begin, end) of rows; a set of rows is a short list of ranges, never an
//  index list. The rows that a layer needs in training are the first rows of a shard;
//  3. columns are [0, S) own sources of the set that is read, then [S, S+H) halo rows; the halo Csr
//  counts its columns from 0;
//  4. halo columns are grouped by sender in ring order, rank-1 first, which is the order of
//  arrival; a round has the order of its sender's list. The halo part may be aggregated sender by
//  sender or at once: each row adds its terms in the same order, so the bits are the same;
//  5. the send list of rank a to b names exactly b's halo columns from a, in b's order: ascending
//  entries of a's [own sources | partial aggregates];
//  6. so messages carry rows only, no ids; ids stay in side arrays, for the random numbers;
//  7. an offset array has one entry more than it separates lists.
#pragma once

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/partition.h"

enum { PATTERN_RANGES = 64, HOPS_ALL = -1 };

// Which rows travel for the edges between two ranks: the rows of their sources; partial aggregates,
// which the sender sums for their targets; or the fewest of both together, a minimum vertex cover
// (ALGORITHMS A.3 v). Aggregation is linear, so a partial aggregate is a row like any other.
typedef enum Cover { COVER_SOURCES, COVER_TARGETS, COVER_MIN } Cover;
// The cover of lossless.cover for each set that is written. `replicas`, of a hypergraph (2 sets),
// sends rows of nodes, which hyperedges read, and partial aggregates of hyperedges, which nodes
// read.
void cover_choose(Cover cover[SHARD_SETS], const char *word, int sets);

// Which of a shard's edges a Pattern holds, and which rows travel for them.
typedef struct PatternKind {
    int relation;                 // of the shard: which rows read which
    int target_hops, source_hops; // rows at most this many hops from training nodes; or HOPS_ALL
    Cover cover;
} PatternKind;

// Which rows travel between the ranks, and in which order. An exchange reads only this part of a
// Pattern. A halo row is one row sent to one rank: an own source of the sender, or a partial
// aggregate of such sources.
typedef struct HaloPlan {
    const Comm *comm;        // borrowed, outlives the plan
    int rank, size;          // of comm
    int64_t sources;         // S sources on this rank: own rows [0, S)
    int64_t partials;        // partial aggregates that this rank computes for others
    int64_t halo_count;      // H halo rows that this rank receives
    int64_t *receive_offset; // [size] offsets: round g (0..size-2) comes from the ring_sender
    int64_t *send_offset;    // [size] offsets: round g goes to the ring_reader
    int32_t *send_row;       // [send_offset[size-1]] ascending inside a round: [sources | partials]
    int64_t *source_id;      // [S + partials] ids of rows that may be sent: the global id of an own
                             // source; -1 - id of its target for a partial aggregate
    int64_t *halo_id;        // [H] ids of the halo rows, likewise
    int64_t *sources_read;   // [size-1] size of each round under COVER_SOURCES
} HaloPlan;

typedef struct Pattern {
    HaloPlan plan;
    PatternKind kind;
    int64_t rows;                  // N targets on this rank: own rows [0, N)
    Csr own;                       // [N] rows over [0, S)
    Csr halo;                      // [halo.rows] over [0, H); only rows that read a halo row
    int32_t *halo_row;             // [halo.rows] ascending: the target of each of these rows
    Csr partial;                   // [partials] over [0, S)
    int range_count;               // of central
    Range central[PATTERN_RANGES]; // rows without halo columns; if there are more ranges, the
                                   // shortest are left out and treated as marginal
    bool borrowed_own;             // own points into the shard or another Pattern: not freed
} Pattern;

// Builds a Pattern from the shard's edges and tells every owner which rows to send. `share_with`
// (may be NULL) is a Pattern that outlives the new one; if their own edges are the same, the new
// Pattern borrows them. Collective.
Pattern *pattern_new(const Shard *shard, const PatternKind *kind, const Pattern *share_with,
                     const Comm *comm);
void pattern_free(Pattern *pattern);
CLEARED_POINTER(pattern_drop, Pattern, pattern_free)
// Checks invariants 1 to 7 on this rank; with `deep` also across ranks (collective). For
// pattern_new and tests.
bool pattern_is_valid(const Pattern *pattern, bool deep);
// Upper bounds on the memory of pattern_new, computed before it is called: `kept` is the memory of
// the Pattern; `most` is the peak during the call, `kept` included (boundary, work space of the
// cover, requests). share_with: a Pattern with all rows of the same relation is there to share
// with. One pass over the edges.
typedef struct PatternBytes {
    size_t kept, most;
} PatternBytes;
PatternBytes pattern_bound(const Shard *shard, const PatternKind *kind, bool share_with);
void pattern_forecast(MemoryForecast *forecast,
                      const Pattern *pattern); // adds the memory of `pattern`

// ---- Patterns in outline: their sizes without their arrays, for planning without ranks

// The sizes of one rank's Pattern.
typedef struct PatternCounts {
    int size;                                          // ranks
    int64_t rows, sources;                             // N, S
    int64_t own_entries;                               // of Pattern.own
    enum { OWN_COPIED, OWN_OF_SHARD, OWN_SHARED } own; // whose arrays Pattern.own has
    bool weighted;
    int64_t boundary;                  // edges of the rows that come from other ranks
    int64_t halo_rows, halo_entries;   // of Pattern.halo
    int64_t partials, partial_entries; // of Pattern.partial
    int64_t *received, *sent; // [size] rows of each round of the ring, size - 1 of them; owned
} PatternCounts;
// The sizes of the Patterns of that kind on all ranks: counts[parts], from all shards of a cut,
// shard[parts]. share_with: as pattern_bound. Local: one process looks at one shard after the
// other, with the memory that pattern_bound says for the largest.
void pattern_count(PatternCounts *counts, const Shard *shard, int parts, const PatternKind *kind,
                   bool share_with);
void pattern_counts_init(PatternCounts *counts, int size); // allocates the rounds, zeroed
void pattern_counts_clear(PatternCounts *counts);
// A Pattern of these sizes whose columns, weights and ids are NULL and whose offsets are zero but
// for the last: the planning functions (pattern_forecast, channel_forecast, ...) need no more.
// share_with: the Pattern whose own edges it has if counts->own says so. comm: rank and size only;
// borrowed. Free it with pattern_free. Local.
Pattern *pattern_outline(const PatternCounts *counts, const PatternKind *kind, const Shard *shard,
                         const Pattern *share_with, const Comm *comm);

// The number of own rows at most `hops` from a training node.
int64_t set_reach(const RowSet *set, int hops);

// ---- lists in ring order: round g of a receive list comes from the rank's ring_sender; round g of
// a send list goes to its ring_reader
// Sends one element of `bytes` bytes per list entry, from owners (send list) to readers (receive
// list) or back. Reads only the offsets and the communicator of the plan. Collective.
void ring_to_readers(const HaloPlan *plan, const void *sent, void *received, size_t bytes);
void ring_to_owners(const HaloPlan *plan, const void *received, void *sent, size_t bytes);
// Returns the offsets of the send list, given those of the receive list. The caller frees them.
// Collective.
int64_t *ring_offsets_at_owners(const Comm *comm, const int64_t *receive_offset);

typedef struct Block {
    const Pattern *pattern; // borrowed
    float *left;            // [own rows of the set it writes] or NULL (1); owned
    float *right;           // [own rows of the set it reads] or NULL (1); owned
    bool self;              // adds the identity: A + I; only if both sets are the same
} Block;

// Normalisations are a table (block.c): name -> diagonals and self, computed from the shard's
// global degrees (ALGORITHMS A.3). A hypergraph's has diagonals for either set that a Block writes.
extern const Family normalisation_family;
bool block_init(Block *block, const char *normalisation, const Pattern *pattern, const Shard *shard,
                Error *err);
void block_clear(Block *block);
// The same operator on another Pattern, and its transpose: diagonals swapped, on the transposed
// Pattern. Both borrow their diagonals from `block`.
Block block_on(const Block *block, const Pattern *pattern);
Block block_transpose(const Block *block, const Pattern *transposed);
