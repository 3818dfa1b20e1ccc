// ranks: 1 2 3 4 8; also on fenced, emulated
// If this failed, a program would find other components, scores or labels than the dense matrices
// say, or others on more ranks: ties by arrival, pins of the wrong side, mass lost on nodes without
// a way out, the edges of other ranks not counted.
#include "dense_programs.h"
#include "programs.h"

static const TestGraphKind kinds[] = {
    {.nodes = 97, .degree = 4, .features = 2, .classes = 5},
    {.nodes = 97, .degree = 3, .weighted = true, .features = 2, .classes = 5},
    {.nodes = 97, .degree = 2, .directed = true, .weighted = true, .features = 2, .classes = 5},
    {.nodes = 89, .hyperedges = 61, .degree = 4, .features = 2, .classes = 5},
    {.nodes = 89, .hyperedges = 41, .degree = 3, .weighted = true, .features = 2, .classes = 5},
    {.nodes = 89,
     .hyperedges = 61,
     .degree = 4,
     .directed = true,
     .weighted = true,
     .features = 2,
     .classes = 5},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct Scene {
    TestGraph graph;
    OracleGraph dense;
    Config config;
    ProgramResult result;
} Scene;

static void scene_init(Scene *s, const TestGraphKind *kind, const char *cover, const char *start) {
    *s = (Scene){0};
    s->graph = test_graph(*kind, 42, &test_comm);
    s->dense = oracle_graph(&s->graph.dataset);
    assert_ok(config_load(&s->config, NULL, NULL, 0, &err));
    snprintf(s->config.lossless.cover, CONFIG_WORD, "%s", cover);
    snprintf(s->config.program.start, CONFIG_TEXT, "%s", start);
}

static void scene_clear(Scene *s) {
    program_result_clear(&s->result);
    test_graph_clear(&s->graph);
}

static ExitCode run(Scene *s, const char *program, Error *err) {
    return run_on(&s->graph, &s->config, program, &s->result, err);
}

static void run_well(Scene *s, const char *program) { assert_ok(run(s, program, &err) == EXIT_OK); }

static double figure(const Scene *s, const char *name) { return figure_of(&s->result, name); }

static void check_integers(const Scene *s, const int64_t *want, const char *what) {
    const RowSet *set = &s->graph.shard.set[NODES];
    const int64_t *made = s->result.array[0].data;
    for (int64_t i = 0; i < set->own; i++)
        if (made[i] != want[set->gid[i]])
            fail_msg("%s of node %lld: %lld, not %lld", what, (long long)set->gid[i],
                     (long long)made[i], (long long)want[set->gid[i]]);
}

// By the 2-norm of each column.
static void check_scores(const Scene *s, const double *want, double tolerance, const char *what) {
    const RowSet *set = &s->graph.shard.set[NODES];
    const float *made = s->result.array[0].data;
    int64_t columns = s->result.array[0].columns;
    for (int64_t c = 0; c < columns; c++) {
        double sums[2] = {0};
        for (int64_t i = 0; i < set->own; i++) {
            double right = want[set->gid[i] * columns + c];
            double off = (double)made[i * columns + c] - right;
            sums[0] += off * off;
            sums[1] += right * right;
        }
        comm_sum_double(&test_comm, sums, 2);
        if (!(sqrt(sums[0]) <= tolerance * sqrt(sums[1]) + 1e-12))
            fail_msg("%s, column %lld: off by %g of %g", what, (long long)c, sqrt(sums[0]),
                     sqrt(sums[1]));
    }
}

TEST(components_are_those_of_the_matrix) {
    for (int k = 0; k < KINDS; k++) {
        CLEARED(scene_clear) Scene s = {0};
        scene_init(&s, &kinds[k], "min", "");
        int64_t *want = dense_components(&s.dense), count = 0, covered = 0;
        run_well(&s, "components");
        check_integers(&s, want, "component");
        for (int i = 0; i < s.dense.n; i++) {
            bool has = false;
            for (int u = 0; u < s.dense.n && !has; u++)
                has = dense_joins(&s.dense, i, u, true);
            covered += has;
            count += has && want[i] == i;
        }
        assert_int_equal(figure(&s, "components"), count);
        assert_int_equal(figure(&s, "uncovered nodes"), s.dense.n - covered);
    }
}

TEST(walks_are_those_of_the_matrix) {
    static const struct {
        const char *cover, *codec;
        double tolerance, lost;
    } ways[] = {
        {"sources", "fp32", 1e-4, 1e-5}, {"min", "fp32", 1e-4, 1e-5}, {"min", "bf16", 1e-2, 1e-2}};
    for (int k = 0; k < KINDS; k++)
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            CLEARED(scene_clear) Scene s = {0};
            scene_init(&s, &kinds[k], ways[i].cover, "");
            snprintf(s.config.program.codec, CONFIG_WORD, "%s", ways[i].codec);
            double *want = dense_random_walk(&s.dense, kinds[k].classes, 0.15, 10);
            run_well(&s, "random-walk");
            check_scores(&s, want, ways[i].tolerance, "random walk");
            assert_true(figure(&s, "mass lost") <= ways[i].lost);
        }
}

