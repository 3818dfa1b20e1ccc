// Small graphs for the tests of partition.
#pragma once

#include "support.h"

#include "fringe/partition.h"
#include <unistd.h>

static inline double graph_uniform(uint64_t seed, int64_t row, int64_t column) {
    return random_uniform32(random_key(seed, RANDOM_GENERATE, 0, 9, 0), row, 0, column);
}

// A dataset from a dense 0/1 rule. weighted: each edge gets a weight of its own.
typedef bool (*EdgeRule)(int64_t i, int64_t j, int64_t n, uint64_t seed);
static inline Dataset graph_make(int64_t n, EdgeRule rule, bool weighted, uint64_t seed) {
    Dataset d = {.nodes = n, .features = 3, .classes = 4};
    snprintf(d.name, sizeof d.name, "made");
    d.offset = ALLOC(int64_t, n + 1, "test");
    for (int64_t i = 0; i < n; i++) {
        d.offset[i + 1] = d.offset[i];
        for (int64_t j = 0; j < n; j++)
            d.offset[i + 1] += rule(i, j, n, seed);
    }
    d.edges = d.offset[n];
    d.target = ALLOC(int32_t, d.edges, "test");
    d.weight = weighted ? ALLOC(float, d.edges, "test") : NULL;
    int64_t e = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            if (!rule(i, j, n, seed))
                continue;
            if (weighted)
                d.weight[e] = (float)(1 + i * n + j);
            d.target[e++] = (int32_t)j;
        }
    d.x = ALLOC(float, n *d.features, "test");
    d.label = ALLOC(int32_t, n, "test");
    d.split = ALLOC(uint8_t, n, "test");
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < d.features; c++)
            d.x[i * d.features + c] = (float)(10 * i + c);
        d.label[i] = (int32_t)(i % 3);
        d.split[i] = (uint8_t)(i % 5 % 4);
    }
    return d;
}

// Files of this rank cannot grow beyond so many bytes, or can (-1): all ranks hear of one that has
// no room in a sentence. Collective.
static inline Error load_without_room(const Config *config, int64_t bytes) {
    Shard shard;
    Error said = {0};
    test_file_limit(bytes);
    bool ok = partition_load(&shard, config, &test_comm, &(Warnings){0}, &said);
    test_file_limit(-1);
    assert_false(ok);
    assert_true(said.code == EXIT_CANNOT_WRITE || said.code == EXIT_IO);
    return said;
}

static inline bool graph_random(int64_t i, int64_t j, int64_t n, uint64_t seed) { // directed
    return i != j && graph_uniform(seed, i, j) < 5.0 / (double)n;
}
static inline bool graph_random_both(int64_t i, int64_t j, int64_t n, uint64_t seed) {
    return i < j ? graph_random(i, j, n, seed) : graph_random(j, i, n, seed);
}
static inline bool graph_loops(int64_t i, int64_t j, int64_t n, uint64_t seed) {
    return (i == j && i % 2 == 0) || graph_random(i, j, n, seed);
}
static inline bool graph_empty(int64_t i, int64_t j, int64_t n, uint64_t seed) {
    (void)i, (void)j, (void)n, (void)seed;
    return false;
}
static inline bool graph_star(int64_t i, int64_t j, int64_t n, uint64_t seed) {
    (void)n, (void)seed;
    return (i == 0) != (j == 0);
}
// Two cliques joined by one edge, their nodes interleaved: the best cut into two is 1.
static inline bool graph_cliques(int64_t i, int64_t j, int64_t n, uint64_t seed) {
    (void)seed, (void)n;
    return i != j && (i % 2 == j % 2 || i + j == 1);
}

static const EdgeRule graph_rules[] = {graph_random, graph_random_both, graph_loops,
                                       graph_empty,  graph_star,        graph_cliques};
enum { GRAPH_RULES = sizeof graph_rules / sizeof graph_rules[0] };
