#include "small_graph.h"
#include "support.h"
#include "write_shards.h"

// random_uniform32; the four numbers of a block are made once where they are asked for in turn.
static double uniform(uint64_t seed, int draw, int64_t row, int64_t column) {
    static uint64_t last_seed;
    static int64_t last_row, last_block = -1;
    static int last_draw;
    static uint32_t word[4];
    int64_t block = column / 4;
    if (block != last_block || row != last_row || draw != last_draw || seed != last_seed) {
        last_block = block, last_row = row, last_draw = draw, last_seed = seed;
        random_block(word, random_key(seed, RANDOM_GENERATE, 0, draw, 0), row, 0, (uint32_t)block);
    }
    return ((double)word[column % 4] + 0.5) * 0x1p-32;
}

static bool has_edge(const TestGraphKind *k, uint64_t seed, int64_t i, int64_t j) {
    if (k->edge != NULL)
        return k->edge(i, j);
    if (i == j || i % 17 == 5 || j % 17 == 5) // some nodes are isolated
        return false;
    int64_t a = i, b = j;
    if (!k->directed && a > b)
        a = j, b = i;
    return uniform(seed, 1, a, b) < (double)k->degree / k->nodes;
}

static void add_edge(Dataset *d, int64_t target, float weight) {
    if (d->weight != NULL)
        d->weight[d->edges] = weight;
    d->target[d->edges++] = (int32_t)target;
}

// The second of two copies weighs half as much, where there are weights.
static void add_copies(Dataset *d, const TestGraphKind *k, int64_t i, int64_t j, float weight) {
    bool twice = k->twice != TWICE_NEVER && (i + j) % 3 == 0;
    float second = k->weighted ? weight / 2 : 1;
    add_edge(d, j, twice && k->twice == TWICE_MERGED ? weight + second : weight);
    if (twice && k->twice == TWICE_STORED)
        add_edge(d, j, second);
}

// [n, n]; those of an undirected graph are drawn once for both directions.
static bool *draw_edges(const TestGraphKind *k, uint64_t seed) {
    int64_t n = k->nodes;
    bool *has = TEST_ARRAY(bool, n *n), both = !k->directed && k->edge == NULL;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            has[i * n + j] = both && j < i ? has[j * n + i] : has_edge(k, seed, i, j);
    return has;
}

static void add_edges(Dataset *d, const TestGraphKind *k, uint64_t seed) {
    int64_t n = k->nodes;
    bool *has = draw_edges(k, seed);
    bool weights = k->weighted || k->twice == TWICE_MERGED;
    d->offset = ALLOC(int64_t, n + 1, "offsets");
    d->target = ALLOC(int32_t, 2 * n * n, "targets");
    d->weight = weights ? ALLOC(float, 2 * n * n, "weights") : NULL;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            if (!has[i * n + j])
                continue;
            int64_t a = !k->directed && i > j ? j : i, b = !k->directed && i > j ? i : j;
            add_copies(d, k, i, j, k->weighted ? (float)(0.25 + uniform(seed, 2, a, b)) : 1);
        }
        d->offset[i + 1] = d->edges;
    }
}

// ---- pins of a hypergraph

// Whether node v is a pin of hyperedge h.
static bool has_pin(const TestGraphKind *k, uint64_t seed, int64_t v, int64_t h) {
    if (k->edge != NULL)
        return k->edge(v, h);
    if (v % 17 == 5 || h % 13 == 7) // no pins
        return false;
    if (h % 13 == 3) // one
        return v == (h * 7) % k->nodes - ((h * 7) % k->nodes % 17 == 5);
    return h % 29 == 11 || uniform(seed, 7, v, h) < (double)k->degree / k->nodes;
}

static uint8_t role_of(uint64_t seed, int64_t v, int64_t h) {
    if (h % 13 == 5) // no sources
        return PIN_TARGET;
    return (uint8_t)(1 + (int)(3 * uniform(seed, 8, v, h)));
}

static void add_pins(Dataset *d, const TestGraphKind *k, uint64_t seed) {
    int64_t n = k->nodes, m = k->hyperedges;
    d->hyperedges = m;
    d->offset = ALLOC(int64_t, n + 1, "offsets");
    d->target = ALLOC(int32_t, n * m, "pins");
    d->pin_role = k->directed ? ALLOC(uint8_t, n * m, "roles") : NULL;
    d->hyperedge_weight = k->weighted ? ALLOC(float, m, "weights") : NULL;
    for (int64_t v = 0; v < n; v++) {
        for (int64_t h = 0; h < m; h++) {
            if (!has_pin(k, seed, v, h))
                continue;
            if (k->directed)
                d->pin_role[d->edges] = role_of(seed, v, h);
            d->target[d->edges++] = (int32_t)h;
        }
        d->offset[v + 1] = d->edges;
    }
    for (int64_t h = 0; h < m && k->weighted; h++)
        d->hyperedge_weight[h] = h % 11 == 2 ? 0 : (float)(0.25 + uniform(seed, 9, h, 0));
}

static int draw_label(const TestGraphKind *k, uint64_t seed, int64_t node, int64_t column) {
    if (k->label != NULL)
        return k->label(node, column);
    double u = uniform(seed, 5, k->multilabel ? node * k->classes + column : node, 0);
    return k->multilabel ? u < 0.3 : (int)((double)k->classes * u);
}

