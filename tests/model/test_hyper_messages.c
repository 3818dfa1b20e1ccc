// ranks: 2 4
// If this failed, a hyperedge shared by several ranks would cost more rows than its nodes have
// replicas; or messages of few bits between nodes and hyperedges would be biased, or noisier than
// their steps allow (ALGORITHMS A.4, C.5).
#include "gradients.h"

static const TestGraphKind undirected = HYPER;
static const TestGraphKind directed = HYPER_DIRECTED_WEIGHTED;

// ---- the rows that travel, counted from the hypergraph and its homes alone

typedef struct Homes {
    int64_t *of[SHARD_SETS]; // [rows of the set] the rank that owns each
} Homes;

static Homes homes_of(const TestGraph *w) {
    Homes homes;
    for (int set = 0; set < SHARD_SETS; set++) {
        const RowSet *rows = &w->shard.set[set];
        homes.of[set] = TEST_ARRAY(int64_t, rows->total);
        for (int64_t i = 0; i < rows->own; i++)
            homes.of[set][rows->gid[i]] = w->comm->rank;
        comm_sum_int64(w->comm, homes.of[set], (int)rows->total);
    }
    return homes;
}

// Ranks other than the home of v that own a hyperedge with v in that role, over all v.
static int64_t count_replicas(const TestGraph *w, const Homes *homes, int role) {
    const Dataset *d = &w->dataset;
    int64_t replicas = 0;
    for (int64_t v = 0; v < d->nodes; v++)
        for (int rank = 0; rank < w->comm->size; rank++) {
            bool there = false;
            for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++)
                there |= homes->of[HYPEREDGES][d->target[e]] == rank &&
                         (d->pin_role == NULL || (d->pin_role[e] & role) != 0);
            replicas += there && homes->of[NODES][v] != rank;
        }
    return replicas;
}

static int64_t rows_sent(const Made *made, ExchangeId id) {
    int64_t count = channel_halo_plan(model_channel(made->model, id))->halo_count;
    comm_sum_int64(&test_comm, &count, 1);
    return count;
}

// Forward and backward rows of both stages of the second convolution, under a cover.
static void count_rows(const TestGraph *w, const char *cover, int64_t rows[2][2]) {
    Case c = {"hgnn", undirected, 2, "", 0, 0, FIRST("")};
    Config config = with_savings(case_config(&c), COVER, cover);
    CLEARED(unmake) Made made = {0};
    make(&made, &c, w, &config, "overlap");
    for (int stage = 0; stage < 2; stage++)
        for (int d = 0; d < 2; d++)
            rows[stage][d] = rows_sent(&made, (ExchangeId){2 + stage, d});
}

static void check_rows(TestGraphKind kind) {
    int64_t replicas[2][2], fewest[2][2], sources[2][2], targets[2][2];
    OWNED(TestGraph) w = test_graph(kind, 42, &test_comm);
    Homes homes = homes_of(&w);
    int64_t read = count_replicas(&w, &homes, PIN_SOURCE);
    int64_t served = count_replicas(&w, &homes, PIN_TARGET);
    count_rows(&w, "replicas", replicas);
    count_rows(&w, "min", fewest);
    count_rows(&w, "sources", sources);
    count_rows(&w, "targets", targets);
    assert_true(read > 0 && served > 0);
    for (int d = 0; d < 2; d++) { // backward the same replicas, the other way round
        assert_int_equal(replicas[0][d], read);
        assert_int_equal(replicas[1][d], served);
        for (int stage = 0; stage < 2; stage++) {
            assert_true(fewest[stage][d] <= sources[stage][d]);
            assert_true(fewest[stage][d] <= targets[stage][d]);
            assert_true(fewest[stage][d] <= replicas[stage][d]);
        }
    }
}

TEST(rows_are_those_of_the_replicas) {
    check_rows(undirected); // 2 R
    check_rows(directed);   // those that are sources, and those that are targets
}

// ---- noise of messages

enum { DRAWS = UNDER_SANITIZERS(3, 200), LOOKS = 8, COLUMNS = 13 };

