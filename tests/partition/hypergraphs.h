// Small hypergraphs for the tests of partition, made by arithmetic.
#pragma once

#include "graphs.h"

typedef bool (*PinRule)(int64_t h, int64_t v, uint64_t seed); // is node v a pin of hyperedge h?

typedef struct HyperKind {
    int64_t nodes, hyperedges;
    PinRule rule;
    bool directed, weighted;
} HyperKind;

static inline bool hyper_random(int64_t h, int64_t v, uint64_t seed) {
    return graph_uniform(seed + 1, h, v) < 0.08;
}
// Hyperedges without pins, with one, and with all; nodes that only these have.
static inline bool hyper_mixed(int64_t h, int64_t v, uint64_t seed) {
    if (h % 7 == 3)
        return false;
    if (h % 7 == 5)
        return v == h;
    return h == 8 || (v % 11 != 4 && hyper_random(h, v, seed));
}
static inline bool hyper_isolated(int64_t h, int64_t v, uint64_t seed) {
    return v % 5 != 2 && hyper_random(h, v, seed);
}
static inline bool hyper_empty(int64_t h, int64_t v, uint64_t seed) {
    (void)h, (void)v, (void)seed;
    return false;
}
// Two groups of nodes, even and odd ones, each with its own hyperedges.
static inline bool hyper_two(int64_t h, int64_t v, uint64_t seed) {
    return h % 2 == v % 2 && graph_uniform(seed, h, v) < 0.3;
}

static const PinRule hyper_rules[] = {hyper_random, hyper_mixed, hyper_isolated, hyper_empty,
                                      hyper_two};
enum { HYPER_RULES = sizeof hyper_rules / sizeof hyper_rules[0] };

static inline int hyper_role(const HyperKind *kind, int64_t h, int64_t v, uint64_t seed) {
    if (!kind->rule(h, v, seed))
        return 0;
    return kind->directed ? 1 + (int)(3 * graph_uniform(seed + 2, h, v)) : PIN_BOTH;
}

static inline void hyper_pins(Dataset *d, const HyperKind *kind, uint64_t seed) {
    int64_t most = kind->nodes * kind->hyperedges;
    d->target = ALLOC(int32_t, most, "test");
    d->pin_role = kind->directed ? ALLOC(uint8_t, most, "test") : NULL;
    for (int64_t v = 0; v < kind->nodes; v++) {
        for (int64_t h = 0; h < kind->hyperedges; h++) {
            int role = hyper_role(kind, h, v, seed);
            if (role == 0)
                continue;
            if (d->pin_role != NULL)
                d->pin_role[d->edges] = (uint8_t)role;
            d->target[d->edges++] = (int32_t)h;
        }
        d->offset[v + 1] = d->edges;
    }
}

// Features, labels and splits are those of graph_make. Weights are quarters, so that sums are
// exact; some hyperedges weigh 0.
static inline Dataset hyper_make(HyperKind kind, uint64_t seed) {
    Dataset d = graph_make(kind.nodes, graph_empty, false, seed);
    memory_free(d.target);
    d.hyperedges = kind.hyperedges;
    hyper_pins(&d, &kind, seed);
    if (!kind.weighted)
        return d;
    d.hyperedge_weight = ALLOC(float, kind.hyperedges, "test");
    d.node_weight = ALLOC(int32_t, kind.nodes, "test");
    for (int64_t h = 0; h < kind.hyperedges; h++)
        d.hyperedge_weight[h] = (float)(h % 5) / 4;
    for (int64_t v = 0; v < kind.nodes; v++)
        d.node_weight[v] = (int32_t)(1 + v % 4);
    return d;
}
