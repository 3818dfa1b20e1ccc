// What a person wants to know before the first epoch: the data, the parts, the memory, the kernels,
// and how far guessing gets (the majority baseline).

#include "internal.h"

#include <math.h>
#include <string.h>

typedef struct RankFacts {
    int64_t own, central, halo, predicted;
} RankFacts;

// --- the baseline

static void count_majority(const Shard *shard, int64_t hit[4]) {
    for (int64_t row = 0; row < shard->own; row++)
        hit[shard->split[row]] += shard->label[row] == shard->majority;
}

// Classes that at least half of the training nodes have, as a row of 0 and 1. Collective.
static uint8_t *common_classes(const Session *s) {
    const Shard *shard = &s->shard;
    int64_t *nodes = TAKE(int64_t, shard->classes, "training nodes of a class");
    uint8_t *common = TAKE(uint8_t, shard->classes, "common classes");
    for (int64_t row = 0; row < shard->own; row++)
        for (int64_t k = 0; shard->split[row] == SPLIT_TRAIN && k < shard->classes; k++)
            nodes[k] += shard->labels[row * shard->classes + k];
    comm_sum_int64(&s->comm, nodes, (int)shard->classes);
    for (int64_t k = 0; k < shard->classes; k++)
        common[k] = shard->train_nodes > 0 && 2 * nodes[k] >= shard->train_nodes;
    memory_give(nodes);
    return common;
}

// Micro-F1 of saying `common` of every node: 2 TP / (said + there). Collective.
static void baseline_multilabel(const Session *s, double baseline[4]) {
    const Shard *shard = &s->shard;
    uint8_t *common = common_classes(s);
    int64_t count[4][2] = {{0}}; // 2 TP; said + there
    for (int64_t row = 0; row < shard->own; row++)
        for (int64_t k = 0; k < shard->classes; k++) {
            uint8_t there = shard->labels[row * shard->classes + k];
            count[shard->split[row]][0] += 2 * (there & common[k]);
            count[shard->split[row]][1] += there + common[k];
        }
    comm_sum_int64(&s->comm, &count[0][0], 8);
    for (int split = 0; split < 4; split++)
        baseline[split] =
            count[split][1] > 0 ? (double)count[split][0] / (double)count[split][1] : NAN;
    memory_give(common);
}

static void baseline_single(const Session *s, double baseline[4]) {
    const Shard *shard = &s->shard;
    int64_t hit[4] = {0}, all[4] = {0, shard->train_nodes, shard->val_nodes, shard->test_nodes};
    if (shard->label != NULL)
        count_majority(shard, hit);
    comm_sum_int64(&s->comm, hit, 4);
    for (int split = SPLIT_TRAIN; split <= SPLIT_TEST; split++)
        baseline[split] = all[split] > 0 ? (double)hit[split] / (double)all[split] : NAN;
}

// --- exchanges

static int64_t *gather_pairs(const Comm *comm, const Pattern *p) {
    int size = comm->size;
    if (size > FACTS_PAIRS)
        return NULL;
    int64_t *mine = TAKE(int64_t, 2 * size, "facts of all ranks"); // by sender
    int64_t *all = TAKE(int64_t, 2 * (int64_t)size * size, "facts of all ranks");
    for (int g = 0; g + 1 < size; g++) {
        int64_t *from = mine + 2 * ring_sender(comm, g);
        from[0] = p->receive_offset[g + 1] - p->receive_offset[g];
        from[1] = p->sources_read[g];
    }
    comm_all_gather(comm, mine, all, 2 * (size_t)size * sizeof *mine);
    memory_give(mine);
    if (comm->rank == 0)
        return all; // [reader, sender]
    memory_give(all);
    return NULL;
}

static ExchangeFacts exchange_facts(const Comm *comm, const Channel *channel, int l, int d) {
    const Pattern *p = channel_pattern(channel);
    int64_t count[3] = {p->halo_count, p->pre.rows, 0};
    for (int g = 0; g + 1 < p->size; g++)
        count[2] += p->sources_read[g];
    comm_sum_int64(comm, count, 3);
    return (ExchangeFacts){.layer = l,
                           .direction = d,
                           .columns = channel_columns(channel),
                           .rows = count[0],
                           .sums = count[1],
                           .sources = count[2],
                           .pair = gather_pairs(comm, p)};
}

static void exchanges_gather(RunFacts *facts, const Comm *comm, const Trainer *trainer) {
    for (int l = 0; l < trainer_shape(trainer)->layers; l++)
        for (int d = 0; d < 2; d++) {
            Channel *channel = model_channel(trainer_model(trainer), l, d);
            if (channel != NULL)
                facts->exchange[facts->exchanges++] = exchange_facts(comm, channel, l, d);
        }
    facts->patterns_seconds = comm_max_double(comm, trainer_patterns(trainer)->seconds);
}

void facts_clear(RunFacts *facts) {
    for (int i = 0; i < facts->exchanges; i++)
        memory_give(facts->exchange[i].pair);
    facts->exchanges = 0;
}

// --- all ranks

