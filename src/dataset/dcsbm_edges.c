// The edges of a block model, at a cost that goes with their number.
//
// Every node makes draws in proportion to its weight, inside its block and, if it faces other
// blocks, among the nodes of each of these that face its own; the other end is one of them in
// proportion to its weight, found in one step (alias method: Walker, 1977; Vose, 1991). A node that
// faces several blocks divides its weight among them outside its own (v = w / blocks). Draws of
// one pair more than once, and of a node with itself, are dropped, so more draws are made than
// edges are wanted. How many follows from the expected number of distinct pairs, of nodes put
// together by their weights:
//
//   inside   sum over bins a, b of  pairs(a, b) (1 - exp(-2 r w_a w_b / W))
//   between  sum over bins a, b of  n_a n_b (1 - exp(-r v_a v_b (1 / V_a + 1 / V_b)))
//
// with r draws for each unit of weight.
//
// What a draw takes is a function of (seed, node, draw), rows are sorted, and counts are integers,
// so nothing depends on threads.

#include "dcsbm.h"

typedef struct Alias { // of an entry: itself with that probability, else another
    float keep;
    int32_t other;
} Alias;

typedef struct Group {  // nodes among which ends are drawn
    int64_t begin, end; // in `member`
    double total;       // of their weights
} Group;

typedef struct Draws {
    const BlockModel *model;
    int32_t *member; // nodes by block, then those that face a block by both
    Alias *alias;    // likewise
    Group *group;    // [blocks (1 + faces)] blocks; then the nodes of each by what they face
    int64_t groups;
    double inside, outside; // draws of a node for each unit of its weight
    int64_t *first;         // [nodes + 1] draws of nodes in the order of `member`
} Draws;

// The nodes of a block that face one of its others, and those that face them back.
static int64_t facing(const BlockModel *m, int64_t block, int face) {
    return m->blocks + m->faces * block + face;
}

static int64_t facing_back(const BlockModel *m, int64_t block, int face) {
    return facing(m, m->faced[m->faces * block + face], face ^ 1);
}

// ---- groups and their alias tables

static void fill_members(Draws *d) {
    const BlockModel *m = d->model;
    FREED int64_t *next = ALLOC(int64_t, d->groups + 1, "places of groups");
    for (int64_t i = 0; i < m->recipe->nodes; i++) {
        next[m->block[i] + 1]++;
        d->group[m->block[i]].total += m->weight[i];
        for (unsigned set = m->facing[i]; set != 0;) {
            int64_t g = facing(m, m->block[i], dcsbm_take_face(&set));
            next[g + 1]++;
            d->group[g].total += dcsbm_weight_outside(m, i);
        }
    }
    offsets_sum(next, d->groups);
    for (int64_t g = 0; g < d->groups; g++) {
        d->group[g].begin = next[g];
        d->group[g].end = next[g + 1];
    }
    for (int64_t i = 0; i < m->recipe->nodes; i++) {
        d->member[next[m->block[i]]++] = (int32_t)i;
        for (unsigned set = m->facing[i]; set != 0;)
            d->member[next[facing(m, m->block[i], dcsbm_take_face(&set))]++] = (int32_t)i;
    }
}

static double weight_in(const Draws *d, const Group *g, int64_t place) {
    int32_t node = d->member[place];
    return g - d->group < d->model->blocks ? d->model->weight[node]
                                           : dcsbm_weight_outside(d->model, node);
}

