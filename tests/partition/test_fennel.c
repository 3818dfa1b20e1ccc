// If this fails, Fennel puts a node where its paper does not, makes parts too large or empty, or
// takes too much memory for the graphs that METIS cannot hold.
#include "method.h"
#include "partition/internal.h"

// ---- the oracle: the objective by its definition, of the whole cut, for every part that v may
// join. near[i][j]: how many edges between i and j count.

enum { MOST = 40 };
typedef struct Oracle {
    int64_t n;
    int parts;
    double edges;
    int near[MOST][MOST], degree[MOST];
    int32_t part[MOST];
} Oracle;

static Oracle oracle_of(const Dataset *d, int parts, bool both) {
    Oracle o = {.n = d->nodes, .parts = parts};
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
            for (int way = 0; way < 1 + both; way++) {
                int64_t v = way == 0 ? i : d->target[e], u = way == 0 ? d->target[e] : i;
                o.degree[v]++;
                o.near[v][u] += u != v;
                o.edges += 0.5;
            }
    for (int64_t v = 0; v < o.n; v++)
        o.part[v] = -1;
    return o;
}

static int64_t size_of(const Oracle *o, int p) {
    int64_t size = 0;
    for (int64_t v = 0; v < o->n; v++)
        size += o->part[v] == p;
    return size;
}

// The gain of (edges inside parts) - a sum of |P|^1.5 when v joins p.
static double gain(const Oracle *o, int64_t v, int p) {
    double a = o->edges * sqrt(o->parts) / pow((double)o->n, 1.5), inside = 0;
    for (int64_t u = 0; u < o->n; u++)
        inside += o->part[u] == p ? o->near[v][u] : 0;
    double size = (double)size_of(o, p);
    return inside - a * (pow(size + 1, 1.5) - pow(size, 1.5));
}

static int64_t room_of(const Oracle *o) {
    int64_t even = (o->n + o->parts - 1) / o->parts;
    int64_t tolerated = (int64_t)(1.03 * (double)o->n / o->parts);
    return tolerated > even ? tolerated : even;
}

static void oracle_place(Oracle *o, int64_t v) {
    int best = -1;
    for (int p = 0; p < o->parts; p++) {
        if (size_of(o, p) >= room_of(o))
            continue;
        double more = best < 0 ? 1 : gain(o, v, p) - gain(o, v, best);
        if (more > 1e-9 || (more > -1e-9 && size_of(o, p) < size_of(o, best)))
            best = p;
    }
    o->part[v] = best;
}

// The first pass must leave no part empty: the last nodes have no choice.
static bool must_fill(Oracle *o, int64_t v, int64_t left) {
    int64_t empty = 0, first = -1;
    for (int p = o->parts - 1; p >= 0; p--)
        if (size_of(o, p) == 0)
            empty++, first = p;
    if (left <= empty)
        o->part[v] = (int32_t)first;
    return left <= empty;
}

static void oracle_run(Oracle *o, int passes) {
    for (int pass = 0; pass < passes; pass++) {
        int64_t left = o->n;
        for (int degree = 4 * MOST; degree >= 0; degree--)
            for (int64_t v = 0; v < o->n; v++) {
                int shown = o->degree[v] < o->n ? o->degree[v] : (int)o->n - 1;
                if (shown != degree)
                    continue;
                if (pass > 0 && size_of(o, o->part[v]) == 1)
                    continue;
                o->part[v] = -1;
                if (pass > 0 || !must_fill(o, v, left--))
                    oracle_place(o, v);
            }
    }
}

// Each node has one neighbour, so that pairs share a part and leave others empty.
static bool graph_pairs(int64_t i, int64_t j, int64_t n, uint64_t seed) {
    (void)n, (void)seed;
    return (i ^ 1) == j;
}

static const EdgeRule rules[] = {graph_random_both, graph_cliques, graph_star, graph_empty,
                                 graph_loops,       graph_random,  graph_pairs};
static const char *const methods[] = {"fennel", "fennel:1", "fennel:2", "fennel:3", "fennel:7"};
static const int passes[] = {1, 1, 2, 3, 7};

