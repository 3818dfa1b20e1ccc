// The edges of a block model, at a cost that goes with their number.
//
// Every node makes draws in proportion to its weight: with a probability inside its block, else
// among all carriers; the other end is one of these in proportion to its weight, found in one step
// (alias method: Walker, 1977; Vose, 1991). Draws of one pair more than once, and of a node with
// itself, are dropped, so more draws are made than edges are wanted. How many follows from the
// expected number of distinct pairs, of nodes put together by their weights:
//
//   distinct = sum over bins a, b of  pairs(a, b) (1 - exp(-2 draws w_a w_b / W^2))
//
// What a draw takes is a function of (seed, node, draw), rows are sorted, and counts are integers,
// so nothing depends on threads.

#include "dcsbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Alias { // of an entry: itself with that probability, else another
    float keep;
    int32_t other;
} Alias;

typedef struct Group {  // nodes among which ends are drawn: those of a block, or all carriers
    int64_t begin, end; // in `member`
    double total;       // of their weights
} Group;

typedef struct Draws {
    const BlockModel *model;
    int32_t *member;        // [nodes + carriers] nodes by block, then the carriers
    Alias *alias;           // likewise
    Group *group;           // [blocks + 1]; the last: the carriers
    double inside, outside; // draws of a node for each unit of its weight
    int64_t *first;         // [nodes + 1] draws of nodes in the order of `member`
} Draws;

// ---- groups and their alias tables

static void fill_members(Draws *d) {
    const BlockModel *m = d->model;
    int64_t *next = ALLOC(int64_t, m->blocks + 1, "places of blocks"), carriers = 0;
    for (int64_t i = 0; i < m->nodes; i++) {
        next[m->block[i] + 1]++;
        d->group[m->block[i]].total += m->weight[i];
    }
    for (int64_t b = 0; b < m->blocks; b++) {
        next[b + 1] += next[b];
        d->group[b].begin = next[b];
        d->group[b].end = next[b + 1];
    }
    for (int64_t i = 0; i < m->nodes; i++)
        d->member[next[m->block[i]]++] = (int32_t)i;
    for (int64_t i = 0; i < m->nodes; i++)
        if (m->carries[i]) {
            d->member[m->nodes + carriers++] = (int32_t)i;
            d->group[m->blocks].total += m->weight[i];
        }
    d->group[m->blocks].begin = m->nodes;
    d->group[m->blocks].end = m->nodes + carriers;
    memory_free(next);
}

// Entries above the mean give what others lack. `open` has the light entries from its begin, the
// heavy ones from its end.
static void fill_alias(Draws *d, const Group *g, double *left, int32_t *open) {
    int64_t count = g->end - g->begin, light = 0, heavy = count;
    for (int64_t k = 0; k < count; k++) {
        left[k] = d->model->weight[d->member[g->begin + k]] / g->total * (double)count;
        d->alias[g->begin + k] = (Alias){1, (int32_t)k};
        if (left[k] < 1)
            open[light++] = (int32_t)k;
        else
            open[--heavy] = (int32_t)k;
    }
    while (light > 0 && heavy < count) {
        int32_t small = open[--light], large = open[heavy];
        d->alias[g->begin + small] = (Alias){(float)left[small], large};
        left[large] -= 1 - left[small];
        if (left[large] < 1) {
            open[light++] = large;
            heavy++;
        }
    }
}

static void fill_aliases(Draws *d) {
    const BlockModel *m = d->model;
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = m->blocks; b >= 0; b--) {
        int64_t count = d->group[b].end - d->group[b].begin;
        double *left = ALLOC(double, count, "weights of nodes");
        int32_t *open = ALLOC(int32_t, count, "nodes of a block");
        fill_alias(d, &d->group[b], left, open);
        memory_free(open);
        memory_free(left);
    }
}

// ---- how many draws

enum { BINS = 96 };
typedef struct Bins { // nodes of a group by the logarithm of their weight
    double count[BINS], weight[BINS];
} Bins;

static void fill_bins(Bins *bins, const Draws *d, const Group *g, double least, double most) {
    memset(bins, 0, sizeof *bins);
    double scale = most > least ? (BINS - 1) / log(most / least) : 0;
    for (int64_t k = g->begin; k < g->end; k++) {
        double weight = d->model->weight[d->member[k]];
        int bin = (int)(log(weight / least) * scale);
        bins->count[bin]++;
        bins->weight[bin] += weight;
    }
    for (int b = 0; b < BINS; b++)
        bins->weight[b] /= bins->count[b] > 0 ? bins->count[b] : 1;
}

