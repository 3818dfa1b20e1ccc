// ranks: 1 2 4
// If this fails, a normalisation is not the matrix its paper means, or its transpose is not the
// transpose.
#include "small_graph.h"
#include "support.h"

enum { N = 50 };

// M[v][u] of ALGORITHMS A.3, dense, in double.
static void dense(double m[N][N], const Dataset *d, const char *name) {
    static double a[N][N];
    double in[N] = {0}, out[N] = {0};
    bool self = strcmp(name, "mean") != 0;
    memset(a, 0, sizeof a);
    for (int64_t u = 0; u < N; u++)
        for (int64_t e = d->offset[u]; e < d->offset[u + 1]; e++) {
            double w = d->weight != NULL ? (double)d->weight[e] : 1.0;
            a[d->target[e]][u] += w;
            in[d->target[e]] += w;
            out[u] += w;
        }
    for (int v = 0; v < N; v++)
        for (int u = 0; u < N; u++) {
            double w = a[v][u] + (self && u == v ? 1 : 0);
            if (strcmp(name, "gcn") == 0)
                m[v][u] = w / sqrt((in[v] + 1) * (out[u] + 1));
            else if (strcmp(name, "gcn-in") == 0)
                m[v][u] = w / sqrt((in[v] + 1) * (in[u] + 1));
            else if (strcmp(name, "sum") == 0)
                m[v][u] = w;
            else if (strcmp(name, "mean") == 0)
                m[v][u] = in[v] > 0 ? w / in[v] : w;
            else
                m[v][u] = w / (in[v] + 1);
        }
}

static double diagonal(const float *value, int64_t i) {
    return value != NULL ? (double)value[i] : 1.0;
}

// right[] of every node, on every rank.
static void gather_right(double *right, const Block *block) {
    memset(right, 0, N * sizeof right[0]);
    for (int64_t i = 0; i < block->pattern->plan.sources; i++)
        right[block->pattern->plan.source_id[i]] = diagonal(block->right, i);
    comm_sum_double(&test_comm, right, N);
}

// The rows of L A R (+ L R) that this rank holds are those of the dense matrix.
static void assert_is(const Block *block, double m[N][N], bool transposed) {
    const Pattern *p = block->pattern;
    double right[N], row[N];
    gather_right(right, block);
    int64_t k = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        int64_t v = p->plan.source_id[i];
        memset(row, 0, sizeof row);
        for (int64_t e = p->own.offset[i]; e < p->own.offset[i + 1]; e++)
            row[p->plan.source_id[p->own.column[e]]] +=
                p->own.weight ? (double)p->own.weight[e] : 1.0;
        if (k < p->halo.rows && p->halo_row[k] == i) {
            for (int64_t e = p->halo.offset[k]; e < p->halo.offset[k + 1]; e++)
                row[p->plan.halo_id[p->halo.column[e]]] +=
                    p->halo.weight ? (double)p->halo.weight[e] : 1.0;
            k++;
        }
        row[v] += block->self;
        for (int u = 0; u < N; u++) // two floats, each rounded once
            assert_near(diagonal(block->left, i) * row[u] * right[u],
                        transposed ? m[u][v] : m[v][u], 2e-7);
    }
}

TEST(test_normalisations_are_the_papers_matrices) {
    static const char *const names[] = {"gcn", "gcn-in", "mean", "mean-self", "sum"};
    static double m[N][N];
    for (int kind = 0; kind < 4; kind++) {
        TestGraphKind k = {.nodes = N, .degree = 5, .features = 1, .classes = 2};
        k.directed = kind & 1;
        k.weighted = kind & 2;
        OWNED(TestGraph) graph = test_graph(k, 7, &test_comm);
        for (int i = 0; i < 5; i++) {
            CLEARED(block_clear) Block block = {0};
            assert_ok(block_init(&block, names[i], graph.forward, &graph.shard, &err));
            dense(m, &graph.dataset, names[i]);
            assert_is(&block, m, false);
            Block back = block_transpose(&block, graph.backward);
            assert_is(&back, m, true);
        }
    }
}

