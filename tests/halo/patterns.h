// Patterns of every kind that a model makes, on small graphs of every kind.
#pragma once

#include "small_graph.h"
#include "support.h"

static const TestGraphKind kinds[] = {
    {.nodes = 60, .degree = 4, .features = 3, .classes = 3},
    {.nodes = 60, .degree = 4, .directed = true, .features = 3, .classes = 3},
    {.nodes = 47, .degree = 6, .weighted = true, .features = 1, .classes = 2},
    {.nodes = 47, .degree = 6, .directed = true, .weighted = true, .features = 1, .classes = 2},
    {.nodes = 200, .degree = 20, .directed = true, .features = 2, .classes = 2, .multilabel = true},
    {.nodes = 19, .degree = 0, .features = 1, .classes = 2}, // no edges at all
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

// Which rows, and what travels for them: forward and backward of a layer in the middle, of the last
// one, of one that reads whatever training reaches.
static const struct Variant {
    bool backward;
    int target_hops, source_hops;
    Cover cover;
} variants[] = {
    {false, HOPS_ALL, HOPS_ALL, COVER_SOURCES},
    {true, HOPS_ALL, HOPS_ALL, COVER_SOURCES},
    {false, HOPS_ALL, HOPS_ALL, COVER_TARGETS},
    {true, HOPS_ALL, HOPS_ALL, COVER_TARGETS},
    {false, HOPS_ALL, HOPS_ALL, COVER_MIN},
    {true, HOPS_ALL, HOPS_ALL, COVER_MIN},
    {false, 0, 1, COVER_SOURCES},
    {true, 1, 0, COVER_SOURCES},
    {false, 0, 1, COVER_MIN},
    {true, 1, 0, COVER_MIN},
    {false, 1, 2, COVER_TARGETS},
    {true, 2, 1, COVER_TARGETS},
    {false, SHARD_HOPS, SHARD_HOPS, COVER_MIN},
    {true, 3, 3, COVER_MIN},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static inline PatternKind kind_of(const Shard *shard, const struct Variant *v) {
    return (PatternKind){v->backward ? shard->relation[IN_EDGES].transpose : IN_EDGES,
                         v->target_hops, v->source_hops, v->cover};
}

static inline int rarely_trains(int64_t node) { return node % 11 == 3 ? SPLIT_TRAIN : SPLIT_TEST; }

static inline void for_each_pattern(void (*check)(const TestGraph *graph, const Pattern *pattern)) {
    for (int k = 0; k < KINDS; k++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            TestGraphKind kind = kinds[k];
            kind.split = seed == 3 ? rarely_trains : NULL;
            OWNED(TestGraph) graph = test_graph(kind, seed, &test_comm);
            for (int v = 0; v < VARIANTS; v++) {
                const Pattern *like = v % 3 == 1 ? graph.forward : NULL;
                PatternKind of = kind_of(&graph.shard, &variants[v]);
                CLEARED(pattern_drop)
                Pattern *pattern = pattern_new(&graph.shard, &of, like, &test_comm);
                check(&graph, pattern);
            }
        }
}
