// A degree-corrected block model (Karrer and Newman, 2011) whose cost is that of its edges: what
// generate_dcsbm.c (recipes, nodes, labels) and dcsbm_edges.c (edges) share.
#ifndef FRINGE_DATASET_DCSBM_H
#define FRINGE_DATASET_DCSBM_H

#include "generate.h"

typedef struct BlockModel {
    int64_t nodes, edges; // edges: stored entries, both directions
    int64_t blocks;       // classes, or what labels depend on
    double homophily;     // share of the edges inside blocks
    double carriers;      // share of the nodes that have edges to other blocks
    uint64_t seed;
    const int32_t *block;   // [nodes]
    const double *weight;   // [nodes] expected degree, up to a factor
    const uint8_t *carries; // [nodes] 1: may have edges to other blocks
} BlockModel;

// Draws the edges: symmetric, without self-loops and duplicates, rows ascend; about model->edges of
// them. The same at any number of threads.
bool dcsbm_edges(const BlockModel *model, Csr *out, Error *err);

#endif