// Expected distinct pairs of so many draws among a group.
static double distinct(const Bins *bins, double draws, double total) {
    double sum = 0;
    for (int a = 0; a < BINS; a++)
        for (int b = a; bins->count[a] > 0 && b < BINS; b++) {
            double pairs = a == b ? bins->count[a] * (bins->count[a] - 1) / 2
                                  : bins->count[a] * bins->count[b];
            if (pairs > 0)
                sum -= pairs *
                       expm1(-2 * draws * (bins->weight[a] / total) * (bins->weight[b] / total));
        }
    return sum;
}

static double distinct_of_all(const Draws *d, const Bins *bins, int64_t first, int64_t last,
                              double rate) {
    double sum = 0;
    for (int64_t g = first; g < last; g++)
        sum += distinct(&bins[g], rate * d->group[g].total, d->group[g].total);
    return sum;
}

// Draws per unit of weight with which the groups first ... last - 1 have `wanted` pairs; -1: they
// have no room for them.
static double find_rate(const Draws *d, const Bins *bins, int64_t first, int64_t last,
                        double wanted) {
    enum { STEPS = 60 };
    double low = 0, high = 1e-6;
    int doubled = 0;
    while (doubled < STEPS && distinct_of_all(d, bins, first, last, high) < wanted) {
        high *= 2;
        doubled++;
    }
    for (int step = 0; step < STEPS; step++) {
        double middle = (low + high) / 2;
        *(distinct_of_all(d, bins, first, last, middle) < wanted ? &low : &high) = middle;
    }
    return doubled < STEPS ? high : -1;
}

// Edges inside blocks also come from draws among the carriers.
static bool find_rates(Draws *d, Error *err) {
    const BlockModel *m = d->model;
    double least = m->weight[0], most = m->weight[0], chance = 0, wanted = (double)m->edges / 2;
    const Group *carriers = &d->group[m->blocks];
    double *share = ALLOC(double, m->blocks, "shares of blocks");
    for (int64_t i = 0; i < m->nodes; i++) {
        least = fmin(least, m->weight[i]);
        most = fmax(most, m->weight[i]);
        if (m->carries[i])
            share[m->block[i]] += m->weight[i] / carriers->total;
    }
    for (int64_t b = 0; b < m->blocks; b++)
        chance += share[b] * share[b];
    memory_free(share);
    double foreign = m->blocks > 1 && carriers->total > 0
                         ? fmin(1, (1 - m->homophily) / (1 - fmin(chance, 0.999)))
                         : 0;
    Bins *bins = ALLOC(Bins, m->blocks + 1, "nodes by their weight");
    for (int64_t g = 0; g <= m->blocks; g++)
        fill_bins(&bins[g], d, &d->group[g], least, most);
    d->inside = foreign < 1 ? find_rate(d, bins, 0, m->blocks, (1 - foreign) * wanted) : 0;
    d->outside = foreign > 0 ? find_rate(d, bins, m->blocks, m->blocks + 1, foreign * wanted) : 0;
    memory_free(bins);
    return (d->inside >= 0 && d->outside >= 0) ||
           error_set(
               err, EXIT_CONFIG,
               "%lld stored edges do not fit into %lld blocks of %lld nodes; take fewer edges "
               "or more nodes",
               (long long)m->edges, (long long)m->blocks, (long long)m->nodes);
}

// ---- draws

enum { DRAW_COUNT_INSIDE, DRAW_COUNT_OUTSIDE };

// A whole number with that mean.
static int64_t draws_of(const BlockModel *m, int64_t node, double mean, int which) {
    double u = random_uniform32(draw_stream(m->seed, DRAW_DEGREE), node, 0, which);
    return (int64_t)(mean + u);
}

static int64_t inside_draws(const Draws *d, int64_t node) {
    return draws_of(d->model, node, d->inside * d->model->weight[node], DRAW_COUNT_INSIDE);
}

static int64_t outside_draws(const Draws *d, int64_t node) {
    return d->model->carries[node]
               ? draws_of(d->model, node, d->outside * d->model->weight[node], DRAW_COUNT_OUTSIDE)
               : 0;
}

