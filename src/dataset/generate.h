// A planted partition during generation, shared by generate.c (recipes, nodes, features) and
// generate_edges.c (edges); and what generate_hyper.c (hypergraphs) shares with them.
#pragma once

#include "internal.h"

typedef struct Recipe {
    char name[CONFIG_WORD];
    int64_t nodes, edges; // edges: stored entries, approximately
    int64_t features, classes;
    int64_t communities; // approximately; every class has at least one
    double
        carriers;  // boundary nodes: fraction of the nodes that may have edges to another community
    double abroad; // inter-community degree: mean edges of a boundary node to its partner community
    double
        visitors;  // label noise: fraction of the nodes whose class is not that of their community
    double signal; // standard deviation of class means per feature; the noise has 1
    double spread; // sigma of the logarithm of the wanted degree
} Recipe;

enum { PLANTED_MAX_NODES = 1 << 21 }; // the column of a pair's random number is a node

typedef struct Planted {
    const Recipe *recipe;
    uint64_t seed;
    int32_t communities;
    int32_t *home;    // [n] community of a node
    int32_t *partner; // [n] partner community of a boundary node, -1 for others
    double *weight;   // [n] wanted degree, up to a factor
    int64_t *begin;   // [communities+1] into member
    int32_t *member;  // [n] nodes by community, ascending inside
    int64_t *facing;  // [communities^2+1] into carrier, by home * communities + partner
    int32_t *carrier; // boundary nodes by that key, ascending inside
    double abroad;    // edge probability of two boundary nodes that face each other
    double scale;     // P(edge i, j at home) = min(1, scale w_i w_j / total of the community)
    double *total;    // [communities] sum of weights
} Planted;

// The kinds of random draws (`layer` of the stream).
enum {
    DRAW_NODE,
    DRAW_WEIGHT,
    DRAW_HOME_PAIR,
    DRAW_ABROAD_PAIR,
    DRAW_MEAN,
    DRAW_NOISE,
    DRAW_HYPEREDGE,
    DRAW_PIN,
    DRAW_DEGREE,
    DRAW_END,
    DRAW_LABEL,
    DRAW_FACE
};
static inline RandomKey draw_key(uint64_t seed, int draw) {
    return random_key(seed, RANDOM_GENERATE, 0, draw, 0);
}

// Chooses the scale that gives about recipe->edges entries, then draws all pairs.
bool planted_edges(Planted *planted, Csr *out, Error *err);

// ---- shared by all generators
typedef struct RecipeKey { // sets one of the two
    const char *key;
    int64_t *count;
    double *number;
    double least, most;
} RecipeKey;
// Parses "nodes=1000,edges=9000"; "" changes nothing. EXIT_USAGE names the generator and the entry.
bool recipe_parse(const char *generator, const char *text, const RecipeKey *keys, int count,
                  Error *err);
// The first entry whose cumulative share is above u.
int32_t pick_share(const double *cumulative, int32_t count, double u);
// Lists nodes by key, ascending inside a key: offsets in begin[keys+1], which is 0, nodes in list.
// Those with key -1 are left out.
void group_nodes(int64_t nodes, const int32_t *key, int64_t keys, int64_t *begin, int32_t *list);
// Sets name and classes, and takes memory for splits and, if there are classes, labels.
bool alloc_nodes(Dataset *dataset, const char *name, int64_t nodes, int64_t classes, Error *err);
// Takes memory for the features, if there are columns: x[i, f] = signal * mean[class of i, f] +
// noise[i, f], all standard normals; noise alone without classes.
bool draw_features(Dataset *dataset, const char *name, int64_t columns, double signal,
                   uint64_t seed, Error *err);

// ---- generate_dcsbm.c
#define DCSBM_NAMES                                                                                \
    "reddit-like, reddit, ogbn-products, ogbn-arxiv, yelp, amazon-products, yelp-small, "          \
    "amazon-small and "                                                                            \
    "dcsbm, each also as NAME:KEY=VALUE,... (scale, or nodes, edges, features, classes, blocks, "  \
    "labels, "                                                                                     \
    "spread, tail, exponent, most, homophily, carriers, multiplicity, parts, signal, train, val)"
enum { GENERATORS_MOST = 32 };
const char *dcsbm_name(int i);   // NULL: i is past the last one
bool is_dcsbm(const char *name); // dcsbm:..., or a preset with or without values
// On failure clear the dataset.
bool generate_dcsbm(Dataset *dataset, const char *name, int64_t seed, Error *err);

// ---- generate_hyper.c
bool is_hyper(const char *name); // hyper-planted, hyper-zipf, with or without values
// On failure clear the dataset.
bool generate_hyper(Dataset *dataset, const char *name, int64_t seed, Error *err);
