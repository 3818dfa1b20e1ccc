// A small graph spread over the ranks of a test, built through the public functions: dataset ->
// shards on disk -> Patterns.
#pragma once

#include "fringe/halo.h"

// A third of the edges twice: stored twice, or once with the weight of both.
typedef enum Twice { TWICE_NEVER, TWICE_STORED, TWICE_MERGED } Twice;

typedef struct TestGraphKind {
    int nodes, degree; // about so many edges a node
    bool directed, weighted, multilabel;
    int features, classes;
    int (*cut)(int64_t node, int parts); // NULL: random and uneven
    int (*split)(int64_t node);          // SPLIT_...; NULL: random
    Twice twice;
    // 0: a graph. Else a hypergraph with about `degree` pins a hyperedge; directed: pins have
    // roles; weighted: hyperedges have weights, some of them 0. There are nodes without pins, and
    // hyperedges without pins, with one and with all, without sources (if directed) too.
    int hyperedges;
    // Whether nodes i and j are joined, or node i is a pin of hyperedge j; NULL: random.
    bool (*edge)(int64_t i, int64_t j);
    // The class of a node (column 0; -1: none), or whether it has that of the column; NULL: random.
    int (*label)(int64_t node, int64_t column);
    // Two thirds of the features are 0, and shards have them as CSR.
    bool sparse;
    // What a regression predicts of a node, `classes` columns; NULL: nodes have classes.
    double (*number)(int64_t node, int64_t column);
} TestGraphKind;

typedef struct TestGraph {
    Dataset dataset; // the whole graph, on every rank
    Shard shard;
    Pattern *forward, *backward; // the same object if symmetric; NULL of a hypergraph
    const Comm *comm;
} TestGraph;

// Random graph by the counter RNG; a random cut in which parts may be uneven and some nodes
// isolated. Collective.
TestGraph test_graph(TestGraphKind kind, uint64_t seed, const Comm *comm);
void test_graph_clear(TestGraph *graph);
#define CLEARS_TestGraph test_graph_clear
// Makes the Patterns anew with another cover than COVER_SOURCES, while nobody borrows them.
// Collective.
void test_graph_cover(TestGraph *graph, Cover cover);
