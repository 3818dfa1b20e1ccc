#include "small_graph.h"
#include "support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double uniform(uint64_t seed, int draw, int64_t row, int64_t column) {
    return random_uniform32(random_stream(seed, RANDOM_GENERATE, 0, draw, 0), row, 0, column);
}

static bool has_edge(const WorldKind *k, uint64_t seed, int64_t i, int64_t j) {
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
static void add_copies(Dataset *d, const WorldKind *k, int64_t i, int64_t j, float weight) {
    bool twice = k->twice != TWICE_NEVER && (i + j) % 3 == 0;
    float second = k->weighted ? weight / 2 : 1;
    add_edge(d, j, twice && k->twice == TWICE_MERGED ? weight + second : weight);
    if (twice && k->twice == TWICE_STORED)
        add_edge(d, j, second);
}

static void add_edges(Dataset *d, const WorldKind *k, uint64_t seed) {
    int64_t n = k->nodes;
    bool weights = k->weighted || k->twice == TWICE_MERGED;
    d->offset = TAKE(int64_t, n + 1, "offsets");
    d->target = TAKE(int32_t, 2 * n * n, "targets");
    d->weight = weights ? TAKE(float, 2 * n * n, "weights") : NULL;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            if (!has_edge(k, seed, i, j))
                continue;
            int64_t a = !k->directed && i > j ? j : i, b = !k->directed && i > j ? i : j;
            add_copies(d, k, i, j, k->weighted ? (float)(0.25 + uniform(seed, 2, a, b)) : 1);
        }
        d->offset[i + 1] = d->edges;
    }
}

static int draw_label(const WorldKind *k, uint64_t seed, int64_t node, int64_t column) {
    if (k->label != NULL)
        return k->label(node, column);
    double u = uniform(seed, 5, k->multilabel ? node * k->classes + column : node, 0);
    return k->multilabel ? u < 0.3 : (int)((double)k->classes * u);
}

static void add_rows(Dataset *d, const WorldKind *k, uint64_t seed) {
    int64_t n = k->nodes;
    d->features = k->features;
    d->classes = k->classes;
    d->multilabel = k->multilabel;
    d->x = TAKE(float, n * k->features, "features");
    d->split = TAKE(uint8_t, n, "split");
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < k->features; c++)
            d->x[i * k->features + c] = (float)(2 * uniform(seed, 3, i, c) - 1);
        d->split[i] = (uint8_t)(k->split != NULL ? k->split(i) : (int)(4 * uniform(seed, 4, i, 0)));
    }
    if (k->multilabel) {
        d->labels = TAKE(uint8_t, n * k->classes, "labels");
        for (int64_t i = 0; i < n * k->classes; i++)
            d->labels[i] = (uint8_t)draw_label(k, seed, i / k->classes, i % k->classes);
    } else {
        d->label = TAKE(int32_t, n, "labels");
        for (int64_t i = 0; i < n; i++)
            d->label[i] = draw_label(k, seed, i, 0);
    }
}

static void share(World *w, const WorldKind *k, uint64_t seed) {
    int parts = w->comm->size;
    char folder[512] = {0};
    Error err = {0};
    if (w->comm->rank == 0) {
        int32_t *part = TAKE(int32_t, w->dataset.nodes, "parts");
        for (int64_t i = 0; i < w->dataset.nodes; i++) {
            double u = uniform(seed, 6, i, 0);
            part[i] = k->cut != NULL ? k->cut(i, parts) : (int32_t)(parts * u * u); // uneven
        }
        const char *temporary = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/fringe-world-XXXXXX", temporary ? temporary : "/tmp");
        assert(mkdtemp(folder) != NULL);
        strcat(folder, "/shards");
        partition_write_shards(&w->dataset, part, parts, true, folder, &err);
        memory_give(part);
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

static void make_patterns(World *w, Cover cover) {
    PatternKind forward = {.target_hops = HOPS_ALL, .source_hops = HOPS_ALL, .cover = cover};
    PatternKind backward = forward;
    backward.relation = w->shard.relation[IN_EDGES].transpose;
    w->forward = pattern_new(&w->shard, &forward, NULL, w->comm);
    w->backward = shard_is_symmetric(&w->shard) ? w->forward
                                                : pattern_new(&w->shard, &backward, NULL, w->comm);
}

static void give_patterns(World *w) {
    if (w->backward != w->forward)
        pattern_free(w->backward);
    pattern_free(w->forward);
}

void world_cover(World *w, Cover cover) {
    give_patterns(w);
    make_patterns(w, cover);
}

void world_init(World *w, WorldKind kind, uint64_t seed, const Comm *comm) {
    *w = (World){.comm = comm};
    w->dataset.nodes = kind.nodes;
    snprintf(w->dataset.name, sizeof w->dataset.name, "world");
    add_edges(&w->dataset, &kind, seed);
    add_rows(&w->dataset, &kind, seed);
    share(w, &kind, seed);
    make_patterns(w, COVER_SOURCES);
}

void world_clear(World *w) {
    give_patterns(w);
    shard_clear(&w->shard);
    dataset_clear(&w->dataset);
}
