// A degree-corrected block model (Karrer and Newman, 2011) whose cost is that of its edges: what
// generate_dcsbm.c (recipes, nodes, labels) and dcsbm_edges.c (edges) share.
#ifndef FRINGE_DATASET_DCSBM_H
#define FRINGE_DATASET_DCSBM_H

#include "generate.h"

enum { DCSBM_FACES = 16, FACES_NONE = 255 }; // the most other blocks that a block faces

typedef struct BlockModel {
    int64_t nodes, edges; // edges: stored entries, both directions
    int64_t blocks;
    double homophily; // share of the edges inside blocks
    uint64_t seed;
    const int32_t *block; // [nodes]
    int faces;            // how many other blocks a block faces: even, at most DCSBM_FACES
    const uint8_t *face; // [nodes] which of them is the one that a node has edges to; or FACES_NONE
    const double *weight; // [nodes] expected degree, up to a factor
} BlockModel;

// Draws the edges: symmetric, without self-loops and duplicates, rows ascend; about model->edges of
// them. The same at any number of threads.
bool dcsbm_edges(const BlockModel *model, Csr *out, Error *err);

#endif