// One convolution without weights before its second stage, of which one stage is in few bits.
typedef struct Noisy {
    TestGraph w;
    Case c;
    Config config;
    Made made;
    Homes homes;
    OracleGraph graph;
    double *stage[2], *exact; // exact: [nodes, COLUMNS]
} Noisy;

static void set_bits(const Channel *channel, int bits) {
    const HaloPlan *p = channel_halo_plan(channel);
    int64_t sent = p->send_offset[p->size - 1], most = sent > p->halo_count ? sent : p->halo_count;
    uint8_t *width = TEST_ARRAY(uint8_t, most);
    memset(width, bits, (size_t)most);
    channel_set_widths((Channel *)(uintptr_t)channel, width, width);
}

static void noisy_init(Noisy *n, int stage, int bits) {
    TestGraphKind graph = {.nodes = 89, .hyperedges = 61, .degree = 5, .weighted = true};
    graph.features = COLUMNS, graph.classes = 5;
    *n = (Noisy){.c = {"hgnn", graph, 1, "", 0, 0, FIRST("")}};
    n->w = test_graph(n->c.graph, 42, &test_comm);
    n->homes = homes_of(&n->w);
    n->config = with_savings(case_config(&n->c), COVER, "replicas");
    snprintf(n->config.quantization.codec, CONFIG_WORD, "integer");
    make(&n->made, &n->c, &n->w, &n->config, "overlap");
    for (int s = 0; s < 2; s++)
        set_bits(model_channel(n->made.model, (ExchangeId){s, FORWARD}), s == stage ? bits : 16);
    n->graph = oracle_graph(&n->w.dataset);
    for (int s = 0; s < 2; s++)
        n->stage[s] = oracle_hyper_stage(&n->graph, "hyper-sym", s);
    double *m = oracle_hyper_operator(&n->graph, "hyper-sym");
    n->exact = TEST_ARRAY(double, (int64_t)n->graph.n *COLUMNS);
    for (int64_t v = 0; v < n->graph.n; v++)
        for (int64_t u = 0; u < n->graph.n; u++)
            for (int64_t c = 0; c < COLUMNS; c++)
                n->exact[v * COLUMNS + c] +=
                    m[v * n->graph.n + u] * (double)n->graph.x[u * COLUMNS + c];
}

static void noisy_clear(Noisy *n) {
    unmake(&n->made);
    test_graph_clear(&n->w);
}

static double sign_of(int look, int64_t v, int64_t c) {
    return random_uniform32(random_key(31, RANDOM_GENERATE, 0, look, 0), v, 0, c) < 0.5 ? -1 : 1;
}

// The most that rounding one row adds to the squared error of the result: D S^2 / 4, times what the
// result takes up of it.
static double step_bound(double least, double most, int bits, double taken_up) {
    double step = (most - least) / ((1 << bits) - 1);
    return COLUMNS * step * step / 4 * taken_up;
}

// Stage 0: node u on its way to rank q. It meets the rows of q's hyperedges, and these the nodes.
static double bound_of_node(const Noisy *n, int64_t u, int q, int bits) {
    double least = INFINITY, most = -INFINITY, taken = 0, right = 0;
    int64_t nodes = n->graph.n, m = n->graph.m;
    for (int64_t h = 0; h < m; h++) // the degree: every pin is a target
        right += n->graph.w[h] * n->graph.target[u * m + h];
    right = right > 0 ? 1 / sqrt(right) : 0;
    for (int64_t c = 0; c < COLUMNS; c++) {
        double x = right * (double)n->graph.x[u * COLUMNS + c];
        least = fmin(least, x);
        most = fmax(most, x);
    }
    for (int64_t v = 0; v < nodes; v++) {
        double sum = 0;
        for (int64_t h = 0; h < m; h++)
            if (n->homes.of[HYPEREDGES][h] == q && right > 0)
                sum += n->stage[1][v * m + h] * n->stage[0][h * nodes + u] / right;
        taken += sum * sum;
    }
    return step_bound(least, most, bits, taken);
}

