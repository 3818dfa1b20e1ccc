// Prints the lines before the first epoch: data, parts, baseline, and with --verbose messages,
// memory and kernels. Each line begins with one word, so that a program can find it.

#include "internal.h"

static double mebibytes(size_t bytes) { return (double)bytes / (1 << 20); }

// The three largest items of the host, or of the device.
static void print_items(const MemoryForecast *forecast, bool on_device, const char *where,
                        size_t predicted) {
    bool printed[FORECAST_ITEMS] = {false};
    terminal_detail("memory     predicted %.1f MiB%s for the largest rank; of rank 0:",
                    mebibytes(predicted), where);
    for (int place = 0; place < 3; place++) {
        int largest = forecast_largest(forecast, on_device, printed);
        if (largest < 0)
            break;
        printed[largest] = true;
        terminal_detail("%s %s %.1f MiB", place > 0 ? "," : "", forecast->item[largest].what,
                        mebibytes(forecast->item[largest].bytes));
    }
    terminal_detail("\n");
}

static void print_memory(const Trainer *trainer, const RunSummary *summary) {
    print_items(trainer_forecast(trainer), false, "", summary->predicted);
    if (summary->device_predicted > 0)
        print_items(trainer_forecast(trainer), true, " of its device", summary->device_predicted);
}

// Counts floats, because rows of different layers differ in width.
static void print_exchanges(const Comm *comm, const RunSummary *summary) {
    double sent = 0, sources = 0;
    for (int i = 0; i < summary->exchanges; i++) {
        sent += (double)summary->exchange[i].rows * (double)summary->exchange[i].columns;
        sources += (double)summary->exchange[i].sources * (double)summary->exchange[i].columns;
    }
    if (comm->size > 1)
        terminal_detail("messages   %d exchanges per epoch, %.3g floats "
                        "(%.3g with lossless.cover=sources), planned in %.2f s\n",
                        summary->exchanges, sent, sources, summary->patterns_seconds);
}

// A norm of columns needs all rows of the levels below it.
static void print_norm(const RunSummary *summary) {
    if (summary->norm_bytes[0] > 0)
        terminal_note("norm       batch: fp32 rows of an epoch have %s, with model.norm=layer %s; "
                      "two sums over ranks for each normed layer\n",
                      SHOWN_BYTES(summary->norm_bytes[0]), SHOWN_BYTES(summary->norm_bytes[1]));
}

// "mean, difference": what remembers rows of that direction.
static void put_memories(char *out, size_t size, const CodecOptions *options) {
    out[0] = 0;
    for (int i = 0; i < RESIDUALS; i++) {
        const Residual *of = options->residual[i].of;
        if (of != NULL && of->bytes != NULL)
            text_add(out, size, ", ", "%s", of->name);
    }
    if (out[0] == 0)
        snprintf(out, size, "none");
}

// What is kept of the halo rows that travel, and what remembers them.
static void print_halo(const Config *c, const Comm *comm) {
    char memory[2][64], sampled[64] = "";
    CodecOptions options = {0};
    Error none = {0};
    const Schedule *schedule;
    bool known = exchange_configure(c, &schedule, &options, &none);
    for (int d = 0; known && d < 2; d++) {
        CodecOptions of = schedule_options(schedule, &options, d);
        put_memories(memory[d], sizeof memory[d], &of);
    }
    bool remembered = known && (strcmp(memory[0], "none") != 0 || strcmp(memory[1], "none") != 0);
    if (comm->size == 1 || !(remembered || c->comm.sample < 1))
        return;
    snprintf(sampled, sizeof sampled, "each row with probability %g", c->comm.sample);
    terminal_note("halo       %s; memory %s forward, %s backward\n",
                  c->comm.sample < 1 ? sampled : "all rows", memory[0], memory[1]);
}

const char *gradients_text(char out[GRADIENTS_TEXT], const Config *c) {
    const char *codec = c->gradients.codec;
    bool chosen = strcmp(c->gradients.bits_rule, "fixed") != 0,
         thin = strcmp(codec, "lowrank") == 0;
    char what[3 * CONFIG_WORD];
    if (thin)
        snprintf(what, sizeof what, "sums of rank %ld", c->gradients.rank);
    else if (strcmp(codec, "keys") == 0)
        snprintf(what, sizeof what, "the largest %g of the values and their keys",
                 c->gradients.top);
    else if (strcmp(codec, "sketch") == 0)
        snprintf(what, sizeof what, "at most %ld quantiles of a message",
                 c->gradients.sketch_buckets);
    else
        snprintf(what, sizeof what, "codec %s, %ld bit%s%s%s", codec, c->gradients.bits,
                 c->gradients.bits == 1 ? "" : "s", chosen ? " by " : "",
                 chosen ? c->gradients.bits_rule : "");
    snprintf(out, GRADIENTS_TEXT, "%s: %s, memory %s%s", c->gradients.method, what,
             c->gradients.memory,
             !thin && strcmp(c->gradients.down, "fp32") == 0 ? "; sums in fp32" : "");
    return out;
}

