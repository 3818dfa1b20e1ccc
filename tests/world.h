// A small graph spread over the ranks of a test, built through the real doors: dataset -> shards on
// disk -> Patterns.
#ifndef FRINGE_TESTS_WORLD_H
#define FRINGE_TESTS_WORLD_H

#include "fringe/halo.h"
#include "fringe/partition.h"

typedef struct WorldKind {
    int nodes, degree; // about so many edges a node
    bool directed, weighted, multilabel;
    int features, classes;
    int (*cut)(int64_t node, int parts); // NULL: random and uneven
    int (*split)(int64_t node);          // SPLIT_...; NULL: random
} WorldKind;

typedef struct World {
    Dataset dataset; // the whole graph, on every rank
    Shard shard;
    Pattern *forward, *backward; // the same object if symmetric
    const Comm *comm;
} World;

// Random graph by the counter RNG; a random cut in which parts may be uneven and some nodes
// isolated. Collective.
void world_init(World *world, WorldKind kind, uint64_t seed, const Comm *comm);
void world_clear(World *world);
// Makes the Patterns anew with another cover than COVER_SOURCES, while nobody borrows them.
// Collective.
void world_cover(World *world, Cover cover);

#endif
