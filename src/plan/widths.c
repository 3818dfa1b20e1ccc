// Which widths the assigner will choose is known only when rows have been sent. Before, it is
// foreseen with the assigner's own solver, for one link whose groups have sensitivities spread as a
// lognormal: the objective is normalized, so neither their unit nor the link's speed matters.
#include "fringe/bitwidth.h"
#include "fringe/plan.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 200, ROWS = 100, COLUMNS = 256 };
static const double spread = 2; // deviation of the logarithm; measured, see docs/plan.md

// The quantile u of the normal distribution: bisection of erfc, which is steep enough.
static double normal_quantile(double u) {
    double low = -8, high = 8;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(0.5 * erfc(-middle / sqrt(2)) < u ? &low : &high) = middle;
    }
    return low;
}

static void adaptive(double share[WIDTH_MOST + 1], const Config *config) {
    const ConfigInts *bits = &config->quantization.bits;
    Problem problem;
    Solution solution;
    problem_init(&problem, 1, 1, GROUPS);
    problem.widths = bits->count < PROBLEM_WIDTHS ? bits->count : PROBLEM_WIDTHS;
    problem.lambda = config->quantization.lambda;
    for (int i = 0; i < problem.widths; i++) {
        problem.bits[i] = (int)bits->value[i];
        problem.row_bytes[i] = quantized_row_bytes(COLUMNS, problem.bits[i]);
    }
    problem.round_begin[1] = 1;
    problem.link[0] = (Link){.source = 0, .target = 1, .begin = 0, .end = GROUPS};
    for (int g = 0; g < GROUPS; g++) // descending
        problem.group[g] =
            (Group){.beta = exp(spread * normal_quantile((GROUPS - g - 0.5) / GROUPS)),
                    .theta = 1e-9,
                    .rows = ROWS};
    solution_init(&solution, &problem);
    problem_solve(&problem, &solution);
    for (int g = 0; g < GROUPS; g++)
        share[problem.bits[solution.choice[g]]] += 1.0 / GROUPS;
    solution_clear(&solution);
    problem_clear(&problem);
}

void plan_widths(double share[WIDTH_MOST + 1], const Config *config) {
    const ConfigInts *bits = &config->quantization.bits;
    memset(share, 0, (WIDTH_MOST + 1) * sizeof *share);
    if (strcmp(config->quantization.assign, "adaptive") == 0)
        adaptive(share, config);
    else if (strcmp(config->quantization.assign, "random") == 0)
        for (int i = 0; i < bits->count; i++)
            share[bits->value[i]] += 1.0 / bits->count;
    else
        share[config->quantization.initial_bits] = 1;
}