static void print_gradients(const Config *c, const Comm *comm) {
    if (comm->size > 1 && strcmp(c->gradients.codec, "none") != 0)
        terminal_note("gradients  %s\n", gradients_text((char[GRADIENTS_TEXT]){0}, c));
}

static void put_speeds(char *out, size_t size, const PrecisionChoice *choice) {
    for (int p = 0; p < PRECISIONS; p++) {
        const char *between = p == PRECISION_BF16X3 ? ";\n           " : "; ";
        if (choice->seconds[p] < 0 && p == PRECISION_BF16)
            text_add(out, size, between, "bf16 not here");
        if (choice->seconds[p] >= 0)
            text_add(out, size, between, "%s %s, error %.2g", precision_names[p],
                     SHOWN_SECONDS(choice->seconds[p]), choice->error[p]);
    }
}

// What run.precision=auto took, and why.
static void print_choice(const PrecisionChoice *choice) {
    char speeds[256] = "";
    put_speeds(speeds, sizeof speeds, choice);
    if (choice->measured)
        terminal_note("precision  auto took %s, as measured on products of this model:\n"
                      "           %s (allowed: %g)\n",
                      choice->taken, speeds, choice->bound);
    else
        terminal_note("precision  auto took %s when the run began\n", choice->taken);
}

static void print_precision(const Config *c, const PrecisionChoice *choice) {
    if (choice->taken[0] != 0)
        print_choice(choice);
    if (strcmp(c->run.precision, "bf16") == 0)
        terminal_note("precision  bf16: rows are bf16 in memory, and sums of products are fp32\n");
    if (strcmp(c->run.precision, "bf16x3") == 0)
        terminal_note(
            "precision  bf16x3: inputs of products are sums of two bf16, all else is fp32\n");
}

// Warns if the training is too short for the first assignment.
static void warn_of_period(const Config *c, const RunSummary *summary) {
    int64_t first = assigner_first_epoch(c);
    const Codec *codec = codec_find(c->quantization.codec, &(Error){0});
    if (summary->exchanges > 0 && codec->has_widths && first > c->train.epochs)
        terminal_warn(
            "the first assignment would be in epoch %ld, but train.epochs is %ld, so all rows keep "
            "quantization.initial_bits=%ld bits; lower quantization.period (%ld)",
            first, c->train.epochs, c->quantization.initial_bits, c->quantization.period);
}

// Warns if an epoch exchanges no rows: the features were then exchanged at set-up, in fp32.
static void warn_of_silence(const Config *c, const RunSummary *summary) {
    if (summary->exchanges == 0 && strcmp(c->quantization.codec, "fp32") != 0)
        terminal_warn("an epoch of this model exchanges no rows, so quantization.codec=%s has no "
                      "effect (mode %s)",
                      c->quantization.codec, c->mode);
}

static void warn_of_one_rank(const Config *c, const Comm *comm) {
    if (comm->size == 1 && strcmp(c->gradients.codec, "none") != 0)
        terminal_warn("one rank sums no gradients, so gradients.codec=%s has no effect",
                      c->gradients.codec);
}

static void print_data(const Config *config, const Shard *shard) {
    char size[SHARD_SIZE_TEXT], origin[DATASET_ORIGIN];
    dataset_origin(config, origin);
    bool weighted = !shard_is_hypergraph(shard) && shard->relation[0].weight != NULL;
    terminal_note("data       %s%s: %s%s\n", SHOWN(shard->dataset_name), dataset_look_alike(origin),
                  shard_size_text(size, shard), weighted ? ", weighted" : "");
    terminal_note("           %ld features, %ld %s%s; train %ld, validation %ld, test %ld\n",
                  shard->features, shard->classes,
                  !shard->numeric       ? "classes"
                  : shard->classes == 1 ? "number to predict"
                                        : "numbers to predict",
                  shard->multilabel ? " (several per node)" : "", shard->train_nodes,
                  shard->val_nodes, shard->test_nodes);
}

