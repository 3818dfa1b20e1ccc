// If this fails, an edge of a boundary is served by no row, or more rows travel than must.
#include "halo/cover.h"
#include "support.h"

// Grown target by target: graph_add for each of its sources, ascending, then graph_next.
typedef struct Graph {
    Csr edges;
    int64_t sources, room;
} Graph;

static Graph graph_new(int64_t targets, int64_t sources, int64_t room) {
    return (Graph){
        .edges = {.offset = TEST_ARRAY(int64_t, targets + 1), .column = TEST_ARRAY(int32_t, room)},
        .sources = sources,
        .room = room};
}
static void graph_add(Graph *g, int64_t source) {
    int64_t at = g->edges.offset[g->edges.rows + 1]++;
    assert_true(at < g->room && source >= 0 && source < g->sources);
    g->edges.column[at] = (int32_t)source;
}
static void graph_next(Graph *g, int64_t targets) { // the row is done; offsets reach one further
    g->edges.rows++;
    if (g->edges.rows < targets)
        g->edges.offset[g->edges.rows + 1] = g->edges.offset[g->edges.rows];
}
// Each pair is an edge with probability `density`, or, with hubs, with one that falls like
// 1 / sqrt((t + 1) (s + 1)).
static Graph graph_random(int64_t targets, int64_t sources, double density, bool hubs,
                          uint64_t seed) {
    RandomKey key = random_key(seed, RANDOM_GENERATE, 0, 7, 0);
    Graph g = graph_new(targets, sources, targets * sources);
    for (int64_t t = 0; t < targets; t++) {
        for (int64_t s = 0; s < sources; s++) {
            double u = random_uniform32(key, t, 0, s);
            if (hubs ? u * u * (double)((t + 1) * (s + 1)) < density * density : u < density)
                graph_add(&g, s);
        }
        graph_next(&g, targets);
    }
    return g;
}

// Edge (t, s) is bit t * sources + s.
static Graph graph_numbered(int targets, int sources, uint64_t bits) {
    Graph g = graph_new(targets, sources, targets * sources);
    for (int t = 0; t < targets; t++) {
        for (int s = 0; s < sources; s++)
            if (bits >> (t * sources + s) & 1)
                graph_add(&g, s);
        graph_next(&g, targets);
    }
    return g;
}

typedef struct Cover {
    int64_t size, targets, sources; // members; of them
    uint8_t *target, *source;
} Cover;

// What holds for every answer, whatever the graph: flags are 0 or 1 and add up to the size, every
// edge has an end in it, no member is without edge, and neither side alone would be smaller.
static void assert_is_cover(const Graph *g, const Cover *cover) {
    const Csr *edges = &g->edges;
    uint8_t *touched = TEST_ARRAY(uint8_t, g->sources);
    int64_t targets = 0, sources = 0;
    for (int64_t t = 0; t < edges->rows; t++) {
        assert_true(cover->target[t] <= 1);
        targets += edges->offset[t + 1] > edges->offset[t];
        assert_true(cover->target[t] == 0 || edges->offset[t + 1] > edges->offset[t]);
        for (int64_t e = edges->offset[t]; e < edges->offset[t + 1]; e++) {
            assert_true(cover->target[t] || cover->source[edges->column[e]]);
            touched[edges->column[e]] = 1;
        }
    }
    for (int64_t s = 0; s < g->sources; s++) {
        assert_true(cover->source[s] <= 1);
        assert_true(cover->source[s] <= touched[s]);
        sources += touched[s];
    }
    assert_int_equal(cover->targets + cover->sources, cover->size);
    assert_true(cover->size <= targets && cover->size <= sources);
}

static Cover cover_once(const Graph *g, int garbage) {
    Cover cover = {.target = TEST_ARRAY(uint8_t, g->edges.rows),
                   .source = TEST_ARRAY(uint8_t, g->sources)};
    memset(cover.target, garbage, (size_t)g->edges.rows);
    memset(cover.source, garbage, (size_t)g->sources);
    cover.size = cover_minimum(&g->edges, g->sources, cover.target, cover.source);
    for (int64_t t = 0; t < g->edges.rows; t++)
        cover.targets += cover.target[t];
    for (int64_t s = 0; s < g->sources; s++)
        cover.sources += cover.source[s];
    assert_is_cover(g, &cover);
    return cover;
}

// Twice, into different garbage: the same bytes, and no memory stays taken.
static Cover cover_of(const Graph *g) {
    Cover cover = cover_once(g, 0xaa), again = cover_once(g, 1);
    assert_int_equal(cover.size, again.size);
    assert_memory_equal(cover.target, again.target, (size_t)g->edges.rows);
    assert_memory_equal(cover.source, again.source, (size_t)g->sources);
    return cover;
}

