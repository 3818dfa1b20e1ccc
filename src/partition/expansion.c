// The clique expansion of a hypergraph, one node at a time: what a method for graphs reads of a
// hypergraph. Two pins of a hyperedge h are neighbours with weight 1 / (a_h - 1), a_h its pins, so
// that each pin adds 1 to its node whatever a_h; pairs that share several hyperedges are merged.
// Weights are whole numbers, 1 at least: `scale` is what one pin adds.
//
// A hyperedge with more than CLIQUE_MOST pins would have too many pairs. There pin i is joined with
// pins i + d and i - d (mod a_h) for a few distances d: 1, which keeps them connected, and others
// drawn from the seed. So each node finds its neighbours without storing any, and both ends agree.
#include "internal.h"

enum { CLIQUE_MOST = 64, DISTANCES = 8, SCALE = 64 };

static const char advice[] =
    "use partition.method random or blocks, or cut on a larger machine and "
    "use file:PATH";

bool expansion_init(Expansion *x, const Dataset *dataset, int64_t seed, double memory_limit,
                    Error *err) {
    *x = (Expansion){.dataset = dataset,
                     .random = random_key((uint64_t)seed, RANDOM_PARTITION, 0, 1, 0)};
    if (!hyperedge_pins(&x->pins, dataset, memory_limit, err))
        return false;
    size_t arrays = memory_product(dataset->nodes, 2 * sizeof(int32_t) + sizeof(float));
    if (!forecast_fits_one("neighbours of a node", arrays, memory_limit, advice, err)) {
        csr_free(&x->pins);
        return false;
    }
    // METIS sums the weights of all pairs, both ways, in 32 bits. They stay below 2^31 if few of
    // them are rounded up to 1; metis.c counts them, and refuses more.
    x->scale = (float)fmax(fmin(SCALE, (1 << 30) / fmax((double)dataset->edges, 1)), 1);
    x->sum = ALLOC(float, dataset->nodes, "neighbours of a node");
    x->node = ALLOC(int32_t, dataset->nodes, "neighbours of a node");
    x->weight = ALLOC(int32_t, dataset->nodes, "neighbours of a node");
    return true;
}

void expansion_clear(Expansion *x) {
    MEMORY_FREE(x->weight, x->node, x->sum);
    csr_free(&x->pins);
    *x = (Expansion){0};
}

static void join(Expansion *x, int32_t u, float weight) {
    if (x->sum[u] == 0)
        x->node[x->count++] = u;
    x->sum[u] += weight;
}

static void join_all(Expansion *x, int64_t v, const int32_t *pin, int64_t pins) {
    float weight = x->scale / (float)(pins - 1);
    for (int64_t k = 0; k < pins; k++)
        if (pin[k] != v)
            join(x, pin[k], weight);
}

static void join_some(Expansion *x, int64_t v, int64_t h, const int32_t *pin, int64_t pins) {
    int64_t i = sort_below(pin, pins, v);
    float weight = x->scale / (2 * DISTANCES);
    for (int d = 0; d < DISTANCES; d++) {
        double u = random_uniform32(x->random, h, 0, d);
        int64_t distance = d == 0 ? 1 : 1 + (int64_t)(u * (double)(pins - 1)); // below `pins`
        join(x, pin[(i + distance) % pins], weight);
        join(x, pin[(i + pins - distance) % pins], weight);
    }
}

int64_t expansion_neighbours(Expansion *x, int64_t v) {
    const Dataset *d = x->dataset;
    x->count = 0;
    for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++) {
        int64_t h = d->target[e], begin = x->pins.offset[h];
        int64_t pins = x->pins.offset[h + 1] - begin;
        if (pins > CLIQUE_MOST)
            join_some(x, v, h, x->pins.column + begin, pins);
        else
            join_all(x, v, x->pins.column + begin, pins);
    }
    for (int64_t k = 0; k < x->count; k++) {
        float sum = x->sum[x->node[k]];
        x->weight[k] = sum < 1 ? 1 : (int32_t)lrintf(sum);
        x->sum[x->node[k]] = 0;
    }
    return x->count;
}
