// Memory and time of an epoch, from the sizes of a cut.
//
// An epoch is a row of phases, one for each layer and direction, at whose end the ranks wait for
// each other. A phase takes as long as its slowest host. The cores of a host share the work of its
// ranks, but a rank uses no more than cores / ranks of them (at least one):
//
//   seconds of a host = max(sum of work / cores, most work of a rank / cores of a rank) / speed
//
// Messages: see messages_of. docs/plan.md has all formulas.
#include "fringe/plan.h"
#include "fringe/trainer.h"

#include <math.h>
#include <string.h>

enum { WINDOW = 4 }; // ring rounds in flight together (exchange)

typedef struct Work {     // of one rank in one phase
    double flops, beside; // beside: flops that need no message, in `flops`
    double own, gather;   // bytes of aggregates; own: those that need no message, in `gather`
    double point, loss, pack, unpack;
    double sent, rows; // bytes of messages, their rows
} Work;

typedef struct Planning {
    const Config *config;
    const PlanMachine *machine;
    PlanCut *cut;
    ModelShape shape;
    ModelKinds kinds;
    const PatternCounts *counts[2 * MODEL_LAYERS + SHARD_SETS]; // [kind] of the ranks that are held
    const Codec *codec;
    CodecValues values;
    const Schedule *schedule;
    double share[MODEL_LAYERS][2][WIDTH_MOST + 1]; // plan_widths of each exchange
    Error *err;
} Planning;

static bool planning_init(Planning *p) {
    const Shard *shard = p->cut->shard;
    const Config *c = p->config;
    p->codec = codec_find(c->quantization.codec, p->err);
    p->schedule = schedule_find(c->comm.schedule, p->err);
    if (p->err->code != 0 || !codec_configure(p->codec, c, &p->values, p->err) ||
        !model_shape(&p->shape, c, shard->features, shard->classes, shard->multilabel, p->err) ||
        !model_fits(&p->shape, shard, p->err))
        return false;
    model_kinds(&p->kinds, &p->shape, shard, p->cut->held);
    for (int k = 0; k < p->kinds.count; k++) {
        p->counts[k] =
            plan_cut_counts(p->cut, &p->kinds.kind[k], p->kinds.whole[k] >= 0, c, p->err);
        if (p->counts[k] == NULL)
            return false;
    }
    for (int l = 0; l < p->shape.layers && p->codec->has_widths; l++)
        for (int d = 0; d < 2; d++)
            if (model_exchanged(&p->shape, l, d) > 0)
                plan_widths(p->share[l][d], c, p->counts[p->kinds.of[l][d]], p->cut->held,
                            model_exchanged(&p->shape, l, d), p->machine);
    return true;
}

// ---- memory

static Comm comm_of(const Planning *p, int rank) {
    int host = p->machine->ranks_per_host, size = p->cut->parts;
    return (Comm){.rank = rank,
                  .size = size,
                  .node_rank = rank % host,
                  .node_size = host < size ? host : size};
}

static bool rank_memory(MemoryPlan *plan, const Planning *p, int rank) {
    const PatternCounts *mine[2 * MODEL_LAYERS + SHARD_SETS];
    Comm comm = comm_of(p, rank);
    ModelPatterns patterns;
    for (int k = 0; k < p->kinds.count; k++)
        mine[k] = &p->counts[k][rank];
    model_patterns_outline(&patterns, &p->shape, &p->kinds, mine, &p->cut->shard[rank], &comm);
    bool ok = trainer_plan_outline(plan, p->config, &p->cut->shard[rank], &patterns, &comm, p->err);
    model_patterns_clear(&patterns);
    return ok;
}

static bool estimate_memory(PlanEstimate *out, const Planning *p) {
    for (int rank = 0; rank < p->cut->held; rank++) {
        MemoryPlan plan;
        if (!rank_memory(&plan, p, rank))
            return false;
        size_t bytes = memory_plan_total(&plan) + memory_plan_device_total(&plan);
        if (rank == 0 || bytes < out->least)
            out->least = bytes;
        if (rank == 0 ||
            bytes > memory_plan_total(&out->memory) + memory_plan_device_total(&out->memory))
            out->memory = plan;
    }
    return true;
}

// ---- the work of a rank

static int64_t level_rows(const Planning *p, int rank, int level) {
    return set_reach(&p->cut->shard[rank].set[level_set(&p->shape, level)], p->kinds.hops[level]);
}