TEST(test_unknown_normalisation_is_answered_with_the_list) {
    Block block;
    OWNED(TestGraph)
    graph = test_graph((TestGraphKind){.nodes = N, .degree = 3, .features = 1, .classes = 2}, 1,
                       &test_comm);
    assert_refused(block_init(&block, "median", graph.forward, &graph.shard, &err), EXIT_CONFIG,
                   "gcn, gcn-in, mean, mean-self, sum");
}

// -3 + 1 (the self-loop) leaves nothing to take the root of.
TEST(test_negative_degree_is_refused) {
    double in[1] = {-3}, out[1] = {-3};
    int64_t gid[1] = {41};
    Shard shard = {.sets = 1,
                   .relations = 1,
                   .set = {{.own = 1, .degree_in = in, .degree_out = out, .gid = gid}}};
    Pattern pattern = {.rows = 1};
    Block block;
    assert_refused(block_init(&block, "gcn", &pattern, &shard, &err), EXIT_DATA, "node 41");
}

// The rows of this rank of L A R (+ L R) times x, and zeros elsewhere; summed over ranks the whole.
static void times(double *y, const Block *block, const double *x) {
    const Pattern *p = block->pattern;
    double right[N];
    gather_right(right, block);
    memset(y, 0, N * sizeof *y);
    int64_t k = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        int64_t v = p->plan.source_id[i], u;
        for (int64_t e = p->own.offset[i]; e < p->own.offset[i + 1]; e++) {
            u = p->plan.source_id[p->own.column[e]];
            y[v] += right[u] * x[u];
        }
        if (k < p->halo.rows && p->halo_row[k] == i) {
            for (int64_t e = p->halo.offset[k]; e < p->halo.offset[k + 1]; e++) {
                u = p->plan.halo_id[p->halo.column[e]];
                y[v] += right[u] * x[u];
            }
            k++;
        }
        y[v] = diagonal(block->left, i) * (y[v] + block->self * right[v] * x[v]);
    }
    comm_sum_double(&test_comm, y, N);
}

// How much a vector of ones has grown in the last of so many multiplications.
static double growth(const Block *block) {
    double x[N], y[N], before = 0, after = 0;
    for (int i = 0; i < N; i++)
        x[i] = 1;
    for (int step = 0; step < 400; step++) {
        before = after = 0;
        times(y, block, x);
        for (int i = 0; i < N; i++) {
            before += x[i] * x[i];
            after += y[i] * y[i];
        }
        for (int i = 0; i < N; i++)
            x[i] = y[i] / sqrt(after);
    }
    return sqrt(after / before);
}

static bool is_for_graphs(const char *name) { return strncmp(name, "hyper-", 6) != 0; }

// Where every edge has its way back and no weight, a normalisation, however it shares what it
// divides by between the two ends, has the largest eigenvalue 1: D^-1 A, A D^-1 and D^-1/2 A D^-1/2
// have the same ones. One that divides nothing is left as it is.
TEST(test_no_normalisation_lets_rows_grow_or_shrink) {
    OWNED(TestGraph)
    graph = test_graph((TestGraphKind){.nodes = N, .degree = 5, .features = 1, .classes = 2}, 7,
                       &test_comm);
    for (int i = 0; i < normalisation_family.count; i++) {
        const char *name = family_word(&normalisation_family, i);
        if (!is_for_graphs(name))
            continue;
        CLEARED(block_clear) Block block = {0};
        assert_ok(block_init(&block, name, graph.forward, &graph.shard, &err));
        bool divides = block.left != NULL || block.right != NULL;
        double grown = growth(&block);
        if (divides && fabs(grown - 1) > 1e-5) // diagonals are floats
            fail_msg("%s: the largest eigenvalue is %.7g", name, grown);
    }
}