// --- small graphs: every set of vertices is tried

// Of all covers the smallest, of those the one with the fewest targets: the bits of its targets,
// above those of its sources; fails if there are two.
static int best_cover(const Graph *g) {
    int targets = (int)g->edges.rows, sources = (int)g->sources;
    int neighbours[8] = {0}, best = 0, best_cost = INT32_MAX, ties = 0;
    for (int t = 0; t < targets; t++)
        for (int64_t e = g->edges.offset[t]; e < g->edges.offset[t + 1]; e++)
            neighbours[t] |= 1 << g->edges.column[e];
    for (int set = 0; set < 1 << (targets + sources); set++) {
        bool covers = true;
        for (int t = 0; t < targets; t++)
            covers &= (set >> (sources + t) & 1) || (neighbours[t] & ~set) == 0;
        int cost =
            16 * __builtin_popcount((unsigned)set) + __builtin_popcount((unsigned)(set >> sources));
        if (!covers || cost > best_cost)
            continue;
        ties = cost == best_cost ? ties + 1 : 0;
        best = set;
        best_cost = cost;
    }
    assert_int_equal(ties, 0);
    return best;
}

static void assert_best(const Graph *g) {
    Cover cover = cover_of(g);
    int set = 0;
    for (int64_t t = 0; t < g->edges.rows; t++)
        set |= cover.target[t] << (g->sources + t);
    for (int64_t s = 0; s < g->sources; s++)
        set |= cover.source[s] << s;
    assert_int_equal(set, best_cover(g));
}

TEST(test_all_small_graphs) {
    for (int targets = 0; targets <= 4; targets++)
        for (int sources = 0; sources <= 4 && targets * sources <= 12; sources++)
            for (uint64_t bits = 0; bits < (uint64_t)1 << (targets * sources); bits++) {
                Graph g = graph_numbered(targets, sources, bits);
                assert_best(&g);
            }
}

TEST(test_random_graphs_of_six_and_six) {
    for (uint64_t seed = 0; seed < 3000; seed++) {
        Graph g = graph_random(4 + (int64_t)(seed % 3), 4 + (int64_t)(seed / 3 % 3),
                               0.15 + 0.05 * (double)(seed % 10), false, seed);
        assert_best(&g);
    }
}

// --- larger graphs: a matching found the plain way is as large

typedef struct Plain {
    const Graph *graph;
    const uint8_t *gone; // [sources] left out
    int32_t *partner;    // [sources] target or -1
    int64_t *seen;       // [sources] the round in which it was last tried
} Plain;

static bool plain_find(Plain *p, int32_t t, int64_t round) {
    const Csr *edges = &p->graph->edges;
    for (int64_t e = edges->offset[t]; e < edges->offset[t + 1]; e++) {
        int32_t s = edges->column[e];
        if (p->gone[s] || p->seen[s] == round)
            continue;
        p->seen[s] = round;
        if (p->partner[s] < 0 || plain_find(p, p->partner[s], round)) {
            p->partner[s] = t;
            return true;
        }
    }
    return false;
}

// Size of a maximum matching without target `without` and without the sources `gone`.
static int64_t plain_matching(const Graph *g, int64_t without, const uint8_t *gone) {
    Plain p = {g, gone, TEST_ARRAY(int32_t, g->sources), TEST_ARRAY(int64_t, g->sources)};
    memset(p.partner, -1, (size_t)g->sources * sizeof *p.partner);
    int64_t size = 0;
    for (int32_t t = 0; t < g->edges.rows; t++)
        size += t != without && plain_find(&p, t, t + 1);
    return size;
}

TEST(test_as_large_as_a_maximum_matching) {
    for (uint64_t seed = 0; seed < 60; seed++) {
        int64_t targets = 150 + 100 * (int64_t)(seed % 3);
        bool hubs = seed & 1;
        double degree = 1.0 + 0.5 * (double)(seed % 7);
        Graph g = graph_random(targets, 250, hubs ? degree : degree / 250, hubs, seed);
        uint8_t *none = TEST_ARRAY(uint8_t, g.sources);
        Cover cover = cover_of(&g);
        assert_int_equal(cover.size, plain_matching(&g, -1, none));
    }
}

// A target that is left out needs all its sources; where that makes the cover larger it is in every
// minimum cover, and only such targets may be in ours.
TEST(test_targets_are_those_of_every_minimum_cover) {
    int64_t members = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        Graph g = graph_random(90, 93, seed & 1 ? 2.2 : 0.032, seed & 1, seed);
        uint8_t *gone = TEST_ARRAY(uint8_t, g.sources);
        Cover cover = cover_of(&g);
        for (int64_t t = 0; t < g.edges.rows; t++) {
            int64_t begin = g.edges.offset[t], end = g.edges.offset[t + 1];
            memset(gone, 0, (size_t)g.sources);
            for (int64_t e = begin; e < end; e++)
                gone[g.edges.column[e]] = 1;
            bool always = end - begin + plain_matching(&g, t, gone) > cover.size;
            assert_int_equal(cover.target[t], always);
        }
        members += cover.targets;
    }
    assert_true(members > 100); // or nothing was shown
}