// Bytes of a message of so many rows.
static double message_bytes(const Planning *p, int l, int d, double rows) {
    const double *share = p->share[l][d];
    int64_t columns = model_exchanged(&p->shape, l, d);
    Widths widths = {.count = (int64_t)ceil(rows)};
    int64_t left = widths.count;
    for (int bits = 1; bits < WIDTH_MOST && p->codec->has_widths; bits++) {
        widths.of[bits] = (int64_t)(share[bits] * (double)widths.count);
        left -= widths.of[bits];
    }
    int widest = WIDTH_MOST;
    while (widest > 1 && share[widest] <= 0)
        widest--;
    widths.of[widest] += left; // what rounding has left
    const MessageLayout layout = {.rows = widths.count,
                                  .columns = columns,
                                  .widths = p->codec->has_widths ? &widths : NULL,
                                  .values = p->values};
    return rows > 0 ? MESSAGE_HEADER_BYTES + (double)p->codec->bytes(&layout) : 0;
}

static double sum_rows(const int64_t *group, int size) {
    double rows = 0;
    for (int g = 0; g + 1 < size; g++)
        rows += (double)group[g];
    return rows;
}

static double all_messages(const Planning *p, int l, int d, const int64_t *group, int size) {
    double bytes = 0;
    for (int g = 0; g + 1 < size; g++)
        bytes += message_bytes(p, l, d, (double)group[g]);
    return bytes;
}

// One aggregate: y = A x over rows of `columns` floats.
static void add_aggregate(Work *w, const Planning *p, int rank, int l, int d) {
    int kind = p->kinds.of[l][d];
    if (kind < 0)
        return;
    const PatternCounts *c = &p->counts[kind][rank];
    int64_t exchanged = model_exchanged(&p->shape, l, d);
    double columns = (double)(exchanged > 0 ? exchanged : p->shape.width[0]), row = 4 * columns;
    double own = row * ((double)c->own_entries + 2 * (double)c->rows);
    w->own += own;
    w->gather += own + row * ((double)c->halo_entries + 2 * (double)c->halo_rows);
    if (exchanged == 0) // the halo rows are kept
        return;
    w->gather += row * (double)(c->partial_entries + c->partials);
    double sent = sum_rows(c->sent, c->size), received = sum_rows(c->received, c->size);
    w->sent = all_messages(p, l, d, c->sent, c->size);
    w->rows = sent;
    w->pack += row * sent + w->sent;
    w->unpack += row * received + all_messages(p, l, d, c->received, c->size);
}

// Products with matrices: forward, the gradient of the matrix, and that of its input unless nothing
// below has weights.
static void add_dense(Work *w, const Planning *p, int rank, int l, int d) {
    for (int i = 0; i < p->shape.parameter_windows; i++) {
        const Parameter *q = &p->shape.parameter[i];
        if (!q->matrix || q->layer != l)
            continue;
        bool before = p->shape.transform_first[l] && q->role == ROLE_WEIGHT;
        double rows = (double)level_rows(p, rank, before ? l : l + 1);
        double product = 2 * rows * (double)q->rows * (double)q->columns;
        if (d == FORWARD) {
            w->flops += product;
            continue;
        }
        bool below = q->layer > p->shape.parameter[0].layer;
        w->flops += below ? 2 * product : product;
        w->beside += before ? 0 : product;
    }
}

// What follows a layer: read z, write h; back: read dh and z, write dz.
static void add_pointwise(Work *w, const Planning *p, int rank, int l, int d) {
    double out = 4 * (double)level_rows(p, rank, l + 1) * (double)p->shape.width[l + 1];
    if (p->shape.posted[l])
        w->point += d == FORWARD ? 2 * out : 3 * out;
    if (l == p->shape.layers - 1 && d == BACKWARD)
        w->loss += 2 * out;
    if (l > 0 || d == BACKWARD)
        return;
    if (p->shape.input_keep < 1) // dropout of the features, and of those that are kept of others
        w->point +=
            8 * (double)p->shape.width[0] *
            ((double)level_rows(p, rank, 0) +
             (p->shape.layer0 == LAYER0_KEPT
                  ? sum_rows(p->counts[p->kinds.of[0][FORWARD]][rank].received, p->cut->parts)
                  : 0));
    w->point += 5 * 4 * (double)p->shape.parameter_count; // the optimizer's step
}

