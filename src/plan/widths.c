// Which widths the assigner will choose is known only when rows have been sent. Before, it is
// foreseen with the assigner's own solver: its problem has the real rounds and the real rows of
// every pair of ranks, on equal links. Pairs that send less than the slowest of their round have
// time to spare and get wider rows, as in training. What is not known are the sensitivities: they
// are assumed to be spread as a lognormal.
#include "fringe/bitwidth.h"
#include "fringe/plan.h"

enum { GROUPS_MOST = 32, EXACT_RANKS = 16 }; // beyond, one link stands for all
static const double spread = 1;              // deviation of the logarithm; assumed

// The quantile u of the normal distribution, by bisection.
static double normal_quantile(double u) {
    double low = -8, high = 8;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(0.5 * erfc(-middle / sqrt(2)) < u ? &low : &high) = middle;
    }
    return low;
}

static int64_t groups_of(int64_t rows, const Config *config) {
    int64_t groups = (rows + config->quantization.group_size - 1) / config->quantization.group_size;
    return groups < GROUPS_MOST ? groups : GROUPS_MOST;
}

// The rows of a link in groups of one size, sensitivities descending.
static void fill_link(Problem *problem, Link *link, int64_t rows, double theta) {
    int64_t count = link->end - link->begin;
    for (int64_t g = 0; g < count; g++)
        problem->group[link->begin + g] = (Group){
            .beta = exp(spread * normal_quantile(((double)(count - g) - 0.5) / (double)count)),
            .theta = theta,
            .rows = rows / count + (g < rows % count)};
}

static int64_t count_groups(const PatternCounts *counts, int ranks, int rounds,
                            const Config *config) {
    int64_t groups = 0;
    for (int rank = 0; rank < ranks; rank++)
        for (int round = 0; round < rounds; round++)
            groups += groups_of(counts[rank].sent[round], config);
    return groups;
}

static void fill_rounds(Problem *problem, const PatternCounts *counts, int ranks,
                        const Config *config, const PlanMachine *machine) {
    int64_t group = 0;
    int at = 0;
    for (int round = 0; round < problem->rounds; round++) {
        for (int rank = 0; rank < ranks; rank++, at++) {
            int64_t rows = counts[rank].sent[round], end = group + groups_of(rows, config);
            problem->link[at] = (Link){.source = rank,
                                       .target = ring_reader(rank, round, counts->size),
                                       .gamma = machine->latency,
                                       .begin = group,
                                       .end = end};
            fill_link(problem, &problem->link[at], rows, config->comm.sample / machine->bandwidth);
            group = end;
        }
        problem->round_begin[round + 1] = at;
    }
}

static void fill_widths(Problem *problem, const Config *config, int64_t columns) {
    const ConfigInts *bits = &config->quantization.bits;
    problem->widths = bits->count < PROBLEM_WIDTHS ? bits->count : PROBLEM_WIDTHS;
    problem->lambda = config->quantization.lambda;
    for (int i = 0; i < problem->widths; i++) {
        problem->bits[i] = (int)bits->value[i];
        problem->row_bytes[i] = quantized_row_bytes(columns, problem->bits[i]);
    }
}

static void adaptive(double share[WIDTH_MOST + 1], const Config *config,
                     const PatternCounts *counts, int ranks, int64_t columns,
                     const PlanMachine *machine) {
    bool exact = ranks <= EXACT_RANKS && ranks == counts->size;
    int rounds = exact ? ranks - 1 : 1, links = exact ? ranks : 1;
    int64_t groups = count_groups(counts, links, rounds, config);
    double rows = 0;
    CLEARED(problem_clear) Problem problem = {0};
    CLEARED(solution_clear) Solution solution = {0};
    if (groups == 0)
        return;
    problem_init(&problem, rounds, rounds * links, groups);
    fill_widths(&problem, config, columns);
    fill_rounds(&problem, counts, links, config, machine);
    solution_init(&solution, &problem);
    problem_solve(&problem, &solution);
    for (int64_t g = 0; g < groups; g++)
        rows += (double)problem.group[g].rows;
    for (int64_t g = 0; g < groups; g++)
        share[problem.bits[solution.choice[g]]] += (double)problem.group[g].rows / rows;
}

void plan_widths(double share[WIDTH_MOST + 1], const Config *config, const PatternCounts *counts,
                 int ranks, int64_t columns, const PlanMachine *machine) {
    const ConfigInts *bits = &config->quantization.bits;
    memset(share, 0, (WIDTH_MOST + 1) * sizeof *share);
    if (counts->size < 2)
        return;
    if (strcmp(config->quantization.assign, "adaptive") == 0)
        adaptive(share, config, counts, ranks, columns, machine);
    else if (strcmp(config->quantization.assign, "random") == 0)
        for (int i = 0; i < bits->count; i++)
            share[bits->value[i]] += 1.0 / bits->count;
    else
        share[config->quantization.initial_bits] = 1;
}