TEST(harmonic_classes_solve_the_system) {
    for (int k = 0; k < KINDS; k++) {
        CLEARED(scene_clear) Scene s = {0};
        scene_init(&s, &kinds[k], "min", "");
        s.config.program.tolerance = 5e-6;
        if (kinds[k].directed) {
            assert_int_equal(run(&s, "harmonic", &(Error){0}), EXIT_DATA);
        } else {
            double *want = dense_harmonic(&s.dense, kinds[k].classes);
            run_well(&s, "harmonic");
            check_scores(&s, want, 1e-4, "harmonic");
        }
    }
}

// The rank of every row of a set; the caller frees it.
static int64_t *owners(const TestGraph *graph, int set, int64_t count) {
    int64_t *owner = TEST_ARRAY(int64_t, count);
    for (int64_t i = 0; set < graph->shard.sets && i < graph->shard.set[set].own; i++)
        owner[graph->shard.set[set].gid[i]] = test_comm.rank;
    comm_sum_int64(&test_comm, owner, (int)count);
    return owner;
}

// How many rows travel if each of `sources` goes to every other rank that has a reader of it.
static int64_t copies(const double *edge, int targets, int sources, bool by_target,
                      const int64_t *of_target, const int64_t *of_source) {
    int64_t count = 0;
    for (int u = 0; u < sources; u++)
        for (int rank = 0; rank < test_comm.size; rank++) {
            bool reads = false;
            for (int v = 0; v < targets; v++)
                reads |= edge[by_target ? v * sources + u : u * targets + v] != 0 &&
                         of_target[v] == rank;
            count += reads && of_source[u] != rank;
        }
    return count;
}

// Labels have 8 bytes and go once to each rank that reads their row.
static void check_bytes(const Scene *s) {
    const OracleGraph *g = &s->dense;
    int64_t *nodes = owners(&s->graph, NODES, g->n),
            *edges = owners(&s->graph, HYPEREDGES, g->m + 1);
    int64_t rows = g->m == 0 ? copies(g->a, g->n, g->n, true, nodes, nodes)
                             : copies(g->source, g->m, g->n, false, edges, nodes) +
                                   copies(g->target, g->n, g->m, true, nodes, edges);
    assert_int_equal(figure(s, "bytes per iteration"), 8 * rows);
}

TEST(labels_win_as_in_the_matrix) {
    for (int k = 0; k < KINDS; k++)
        for (int by_labels = 0; by_labels < 2; by_labels++) {
            CLEARED(scene_clear) Scene s = {0};
            int64_t rounds;
            scene_init(&s, &kinds[k], "min", by_labels ? "labels" : "ids");
            int64_t *want = dense_labels(&s.dense, by_labels, 100, &rounds);
            run_well(&s, "label-propagation");
            check_integers(&s, want, "label");
            assert_int_equal(figure(&s, "rounds"), rounds);
            check_bytes(&s);
        }
}

TEST(refusals_name_the_cure) {
    Config config = CONFIGURED("program.pairs=3");
    assert_refused(program_fits("random-walk", &config, &err), EXIT_CONFIG, "program.pairs");
    assert_refused(program_fits("harmonics", &config, &err), EXIT_USAGE, "did you mean harmonic?");
}
