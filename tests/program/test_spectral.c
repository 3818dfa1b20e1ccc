// ranks: 1 3; also on fenced, emulated
// If this failed, spectral would give other eigenvalues than the dense matrix has: the zero space
// of one rank alone, one of several equal eigenvalues, vectors that do not solve the problem, or
// those of a basis that a restart has spoiled.
#include "dense_spectrum.h"
#include "programs.h"

typedef struct Scene {
    TestGraph graph;
    OracleGraph dense;
    double *theta, *degree; // [n, n], [n]
    double *value;          // [n] of theta, from the largest, once they are looked at, on rank 0
    Config config;
    ProgramResult result;
} Scene;

static void scene_init(Scene *s, const TestGraphKind *kind) {
    *s = (Scene){0};
    s->graph = test_graph(*kind, 42, &test_comm);
    assert_ok(config_load(&s->config, NULL, NULL, 0, &err));
    s->dense = oracle_graph(&s->graph.dataset);
    int n = s->dense.n;
    s->degree = oracle_matrix(n, 1);
    s->theta = dense_theta(&s->dense, s->degree);
}

static void find_values(Scene *s) {
    int n = s->dense.n;
    if (s->value != NULL)
        return;
    s->value = oracle_matrix(n, 1);
    double *copy = oracle_matrix(n, n);
    memcpy(copy, s->theta, (size_t)(n * n) * sizeof *copy);
    dense_eigenvalues(s->value, copy, n);
}

static void scene_clear(Scene *s) {
    program_result_clear(&s->result);
    test_graph_clear(&s->graph);
}

static ExitCode run(Scene *s, int64_t pairs, int64_t blocks, Error *err) {
    s->config.program.pairs = (int)pairs;
    s->config.program.blocks = (int)blocks;
    return run_on(&s->graph, &s->config, "spectral", &s->result, err);
}

static void run_well(Scene *s, int64_t pairs, int64_t blocks) {
    assert_ok(run(s, pairs, blocks, &err) == EXIT_OK);
}

static double figure(const Scene *s, const char *name) { return figure_of(&s->result, name); }

static const ProgramArray *array(const Scene *s, const char *file) {
    for (int i = 0; i < s->result.arrays; i++)
        if (strcmp(s->result.array[i].file, file) == 0)
            return &s->result.array[i];
    fail_msg("no array %s", file);
    return NULL;
}

static int dense_zeros(const Scene *s) { // vectors of 1, whose eigenvalue is exact in double
    int count = 0;
    while (count < s->dense.n && s->value[count] > 1 - 1e-9)
        count++;
    return count;
}

// ---- the pairs

static double column_product(const float *x, const float *y, int n, int64_t pairs) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i * pairs] * (double)y[i * pairs];
    return sum;
}

static double residual(const Scene *s, const float *x, int64_t pairs, double value) {
    int n = s->dense.n;
    double sum = 0;
    for (int v = 0; v < n; v++) {
        double off = -(1 - value) * (double)x[v * pairs];
        for (int u = 0; u < n; u++)
            off += s->theta[v * n + u] * (double)x[u * pairs];
        sum += off * off;
    }
    return sqrt(sum);
}

static void check_vector(const Scene *s, const float *x, int64_t pairs, int64_t j, double most) {
    const double *value = array(s, "eigenvalues.npy")->data,
                 *left = array(s, "residuals.npy")->data;
    double off = residual(s, x + j, pairs, value[j]);
    if (!(off <= most && fabs(off - left[j]) <= 1e-5))
        fail_msg("pair %lld: residual %g, said to be %g", (long long)j, off, left[j]);
    for (int64_t k = 0; k <= j; k++)
        assert_near(column_product(x + j, x + k, s->dense.n, pairs), j == k, 1e-5 /* floats */);
    float largest = 0;
    for (int i = 0; i < s->dense.n; i++) {
        largest = fabsf(x[i * pairs + j]) > fabsf(largest) ? x[i * pairs + j] : largest;
        if (s->degree[i] == 0)
            assert_true(x[i * pairs + j] == 0);
    }
    assert_true(largest > 0);
}

static float *gathered(const Scene *s, int64_t pairs) {
    return shard_gather(&s->graph.shard, &test_comm, array(s, "embeddings.npy")->data,
                        (size_t)pairs * sizeof(float));
}

static void check_pairs(Scene *s, int64_t pairs) {
    FREED float *x = gathered(s, pairs);
    assert_true(figure(s, "largest residual") <= 1e-4);
    assert_true(s->result.warning[0] == 0);
    if (test_comm.rank > 0)
        return;
    find_values(s);
    const double *value = array(s, "eigenvalues.npy")->data;
    int zeros = dense_zeros(s);
    assert_int_equal(figure(s, "zero space"), zeros);
    for (int64_t j = 0; j < pairs; j++) {
        if (!(fabs(value[j] - (1 - s->value[zeros + j])) <= 1e-5))
            fail_msg("eigenvalue %lld: %.8f, not %.8f", (long long)j, value[j],
                     1 - s->value[zeros + j]);
        check_vector(s, x, pairs, j, 1e-4);
    }
}

// ---- graphs

