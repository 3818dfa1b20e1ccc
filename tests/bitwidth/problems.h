// Random problems for the tests of the assigner, plain and hostile, and the objective by its
// definition.
#pragma once

#include "support.h"

#include "fringe/bitwidth.h"

// Numbers from one seed, one after the other.
typedef struct Draws {
    RandomKey random;
    int64_t next;
} Draws;

static inline Draws draws_new(uint64_t seed) {
    return (Draws){random_key(seed, RANDOM_GENERATE, 0, 0, 0), 0};
}
static inline double draw(Draws *d) { // in (0, 1)
    int64_t k = d->next++;
    return random_uniform32(d->random, k >> 8, 0, k & 255);
}
static inline int64_t draw_int(Draws *d, int64_t low, int64_t high) { // [low, high]
    int64_t value = low + (int64_t)(draw(d) * (double)(high - low + 1));
    return value > high ? high : value;
}
static inline bool draw_chance(Draws *d, double chance) { return draw(d) < chance; }

// BETAS_CLOSE: apart by less than a sum of them can tell.
typedef enum Betas {
    BETAS_PLAIN,
    BETAS_PARETO,
    BETAS_DECADES,
    BETAS_EQUAL,
    BETAS_ZERO,
    BETAS_CLOSE
} Betas;

static inline double draw_beta(Draws *d, Betas betas) {
    switch (betas) {
    case BETAS_PLAIN:
        return 0.1 + draw(d);
    case BETAS_PARETO:
        return 1 / draw(d); // alpha = 1
    case BETAS_DECADES:
        return pow(10, 12 * draw(d) - 6);
    case BETAS_EQUAL:
        return 3;
    case BETAS_ZERO:
        return 0;
    case BETAS_CLOSE:
        return 1 + 1e-15 * draw(d);
    }
    return 0;
}

typedef struct Recipe {
    int ranks;
    bool by_sender;     // one link per rank instead of one per pair: theta differs inside a link
    int64_t groups;     // of a link, at most
    bool exactly;       // as many in every link
    int64_t group_rows; // of all groups but the last of a link
    bool sizes_differ;  // or of any size up to that
    int widths;
    int bits[PROBLEM_WIDTHS];
    int64_t columns; // of a row
    Betas betas;
    double zero;   // share of groups whose beta is 0
    double spread; // decades of theta over the links
    double lambda, hidden;
} Recipe;

static inline Recipe ring_recipe(void) {
    return (Recipe){.ranks = 4,
                    .groups = 30,
                    .group_rows = 100,
                    .widths = 3,
                    .bits = {2, 4, 8},
                    .columns = 256,
                    .spread = 0.5,
                    .lambda = 0.5};
}

static inline int descending(const void *a, const void *b) {
    double x = ((const Group *)a)->beta, y = ((const Group *)b)->beta;
    return x > y ? -1 : x < y;
}

// The groups of one link, behind those that are there.
static inline int64_t add_groups(Problem *p, const Recipe *recipe, Draws *d, int64_t begin,
                                 double theta) {
    int64_t count = recipe->exactly ? recipe->groups : draw_int(d, 0, recipe->groups);
    for (int64_t g = begin; g < begin + count; g++) {
        bool any = recipe->sizes_differ || g == begin + count - 1;
        double beta = draw_beta(d, recipe->betas);
        p->group[g] = (Group){draw_chance(d, recipe->zero) ? 0 : beta, theta,
                              any ? draw_int(d, 1, recipe->group_rows) : recipe->group_rows};
    }
    qsort(p->group + begin, (size_t)count, sizeof *p->group, descending);
    return begin + count;
}

static inline Problem problem_random(const Recipe *recipe, uint64_t seed) {
    Draws d = draws_new(seed);
    int P = recipe->ranks, rounds = recipe->by_sender ? 1 : P - 1, links = rounds * P;
    int pairs = P * (P - 1);
    Problem p;
    problem_init(&p, rounds, links, pairs * recipe->groups);
    p.widths = recipe->widths;
    for (int b = 0; b < p.widths; b++) {
        p.bits[b] = recipe->bits[b];
        p.row_bytes[b] = (recipe->columns * recipe->bits[b] + 7) / 8;
    }
    p.lambda = recipe->lambda;
    p.hidden = recipe->hidden;
    int64_t at = 0;
    for (int c = 0; c < links; c++) {
        int source = c % P, hop = c / P + 1;
        p.round_begin[c / P] = c / P * P;
        p.link[c] = (Link){.source = source,
                           .target = recipe->by_sender ? -1 : (source + hop) % P,
                           .gamma = 1e-4 * draw(&d),
                           .begin = at};
        for (int k = 0; k < (recipe->by_sender ? P - 1 : 1); k++)
            at = add_groups(&p, recipe, &d, at,
                            1e-9 * pow(10, recipe->spread * draw(&d)) * (0.5 + draw(&d)));
        p.link[c].end = at;
    }
    p.round_begin[rounds] = links;
    p.groups = at;
    return p;
}

// V, T and the objective as bitwidth.h states them, on their own.
static inline Value value_by_definition(const Problem *p, const uint8_t *choice) {
    Value value = {0};
    double normalizer[2][2] = {{0}}; // smallest and largest width: V, T
    for (int which = 0; which < 3; which++) {
        double variance = 0, seconds = 0;
        for (int r = 0; r < p->rounds; r++) {
            double slowest = 0;
            for (int c = p->round_begin[r]; c < p->round_begin[r + 1]; c++) {
                double t = p->link[c].gamma;
                for (int64_t g = p->link[c].begin; g < p->link[c].end; g++) {
                    int b = which == 0 ? 0 : which == 1 ? p->widths - 1 : choice[g];
                    double levels = pow(2, p->bits[b]) - 1;
                    t += p->group[g].theta * (double)(p->group[g].rows * p->row_bytes[b]);
                    variance += p->group[g].beta / (levels * levels);
                }
                slowest = fmax(slowest, t);
            }
            seconds += slowest;
        }
        if (which < 2) {
            normalizer[which][0] = variance;
            normalizer[which][1] = fmax(seconds, p->hidden);
        } else {
            value.variance = variance;
            value.seconds = seconds;
        }
    }
    if (normalizer[0][0] > normalizer[1][0])
        value.objective +=
            p->lambda * (value.variance - normalizer[1][0]) / (normalizer[0][0] - normalizer[1][0]);
    if (normalizer[1][1] > normalizer[0][1])
        value.objective += (1 - p->lambda) * (fmax(value.seconds, p->hidden) - normalizer[0][1]) /
                           (normalizer[1][1] - normalizer[0][1]);
    return value;
}

static inline Solution solved(const Problem *p) {
    Solution a;
    solution_init(&a, p);
    problem_solve(p, &a);
    return a;
}