// Stage 1: the partial aggregate of rank q's hyperedges for node v, which scales it by d_v^-1/2.
static double bound_of_partial(const Noisy *n, int64_t v, int q, int bits) {
    double least = INFINITY, most = -INFINITY, left = 0;
    int64_t nodes = n->graph.n, m = n->graph.m;
    for (int64_t c = 0; c < COLUMNS; c++) {
        double sum = 0;
        for (int64_t h = 0; h < m; h++) {
            double e = 0;
            if (n->homes.of[HYPEREDGES][h] != q || n->graph.target[v * m + h] == 0)
                continue;
            left = n->stage[1][v * m + h];
            for (int64_t u = 0; u < nodes; u++)
                e += n->stage[0][h * nodes + u] * (double)n->graph.x[u * COLUMNS + c];
            sum += e;
        }
        least = fmin(least, sum);
        most = fmax(most, sum);
    }
    return step_bound(least, most, bits, left * left);
}

static double variance_bound(const Noisy *n, int stage, int bits) {
    double bound = 0;
    for (int64_t v = 0; v < n->graph.n; v++)
        for (int q = 0; q < test_comm.size; q++)
            if (n->homes.of[NODES][v] != q)
                bound +=
                    stage == 0 ? bound_of_node(n, v, q, bits) : bound_of_partial(n, v, q, bits);
    return bound;
}

typedef struct Draws {
    double square;                    // sum over draws and elements of the squared error
    double look[LOOKS], look2[LOOKS]; // sums of random signs times the errors, and their squares
} Draws;

static void draw_once(const Noisy *n, Draws *draws, uint32_t epoch) {
    const Model *m = n->made.model;
    const RowSet *own = &n->w.shard.set[NODES];
    double sum[LOOKS] = {0}, square = 0;
    model_loss_and_gradient(n->made.model, n->made.p, n->made.gradient, 11, epoch);
    gradsync_finish(n->made.sync, n->made.gradient);
    float *a = host_rows(rows_first(m->layer[1].a, own->own));
    for (int64_t i = 0; i < own->own; i++)
        for (int64_t c = 0; c < COLUMNS; c++) {
            double off = (double)a[i * COLUMNS + c] - n->exact[own->gid[i] * COLUMNS + c];
            square += off * off;
            for (int k = 0; k < LOOKS; k++)
                sum[k] += off * sign_of(k, own->gid[i], c);
        }
    comm_sum_double(&test_comm, &square, 1);
    comm_sum_double(&test_comm, sum, LOOKS);
    draws->square += square;
    for (int k = 0; k < LOOKS; k++) {
        draws->look[k] += sum[k];
        draws->look2[k] += sum[k] * sum[k];
    }
}

// The mean of 200 draws lies within 4 standard errors, and the variance below the bound.
static void judge_noise(const Noisy *n, const Draws *draws, int stage, int bits) {
    double variance = draws->square / DRAWS, bound = variance_bound(n, stage, bits);
    if (test_comm.rank == 0)
        print_message("stage %d, %d bits: variance %.3g, bound %.3g\n", stage, bits, variance,
                      bound);
    assert_true(variance <= bound && variance > bound / 20);
    for (int k = 0; k < LOOKS; k++) {
        double mean = draws->look[k] / DRAWS;
        double error = sqrt((draws->look2[k] / DRAWS - mean * mean) / (DRAWS - 1));
        if (!(fabs(mean) <= 4 * error))
            fail_msg("stage %d, %d bits: a mean of %g with a standard error of %g", stage, bits,
                     mean, error);
    }
}

static void check_noise(int stage, int bits) {
    CLEARED(noisy_clear) Noisy n = {0};
    Draws draws = {0};
    noisy_init(&n, stage, bits);
    for (uint32_t epoch = 1; epoch <= DRAWS; epoch++)
        draw_once(&n, &draws, epoch);
    if (UNDER_SANITIZERS(false, true)) // a few draws say nothing
        judge_noise(&n, &draws, stage, bits);
}

TEST(few_bits_are_unbiased_and_bounded) {
    static const int widths[] = {1, 2, 4};
    for (int stage = 0; stage < 2; stage++)
        for (int i = 0; i < 3; i++)
            if (UNDER_SANITIZERS((stage + i) % 2 == 0, true))
                check_noise(stage, widths[i]);
}
