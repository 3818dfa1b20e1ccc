// The adaptive rule. Rank 0 solves one problem per layer and direction at the request. If a
// solution is not proven optimal, fringe-solver gets the problem and this solution; the decision
// waits for it.

#include "internal.h"

// ---- building the problem (rank 0)

// quantization.wait: round. The links are the pairs (source, target) that have rows.
static void pose_rounds(const Assigner *a, ChannelAssignment *assigned, Problem *p) {
    int size = a->comm->size, rounds = size - 1, link = 0;
    int64_t group = 0;
    for (int g = 0; g < rounds; g++) {
        for (int source = 0; source < size; source++) {
            int pair = source * rounds + g;
            int64_t groups = assigned->start[pair + 1] - assigned->start[pair];
            if (groups == 0)
                continue;
            p->link[link++] =
                (Link){source, ring_reader(source, g, size), a->gamma[pair], group, group + groups};
            for (int64_t i = assigned->start[pair]; i < assigned->start[pair + 1]; i++)
                assigned->place[group++] = i;
        }
        p->round_begin[g + 1] = link;
    }
}

// A link needs its groups of one theta by beta descending (bitwidth.h).
static int by_theta_and_beta(const void *a, const void *b, void *context) {
    const Group *group = context;
    int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    const Group *x = &group[i], *y = &group[j];
    if (x->theta != y->theta)
        return x->theta < y->theta ? -1 : 1;
    return x->beta != y->beta ? (x->beta > y->beta ? -1 : 1) : (i > j) - (i < j);
}

// quantization.wait: sender. A link is everything that one rank sends, one message after the other.
static void pose_senders(const Assigner *a, ChannelAssignment *assigned, Group *by_rank,
                         Problem *p) {
    int size = a->comm->size, rounds = size - 1, link = 0;
    for (int source = 0; source < size; source++) {
        int64_t begin = assigned->piece[source], end = assigned->piece[source + 1];
        if (begin == end)
            continue;
        Link *of = &p->link[link++];
        *of = (Link){.source = source, .target = -1, .begin = begin, .end = end};
        for (int g = 0; g < rounds; g++) {
            int pair = source * rounds + g;
            of->gamma += assigned->start[pair + 1] > assigned->start[pair] ? a->gamma[pair] : 0;
        }
        for (int64_t i = begin; i < end; i++)
            assigned->place[i] = i;
        qsort_r(assigned->place + begin, (size_t)(end - begin), sizeof *assigned->place,
                by_theta_and_beta, by_rank);
    }
    p->round_begin[1] = link;
}

static int count_links(const Assigner *a, const ChannelAssignment *assigned, bool senders) {
    int rounds = a->comm->size - 1, links = 0;
    int pieces = senders ? a->comm->size : a->comm->size * rounds;
    const int64_t *offset = senders ? assigned->piece : assigned->start;
    for (int i = 0; i < pieces; i++)
        links += offset[i + 1] > offset[i];
    return links;
}

static void pose(const Assigner *a, ChannelAssignment *assigned, Group *by_rank, double hidden) {
    const ConfigInts *widths = &a->config->quantization.bits;
    bool senders = strcmp(a->config->quantization.wait, "sender") == 0;
    Problem *p = &assigned->problem;
    problem_init(p, senders ? 1 : a->comm->size - 1, count_links(a, assigned, senders),
                 assigned->piece[a->comm->size]);
    p->layer = assigned->of.id.layer;
    p->direction = assigned->of.id.direction;
    p->lambda = a->config->quantization.lambda;
    p->hidden = hidden;
    p->widths = widths->count;
    for (int w = 0; w < widths->count; w++) {
        p->bits[w] = (int)widths->value[w];
        p->row_bytes[w] = channel_row_bytes(assigned->of.channel, p->bits[w]);
        if (w > 0 && p->row_bytes[w] < p->row_bytes[w - 1]) // 7 bits are three planes, 8 are one
            p->row_bytes[w] = p->row_bytes[w - 1];
    }
    assigned->place = ALLOC(int64_t, p->groups, "groups of messages");
    for (int pair = 0; pair < a->comm->size * (a->comm->size - 1); pair++)
        for (int64_t i = assigned->start[pair]; i < assigned->start[pair + 1]; i++)
            by_rank[i].theta = channel_sample(assigned->of.channel) * a->theta[pair];
    if (senders)
        pose_senders(a, assigned, by_rank, p);
    else
        pose_rounds(a, assigned, p);
    for (int64_t g = 0; g < p->groups; g++)
        p->group[g] = by_rank[assigned->place[g]];
}

