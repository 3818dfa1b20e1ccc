// label-propagation: every row takes the label that weighs most among those it reads, all at once,
// until nothing changes, or two rounds repeat each other. A node keeps its label where that is
// among the best; else, and for hyperedges, the smallest of the best wins.
#include "internal.h"

typedef struct Vote {
    int64_t label, id; // of whom it is
    double weight;
} Vote;

// One stage: what the rows of a set take from those that they read.
typedef struct Stage {
    const Pattern *pattern;
    const int64_t *own_id;   // [S] of own sources
    const float *own_weight; // [S] of own sources, hyperedges with weights; NULL: 1
    float *halo_weight;      // [H] owned
    int64_t *halo;           // [H] owned: labels of halo rows
    bool keeps;              // rows keep their label in a tie, or where nobody votes
} Stage;

typedef struct Spread {
    ProgramRun *run;
    Topology topology;
    Stage stage[SHARD_SETS];
    int64_t *hyperedge;     // [own hyperedges] labels
    int64_t *label[3];      // [own nodes] of this round, and of the two before
    const uint8_t *clamped; // [own nodes]; NULL: none
    Vote *vote;             // [votes of the longest row]
    bool by_labels;
} Spread;

// ---- one row

static int by_label(const void *a, const void *b) {
    const Vote *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// Of `count` votes; `before` is the label that the row has.
static int64_t winner(Vote *vote, int64_t count, int64_t before, bool keeps) {
    int64_t best = keeps ? before : -1;
    double most = 0;
    bool tied = false; // the label before is among the best
    qsort(vote, (size_t)count, sizeof *vote, by_label);
    for (int64_t i = 0, end; i < count; i = end) {
        double sum = 0;
        for (end = i; end < count && vote[end].label == vote[i].label; end++)
            sum += vote[end].weight;
        if (sum > most) {
            most = sum;
            best = vote[i].label;
            tied = vote[i].label == before;
        } else if (sum == most && vote[i].label == before) {
            tied = true;
        }
    }
    return keeps && tied ? before : best;
}

static int64_t add_votes(const Csr *csr, int64_t row, const int64_t *label, const int64_t *id,
                         const float *weight, Vote *vote) {
    int64_t count = 0;
    for (int64_t e = csr->offset[row]; e < csr->offset[row + 1]; e++) {
        int32_t c = csr->column[e];
        double votes = (csr->weight != NULL ? (double)csr->weight[e] : 1) *
                       (weight != NULL ? (double)weight[c] : 1);
        if (label[c] >= 0 && votes > 0)
            vote[count++] = (Vote){label[c], id[c], votes};
    }
    return count;
}

// ---- one round

static void take(Spread *s, const Stage *stage, const int64_t *from, const int64_t *before,
                 int64_t *to) {
    const Pattern *p = stage->pattern;
    topology_tell(&p->plan, from, stage->halo, sizeof *from);
    for (int64_t i = 0, k = 0; i < p->rows; i++) {
        int64_t count = add_votes(&p->own, i, from, stage->own_id, stage->own_weight, s->vote);
        if (k < p->halo.rows && p->halo_row[k] == i)
            count += add_votes(&p->halo, k++, stage->halo, p->plan.halo_id, stage->halo_weight,
                               s->vote + count);
        if (stage->keeps && s->clamped != NULL && s->clamped[i])
            to[i] = before[i];
        else
            to[i] = winner(s->vote, count, stage->keeps ? before[i] : -1, stage->keeps);
    }
}

static void round_of(Spread *s) {
    int64_t *oldest = s->label[2];
    s->label[2] = s->label[1];
    s->label[1] = s->label[0];
    s->label[0] = oldest;
    const int64_t *from = s->label[1];
    if (s->topology.stages > 1) {
        take(s, &s->stage[0], from, NULL, s->hyperedge);
        from = s->hyperedge;
    }
    take(s, &s->stage[s->topology.stages - 1], from, s->label[1], s->label[0]);
}

static int64_t differences(const Spread *s, int with) {
    int64_t count = 0;
    for (int64_t i = 0; i < nodes_of(s->run->parts)->own; i++)
        count += s->label[0][i] != s->label[with][i];
    return program_sum(s->run->parts, count);
}

// ---- set-up

static void stage_init(Spread *s, int stage) {
    const Shard *shard = s->run->parts->shard;
    const Pattern *p = s->topology.pattern[stage];
    const RowSet *from = &shard->set[shard->relation[p->kind.relation].from];
    Stage *made = &s->stage[stage];
    *made = (Stage){.pattern = p,
                    .own_id = from->gid,
                    .own_weight = from->weight,
                    .halo = ALLOC(int64_t, p->plan.halo_count, "labels"),
                    .keeps = stage + 1 == s->topology.stages};
    if (comm_max_double(s->run->parts->comm, from->weight != NULL) == 0)
        return;
    made->halo_weight = ALLOC(float, p->plan.halo_count, "weights");
    topology_tell(&p->plan, from->weight, made->halo_weight, sizeof(float));
}

static void start_labels(Spread *s, uint8_t *clamped) {
    const ProgramParts *parts = s->run->parts;
    const RowSet *set = nodes_of(parts);
    for (int64_t i = 0; i < set->own; i++) {
        clamped[i] = s->by_labels && i < set->reach[0];
        s->label[0][i] = !s->by_labels ? set->gid[i] : clamped[i] ? parts->shard->label[i] : -1;
        s->label[1][i] = s->label[2][i] = -2; // no label of any round
    }
}

static void spread_init(Spread *s, ProgramRun *run, uint8_t *clamped) {
    const ProgramParts *parts = run->parts;
    int64_t own = nodes_of(parts)->own;
    *s = (Spread){.run = run, .by_labels = strcmp(parts->config->program.start, "labels") == 0};
    topology_init(&s->topology, parts);
    for (int stage = 0; stage < s->topology.stages; stage++)
        stage_init(s, stage);
    for (int i = 0; i < 3; i++)
        s->label[i] = ALLOC(int64_t, own, "labels");
    if (s->topology.stages > 1)
        s->hyperedge = ALLOC(int64_t, parts->shard->set[HYPEREDGES].own, "labels");
    s->vote = ALLOC(Vote, longest_row(s->topology.pattern, s->topology.stages), "votes");
    start_labels(s, clamped);
    s->clamped = s->by_labels ? clamped : NULL;
}

static void spread_clear(Spread *s) {
    MEMORY_FREE(s->vote, s->hyperedge, s->label[2], s->label[1], s->label[0]);
    for (int stage = s->topology.stages - 1; stage >= 0; stage--)
        MEMORY_FREE(s->stage[stage].halo, s->stage[stage].halo_weight);
    topology_clear(&s->topology);
}

// ---- the run

typedef enum Ending { RUNNING, FIXED, CYCLE, NEVER } Ending;

// Of a cycle of two rounds, the one with the even number is kept, so that all ranks agree.
static Ending iterate(Spread *s, int64_t *rounds, int64_t *flipping) {
    int64_t most = program_iterations(s->run, &program_label_propagation);
    Ending ending = RUNNING;
    for (*rounds = 0; ending == RUNNING && *rounds < most && s->run->err->code == 0;) {
        round_of(s);
        ++*rounds;
        *flipping = differences(s, 1);
        if (*flipping == 0)
            ending = FIXED;
        else if (*rounds > 1 && differences(s, 2) == 0)
            ending = CYCLE;
        program_goes_on(s->run, *rounds, "changed", (double)*flipping);
    }
    return ending == RUNNING ? NEVER : ending;
}

// Distinct labels of covered nodes. Collective.
static int64_t communities(const Spread *s, const int64_t *label) {
    const ProgramParts *parts = s->run->parts;
    int64_t own = nodes_of(parts)->own, nodes = nodes_of(parts)->total, count = 0;
    FREED int64_t *mine = ALLOC(int64_t, own, "labels");
    for (int64_t i = 0; i < own; i++)
        mine[i] = s->run->components->covered[i] ? label[i] : -1;
    FREED int64_t *all = shard_gather(parts->shard, parts->comm, mine, sizeof *mine);
    if (all != NULL) {
        sort_int64(all, nodes);
        for (int64_t i = 0; i < nodes; i++)
            count += all[i] >= 0 && (i == 0 || all[i] != all[i - 1]);
    }
    comm_broadcast(parts->comm, &count, sizeof count, 0);
    return count;
}

// Of the nodes whose class was not given: how many have theirs, and how many none.
static void report_classes(Spread *s, const int64_t *label) {
    const Shard *shard = s->run->parts->shard;
    int64_t count[3] = {0};
    for (int64_t i = shard->set[NODES].reach[0]; i < shard->set[NODES].own; i++) {
        count[0] += shard->label[i] >= 0;
        count[1] += shard->label[i] >= 0 && label[i] >= 0;
        count[2] += shard->label[i] >= 0 && label[i] == shard->label[i];
    }
    comm_sum_int64(s->run->parts->comm, count, 3);
    report_reached(s->run, count[0], count[1], count[2]);
}

static void report(Spread *s, Ending ending, int64_t rounds, int64_t flipping) {
    ProgramRun *run = s->run;
    int64_t own = nodes_of(run->parts)->own;
    const int64_t *kept = ending == CYCLE && rounds % 2 == 1 ? s->label[1] : s->label[0];
    int64_t *copy = ALLOC(int64_t, own, "labels");
    memcpy(copy, kept, (size_t)own * sizeof *copy);
    program_count(run, "rounds", rounds);
    program_count(run, "communities", communities(s, kept));
    program_count(run, "nodes in a cycle of two rounds", ending == CYCLE ? flipping : 0);
    if (ending == NEVER)
        snprintf(run->result->warning, sizeof run->result->warning,
                 "label-propagation did not settle in %ld rounds: the last one changed %ld nodes",
                 rounds, flipping);
    if (s->by_labels)
        report_classes(s, kept);
    program_array(run, (ProgramArray){"labels.npy", "<i8", sizeof *copy, 0, 0, copy});
}

static void run(ProgramRun *run) {
    const char *start = program_start(run->parts, &program_label_propagation);
    if (strcmp(start, "ids") != 0 && strcmp(start, "labels") != 0) {
        error_config(run->err,
                     "program.start: label-propagation starts from ids or labels, found '%s'",
                     start);
        return;
    }
    CLEARED(spread_clear) Spread s;
    int64_t rounds, flipping = 0;
    FREED uint8_t *clamped = ALLOC(uint8_t, nodes_of(run->parts)->own, "clamped nodes");
    spread_init(&s, run, clamped);
    double since = clock_seconds();
    Ending ending = iterate(&s, &rounds, &flipping);
    run->seconds = clock_seconds() - since;
    run->bytes = rounds * topology_sent(&s.topology) * (int64_t)sizeof(int64_t);
    if (run->err->code == 0)
        report(&s, ending, rounds, flipping);
}

static int64_t row_bytes(UNUSED const ProgramParts *parts) { return sizeof(int64_t); }

static int64_t longest_of(const ShardRelation *edges, int64_t rows) {
    int64_t most = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t count = edges->offset[i + 1] - edges->offset[i];
        most = count > most ? count : most;
    }
    return most;
}

