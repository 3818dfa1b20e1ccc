// The adaptive rule: one problem per layer and direction on rank 0, solved at once, and given to
// fringe-solver with that solution where it is not proven the best. Taking the widths waits for it.

#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- posing the problem (rank 0)

// Links of ring rounds: pairs (source, target) that have rows.
static void pose_rounds(const Assigner *a, Lot *lot, Problem *p) {
    int size = a->comm->size, rounds = size - 1, link = 0;
    int64_t group = 0;
    for (int g = 0; g < rounds; g++) {
        for (int source = 0; source < size; source++) {
            int pair = source * rounds + g;
            int64_t groups = lot->start[pair + 1] - lot->start[pair];
            if (groups == 0)
                continue;
            p->link[link++] =
                (Link){source, ring_reader(source, g, size), a->gamma[pair], group, group + groups};
            for (int64_t i = lot->start[pair]; i < lot->start[pair + 1]; i++)
                lot->place[group++] = i;
        }
        p->round_begin[g + 1] = link;
    }
}

// Links want groups of one theta by beta descending (bitwidth.h).
static int by_theta_and_beta(const void *a, const void *b, void *context) {
    const Group *group = context;
    int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    const Group *x = &group[i], *y = &group[j];
    if (x->theta != y->theta)
        return x->theta < y->theta ? -1 : 1;
    return x->beta != y->beta ? (x->beta > y->beta ? -1 : 1) : (i > j) - (i < j);
}

// Links of senders: everything a rank sends, one message after the other.
static void pose_senders(const Assigner *a, Lot *lot, Group *by_rank, Problem *p) {
    int size = a->comm->size, rounds = size - 1, link = 0;
    for (int source = 0; source < size; source++) {
        int64_t begin = lot->piece[source], end = lot->piece[source + 1];
        if (begin == end)
            continue;
        Link *of = &p->link[link++];
        *of = (Link){.source = source, .target = -1, .begin = begin, .end = end};
        for (int g = 0; g < rounds; g++) {
            int pair = source * rounds + g;
            of->gamma += lot->start[pair + 1] > lot->start[pair] ? a->gamma[pair] : 0;
        }
        for (int64_t i = begin; i < end; i++)
            lot->place[i] = i;
        qsort_r(lot->place + begin, (size_t)(end - begin), sizeof *lot->place, by_theta_and_beta,
                by_rank);
    }
    p->round_begin[1] = link;
}

static int count_links(const Assigner *a, const Lot *lot, bool senders) {
    int rounds = a->comm->size - 1, links = 0;
    int pieces = senders ? a->comm->size : a->comm->size * rounds;
    const int64_t *offset = senders ? lot->piece : lot->start;
    for (int i = 0; i < pieces; i++)
        links += offset[i + 1] > offset[i];
    return links;
}

static void pose(const Assigner *a, Lot *lot, Group *by_rank, double hidden) {
    const ConfigInts *widths = &a->config->quantization.bits;
    bool senders = strcmp(a->config->quantization.wait, "sender") == 0;
    Problem *p = &lot->problem;
    problem_take(p, senders ? 1 : a->comm->size - 1, count_links(a, lot, senders),
                 lot->piece[a->comm->size]);
    p->layer = lot->of.id.layer;
    p->direction = lot->of.id.direction;
    p->lambda = a->config->quantization.lambda;
    p->hidden = hidden;
    p->widths = widths->count;
    for (int w = 0; w < widths->count; w++) {
        p->bits[w] = (int)widths->value[w];
        p->row_bytes[w] = channel_row_bytes(lot->of.channel, p->bits[w]);
        if (w > 0 && p->row_bytes[w] < p->row_bytes[w - 1]) // 7 bits are three planes, 8 are one
            p->row_bytes[w] = p->row_bytes[w - 1];
    }
    lot->place = TAKE(int64_t, p->groups, "groups of messages");
    for (int pair = 0; pair < a->comm->size * (a->comm->size - 1); pair++)
        for (int64_t i = lot->start[pair]; i < lot->start[pair + 1]; i++)
            by_rank[i].theta = a->theta[pair];
    if (senders)
        pose_senders(a, lot, by_rank, p);
    else
        pose_rounds(a, lot, p);
    for (int64_t g = 0; g < p->groups; g++)
        p->group[g] = by_rank[lot->place[g]];
}

