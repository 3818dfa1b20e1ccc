// What all ranks together know of a training before its first epoch: how rows and messages are
// spread, how much memory is planned, and how far guessing gets.

#include "internal.h"

#include <unistd.h>

typedef struct RankSummary {
    int64_t own, central, halo, predicted, device_predicted;
} RankSummary;

// What only rank 0 keeps.
static void *kept_by_root(const Comm *comm, void *all) {
    if (comm->rank == 0)
        return all;
    memory_free(all);
    return NULL;
}

static int64_t *gather_pairs(const Comm *comm, const HaloPlan *p) {
    int size = comm->size;
    if (size > SUMMARY_PAIRS)
        return NULL;
    FREED int64_t *mine = ALLOC(int64_t, 2 * size, "summary of all ranks"); // by sender
    int64_t *all = ALLOC(int64_t, 2 * (int64_t)size * size, "summary of all ranks");
    for (int g = 0; g + 1 < size; g++) {
        int64_t *from = mine + 2 * ring_sender(comm->rank, g, size);
        from[0] = p->receive_offset[g + 1] - p->receive_offset[g];
        from[1] = p->sources_read[g];
    }
    comm_all_gather(comm, mine, all, 2 * (size_t)size * sizeof *mine);
    return kept_by_root(comm, all); // [reader, sender]
}

static ExchangeSummary summarize_exchange(const Comm *comm, const Channel *channel, ExchangeId id) {
    const HaloPlan *p = channel_halo_plan(channel);
    int64_t count[3] = {p->halo_count, p->partials, 0};
    for (int g = 0; g + 1 < p->size; g++)
        count[2] += p->sources_read[g];
    comm_sum_int64(comm, count, 3);
    return (ExchangeSummary){.id = id,
                             .columns = channel_columns(channel),
                             .rows = count[0],
                             .sums = count[1],
                             .sources = count[2],
                             .pair = gather_pairs(comm, p)};
}

static void summarize_exchanges(RunSummary *summary, const Trainer *t) {
    for (int l = 0; l < t->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            ExchangeId id = {l, d};
            Channel *channel = model_channel(t->model, id);
            if (channel != NULL)
                summary->exchange[summary->exchanges++] = summarize_exchange(t->comm, channel, id);
        }
    summary->patterns_seconds = comm_max_double(t->comm, t->patterns.seconds);
}

void run_summary_clear(RunSummary *summary) {
    for (int i = 0; i < summary->exchanges; i++)
        memory_free(summary->exchange[i].pair);
    memory_free(summary->host);
    summary->host = NULL;
    summary->exchanges = 0;
}

static char (*gather_hosts(const Comm *comm))[SUMMARY_HOST] {
    char mine[SUMMARY_HOST] = "";
    char(*all)[SUMMARY_HOST] =
        (char(*)[SUMMARY_HOST])ALLOC(char, comm->size *(int64_t)SUMMARY_HOST, "names of hosts");
    gethostname(mine, sizeof mine - 1);
    comm_all_gather(comm, mine, all, sizeof mine);
    return kept_by_root(comm, all);
}

RunSummary trainer_summary(const Trainer *t) {
    const Shard *shard = t->shard;
    RunSummary summary = {.own_least = INT64_MAX};
    RankSummary mine = {shard->set[NODES].own, shard->set[NODES].central,
                        shard->relation[IN_EDGES].remote, (int64_t)forecast_total(&t->forecast),
                        (int64_t)forecast_device_total(&t->forecast)};
    RankSummary *all = ALLOC(RankSummary, t->comm->size, "summary of all ranks");
    comm_all_gather(t->comm, &mine, all, sizeof mine);
    for (int rank = 0; rank < t->comm->size; rank++) {
        summary.own_least = all[rank].own < summary.own_least ? all[rank].own : summary.own_least;
        summary.own_most = all[rank].own > summary.own_most ? all[rank].own : summary.own_most;
        summary.central += all[rank].central;
        summary.halo += all[rank].halo;
        if (all[rank].own > 0)
            summary.halo_ratio += (double)all[rank].halo / ((double)all[rank].own * t->comm->size);
        if ((size_t)all[rank].predicted > summary.predicted)
            summary.predicted = (size_t)all[rank].predicted;
        if ((size_t)all[rank].device_predicted > summary.device_predicted)
            summary.device_predicted = (size_t)all[rank].device_predicted;
    }
    memory_free(all);
    summarize_exchanges(&summary, t);
    summary.left_out = t->left_out;
    summary.sparse = t->shape.sparse;
    summary.dense_why = t->shape.dense_why;
    summary.host = gather_hosts(t->comm);
    model_baseline(shard, t->comm, summary.baseline);
    if (t->shape.columns && t->comm->size > 1)
        model_norm_bytes(summary.norm_bytes, &t->shape, &t->patterns, shard, t->comm);
    return summary;
}

RankTimes *trainer_rank_times(const Trainer *t) {
    double share = t->timed > 0 ? 1 / (double)t->timed : 0;
    const double *s = t->spent;
    RankTimes mine = {.epochs = t->timed,
                      .compute = share * (s[TIMER_AGGREGATE_OWN] + s[TIMER_AGGREGATE_HALO] +
                                          s[TIMER_DENSE] + s[TIMER_POINTWISE]),
                      .pack = share * (s[TIMER_PACK] + s[TIMER_UNPACK]),
                      .wait = share * s[TIMER_WAIT],
                      .reduce = share * s[TIMER_REDUCE]};
    RankTimes *all = ALLOC(RankTimes, t->comm->size, "times of all ranks");
    comm_all_gather(t->comm, &mine, all, sizeof mine);
    return kept_by_root(t->comm, all);
}
