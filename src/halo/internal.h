// What the files of the halo room share.
#pragma once

#include "fringe/halo.h"

// True if one of the first `rows` rows reads an own row that is not a source. The own edges then
// cannot be borrowed.
bool edges_leave_out(const ShardRelation *edges, int64_t rows, int64_t sources, int64_t own);

// ---- boundary.c: the edges between own targets and remote sources, sender by sender, and which
// rows travel for them
typedef struct Boundary {
    int rounds;          // size - 1, in the order of the ring
    int64_t *edge_begin; // [rounds + 1]
    int32_t *target;     // [edges] own row, ascending inside a round
    int32_t *source;     // [edges] index into ShardRelation.remote_row, ascending inside a target
    float *weight;       // [edges] or NULL
    int64_t sources;     // entries of remote_row
    uint8_t *as_row;     // [sources] 1: this row travels
    uint8_t *as_sum;     // [edges] 1: a partial aggregate of the round's sender contains this edge
    int64_t *used;       // [rounds] sources that have an edge
} Boundary;
// Takes the edges of the targets [0, targets) from remote sources whose row on its owner is below
// limit[owner].
void boundary_init(Boundary *boundary, const ShardRelation *edges, int64_t own, int64_t targets,
                   const int64_t *limit, int rank, int size);
void boundary_cover(Boundary *boundary, const ShardRelation *edges, Cover cover);
void boundary_clear(Boundary *boundary);

// ---- requests.c: readers request rows; owners build send lists, partial aggregates and ids
typedef struct Requests { // to all ranks, or from all ranks
    int64_t *begin;       // [size + 1] where the words to or from a rank begin; owned
    int32_t *word;        // [begin[size]]; owned
} Requests;
void requests_write(Requests *sent, const Pattern *pattern, const Boundary *boundary,
                    const Shard *shard);
void requests_exchange(Requests *received, const Requests *sent, const Comm *comm); // collective
void requests_apply(Pattern *pattern, const Shard *shard, const Requests *received, bool weighted);
void requests_clear(Requests *requests);
// What is asked of rank r: rows that travel, partial aggregates, and the edges that these sum.
typedef struct RequestLengths {
    int64_t rows, partials, members;
} RequestLengths;
RequestLengths requests_lengths(const Requests *requests, int r);

// ---- pattern.c: the steps of pattern_new that need no other rank
typedef struct Making {
    Pattern *pattern;
    const Shard *shard;
    const Pattern *share_with;
    const int64_t *limit; // [size] sources of all ranks
    Requests sent, received;
} Making;
Pattern *pattern_begin(const Shard *shard, const PatternKind *kind, const Comm *comm);
void pattern_make_reader_part(void *making); // fills Making.pattern and Making.sent
