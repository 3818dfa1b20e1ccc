// Memory and time of an epoch, from the sizes of a cut.
//
// An epoch is a row of phases, one for each layer and direction, at whose end the ranks wait for
// each other. A phase takes as long as its slowest host. The cores of a host share the work of its
// ranks, but a rank uses no more than cores / ranks of them (at least one):
//
//   seconds of a host = max(sum of work / cores, most work of a rank / cores of a rank) / speed
//
// Messages: see messages_of. docs/plan.md has all formulas.
#include "internal.h"

enum { IN_FLIGHT = 4 }; // ring rounds in flight together (exchange)

static bool planning_init(Planning *p) {
    const Shard *shard = p->cut->shard;
    const Config *c = p->config;
    if (!exchange_configure(c, &p->schedule, &p->options, p->err) ||
        !gradsync_configure(&p->gradients, c, p->err) ||
        !model_shape_of_shard(&p->shape, c, shard, p->err) || !model_fits(&p->shape, shard, p->err))
        return false;
    model_kinds(&p->kinds, &p->shape, shard, p->cut->held);
    for (int k = 0; k < p->kinds.count; k++) {
        p->counts[k] =
            plan_cut_counts(p->cut, &p->kinds.kind[k], p->kinds.whole[k] >= 0, c, p->err);
        if (p->counts[k] == NULL)
            return false;
    }
    for (int l = 0; l < p->shape.layers && p->options.codec->has_widths; l++)
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

static bool rank_memory(MemoryForecast *forecast, const Planning *p, int rank) {
    const PatternCounts *mine[2 * MODEL_LAYERS + SHARD_SETS];
    Comm comm = comm_of(p, rank);
    CLEARED(model_patterns_clear) ModelPatterns patterns;
    for (int k = 0; k < p->kinds.count; k++)
        mine[k] = &p->counts[k][rank];
    model_patterns_outline(&patterns, &p->shape, &p->kinds, mine, &p->cut->shard[rank], &comm);
    return trainer_forecast_outline(forecast, p->config, &p->cut->shard[rank], &patterns, &comm,
                                    p->err);
}

static bool estimate_memory(PlanEstimate *out, const Planning *p) {
    for (int rank = 0; rank < p->cut->held; rank++) {
        MemoryForecast forecast;
        if (!rank_memory(&forecast, p, rank))
            return false;
        size_t bytes = forecast_total(&forecast) + forecast_device_total(&forecast);
        if (rank == 0 || bytes < out->least)
            out->least = bytes;
        if (rank == 0 || bytes > forecast_total(&out->memory) + forecast_device_total(&out->memory))
            out->memory = forecast;
    }
    return true;
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
    double of_rank = fmax(1, floor(m->cores / ranks));
    return fmax(sum / m->cores, most / of_rank) / speed;
}

static HostSeconds host_seconds(const Planning *p, int host, int l, int d) {
    const PlanSpeed *s = &p->machine->speed;
    const double speed[WORKS] = {s->flops, s->flops, s->gather, s->gather,
                                 s->point, s->loss,  s->pack,   s->unpack};
    double sum[WORKS] = {0}, most[WORKS] = {0}, seconds[WORKS];
    int begin = host * p->machine->ranks_per_host, end = begin + p->machine->ranks_per_host;
    for (int rank = begin; rank < end && rank < p->cut->parts; rank++) {
        Work w = work_of(p, held_rank(p, rank), l, d);
        for (int k = 0; k < WORKS; k++) {
            sum[k] += w.of[k];
            most[k] = fmax(most[k], w.of[k]);
        }
    }
    for (int k = 0; k < WORKS; k++)
        seconds[k] = shared(sum[k], most[k], p, speed[k]);
    return (HostSeconds){.time = {.dense = seconds[FLOPS],
                                  .aggregate = seconds[GATHER],
                                  .pointwise = seconds[POINT] + seconds[LOSS],
                                  .pack = seconds[PACK] + seconds[UNPACK]},
                         .own = seconds[GATHER_OWN],
                         .beside = seconds[FLOPS_BESIDE]};
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

// Rounds overlap by IN_FLIGHT: a latency, then each round takes its bytes, or its part of a
// latency.
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
            seconds.link += fmax(most_out / m->bandwidth, m->latency / IN_FLIGHT);
    }
    seconds.link += seconds.link > 0 ? m->latency : 0;
    return seconds;
}