static Work work_of(const Planning *p, int rank, int l, int d) {
    Work w = {0};
    bool ready = p->shape.layer0 == LAYER0_ONCE && l < p->shape.leading - 1;
    if (ready) // made at set-up
        return w;
    add_aggregate(&w, p, rank, l, d);
    add_dense(&w, p, rank, l, d);
    add_pointwise(&w, p, rank, l, d);
    return w;
}

// ---- hosts

static int hosts_of(const Planning *p) {
    return (p->cut->parts + p->machine->ranks_per_host - 1) / p->machine->ranks_per_host;
}

// An estimated cut has one rank, which stands for all.
static int held_rank(const Planning *p, int rank) { return p->cut->checked ? rank : 0; }

typedef struct HostSeconds {
    PlanTime time;
    double own, beside; // of them: what needs no message
} HostSeconds;

static double shared(double sum, double most, const Planning *p, double speed) {
    const PlanMachine *m = p->machine;
    int ranks = p->cut->parts < m->ranks_per_host ? p->cut->parts : m->ranks_per_host;
    double of_rank = fmax(1, floor((double)m->cores / ranks));
    return fmax(sum / m->cores, most / of_rank) / speed;
}

typedef struct SumMost {
    double sum, most;
} SumMost;

static void take(SumMost *at, double value) {
    at->sum += value;
    at->most = fmax(at->most, value);
}

static HostSeconds host_seconds(const Planning *p, int host, int l, int d) {
    SumMost flops = {0}, beside = {0}, gather = {0}, own = {0}, point = {0}, loss = {0}, pack = {0},
            unpack = {0};
    const PlanSpeed *s = &p->machine->speed;
    int begin = host * p->machine->ranks_per_host, end = begin + p->machine->ranks_per_host;
    for (int rank = begin; rank < end && rank < p->cut->parts; rank++) {
        Work w = work_of(p, held_rank(p, rank), l, d);
        take(&flops, w.flops), take(&beside, w.beside);
        take(&gather, w.gather), take(&own, w.own);
        take(&point, w.point), take(&loss, w.loss), take(&pack, w.pack), take(&unpack, w.unpack);
    }
    return (HostSeconds){.time = {.dense = shared(flops.sum, flops.most, p, s->flops),
                                  .aggregate = shared(gather.sum, gather.most, p, s->gather),
                                  .pointwise = shared(point.sum, point.most, p, s->point) +
                                               shared(loss.sum, loss.most, p, s->loss),
                                  .pack = shared(pack.sum, pack.most, p, s->pack) +
                                          shared(unpack.sum, unpack.most, p, s->unpack)},
                         .own = shared(own.sum, own.most, p, s->gather),
                         .beside = shared(beside.sum, beside.most, p, s->flops)};
}

static HostSeconds slowest_host(const Planning *p, int l, int d) {
    HostSeconds slowest = {0};
    int hosts = p->cut->checked ? hosts_of(p) : 1;
    for (int host = 0; host < hosts; host++) {
        HostSeconds one = host_seconds(p, host, l, d);
        if (plan_time_total(&one.time) >= plan_time_total(&slowest.time))
            slowest = one;
    }
    return slowest;
}

// ---- messages

// Bytes that the ranks of a host send to other hosts, or among themselves, in one ring round.
static void round_bytes(const Planning *p, int host, int l, int d, int round, double *out,
                        double *inside) {
    const PatternCounts *counts = p->counts[p->kinds.of[l][d]];
    int n = p->machine->ranks_per_host, parts = p->cut->parts, begin = host * n;
    for (int rank = begin; rank < begin + n && rank < parts; rank++) {
        double rows = (double)counts[held_rank(p, rank)].sent[round];
        double bytes = message_bytes(p, l, d, rows);
        bool stays = ring_reader(rank, round, parts) / n == host;
        *(stays ? inside : out) += bytes;
    }
}

typedef struct MessageSeconds {
    double link;   // computation may hide it
    double copies; // messages inside a host: its cores copy them twice
} MessageSeconds;

