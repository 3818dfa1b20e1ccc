// The edges of a degree-corrected planted partition (Karrer and Newman, 2011, as a Chung-Lu graph
// inside each community). The idea: every unordered pair of nodes that may be joined has its own
// random number, so there are no duplicates and no loops, both directions agree, and nothing
// depends on threads.
//
//   same community c:        P(i, j) = min(1, s w_i w_j / W_c),  W_c = sum of w over c
//   boundary nodes:          P(u, v) = abroad    for u in a facing b, v in b facing a
//
// s solves: expected edges = wanted edges.

#include "generate.h"

// Expected edges inside a community with descending weights w[0..m), for one scale. Pairs (i, j >
// i) with j < t are certain (probability clipped at 1); t falls as i grows, so one sweep suffices.
static double expected_inside(const double *w, const double *tail, int64_t m, double scale,
                              double total) {
    double sum = 0;
    int64_t t = m;
    for (int64_t i = 0; i + 1 < m; i++) {
        while (t > 0 && scale * w[i] * w[t - 1] < total)
            t--;
        int64_t certain = t > i + 1 ? t : i + 1; // first j > i that is not certain
        sum += (double)(certain - i - 1) + scale * w[i] / total * tail[certain];
    }
    return sum;
}

// Sorts each community's weights in descending order and sums tails: tail[j] = w[j] + w[j+1] + ...
static void sort_weights(const Planted *p, double *w, double *tail) {
#pragma omp parallel for schedule(dynamic)
    for (int32_t c = 0; c < p->communities; c++) {
        int64_t begin = p->begin[c], m = p->begin[c + 1] - begin;
        double *mine = w + begin, *sums = tail + begin + c; // one more entry than members
        for (int64_t k = 0; k < m; k++)
            mine[k] = p->weight[p->member[begin + k]];
        sort_falling(mine, m);
        sums[m] = 0;
        for (int64_t k = m - 1; k >= 0; k--)
            sums[k] = sums[k + 1] + mine[k];
        p->total[c] = sums[0];
    }
}

static double expected_home(const Planted *p, const double *w, const double *tail, double scale) {
    double sum = 0;
    for (int32_t c = 0; c < p->communities; c++)
        sum += expected_inside(w + p->begin[c], tail + p->begin[c] + c,
                               p->begin[c + 1] - p->begin[c], scale, p->total[c]);
    return sum;
}

static double expected_abroad(const Planted *p) {
    double pairs = 0;
    for (int64_t a = 0; a < p->communities; a++)
        for (int64_t b = a + 1; b < p->communities; b++) {
            int64_t there = a * p->communities + b, back = b * p->communities + a;
            pairs += (double)(p->facing[there + 1] - p->facing[there]) *
                     (double)(p->facing[back + 1] - p->facing[back]);
        }
    return pairs * p->abroad;
}

// Bisects the logarithm of the scale, with which the expected edges rise.
static bool find_scale(Planted *p, Error *err) {
    int64_t n = p->recipe->nodes;
    FREED double *w = ALLOC(double, n, "weights, sorted");
    FREED double *tail = ALLOC(double, n + p->communities, "sums of weights");
    double wanted = (double)p->recipe->edges / 2 - expected_abroad(p), low = -20, high = 20;
    sort_weights(p, w, tail);
    bool ok = wanted > 0 && expected_home(p, w, tail, exp(high)) >= wanted;
    for (int step = 0; ok && step < 50; step++) {
        double middle = (low + high) / 2;
        *(expected_home(p, w, tail, exp(middle)) < wanted ? &low : &high) = middle;
    }
    p->scale = exp(high);
    return ok || error_config(err,
                              "%ld stored edges cannot be placed in %d communities of %ld nodes; "
                              "change edges, communities or abroad",
                              p->recipe->edges, p->communities, n);
}