static int32_t pick(const Draws *d, const Group *g, const uint32_t word[2]) {
    int64_t place = (int64_t)((uint64_t)word[0] * (uint64_t)(g->end - g->begin) >> 32);
    const Alias *alias = &d->alias[g->begin + place];
    bool keeps = ((float)word[1] + 0.5f) * 0x1p-32f < alias->keep;
    return d->member[g->begin + (keeps ? place : alias->other)];
}

// The other ends of the draws of a node: first those inside its block. A block of random words
// serves two draws.
static void draw(const Draws *d, int64_t node, int64_t inside, int64_t all, int32_t *out) {
    const BlockModel *m = d->model;
    RandomStream stream = draw_stream(m->seed, DRAW_END);
    uint32_t word[4];
    for (int64_t k = 0; k < all; k++) {
        if (k % 2 == 0)
            random_block(word, stream, node, 0, (uint32_t)(k / 2));
        const Group *g = &d->group[k < inside ? m->block[node] : m->blocks];
        out[k] = pick(d, g, word + 2 * (k % 2));
    }
}

static void add_count(int64_t *count, int64_t by) {
#pragma omp atomic
    *count += by;
}

// end: [first[nodes]] the other end of every draw; counts the entries of both rows.
static void draw_all(const Draws *d, int32_t *end, int64_t *count) {
    const BlockModel *m = d->model;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t k = 0; k < m->nodes; k++) {
        int64_t node = d->member[k], begin = d->first[k], all = d->first[k + 1] - begin, kept = 0;
        draw(d, node, inside_draws(d, node), all, end + begin);
        for (int64_t i = begin; i < begin + all; i++)
            if (end[i] != node) {
                kept++;
                add_count(&count[end[i] + 1], 1);
            }
        add_count(&count[node + 1], kept);
    }
}

static void place_all(const Draws *d, const int32_t *end, int64_t *next, int32_t *column) {
    const BlockModel *m = d->model;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t k = 0; k < m->nodes; k++) {
        int32_t node = d->member[k];
        for (int64_t i = d->first[k]; i < d->first[k + 1]; i++) {
            if (end[i] == node)
                continue;
            int64_t here, there;
#pragma omp atomic capture
            here = next[node]++;
#pragma omp atomic capture
            there = next[end[i]]++;
            column[here] = end[i];
            column[there] = node;
        }
    }
}

// ---- rows

// Drops equal neighbours in ascending rows, and moves the rows together.
static void drop_equal(Csr *rows) {
    int64_t place = 0, begin = 0;
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t end = rows->offset[i + 1];
        for (int64_t e = begin; e < end; e++)
            if (e == begin || rows->column[e] != rows->column[e - 1])
                rows->column[place++] = rows->column[e];
        rows->offset[i + 1] = place;
        begin = end;
    }
}

static bool fill_rows(const Draws *d, Csr *out, Error *err) {
    int64_t n = d->model->nodes;
    int32_t *end = TRY(int32_t, d->first[n], "drawn edges", err);
    int64_t *next = TRY(int64_t, n + 1, "entries of rows", err);
    bool ok = end != NULL && next != NULL;
    if (ok) {
        draw_all(d, end, next);
        for (int64_t i = 0; i < n; i++)
            next[i + 1] += next[i];
        ok = csr_try(out, n, next[n], false, "edges of a graph", err);
    }
    if (ok) {
        memcpy(out->offset, next, (size_t)(n + 1) * sizeof *next);
        place_all(d, end, next, out->column);
    }
    memory_free(next);
    memory_free(end);
    if (ok) {
        csr_sort_columns(out, n);
        drop_equal(out);
    }
    return ok;
}

bool dcsbm_edges(const BlockModel *m, Csr *out, Error *err) {
    Draws d = {.model = m,
               .member = ALLOC(int32_t, 2 * m->nodes, "nodes by block"),
               .alias = ALLOC(Alias, 2 * m->nodes, "weights of nodes"),
               .group = ALLOC(Group, m->blocks + 1, "blocks"),
               .first = ALLOC(int64_t, m->nodes + 1, "draws of nodes")};
    fill_members(&d);
    fill_aliases(&d);
    bool ok = find_rates(&d, err);
    for (int64_t k = 0; ok && k < m->nodes; k++)
        d.first[k + 1] =
            d.first[k] + inside_draws(&d, d.member[k]) + outside_draws(&d, d.member[k]);
    ok = ok && fill_rows(&d, out, err);
    memory_free(d.first);
    memory_free(d.group);
    memory_free(d.alias);
    memory_free(d.member);
    return ok;
}