// What the schedule lets computation of the same phase cover.
static double covers(const Planning *p, const HostSeconds *host, int l, int d) {
    if (!p->schedule->hides)
        return 0;
    if (p->schedule->keeps_in_flight)
        return INFINITY; // hide_behind_epoch takes it from there
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

static void add_time(PlanTime *sum, const PlanTime *more) { // seconds alone are in it
    double *to = (double *)sum;
    for (size_t k = 0; k < sizeof *sum / sizeof *to; k++)
        to[k] += ((const double *)more)[k];
}

double plan_time_total(const PlanTime *t) {
    return t->dense + t->aggregate + t->pointwise + t->pack + t->messages + t->reduce;
}

static PlanTime phase_time(const Planning *p, int l, int d) {
    HostSeconds host = slowest_host(p, l, d);
    MessageSeconds messages = messages_of(p, l, d);
    double exposed = messages.link > 0 ? fmax(0, messages.link - covers(p, &host, l, d)) : 0;
    host.time.messages = exposed + messages.copies;
    host.time.hidden = messages.link - exposed;
    return host.time;
}

// A training would measure which exchanges take longer with fp32.
static PlanTime choose_codec(Planning *p, int l, int d) {
    PlanTime with_codec = phase_time(p, l, d);
    p->full_precision[l][d] = strcmp(p->config->quantization.exchanges, "measured") == 0;
    PlanTime with_fp32 = phase_time(p, l, d);
    p->full_precision[l][d] =
        p->full_precision[l][d] && plan_time_total(&with_fp32) <= plan_time_total(&with_codec);
    return p->full_precision[l][d] ? with_fp32 : with_codec;
}

static void add_phase(PlanEstimate *out, Planning *p, int l, int d) {
    PlanTime time = choose_codec(p, l, d);
    add_time(&out->time, &time);
    double scale = p->cut->checked ? 1 : p->cut->parts / p->cut->halo_balance;
    for (int rank = 0; rank < p->cut->held; rank++) {
        Work w = work_of(p, rank, l, d);
        out->bytes += scale * w.sent;
        out->rows += scale * w.rows;
    }
}

static double gradient_bytes(const Planning *p) {
    GradSpan span[MODEL_PARAMETERS];
    GradForm form = p->gradients;
    model_spans(&form, &p->shape, span);
    return (double)gradsync_bytes_most_of(&form, p->cut->parts);
}

// Messages that outlive their epoch: an epoch takes the larger of its computation and of them.
static void hide_behind_epoch(PlanTime *t) {
    double links = t->hidden, computation = t->dense + t->aggregate + t->pointwise + t->pack;
    t->hidden = fmin(links, computation);
    t->messages += links - t->hidden;
}

static void estimate_time(PlanEstimate *out, Planning *p) {
    for (int l = 0; l < p->shape.layers; l++)
        for (int d = 0; d < 2; d++)
            add_phase(out, p, l, d);
    if (p->schedule->hides && p->schedule->keeps_in_flight)
        hide_behind_epoch(&out->time);
    out->reduce_bytes = gradient_bytes(p);
    out->time.reduce = reduce_seconds(p, out->reduce_bytes);
}

bool plan_estimate(PlanEstimate *out, const Config *config, PlanCut *cut,
                   const PlanMachine *machine, Error *err) {
    FREED Planning *p = ALLOC(Planning, 1, "plan"); // too large for the stack
    *out = (PlanEstimate){.halo = cut->halo};
    *p = (Planning){.config = config, .machine = machine, .cut = cut, .err = err};
    bool ok = planning_init(p) && estimate_memory(out, p);
    if (ok)
        estimate_time(out, p);
    return ok;
}