// ---- asking

double lot_hidden(const Assigner *a, Lot *lot) {
    const ConfigDoubles *pinned = &a->config->quantization.link;
    if (strcmp(a->config->quantization.time, "hidden") != 0)
        return 0;
    if (pinned->count == 3)
        return pinned->value[2];
    double covered = channel_seconds(lot->of.channel).covered - lot->covered;
    if (lot->exchanges > 0)
        lot->hidden = -comm_max_double(a->comm, -covered / (double)lot->exchanges); // the least
    return lot->hidden;
}

// Rank 0 gets the lot's problem. Collective.
static void pose_of(Assigner *a, Lot *lot) {
    bool first = a->comm->rank == 0;
    double hidden = lot_hidden(a, lot);
    Group *group = TAKE(Group, first ? lot->piece[a->comm->size] : 0, "groups of messages");
    groups_gather(lot, a->comm, a->group_size, group);
    if (first) {
        pose(a, lot, group, hidden);
        assert(problem_check(&lot->problem, &(Error){0}));
        solution_take(&lot->solution, &lot->problem);
    }
    memory_give(group);
}

static void solve_aside(void *assigner) {
    Assigner *a = assigner;
    for (int i = 0; i < a->lots; i++)
        problem_solve(&a->lot[i].problem, &a->lot[i].solution);
}

void lot_ask_solver(Assigner *a, Lot *lot) {
    if (strcmp(a->config->quantization.solver, "glpk") == 0 &&
        solution_is_open(&lot->solution, &lot->problem) &&
        !solver_start(&lot->solver, &lot->problem, lot->solution.choice,
                      a->config->quantization.solver_limit))
        snprintf(a->assignment.remark, sizeof a->assignment.remark,
                 "fringe-solver could not be started; the exact solution is used");
}

bool adaptive_ask(Assigner *a, Error *err) {
    (void)err;
    link_measure(a);
    for (int i = 0; i < a->lots; i++)
        pose_of(a, &a->lot[i]);
    if (a->comm->rank == 0)
        comm_aside(a->comm, solve_aside, a);
    for (int i = 0; i < a->lots && a->comm->rank == 0; i++)
        lot_ask_solver(a, &a->lot[i]);
    comm_barrier(a->comm); // that rank 0 solves is not the next exchange's waiting
    return true;
}

// ---- deciding

static void report(const Lot *lot, AssignmentPart *part) {
    snprintf(part->by, sizeof part->by, "%s", lot->solution.by);
    part->objective = lot->solution.value.objective;
    part->lp_bound = fmin(problem_bound(&lot->problem), part->objective);
    part->bound = fmax(lot->solution.bound, part->lp_bound);
    part->search = lot->solution.seconds;
    part->predicted = lot->solution.value.seconds;
    part->hidden = lot->problem.hidden;
}

bool adaptive_decide(Assigner *a, Error *err) {
    (void)err;
    for (int i = 0; i < a->lots; i++) {
        Lot *lot = &a->lot[i];
        int width[PROBLEM_WIDTHS];
        for (int w = 0; w < a->config->quantization.bits.count; w++)
            width[w] = (int)a->config->quantization.bits.value[w];
        uint8_t *choice = NULL;
        if (a->comm->rank == 0) {
            solver_finish(&lot->solver, &lot->problem, &lot->solution, a->comm,
                          a->assignment.remark);
            choice = TAKE(uint8_t, lot->problem.groups, "groups of messages");
            for (int64_t g = 0; g < lot->problem.groups; g++)
                choice[lot->place[g]] = lot->solution.choice[g];
            report(lot, &a->assignment.part[i]);
        }
        groups_spread(lot, a->comm, a->group_size, choice, width);
        memory_give(choice);
        memory_give(lot->place);
        lot->place = NULL;
        solution_clear(&lot->solution);
        problem_clear(&lot->problem);
    }
    return true;
}
