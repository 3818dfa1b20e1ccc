// A degree-corrected block model (Karrer and Newman, 2011) whose cost is that of its edges: what
// generate_dcsbm.c (recipes, nodes, labels), dcsbm_faces.c (which blocks have edges to each other)
// and dcsbm_edges.c (edges) share.
#pragma once

#include "generate.h"

enum { DCSBM_FACES = 16 }; // the most other blocks that a block faces

typedef struct BlockRecipe {
    char name[CONFIG_WORD];
    int64_t nodes, edges; // edges: stored entries, both directions
    int64_t features, classes;
    int64_t blocks; // about; several form a class
    int64_t labels; // several a node; 0: one, its class
    double spread;  // sigma of the logarithm of the weight
    double tail, exponent;
    int64_t most;        // degree
    double homophily;    // share of the edges inside blocks
    double carriers;     // share of the nodes that have edges to other blocks
    double multiplicity; // parts that read a row that others read; 0: a node faces one other block
    double signal, train, val;
    bool popular_first; // training nodes are those of the highest degree, then validation
    const char *assumed;
} BlockRecipe;

typedef struct BlockModel {
    const BlockRecipe *recipe;
    int64_t blocks;
    double carriers; // 0 with one block
    int64_t parts;   // for how many of them the multiplicity is
    uint64_t seed;
    const int32_t *block; // [nodes]
    const double *weight; // [nodes] expected degree, up to a factor
    // made by dcsbm_faces
    int faces;        // how many other blocks a block faces: even, at most DCSBM_FACES
    int32_t *faced;   // [blocks, faces] these; faces 2 j and 2 j + 1 lead there and back
    uint16_t *facing; // [nodes] which of them a node has edges to: bits; 0 for none
} BlockModel;

// Chooses what faces what. Whatever happened, dcsbm_faces_clear.
bool dcsbm_faces(BlockModel *model, Error *err);
void dcsbm_faces_clear(BlockModel *model);

static inline int dcsbm_faces_of(const BlockModel *m, int64_t node) {
    return __builtin_popcount(m->facing[node]);
}
// Of a node that faces some, its weight for each of them.
static inline double dcsbm_weight_outside(const BlockModel *m, int64_t node) {
    return m->weight[node] / dcsbm_faces_of(m, node);
}
// Takes the lowest face out of a set that is not empty.
static inline int dcsbm_take_face(unsigned *set) {
    int face = __builtin_ctz(*set);
    *set &= *set - 1;
    return face;
}

// Draws the edges: symmetric, without self-loops and duplicates, rows ascend; about model->edges of
// them. The same at any number of threads.
bool dcsbm_edges(const BlockModel *model, Csr *out, Error *err);

// The random numbers of a node.
enum {
    NODE_BLOCK,
    NODE_SPLIT,
    NODE_CARRIES,
    NODE_IN_TAIL,
    NODE_TAIL,
    NODE_FACE,
    NODE_FACES = NODE_FACE + DCSBM_FACES
};
static inline double dcsbm_uniform(uint64_t seed, int64_t node, int what) {
    return random_uniform32(draw_key(seed, DRAW_NODE), node, 0, what);
}