// The share of dense features that are not 0, of some of the rows.
static double share_not_zero(const Shard *shard) {
    enum { LOOKED_AT = 1 << 20 };
    int64_t all = shard->set[NODES].own * shard->features, count = 0;
    int64_t some = all < LOOKED_AT ? all : LOOKED_AT;
    for (int64_t k = 0; shard->x != NULL && k < some; k++)
        count += shard->x[k] != 0;
    return some > 0 ? (double)count / (double)some : 1;
}

// Says how sparse features are kept, or that they could be: where few of many are not 0.
static void print_features(const Shard *shard, const RunSummary *summary) {
    enum { LARGE = 64 << 20 };
    double all = (double)shard->set[NODES].total * (double)shard->features;
    double own = (double)shard->set[NODES].own * (double)shard->features;
    double share = shard->is_sparse ? (double)shard->feature_entries / (own > 0 ? own : 1)
                                    : share_not_zero(shard);
    if (shard->is_sparse)
        terminal_note("           %.2g %% of the features are not 0: kept as CSR%s%s\n",
                      100 * share, summary->sparse ? "" : ", but made dense here, for ",
                      summary->sparse ? "" : summary->dense_why);
    else if (share < 0.1 && 4 * all > LARGE)
        terminal_note("           %.2g %% of the features are not 0: data.features_as=auto would "
                      "keep them in %s instead of %s\n",
                      100 * share, SHOWN_MEMORY(8 * share * all), SHOWN_MEMORY(4 * all));
}

// "12 MiB", or "12 MiB, 3.1 GiB on its device"
static void say_memory(char *out, size_t size, const RunSummary *summary) {
    bool both = summary->device_predicted > 0;
    snprintf(out, size, "%s%s%s%s", SHOWN_MEMORY((double)summary->predicted), both ? ", " : "",
             both ? SHOWN_MEMORY((double)summary->device_predicted) : "",
             both ? " on its device" : "");
}

// On one rank nothing is cut, so only its threads and its memory are named.
static void print_parts(const Config *config, const Shard *shard, int ranks, int threads,
                        const RunSummary *summary) {
    char memory[3 * QUANTITY];
    say_memory(memory, sizeof memory, summary);
    const char *s = threads == 1 ? "" : "s";
    if (ranks == 1) {
        terminal_note("parts      1 rank, %d thread%s; predicted memory %s\n", threads, s, memory);
        return;
    }
    terminal_note("parts      %d ranks, %d thread%s each, cut by %s; %ld to %ld own rows\n", ranks,
                  threads, s, SHOWN(config->partition.method), summary->own_least,
                  summary->own_most);
    terminal_note("           central rows %.1f %%, remote-neighbour ratio %.1f %%; memory %s\n",
                  100.0 * (double)summary->central / (double)shard->set[NODES].total,
                  100.0 * summary->halo_ratio, memory);
}

// It has one score, which is named where others are shown of the training.
static void print_baseline(const Shard *shard, const Score *shown, const RunSummary *summary) {
    const Score *score = score_of_labels(shard_labels(shard));
    terminal_note("baseline   %s: %s%svalidation %s, test %s\n",
                  shard->numeric      ? "the mean of the training nodes"
                  : shard->multilabel ? "the most frequent classes"
                                      : "the most frequent class",
                  score != shown ? score->title : "", score != shown ? " of " : "",
                  SHOWN_SCORE(score, summary->baseline[SPLIT_VAL]),
                  SHOWN_SCORE(score, summary->baseline[SPLIT_TEST]));
}

void print_training(const Config *config, const Shard *shard, const Comm *comm,
                    const Trainer *trainer, const RunSummary *summary) {
    const Score *score = score_shown(config->train.metric, shard_labels(shard));
    print_data(config, shard);
    print_features(shard, summary);
    print_parts(config, shard, comm->size, trainer_threads(trainer), summary);
    print_exchanges(comm, summary);
    print_norm(summary);
    print_halo(config, comm);
    print_gradients(config, comm);
    print_precision(config, &summary->precision);
    print_memory(trainer, summary);
    terminal_detail("kernels    %s\n", trainer_kernels(trainer));
    print_baseline(shard, score, summary);
    if (config->run.log_every > 0)
        terminal_note("scores     val and test: %s%s; %s\n", score->title,
                      score->percent ? " in %" : "",
                      shard->val_nodes > 0 ? "*: the best validation so far"
                                           : "no validation nodes: the last epoch counts");
    if (summary->left_out > 0)
        terminal_note("           %s leaves out %ld of %ld classes, which all validation nodes "
                      "have or none\n",
                      score->title, summary->left_out, shard->classes);
}

void warn_of_training(const Config *config, const Comm *comm, const RunSummary *summary) {
    warn_of_period(config, summary);
    warn_of_silence(config, summary);
    warn_of_one_rank(config, comm);
}