RunFacts facts_gather(const Session *s, const Trainer *trainer) {
    const Shard *shard = &s->shard;
    RunFacts facts = {.own_least = INT64_MAX};
    RankFacts mine = {shard->own, shard->central, shard->forward.remote,
                      (int64_t)memory_plan_total(trainer_plan(trainer))};
    RankFacts *all = TAKE(RankFacts, s->comm.size, "facts of all ranks");
    comm_all_gather(&s->comm, &mine, all, sizeof mine);
    for (int rank = 0; rank < s->comm.size; rank++) {
        facts.own_least = all[rank].own < facts.own_least ? all[rank].own : facts.own_least;
        facts.own_most = all[rank].own > facts.own_most ? all[rank].own : facts.own_most;
        facts.central += all[rank].central;
        facts.halo += all[rank].halo;
        if ((size_t)all[rank].predicted > facts.predicted)
            facts.predicted = (size_t)all[rank].predicted;
    }
    memory_give(all);
    exchanges_gather(&facts, &s->comm, trainer);
    if (shard->multilabel)
        baseline_multilabel(s, facts.baseline);
    else
        baseline_single(s, facts.baseline);
    return facts;
}

// --- printing

static double mebibytes(size_t bytes) { return (double)bytes / (1 << 20); }

static void print_memory(const Trainer *trainer, const RunFacts *facts) {
    const MemoryPlan *plan = trainer_plan(trainer);
    bool said[MEMORY_PLAN_ITEMS] = {false};
    terminal_say("memory     predicted %.1f MiB for the largest rank; of rank 0:",
                 mebibytes(facts->predicted));
    for (int place = 0; place < 3 && place < plan->count; place++) {
        int largest = -1;
        for (int i = 0; i < plan->count; i++)
            if (!said[i] && (largest < 0 || plan->item[i].bytes > plan->item[largest].bytes))
                largest = i;
        said[largest] = true;
        terminal_say("%s %s %.1f", place > 0 ? "," : "", plan->item[largest].what,
                     mebibytes(plan->item[largest].bytes));
    }
    terminal_say("\n");
}

// Floats, because rows of layers differ in width.
static void print_exchanges(const Session *s, const RunFacts *facts) {
    double sent = 0, sources = 0;
    for (int i = 0; i < facts->exchanges; i++) {
        sent += (double)facts->exchange[i].rows * (double)facts->exchange[i].columns;
        sources += (double)facts->exchange[i].sources * (double)facts->exchange[i].columns;
    }
    if (s->comm.size > 1)
        terminal_say(
            "messages   %d exchanges an epoch, %.3g floats (%.3g if sources alone travelled), "
            "planned in %.2f s\n",
            facts->exchanges, sent, sources, facts->patterns_seconds);
}

// A short training with the default period never leaves the first width.
static void warn_of_period(const Session *s, const RunFacts *facts) {
    const Config *c = &s->config;
    int64_t first = assigner_first_epoch(c);
    const Codec *codec = codec_find(c->messages.codec, &(Error){0});
    if (facts->exchanges > 0 && codec->has_widths && first > c->train.epochs)
        terminal_say(
            "remark     assigned widths would begin in epoch %lld; in train.epochs=%lld all "
            "rows have messages.first_width=%lld bits; lower messages.period (%lld)\n",
            (long long)first, (long long)c->train.epochs, (long long)c->messages.first_width,
            (long long)c->messages.period);
}

// Where features alone decide what travels, it has travelled at set-up, in fp32.
static void warn_of_silence(const Session *s, const RunFacts *facts) {
    const Config *c = &s->config;
    if (facts->exchanges == 0 && strcmp(c->messages.codec, "fp32") != 0)
        terminal_say("remark     an epoch of this model exchanges no rows, so messages.codec=%s "
                     "has nothing to shorten (mode %s)\n",
                     c->messages.codec, c->mode);
}

void facts_print(const Session *s, const Trainer *trainer, const RunFacts *facts) {
    const Shard *shard = &s->shard;
    terminal_say("data       %s: %lld nodes, %lld edges (%s), %lld features, %lld classes%s; "
                 "train %lld, validation %lld, test %lld\n",
                 SHOWN(shard->dataset_name), (long long)shard->nodes, (long long)shard->edges,
                 shard->symmetric ? "symmetric" : "directed", (long long)shard->features,
                 (long long)shard->classes, shard->multilabel ? " (several per node)" : "",
                 (long long)shard->train_nodes, (long long)shard->val_nodes,
                 (long long)shard->test_nodes);
    terminal_say("parts      %d ranks x %d threads, %s: own %lld to %lld rows, central %.1f %%, "
                 "remote-neighbour ratio %.1f %%\n",
                 s->comm.size, trainer_threads(trainer), SHOWN(s->config.partition.method),
                 (long long)facts->own_least, (long long)facts->own_most,
                 100.0 * (double)facts->central / (double)shard->nodes,
                 100.0 * (double)facts->halo / (double)shard->nodes);
    print_exchanges(s, facts);
    warn_of_period(s, facts);
    warn_of_silence(s, facts);
    print_memory(trainer, facts);
    terminal_say("kernels    %s\n", trainer_kernels(trainer));
    char validation[REPORT_PERCENT], test[REPORT_PERCENT];
    terminal_say("baseline   %s: validation %s, test %s %s\n",
                 shard->multilabel ? "the classes most training nodes have" : "most frequent class",
                 report_percent(validation, facts->baseline[SPLIT_VAL]),
                 report_percent(test, facts->baseline[SPLIT_TEST]), metric_name(shard));
}