// Entries above the mean give what others lack. `open` has the light entries from its begin, the
// heavy ones from its end.
static void fill_alias(Draws *d, const Group *g, double *left, int32_t *open) {
    int64_t count = g->end - g->begin, light = 0, heavy = count;
    for (int64_t k = 0; k < count; k++) {
        left[k] = weight_in(d, g, g->begin + k) / g->total * (double)count;
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
#pragma omp parallel for schedule(dynamic)
    for (int64_t g = 0; g < d->groups; g++) {
        int64_t count = d->group[g].end - d->group[g].begin;
        FREED double *left = ALLOC(double, count, "weights of nodes");
        FREED int32_t *open = ALLOC(int32_t, count, "nodes of a block");
        fill_alias(d, &d->group[g], left, open);
    }
}

// ---- how many draws

enum { BINS = 24 };
typedef struct Bins { // nodes of a group by the logarithm of their weight
    double count[BINS], weight[BINS];
} Bins;

static void fill_bins(Bins *bins, const Draws *d, const Group *g, double least, double most) {
    memset(bins, 0, sizeof *bins);
    double scale = most > least ? (BINS - 1) / log(most / least) : 0;
    for (int64_t k = g->begin; k < g->end; k++) {
        double weight = weight_in(d, g, k);
        int bin = (int)(log(weight / least) * scale);
        bins->count[bin]++;
        bins->weight[bin] += weight;
    }
    for (int b = 0; b < BINS; b++)
        bins->weight[b] /= bins->count[b] > 0 ? bins->count[b] : 1;
}

// Expected distinct pairs inside a group, and between two, of so many draws for a unit of weight.
static double distinct_inside(const Bins *bins, const Group *g, double rate) {
    double sum = 0;
    for (int a = 0; a < BINS; a++)
        for (int b = a; bins->count[a] > 0 && b < BINS; b++) {
            double pairs = a == b ? bins->count[a] * (bins->count[a] - 1) / 2
                                  : bins->count[a] * bins->count[b];
            if (pairs > 0)
                sum -= pairs * expm1(-2 * rate * bins->weight[a] * bins->weight[b] / g->total);
        }
    return sum;
}

static double distinct_between(const Bins *one, const Bins *other, double each, double rate) {
    double sum = 0;
    for (int a = 0; a < BINS; a++)
        for (int b = 0; one->count[a] > 0 && b < BINS; b++)
            if (other->count[b] > 0)
                sum -= one->count[a] * other->count[b] *
                       expm1(-rate * one->weight[a] * other->weight[b] * each);
    return sum;
}

// Of group g: inside a block, or with the group that faces it (counted for one of the two).
static double distinct_of(const Draws *d, const Bins *bins, int64_t g, double rate) {
    const BlockModel *m = d->model;
    if (g < m->blocks)
        return d->group[g].total > 0 ? distinct_inside(&bins[g], &d->group[g], rate) : 0;
    int face = (int)((g - m->blocks) % m->faces);
    int64_t back = facing_back(m, (g - m->blocks) / m->faces, face);
    if (face % 2 == 1 || d->group[g].total <= 0 || d->group[back].total <= 0)
        return 0;
    return distinct_between(&bins[g], &bins[back], 1 / d->group[g].total + 1 / d->group[back].total,
                            rate);
}

// Sums do not depend on threads: each group has its place.
static double distinct_of_all(const Draws *d, const Bins *bins, int64_t first, int64_t last,
                              double rate) {
    FREED double *of = ALLOC(double, last - first, "edges of groups");
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t g = first; g < last; g++)
        of[g - first] = distinct_of(d, bins, g, rate);
    for (int64_t g = first; g < last; g++)
        sum += of[g - first];
    return sum;
}

// Draws per unit of weight with which the groups first ... last - 1 have `wanted` pairs; -1: they
// have no room for them.
static double find_rate(const Draws *d, const Bins *bins, int64_t first, int64_t last,
                        double wanted) {
    enum { STEPS = 60, BISECTIONS = 26 };
    double high = 1e-3;
    int doubled = 0;
    while (doubled < STEPS && distinct_of_all(d, bins, first, last, high) < wanted) {
        high *= 2;
        doubled++;
    }
    double low = doubled > 0 ? high / 2 : 0;
    for (int step = 0; doubled < STEPS && step < BISECTIONS; step++) {
        double middle = (low + high) / 2;
        *(distinct_of_all(d, bins, first, last, middle) < wanted ? &low : &high) = middle;
    }
    return doubled < STEPS ? high : -1;
}

static bool find_rates(Draws *d, Error *err) {
    const BlockModel *m = d->model;
    double least = m->weight[0], most = m->weight[0], wanted = (double)m->recipe->edges / 2;
    for (int64_t i = 0; i < m->recipe->nodes; i++) {
        least = fmin(least, m->facing[i] != 0 ? dcsbm_weight_outside(m, i) : m->weight[i]);
        most = fmax(most, m->weight[i]);
    }
    FREED Bins *bins = ALLOC(Bins, d->groups, "nodes by their weight");
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t g = 0; g < d->groups; g++)
        fill_bins(&bins[g], d, &d->group[g], least, most);
    bool some_face_each_other = distinct_of_all(d, bins, m->blocks, d->groups, 1) > 0;
    double foreign = some_face_each_other ? 1 - m->recipe->homophily : 0;
    d->inside = foreign < 1 ? find_rate(d, bins, 0, m->blocks, (1 - foreign) * wanted) : 0;
    d->outside = foreign > 0 ? find_rate(d, bins, m->blocks, d->groups, foreign * wanted) : 0;
    return (d->inside >= 0 && d->outside >= 0) ||
           error_config(err,
                        "%ld stored edges do not fit into %ld blocks of %ld nodes; take fewer "
                        "edges or more nodes",
                        m->recipe->edges, m->blocks, m->recipe->nodes);
}

// ---- draws

enum { DRAW_COUNT_INSIDE, DRAW_COUNT_OUTSIDE };

// A whole number with that mean.
static int64_t draws_of(const BlockModel *m, int64_t node, double mean, int which) {
    double u = random_uniform32(draw_key(m->seed, DRAW_DEGREE), node, 0, which);
    return (int64_t)(mean + u);
}

typedef struct Aims { // draws of a node among the nodes of a group
    const Group *group;
    int64_t draws;
} Aims;