// ---- the request

double assigned_hidden(const Assigner *a, ChannelAssignment *assigned) {
    const ConfigDoubles *pinned = &a->config->quantization.link;
    if (strcmp(a->config->quantization.time, "hidden") != 0)
        return 0;
    if (pinned->count == 3)
        return pinned->value[2];
    double covered = channel_seconds(assigned->of.channel).covered - assigned->covered;
    if (assigned->exchanges > 0)
        assigned->hidden =
            -comm_max_double(a->comm, -covered / (double)assigned->exchanges); // the least
    return assigned->hidden;
}

// Builds the problem of one channel on rank 0. Collective.
static void pose_of(Assigner *a, ChannelAssignment *assigned) {
    bool first = a->comm->rank == 0;
    double hidden = assigned_hidden(a, assigned);
    FREED Group *group =
        ALLOC(Group, first ? assigned->piece[a->comm->size] : 0, "groups of messages");
    groups_gather(assigned, a->comm, a->group_size, group);
    if (first) {
        pose(a, assigned, group, hidden);
        assert(problem_check(&assigned->problem, &(Error){0}));
        solution_init(&assigned->solution, &assigned->problem);
    }
}

static void solve_on_helper(void *assigner) {
    Assigner *a = assigner;
    for (int i = 0; i < a->channels; i++)
        if (a->assigned[i].asked)
            problem_solve(&a->assigned[i].problem, &a->assigned[i].solution);
}

void assigned_start_solver(Assigner *a, ChannelAssignment *assigned) {
    if (strcmp(a->config->quantization.solver, "glpk") == 0 &&
        solution_is_open(&assigned->solution, &assigned->problem) &&
        !solver_start(&assigned->solver, &assigned->problem, assigned->solution.choice,
                      a->config->quantization.solver_limit))
        snprintf(a->assignment.warning, sizeof a->assignment.warning,
                 "fringe-solver could not be started; the exact solution is used");
}

bool adaptive_request(Assigner *a, UNUSED Error *err) {
    link_measure(a);
    for (int i = 0; i < a->channels; i++)
        if (a->assigned[i].asked)
            pose_of(a, &a->assigned[i]);
    if (a->comm->rank == 0)
        comm_on_helper(a->comm, solve_on_helper, a);
    for (int i = 0; i < a->channels && a->comm->rank == 0; i++)
        if (a->assigned[i].asked)
            assigned_start_solver(a, &a->assigned[i]);
    comm_barrier(a->comm); // so that the next exchange does not measure the time rank 0 solves
    return true;
}

// ---- the decision

static void report(const ChannelAssignment *assigned, AssignmentPart *part) {
    _Static_assert(sizeof part->by == sizeof assigned->solution.by, "one name");
    memcpy(part->by, assigned->solution.by, sizeof part->by);
    part->objective = assigned->solution.value.objective;
    part->lp_bound = fmin(problem_bound(&assigned->problem), part->objective);
    part->bound = fmax(assigned->solution.bound, part->lp_bound);
    part->search = assigned->solution.seconds;
    part->predicted = assigned->solution.value.seconds;
    part->hidden = assigned->problem.hidden;
}

bool adaptive_decide(Assigner *a, UNUSED Error *err) {
    for (int i = 0; i < a->channels; i++) {
        ChannelAssignment *assigned = &a->assigned[i];
        int width[PROBLEM_WIDTHS];
        if (!assigned->asked)
            continue;
        for (int w = 0; w < a->config->quantization.bits.count; w++)
            width[w] = (int)a->config->quantization.bits.value[w];
        uint8_t *choice = NULL;
        if (a->comm->rank == 0) {
            solver_finish(&assigned->solver, &assigned->problem, &assigned->solution, a->comm,
                          a->assignment.warning);
            choice = ALLOC(uint8_t, assigned->problem.groups, "groups of messages");
            for (int64_t g = 0; g < assigned->problem.groups; g++)
                choice[assigned->place[g]] = assigned->solution.choice[g];
            report(assigned, &a->assignment.part[i]);
        }
        groups_spread(assigned, a->comm, a->group_size, choice, width);
        MEMORY_FREE(choice, assigned->place);
        assigned->place = NULL;
        solution_clear(&assigned->solution);
        problem_clear(&assigned->problem);
    }
    return true;
}