static void plan(ProgramPlan *plan) {
    const Shard *shard = plan->parts->shard;
    int64_t own = nodes_of(plan->parts)->own, halo = 0, longest = 0, hyperedges = 0;
    plan_patterns(plan, cover_of_sources);
    for (int stage = 0; stage < shard->sets; stage++) {
        const ShardRelation *edges = &shard->relation[shard_relation_of(shard, stage)];
        int64_t row = longest_of(edges, shard->set[edges->to].own);
        longest = row > longest ? row : longest;
        halo += edges->remote;
        hyperedges = stage > 0 ? shard->set[HYPEREDGES].own : 0;
    }
    // own nodes: of three rounds, the result, those of covered nodes, and who is clamped
    size_t labels = memory_product(5 * own + hyperedges + halo, sizeof(int64_t)) + (size_t)own;
    size_t weights = memory_product(halo, sizeof(float));
    alloc_host(&plan->allocator, labels + weights, "labels");
    alloc_host(&plan->allocator, memory_product(longest, sizeof(Vote)), "votes");
    plan_gather(plan, sizeof(int64_t));
}

const Program program_label_propagation = {.name = "label-propagation",
                                           .also = "lp",
                                           .keys = "iterations start",
                                           .start = "ids",
                                           .iterations = 100,
                                           .plan = plan,
                                           .row_bytes = row_bytes,
                                           .run = run};