TEST(parts_are_those_of_the_definition) {
    static const int sizes[] = {1, 2, 9, 34, MOST}, counts[] = {1, 2, 3, 4, 9, 36};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int c = 0; c < 5 * 6 * 5; c++) {
            int n = sizes[c % 5], parts = counts[c / 5 % 6], m = c / 30;
            int32_t part[MOST];
            Warnings warnings = {0};
            CLEARED(graph_clear) Graph graph = {0};
            if (parts > n)
                continue;
            OWNED(Dataset) d = graph_make(n, rules[r], false, (uint64_t)c);
            Config config = config_for(methods[m]);
            bool symmetric = dataset_is_symmetric(&d);
            Oracle sources = oracle_of(&d, parts, false), both = oracle_of(&d, parts, !symmetric);
            oracle_run(&sources, passes[m]);
            oracle_run(&both, passes[m]);
            assert_ok(partition_cut(part, &d, parts, &config, &err, &warnings));
            assert_memory_equal(part, sources.part, (size_t)n * sizeof part[0]);
            assert_int_equal(strstr(warnings.text, "only by source") == NULL, symmetric);
            warnings = (Warnings){0};
            assert_ok(graph_init(&graph, &d, 0, &err));
            assert_ok(cut_graph(part, &d, &graph, parts, &config, &warnings, &err));
            assert_memory_equal(part, both.part, (size_t)n * sizeof part[0]);
            assert_string_equal(warnings.text, "");
        }
}

static Dataset planted(const char *name) {
    Dataset d;
    assert_ok(dataset_generate(&d, name, 1, &err));
    return d;
}

// Entries between two parts, and nodes of the largest part over the mean.
static int64_t cut_entries(const Dataset *d, const int32_t *part, int parts, double *balance) {
    int64_t count[64] = {0}, cut = 0, most = 0;
    for (int64_t v = 0; v < d->nodes; v++) {
        most = ++count[part[v]] > most ? count[part[v]] : most;
        for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++)
            cut += part[v] != part[d->target[e]];
    }
    *balance = (double)most * parts / (double)d->nodes;
    return cut;
}

// METIS finds the communities; three passes come close, a random cut does not.
TEST(communities_are_found_and_parts_are_even) {
    OWNED(Dataset) d = planted("planted:nodes=6000,edges=150000,features=0,communities=32");
    static const char *const names[] = {"metis", "random", "fennel:3"};
    int32_t *part = TEST_ARRAY(int32_t, d.nodes);
    for (int parts = 2; parts <= 8; parts *= 2) {
        double cut[3], balance = 0;
        for (int m = 0; m < 3; m++) {
            cut_by(names[m], part, &d, parts);
            cut[m] = (double)cut_entries(&d, part, parts, &balance);
        }
        assert_true(balance <= 1.03); // of fennel, the last
        assert_true(cut[2] <= 2.5 * cut[0]);
        assert_true(cut[2] <= 0.5 * cut[1]);
    }
}

TEST(it_takes_eight_bytes_a_node_beyond_blocks) {
    static const int counts[] = {1, 2, 7, 64};
    for (int directed = 0; directed < 2; directed++) {
        OWNED(Dataset) d = graph_make(1500, directed ? graph_random : graph_star, false, 1);
        for (int c = 0; c < 4; c++) {
            size_t blocks = bytes_of_cut(&d, "blocks", counts[c]);
            for (int m = 0; m < 5; m += 2) {
                size_t fennel = bytes_of_cut(&d, methods[m], counts[c]);
                assert_true(fennel >= blocks);
                assert_true(fennel - blocks <= 8 * 1500 + 44 * ((size_t)counts[c] + 1));
            }
        }
    }
}

TEST(passes_that_are_none_are_refused) {
    static const char *const wrong[] = {"fennel:0",
                                        "fennel:101",
                                        "fennel:x",
                                        "fennel:3x",
                                        "fennel:-1",
                                        "fennel: 3",
                                        "fennel:99999999999999999999"};
    OWNED(Dataset) d = graph_make(10, graph_star, false, 1);
    for (int i = 0; i < 7; i++) {
        int32_t part[10];
        Config config = config_for(wrong[i]);
        assert_refused(partition_method_fits(config.partition.method, &err), EXIT_CONFIG,
                       "a number from 1 to 100");
        assert_refused(partition_cut(part, &d, 2, &config, &err, &(Warnings){0}), EXIT_CONFIG,
                       wrong[i]);
    }
    Config config = config_for("fennel:100");
    assert_ok(partition_method_fits(config.partition.method, &err));
    config = config_for("fennel");
    assert_ok(partition_method_fits(config.partition.method, &err));
}
