// What the files of the halo room share.
#ifndef FRINGE_HALO_INTERNAL_H
#define FRINGE_HALO_INTERNAL_H

#include "fringe/halo.h"

// Does one of the first rows read an own row that is no source? Then its edges cannot be borrowed.
bool edges_leave_out(const ShardRelation *edges, int64_t rows, int64_t sources, int64_t own);

// ---- boundary.c: the edges between own targets and remote sources, sender by sender, and what
// serves them
typedef struct Boundary {
    int groups;          // size - 1, in the order of the ring
    int64_t *edge_begin; // [groups + 1]
    int32_t *target;     // [edges] own row, ascending inside a group
    int32_t *source;     // [edges] place in ShardRelation.remote_row, ascending inside a target
    float *weight;       // [edges] or NULL
    int64_t sources;     // places there
    uint8_t *as_row;     // [sources] this row travels
    uint8_t *as_sum;     // [edges] this edge's target gets a partial sum from the group's sender
    int64_t *used;       // [groups] sources that have an edge
} Boundary;
// Edges of the targets [0, targets) from the remote sources below `limit` of their owners: [size].
void boundary_init(Boundary *boundary, const ShardRelation *edges, int64_t own, int64_t targets,
                   const int64_t *limit, int rank, int size);
void boundary_cover(Boundary *boundary, const ShardRelation *edges, Cover cover);
void boundary_clear(Boundary *boundary);

// ---- requests.c: send lists, partial sums and ids, from what all readers ask
typedef struct Requests { // to all ranks, or of all ranks
    int64_t *begin;       // [size + 1] where the words to or of a rank begin; owned
    int32_t *word;        // [begin[size]]; owned
} Requests;
void requests_write(Requests *asks, const Pattern *pattern, const Boundary *boundary,
                    const Shard *shard);
void requests_exchange(Requests *asked, const Requests *asks, const Comm *comm); // collective
void requests_take(Pattern *pattern, const Shard *shard, const Requests *asked, bool weighted);
void requests_clear(Requests *requests);

#endif