// --- shapes whose cover is known

static void assert_sizes(Graph g, int64_t targets, int64_t sources) {
    Cover cover = cover_of(&g);
    assert_int_equal(cover.targets, targets);
    assert_int_equal(cover.sources, sources);
}

static Graph graph_complete(int64_t targets, int64_t sources) {
    return graph_random(targets, sources, 2, false, 0);
}

TEST(test_nothing_to_cover) {
    assert_sizes(graph_complete(0, 0), 0, 0);
    assert_sizes(graph_complete(0, 7), 0, 0);
    assert_sizes(graph_complete(7, 0), 0, 0);
    assert_sizes(graph_random(7, 9, 0, false, 0), 0, 0);
}

TEST(test_complete_graphs_take_the_smaller_side_and_sources_when_equal) {
    assert_sizes(graph_complete(1, 1), 0, 1);
    assert_sizes(graph_complete(1, 1000), 1, 0); // stars
    assert_sizes(graph_complete(1000, 1), 0, 1);
    assert_sizes(graph_complete(30, 40), 30, 0);
    assert_sizes(graph_complete(40, 30), 0, 30);
    assert_sizes(graph_complete(35, 35), 0, 35);
}

enum { LONG = 100000 };

// One path through all vertices, by turns; it starts with a source where there are more of them,
// else with a target. Only the smaller side covers all with so few, and sources where they are
// equal.
static Graph graph_path(int64_t targets, int64_t sources) {
    Graph g = graph_new(targets, sources, 2 * targets);
    int64_t first = sources > targets ? 0 : -1;
    for (int64_t t = 0; t < targets; t++) {
        for (int64_t s = t + first; s <= t + first + 1; s++)
            if (s >= 0 && s < sources)
                graph_add(&g, s);
        graph_next(&g, targets);
    }
    return g;
}

// Source i beside targets i-1, i, i+1: two rails and the rungs. With one source more, which is
// beside the first and the last target, any source may be the one without partner.
static Graph graph_ladder(int64_t targets, bool extra) {
    Graph g = graph_new(targets, targets + extra, 4 * targets);
    for (int64_t t = 0; t < targets; t++) {
        for (int64_t s = t - 1; s <= t + 1; s++)
            if (s >= 0 && s < targets)
                graph_add(&g, s);
        if (extra && (t == 0 || t == targets - 1))
            graph_add(&g, targets);
        graph_next(&g, targets);
    }
    return g;
}

// A chain t 0, s 0, t 1, s 1 .. between a complete graph of 3 sources and 2 targets, one of whose
// sources is beside t 0, and one of 2 and 3, one of whose targets is beside the last source. Only
// if each source of the chain takes the next target has everyone a partner; a greedy start that
// gives s 0 the first of its two equal targets is wrong all along, and one path puts it right.
static Graph graph_chain(int64_t length) {
    int64_t targets = length + 5;
    Graph g = graph_new(targets, length + 5, 2 * targets + 16);
    for (int64_t t = 0; t < length; t++) {
        if (t > 0)
            graph_add(&g, t - 1);
        graph_add(&g, t);
        if (t == 0)
            graph_add(&g, length); // of the first complete graph
        graph_next(&g, targets);
    }
    for (int64_t t = 0; t < 5; t++) {
        if (t == 2)
            graph_add(&g, length - 1);
        for (int64_t s = t < 2 ? 0 : 3; s < (t < 2 ? 3 : 5); s++)
            graph_add(&g, length + s);
        graph_next(&g, targets);
    }
    return g;
}

TEST(test_long_paths) {
    assert_sizes(graph_path(LONG, LONG), 0, LONG);
    assert_sizes(graph_path(LONG, LONG - 1), 0, LONG - 1);
    assert_sizes(graph_path(LONG, LONG + 1), LONG, 0);
}

TEST(test_long_ladders) {
    assert_sizes(graph_ladder(LONG, false), 0, LONG);
    assert_sizes(graph_ladder(LONG, true), LONG, 0);
}

TEST(test_a_path_through_everything_puts_the_start_right) {
    assert_sizes(graph_chain(1), 0, 6);
    assert_sizes(graph_chain(10), 0, 15);
    assert_sizes(graph_chain(LONG), 0, LONG + 5);
}