// Leaves a third of the features, none in every eighth row or in the last column, and the same as
// CSR beside the rows of floats, which oracles read.
static void make_sparse(Dataset *d, uint64_t seed) {
    csr_alloc(&d->sparse, d->nodes, d->nodes * d->features, true, "sparse features");
    int64_t at = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        for (int64_t c = 0; c < d->features; c++) {
            float *x = d->x + i * d->features + c;
            bool stays = uniform(seed, 9, i, c) < 1.0 / 3 && i % 8 != 0 && c + 1 < d->features;
            *x = stays ? *x : 0;
            if (*x == 0)
                continue;
            d->sparse.column[at] = (int32_t)c;
            d->sparse.weight[at++] = *x;
        }
        d->sparse.offset[i + 1] = at;
    }
}

static void add_rows(Dataset *d, const TestGraphKind *k, uint64_t seed) {
    int64_t n = k->nodes;
    d->features = k->features;
    d->classes = k->classes;
    d->multilabel = k->multilabel;
    d->x = ALLOC(float, n * k->features, "features");
    d->split = ALLOC(uint8_t, n, "split");
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < k->features; c++)
            d->x[i * k->features + c] = (float)(2 * uniform(seed, 3, i, c) - 1);
        d->split[i] = (uint8_t)(k->split != NULL ? k->split(i) : (int)(4 * uniform(seed, 4, i, 0)));
    }
    if (k->sparse)
        make_sparse(d, seed);
    if (k->number != NULL) {
        d->numeric = true;
        d->numbers = ALLOC(float, n * k->classes, "labels");
        for (int64_t i = 0; i < n * k->classes; i++)
            d->numbers[i] = (float)k->number(i / k->classes, i % k->classes);
    } else if (k->multilabel) {
        d->labels = ALLOC(uint8_t, n * k->classes, "labels");
        for (int64_t i = 0; i < n * k->classes; i++)
            d->labels[i] = (uint8_t)draw_label(k, seed, i / k->classes, i % k->classes);
    } else {
        d->label = ALLOC(int32_t, n, "labels");
        for (int64_t i = 0; i < n; i++)
            d->label[i] = draw_label(k, seed, i, 0);
    }
}

static void share(TestGraph *w, const TestGraphKind *k, uint64_t seed) {
    int parts = w->comm->size;
    char folder[512] = {0};
    Error err = {0};
    if (w->comm->rank == 0) {
        int64_t rows = w->dataset.nodes + w->dataset.hyperedges;
        int32_t *part = TEST_ARRAY(int32_t, rows);
        for (int64_t i = 0; i < w->dataset.nodes; i++) {
            double u = uniform(seed, 6, i, 0);
            part[i] = k->cut != NULL ? k->cut(i, parts) : (int32_t)(parts * u * u); // uneven
        }
        for (int64_t h = w->dataset.nodes; h < rows; h++)
            part[h] = (int32_t)(parts * uniform(seed, 6, h, 0));
        const char *temporary = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/fringe-world-XXXXXX", temporary ? temporary : "/tmp");
        assert(mkdtemp(folder) != NULL);
        strcat(folder, "/shards");
        test_write_shards(&w->dataset, part, parts, true, folder, &err);
    }
    CHECK(comm_agree(w->comm, &err), EXIT_BUG, "%s", err.text);
    comm_broadcast(w->comm, folder, sizeof folder, 0);
    shard_open(&w->shard, folder, w->comm->rank, &err);
    CHECK(comm_agree(w->comm, &err), EXIT_BUG, "%s", err.text);
    comm_barrier(w->comm);
    *strrchr(folder, '/') = 0;
    if (w->comm->rank == 0)
        file_remove(folder, &err);
}

static void make_patterns(TestGraph *w, Cover cover) {
    if (shard_is_hypergraph(&w->shard))
        return;
    PatternKind forward = {.target_hops = HOPS_ALL, .source_hops = HOPS_ALL, .cover = cover};
    PatternKind backward = forward;
    backward.relation = w->shard.relation[IN_EDGES].transpose;
    w->forward = pattern_new(&w->shard, &forward, NULL, w->comm);
    w->backward = shard_is_symmetric(&w->shard) ? w->forward
                                                : pattern_new(&w->shard, &backward, NULL, w->comm);
}

static void free_patterns(TestGraph *w) {
    if (w->backward != w->forward)
        pattern_free(w->backward);
    pattern_free(w->forward);
}

void test_graph_cover(TestGraph *w, Cover cover) {
    free_patterns(w);
    make_patterns(w, cover);
}

TestGraph test_graph(TestGraphKind kind, uint64_t seed, const Comm *comm) {
    TestGraph w = {.comm = comm, .dataset = {.nodes = kind.nodes, .name = "world"}};
    if (kind.hyperedges > 0)
        add_pins(&w.dataset, &kind, seed);
    else
        add_edges(&w.dataset, &kind, seed);
    add_rows(&w.dataset, &kind, seed);
    share(&w, &kind, seed);
    make_patterns(&w, COVER_SOURCES);
    return w;
}

void test_graph_clear(TestGraph *w) {
    free_patterns(w);
    shard_clear(&w->shard);
    dataset_clear(&w->dataset);
}
