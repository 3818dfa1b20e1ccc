// Prints the lines before the first epoch: data, parts, messages, memory, kernels and baseline.
// Each line begins with one word, so that a program can find it.

#include "internal.h"

#include <string.h>

static double mebibytes(size_t bytes) { return (double)bytes / (1 << 20); }

static void print_memory(const Trainer *trainer, const RunSummary *summary) {
    const MemoryPlan *plan = trainer_plan(trainer);
    bool printed[MEMORY_PLAN_ITEMS] = {false};
    terminal_say("memory     predicted %.1f MiB for the largest rank; of rank 0:",
                 mebibytes(summary->predicted));
    for (int place = 0; place < 3 && place < plan->count; place++) {
        int largest = -1;
        for (int i = 0; i < plan->count; i++)
            if (!printed[i] && (largest < 0 || plan->item[i].bytes > plan->item[largest].bytes))
                largest = i;
        printed[largest] = true;
        terminal_say("%s %s %.1f", place > 0 ? "," : "", plan->item[largest].what,
                     mebibytes(plan->item[largest].bytes));
    }
    terminal_say("\n");
}

// Counts floats, because rows of different layers differ in width.
static void print_exchanges(const Comm *comm, const RunSummary *summary) {
    double sent = 0, sources = 0;
    for (int i = 0; i < summary->exchanges; i++) {
        sent += (double)summary->exchange[i].rows * (double)summary->exchange[i].columns;
        sources += (double)summary->exchange[i].sources * (double)summary->exchange[i].columns;
    }
    if (comm->size > 1)
        terminal_say(
            "messages   %d exchanges per epoch, %.3g floats (%.3g with lossless.cover=sources), "
            "planned in %.2f s\n",
            summary->exchanges, sent, sources, summary->patterns_seconds);
}

// Warns if the training is too short for the first assignment.
static void warn_of_period(const Config *c, const RunSummary *summary) {
    int64_t first = assigner_first_epoch(c);
    const Codec *codec = codec_find(c->quantization.codec, &(Error){0});
    if (summary->exchanges > 0 && codec->has_widths && first > c->train.epochs)
        terminal_say(
            "warning    the first assignment would be in epoch %lld, but train.epochs is %lld, so "
            "all "
            "rows keep quantization.initial_bits=%lld bits; lower quantization.period (%lld)\n",
            (long long)first, (long long)c->train.epochs, (long long)c->quantization.initial_bits,
            (long long)c->quantization.period);
}

// Warns if an epoch exchanges no rows: the features were then exchanged at set-up, in fp32.
static void warn_of_silence(const Config *c, const RunSummary *summary) {
    if (summary->exchanges == 0 && strcmp(c->quantization.codec, "fp32") != 0)
        terminal_say(
            "warning    an epoch of this model exchanges no rows, so quantization.codec=%s "
            "has no effect (mode %s)\n",
            c->quantization.codec, c->mode);
}

void report_run_summary(const Config *config, const Shard *shard, const Comm *comm,
                        const Trainer *trainer, const RunSummary *summary) {
    terminal_say("data       %s: %lld nodes, %lld edges (%s), %lld features, %lld classes%s; "
                 "train %lld, validation %lld, test %lld\n",
                 SHOWN(shard->dataset_name), (long long)shard->set[NODES].total,
                 (long long)shard->edges, shard_is_symmetric(shard) ? "symmetric" : "directed",
                 (long long)shard->features, (long long)shard->classes,
                 shard->multilabel ? " (several per node)" : "", (long long)shard->train_nodes,
                 (long long)shard->val_nodes, (long long)shard->test_nodes);
    terminal_say("parts      %d ranks x %d threads, %s: own %lld to %lld rows, central %.1f %%, "
                 "remote-neighbour ratio %.1f %%\n",
                 comm->size, trainer_threads(trainer), SHOWN(config->partition.method),
                 (long long)summary->own_least, (long long)summary->own_most,
                 100.0 * (double)summary->central / (double)shard->set[NODES].total,
                 100.0 * (double)summary->halo / (double)shard->set[NODES].total);
    print_exchanges(comm, summary);
    warn_of_period(config, summary);
    warn_of_silence(config, summary);
    print_memory(trainer, summary);
    terminal_say("kernels    %s\n", trainer_kernels(trainer));
    char validation[REPORT_PERCENT], test[REPORT_PERCENT];
    terminal_say("baseline   %s: validation %s, test %s %s\n",
                 shard->multilabel ? "the classes that most training nodes have"
                                   : "most frequent class",
                 report_percent(validation, summary->baseline[SPLIT_VAL]),
                 report_percent(test, summary->baseline[SPLIT_TEST]), report_metric_name(shard));
}