// Those of a node: inside its block, then among the nodes that face it back. Returns how many.
static int aims_of(const Draws *d, int64_t node, Aims out[1 + DCSBM_FACES]) {
    const BlockModel *m = d->model;
    int count = 0, which = DRAW_COUNT_OUTSIDE;
    out[count++] = (Aims){&d->group[m->block[node]],
                          draws_of(m, node, d->inside * m->weight[node], DRAW_COUNT_INSIDE)};
    for (unsigned set = m->facing[node]; set != 0; which++) {
        const Group *g = &d->group[facing_back(m, m->block[node], dcsbm_take_face(&set))];
        if (g->begin < g->end)
            out[count++] =
                (Aims){g, draws_of(m, node, d->outside * dcsbm_weight_outside(m, node), which)};
    }
    return count;
}

static int64_t count_draws(const Draws *d, int64_t node) {
    Aims aims[1 + DCSBM_FACES];
    int64_t sum = 0;
    for (int k = aims_of(d, node, aims) - 1; k >= 0; k--)
        sum += aims[k].draws;
    return sum;
}

static int32_t pick(const Draws *d, const Group *g, const uint32_t word[2]) {
    int64_t place = (int64_t)((uint64_t)word[0] * (uint64_t)(g->end - g->begin) >> 32);
    const Alias *alias = &d->alias[g->begin + place];
    bool keeps = ((float)word[1] + 0.5f) * 0x1p-32f < alias->keep;
    return d->member[g->begin + (keeps ? place : alias->other)];
}

// The other ends of the draws of a node. A block of random words serves two of them.
static void draw(const Draws *d, int64_t node, int32_t *out) {
    RandomKey key = draw_key(d->model->seed, DRAW_END);
    Aims aims[1 + DCSBM_FACES];
    uint32_t word[4];
    int64_t k = 0;
    int groups = aims_of(d, node, aims);
    for (int e = 0; e < groups; e++)
        for (int64_t i = 0; i < aims[e].draws; i++, k++) {
            if (k % 2 == 0)
                random_block(word, key, node, 0, (uint32_t)(k / 2));
            out[k] = pick(d, aims[e].group, word + 2 * (k % 2));
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
    for (int64_t k = 0; k < m->recipe->nodes; k++) {
        int64_t node = d->member[k], kept = 0;
        draw(d, node, end + d->first[k]);
        for (int64_t i = d->first[k]; i < d->first[k + 1]; i++)
            if (end[i] != node) {
                kept++;
                add_count(&count[end[i] + 1], 1);
            }
        add_count(&count[node + 1], kept);
    }
}

static void place_all(const Draws *d, const int32_t *end, Csr *rows) {
    const BlockModel *m = d->model;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t k = 0; k < m->recipe->nodes; k++) {
        int32_t node = d->member[k];
        for (int64_t i = d->first[k]; i < d->first[k + 1]; i++) {
            if (end[i] == node)
                continue;
            int64_t here, there;
#pragma omp atomic capture
            here = rows->offset[node]++;
#pragma omp atomic capture
            there = rows->offset[end[i]]++;
            rows->column[here] = end[i];
            rows->column[there] = node;
        }
    }
    offsets_shift_back(rows->offset, m->recipe->nodes);
}

// ---- rows

static bool fill_rows(const Draws *d, Csr *out, Error *err) {
    int64_t n = d->model->recipe->nodes;
    FREED int32_t *end = TRY(int32_t, d->first[n], "drawn edges", err);
    *out = (Csr){.rows = n, .offset = TRY(int64_t, n + 1, "edges of a graph", err)};
    if (err->code == 0) {
        draw_all(d, end, out->offset);
        offsets_sum(out->offset, n);
        out->column = TRY(int32_t, csr_entries(out), "edges of a graph", err);
    }
    if (err->code == 0) {
        place_all(d, end, out);
        csr_sort_columns(out, n);
        csr_drop(out, false);
    } else {
        csr_free(out);
    }
    return err->code == 0;
}

bool dcsbm_edges(const BlockModel *m, Csr *out, Error *err) {
    const int64_t groups = m->blocks * (1 + m->faces);
    int64_t places = m->recipe->nodes;
    for (int64_t i = 0; i < m->recipe->nodes; i++)
        places += dcsbm_faces_of(m, i);
    Draws d = {.model = m,
               .groups = groups,
               .member = ALLOC(int32_t, places, "nodes by block"),
               .alias = ALLOC(Alias, places, "weights of nodes"),
               .group = ALLOC(Group, groups, "blocks"),
               .first = ALLOC(int64_t, m->recipe->nodes + 1, "draws of nodes")};
    fill_members(&d);
    fill_aliases(&d);
    bool ok = find_rates(&d, err);
    for (int64_t k = 0; ok && k < m->recipe->nodes; k++)
        d.first[k + 1] = d.first[k] + count_draws(&d, d.member[k]);
    ok = ok && fill_rows(&d, out, err);
    MEMORY_FREE(d.first, d.group, d.alias, d.member);
    return ok;
}