static const TestGraphKind kinds[] = {
    {.nodes = 160, .degree = 3, .features = 2, .classes = 5},
    {.nodes = 160, .degree = 2, .weighted = true, .features = 2, .classes = 5},
    {.nodes = 160, .hyperedges = 101, .degree = 5, .features = 2, .classes = 5},
    {.nodes = 160, .hyperedges = 91, .degree = 4, .weighted = true, .features = 2, .classes = 5},
};

TEST(pairs_are_those_of_the_dense_matrix) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        CLEARED(scene_clear) Scene s = {0};
        scene_init(&s, &kinds[k]);
        run_well(&s, 20, 64);
        check_pairs(&s, 20);
        run_well(&s, 5, 4); // restarts
        assert_true(figure(&s, "blocks") > 4);
        check_pairs(&s, 5);
    }
}

// Five paths of 30 nodes, which are dealt in turn: node i is on path i % 5. The eigenvalues of one
// are 1 - cos(pi k / 29), or the half of that where two pins of a hyperedge make an edge.
static int dealt(int64_t node, int parts) { return (int)(node % parts); }
static bool is_on_path(int64_t i, int64_t j) { return i - j == 5 || j - i == 5; }
static bool is_pin_on_path(int64_t v, int64_t h) { return v == h || v == h + 5; }

static const TestGraphKind paths[] = {
    {.nodes = 150, .edge = is_on_path, .cut = dealt, .features = 2, .classes = 5},
    {.nodes = 150,
     .hyperedges = 145,
     .edge = is_pin_on_path,
     .cut = dealt,
     .features = 2,
     .classes = 5},
};

TEST(equal_eigenvalues_are_all_found) {
    for (int k = 0; k < 2; k++) {
        CLEARED(scene_clear) Scene s = {0};
        scene_init(&s, &paths[k]);
        run_well(&s, 12, 64);
        check_pairs(&s, 12);
        const double *value = array(&s, "eigenvalues.npy")->data;
        for (int j = 0; j < 12 && test_comm.rank == 0; j++)
            assert_near(value[j], (1 - cos(acos(-1) * (j / 5 + 1) / 29)) / (1 + k), 1e-5);
    }
}

// All nodes joined: one eigenvalue, so that no image of a block brings anything new.
static bool is_pair(int64_t i, int64_t j) { return i != j; }
static const TestGraphKind complete = {
    .nodes = 37, .edge = is_pair, .cut = dealt, .features = 2, .classes = 5};

TEST(blocks_without_news_go_on_with_random_columns) {
    CLEARED(scene_clear) Scene s = {0};
    scene_init(&s, &complete);
    for (int pairs = 3; pairs <= 36; pairs += 11) {
        run_well(&s, pairs, 64);
        check_pairs(&s, pairs);
    }
    assert_int_equal(figure(&s, "blocks"), 3); // 16, 16 and 4 columns fill the space
    assert_refused(run(&s, 37, 64, &err) == EXIT_OK, EXIT_DATA, "36 eigenvalues");
    assert_refused(run(&s, 20, 2, &err) == EXIT_OK, EXIT_CONFIG, "at least 3");
}

// A path of 300 nodes, whose eigenvalues lie so close that two blocks at a time do not part them.
static bool is_next(int64_t i, int64_t j) { return i - j == 1 || j - i == 1; }
static const TestGraphKind path = {
    .nodes = 300, .edge = is_next, .cut = dealt, .features = 2, .classes = 5};

TEST(pairs_out_of_reach_come_with_a_warning) {
    CLEARED(scene_clear) Scene s = {0};
    scene_init(&s, &path);
    run_well(&s, 16, 2);
    assert_true(strstr(s.result.warning, "of 16 pairs within 0.0001") != NULL);
    assert_true(figure(&s, "largest residual") > 1e-4);
    FREED float *x = gathered(&s, 16);
    for (int64_t j = 0; j < 16 && test_comm.rank == 0; j++)
        check_vector(&s, x, 16, j, 1);
}

TEST(the_same_run_gives_the_same_bytes) {
    CLEARED(scene_clear) Scene s = {0};
    scene_init(&s, &kinds[0]);
    run_well(&s, 9, 5);
    size_t bytes = (size_t)(s.graph.shard.set[NODES].own * 9) * sizeof(float);
    float *first = TEST_ARRAY(float, bytes / sizeof(float));
    memcpy(first, array(&s, "embeddings.npy")->data, bytes);
    run_well(&s, 9, 5);
    assert_memory_equal(first, array(&s, "embeddings.npy")->data, bytes);
}

// What an iteration takes has parts, none of which is counted twice.
TEST(its_seconds_have_parts) {
    CLEARED(scene_clear) Scene s = {0};
    scene_init(&s, &kinds[0]);
    run_well(&s, 20, 64);
    double aggregates = device()->host_is_device ? figure(&s, "seconds of its aggregates") : 0;
    double dense = figure(&s, "seconds of its dense products"),
           small = figure(&s, "seconds of its eigenproblem");
    assert_true(dense > 0 && small > 0);
    if (test_comm.size == 1) // each is that of the rank where it is most
        assert_true(aggregates + dense + small < figure(&s, "seconds per iteration"));
}
