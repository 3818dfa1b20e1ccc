// A planted partition while it is being made: what generate.c (recipes, nodes, features) and
// generate_edges.c (edges) share.
#ifndef FRINGE_DATASET_GENERATE_H
#define FRINGE_DATASET_GENERATE_H

#include "internal.h"

typedef struct Recipe {
    char name[CONFIG_WORD];
    int64_t nodes, edges; // edges: stored, about
    int64_t features, classes;
    int64_t communities; // about; every class has at least one
    double carriers;     // fraction of the nodes that may have edges to another community
    double abroad;       // edges of a carrier to the community it faces, on average
    double visitors;     // fraction of the nodes whose class is not that of their community
    double signal;       // length of a class's mean in every feature; the noise is 1
    double spread;       // sigma of the logarithm of the wanted degree
} Recipe;

enum { PLANTED_MAX_NODES = 1 << 21 }; // a pair's random number has the node as its column

typedef struct Planted {
    const Recipe *recipe;
    uint64_t seed;
    int32_t communities;
    int32_t *home;    // [n] community of a node
    int32_t *partner; // [n] community that a carrier faces, -1 for others
    double *weight;   // [n] wanted degree, up to a factor
    int64_t *begin;   // [communities+1] into member
    int32_t *member;  // [n] nodes by community, ascending inside
    int64_t *facing;  // [communities^2+1] into carrier, by home * communities + partner
    int32_t *carrier; // nodes by that key, ascending inside
    double abroad;    // probability of an edge between two carriers that face each other
    double scale;     // P(edge i, j at home) = min(1, scale w_i w_j / total of the community)
    double *total;    // [communities] sum of weights
} Planted;

// Which number a draw is of (`layer` of the stream).
enum { DRAW_NODE, DRAW_WEIGHT, DRAW_HOME_PAIR, DRAW_ABROAD_PAIR, DRAW_MEAN, DRAW_NOISE };
static inline RandomStream draw_stream(uint64_t seed, int draw) {
    return random_stream(seed, RANDOM_GENERATE, 0, draw, 0);
}

// Chooses the scale so that about recipe->edges entries come out, then draws all pairs.
bool planted_edges(Planted *planted, Csr *out, Error *err);

#endif