// Rounds overlap by WINDOW: a latency, then each round takes its bytes, or its part of a latency.
static MessageSeconds messages_of(const Planning *p, int l, int d) {
    int64_t columns = model_exchanged(&p->shape, l, d);
    MessageSeconds seconds = {0};
    int kind = p->kinds.of[l][d], hosts = p->cut->checked ? hosts_of(p) : 1;
    const PlanMachine *m = p->machine;
    if (kind < 0 || columns == 0)
        return seconds;
    for (int round = 0; round + 1 < p->cut->parts; round++) {
        double most_out = 0, most_inside = 0;
        for (int host = 0; host < hosts; host++) {
            double out = 0, inside = 0;
            round_bytes(p, host, l, d, round, &out, &inside);
            most_out = fmax(most_out, out);
            most_inside = fmax(most_inside, inside);
        }
        seconds.copies += 2 * most_inside / (m->speed.unpack * m->cores);
        if (most_out > 0)
            seconds.link += fmax(most_out / m->bandwidth, m->latency / WINDOW);
    }
    seconds.link += seconds.link > 0 ? m->latency : 0;
    return seconds;
}

// What the schedule lets computation cover.
static double covers(const Planning *p, const HostSeconds *host, int l, int d) {
    if (!p->schedule->hides)
        return 0;
    if (strcmp(p->schedule->name, "central") != 0)
        return host->own + host->beside;
    double rows = 0, marginal = 0;
    for (int rank = 0; rank < p->cut->held; rank++) {
        rows += (double)p->counts[p->kinds.of[l][d]][rank].rows;
        marginal += (double)p->counts[p->kinds.of[l][d]][rank].halo_rows;
    }
    return rows > 0 ? host->own * (1 - marginal / rows) : 0;
}

static double reduce_seconds(const Planning *p, double bytes) {
    const PlanMachine *m = p->machine;
    int parts = p->cut->parts, n = m->ranks_per_host < parts ? m->ranks_per_host : parts;
    double of_host = bytes / parts * n, leave = parts > 1 ? (double)(parts - n) / (parts - 1) : 0;
    double copies = 2 * of_host * (1 - leave) / (m->speed.unpack * m->cores);
    return copies + (leave > 0 ? of_host * leave / m->bandwidth + 2 * m->latency : 0);
}

// ---- an epoch

static void add_time(PlanTime *sum, const PlanTime *more) {
    sum->dense += more->dense;
    sum->aggregate += more->aggregate;
    sum->pointwise += more->pointwise;
    sum->pack += more->pack;
    sum->messages += more->messages;
    sum->reduce += more->reduce;
    sum->hidden += more->hidden;
}

double plan_time_total(const PlanTime *t) {
    return t->dense + t->aggregate + t->pointwise + t->pack + t->messages + t->reduce;
}

static void add_phase(PlanEstimate *out, const Planning *p, int l, int d) {
    HostSeconds host = slowest_host(p, l, d);
    MessageSeconds messages = messages_of(p, l, d);
    double exposed = messages.link > 0 ? fmax(0, messages.link - covers(p, &host, l, d)) : 0;
    host.time.messages = exposed + messages.copies;
    host.time.hidden = messages.link - exposed;
    add_time(&out->time, &host.time);
    double scale = p->cut->checked ? 1 : p->cut->parts / p->cut->halo_balance;
    for (int rank = 0; rank < p->cut->held; rank++) {
        Work w = work_of(p, rank, l, d);
        out->bytes += scale * w.sent;
        out->rows += scale * w.rows;
    }
}

static void estimate_time(PlanEstimate *out, const Planning *p) {
    int parts = p->cut->parts;
    for (int l = 0; l < p->shape.layers; l++)
        for (int d = 0; d < 2; d++)
            add_phase(out, p, l, d);
    for (int rank = 0; rank < parts; rank++)
        out->reduce_bytes += (double)gradsync_bytes_of(p->shape.parameter_count, parts, rank);
    out->time.reduce = reduce_seconds(p, out->reduce_bytes);
}

bool plan_estimate(PlanEstimate *out, const Config *config, PlanCut *cut,
                   const PlanMachine *machine, Error *err) {
    Planning *p = ALLOC(Planning, 1, "plan"); // too large for the stack
    *out = (PlanEstimate){.halo = cut->halo};
    *p = (Planning){.config = config, .machine = machine, .cut = cut, .err = err};
    bool ok = planning_init(p) && estimate_memory(out, p);
    if (ok)
        estimate_time(out, p);
    memory_free(p);
    return ok;
}