// Writes to `out` the members j > i of community c that the i-th is joined to, as positions in the
// community; returns their count. The random number at row `node i`, column `position of j`
// decides.
static int64_t draw_home(const Planted *p, int32_t c, int64_t i, int32_t *out) {
    const int32_t *member = p->member + p->begin[c];
    int64_t m = p->begin[c + 1] - p->begin[c], found = 0;
    RandomKey key = draw_key(p->seed, DRAW_HOME_PAIR);
    double factor = p->scale * p->weight[member[i]] / p->total[c];
    uint32_t word[4];
    for (int64_t j = i + 1; j < m; j++) {
        if (j == i + 1 || j % 4 == 0)
            random_block(word, key, member[i], 0, (uint32_t)(j / 4));
        if (((double)word[j % 4] + 0.5) * 0x1p-32 < factor * p->weight[member[j]])
            out[found++] = (int32_t)j;
    }
    return found;
}

// The nodes in the facing group that boundary node u is joined to, ascending; returns their count.
static int64_t draw_abroad(const Planted *p, int32_t u, int32_t *out) {
    int64_t found = 0;
    if (p->partner[u] < 0)
        return 0;
    RandomKey key = draw_key(p->seed, DRAW_ABROAD_PAIR);
    int64_t group = (int64_t)p->partner[u] * p->communities + p->home[u];
    for (int64_t k = p->facing[group]; k < p->facing[group + 1]; k++) {
        int32_t v = p->carrier[k], first = u < v ? u : v, second = u < v ? v : u;
        if (random_uniform32(key, first, 0, second) < p->abroad)
            out[found++] = v;
    }
    return found;
}

// Pairs inside communities: counts the entries of each row at `next`, and lists their columns
// there; with `column` NULL it only counts. Both ends of a pair belong to one task.
static void lead_home(const Planted *p, int64_t *next, int32_t *column, int32_t *scratch) {
#pragma omp parallel for schedule(dynamic)
    for (int32_t c = 0; c < p->communities; c++) {
        const int32_t *member = p->member + p->begin[c];
        int64_t m = p->begin[c + 1] - p->begin[c];
        int32_t *mine = scratch + p->begin[c];
        for (int64_t i = 0; i < m; i++) {
            int64_t found = draw_home(p, c, i, mine);
            for (int64_t k = 0; k < found; k++) {
                int32_t one = member[i], other = member[mine[k]];
                if (column != NULL) {
                    column[next[one]] = other;
                    column[next[other]] = one;
                }
                next[one]++;
                next[other]++;
            }
        }
    }
}

static void count_entries(const Planted *p, int64_t *count, int32_t *scratch) {
    lead_home(p, count, NULL, scratch);
#pragma omp parallel
    {
        FREED int32_t *found = ALLOC(int32_t, p->recipe->nodes, "edges abroad of a node");
#pragma omp for schedule(static)
        for (int64_t u = 0; u < p->recipe->nodes; u++)
            count[u] += draw_abroad(p, (int32_t)u, found);
    }
}

static void fill_entries(const Planted *p, Csr *out, int32_t *scratch) {
    lead_home(p, out->offset, out->column, scratch);
#pragma omp parallel for schedule(static)
    for (int64_t u = 0; u < out->rows; u++)
        out->offset[u] += draw_abroad(p, (int32_t)u, out->column + out->offset[u]);
    offsets_shift_back(out->offset, out->rows);
    csr_sort_columns(out, out->rows);
}

bool planted_edges(Planted *planted, Csr *out, Error *err) {
    int64_t n = planted->recipe->nodes;
    if (!find_scale(planted, err))
        return false;
    *out = (Csr){.rows = n, .offset = ALLOC(int64_t, n + 1, "entries of rows")};
    FREED int32_t *scratch =
        ALLOC(int32_t, n, "pairs of a node"); // as many as the largest community has
    count_entries(planted, out->offset + 1, scratch);
    offsets_sum(out->offset, n);
    out->column = TRY(int32_t, csr_entries(out), "edges of a graph", err);
    if (out->column != NULL)
        fill_entries(planted, out, scratch);
    else
        csr_free(out);
    return err->code == 0;
}
