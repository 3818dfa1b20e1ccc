// fringe compare: the same training in several modes, and a table of their time and accuracy. Each
// variant is a plain `train` in its own folder; the table is made from the metrics in these
// folders.

#include "internal.h"

static const char default_modes[] = "vanilla,lossless,adaqp-published,adaqp,alone";

typedef struct Variant {
    char name[CONFIG_WORD]; // also its folder
    char mode[CONFIG_WORD];
    bool single_rank; // a baseline: rank 0 trains with the whole graph, the others wait
    int threads;      // of a single-rank baseline; 0: all cores
} Variant;

// ---- which variants

static void add_variant(Variant *variant, int *count, const char *mode) {
    if (strcmp(mode, "alone") == 0) {
        variant[(*count)++] = (Variant){
            .name = "alone-1-thread", .mode = "vanilla", .single_rank = true, .threads = 1};
        variant[(*count)++] =
            (Variant){.name = "alone-all-cores", .mode = "vanilla", .single_rank = true};
        return;
    }
    Variant *new = &variant[(*count)++];
    *new = (Variant){0};
    snprintf(new->name, sizeof new->name, "%s", mode);
    snprintf(new->mode, sizeof new->mode, "%s", mode);
}

static int list_variants(Variant *variant, const char *modes) {
    char words[512], *rest = words;
    int count = 0;
    snprintf(words, sizeof words, "%s", modes != NULL ? modes : default_modes);
    for (char *mode; (mode = strsep(&rest, ",")) != NULL && count < COMPARED_MOST - 1;)
        if (mode[0] != 0)
            add_variant(variant, &count, mode);
    return count;
}

// ---- running one

// The config of a variant: its mode and folder override all other settings. Collective.
static bool variant_config(Session *s, const Variant *variant, const Options *options,
                           const char *base) {
    char mode[CONFIG_WORD + 8], folder[PATH_BYTES], threads[32];
    Options with = *options;
    if (with.settings + 3 > CLI_SETTINGS)
        return error_usage(&s->err, "--set: at most %d settings", CLI_SETTINGS - 3);
    snprintf(mode, sizeof mode, "mode=%s", variant->mode);
    snprintf(folder, sizeof folder, "run.dir=%s/%s", base, variant->name);
    snprintf(threads, sizeof threads, "run.threads=%d", variant->threads);
    with.setting[with.settings++] = mode;
    with.setting[with.settings++] = folder;
    if (variant->single_rank)
        with.setting[with.settings++] = threads;
    return session_config(s, &with);
}

// Rank 0 trains; the others sleep and end with rank 0's error.
static void run_single_rank(Session *s, const Options *options, RunResult *result) {
    if (s->comm.rank == 0) {
        Session single = {.config = s->config,
                          .started = s->started,
                          .compares = true,
                          .described = true,
                          .precision = s->precision};
        comm_self(&single.comm);
        comm_set_timeout(&single.comm, s->config.comm.timeout);
        if (partition_load(&single.shard, &single.config, &single.comm, &(Warnings){0},
                           &single.err)) {
            train_runs(&single, options, result);
            shard_clear(&single.shard);
        }
        s->err = single.err;
    }
    stop_waits_for("this epoch is finished and");
    comm_sleep(&s->comm);
}

typedef struct Ended { // one variant
    Comparison *comparison;
    const char *name;
    bool blocking;
    const RunResult *result;
} Ended;

static void add(void *context, Error *err) {
    const Ended *e = context;
    comparison_add(e->comparison, e->name, e->blocking, e->result, err);
}

static bool run_variant(Session *s, const Variant *variant, const Options *options,
                        Comparison *comparison) {
    FREED RunResult *result = ALLOC(RunResult, options->runs, "results of runs");
    bool ok = variant_config(s, variant, options, comparison->folder);
    if (ok && variant->single_rank)
        run_single_rank(s, options, result);
    else if (ok)
        train_runs(s, options, result);
    bool blocking = strcmp(s->config.comm.schedule, "blocking") == 0;
    return comm_on_root(&s->comm, add, &(Ended){comparison, variant->name, blocking, result},
                        &s->err);
}

// Skips a single-rank baseline that does not fit into the memory of one rank. Collective.
static bool leave_out(Session *s, const Variant *variant) {
    if (!variant->single_rank || s->err.code != EXIT_MEMORY)
        return false;
    if (s->comm.rank == 0)
        terminal_warn("%s is left out: %s", variant->name, SHOWN(s->err.text));
    s->err = (Error){0};
    return true;
}

// Variants take about as long as those that have ended.
static void announce(const Variant *variant, int number, int count, double began) {
    double each = number > 0 ? (clock_seconds() - began) / number : 0;
    if (number > 0)
        terminal_note("compare    %d of %d: %s, about %s left\n", number + 1, count,
                      SHOWN(variant->name), SHOWN_CLOCK(each * (count - number)));
    else
        terminal_note("compare    %d of %d: %s\n", number + 1, count, SHOWN(variant->name));
}

static bool run_variants(Session *s, const Variant *variant, int count, const Options *options,
                         Comparison *comparison) {
    double began = clock_seconds();
    for (int i = 0; i < count; i++) {
        if (s->comm.rank == 0)
            announce(&variant[i], i, count, began);
        if (!run_variant(s, &variant[i], options, comparison) && !leave_out(s, &variant[i]))
            return false;
    }
    return true;
}

// ---- the table (rank 0)

typedef struct Table {
    Comparison *comparison;
    bool json; // is printed
} Table;

static bool write_table(const Comparison *comparison, bool print, Error *err) {
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    json_writer_init(&writer, true);
    comparison_put(&writer, comparison);
    const char *path = PATH_IN(comparison->folder, "compare.json");
    bool ok = file_replace(path, writer.text, writer.bytes, err) &&
              comparison_write_tables(comparison, err);
    if (print)
        terminal_print("%s\n", writer.text);
    return ok;
}

static void report_table(void *context, Error *err) {
    const Table *t = context;
    if (t->comparison->count == 0)
        return;
    comparison_read_targets(t->comparison, err);
    if (!t->json)
        comparison_print(t->comparison);
    if (err->code == 0 && write_table(t->comparison, t->json, err))
        report_folder(t->comparison->folder, err);
}

// Checks the configs of all variants before the first one runs. Collective.
static bool prepare_variants(Session *s, const Variant *variant, int count, const Options *options,
                             const char *base) {
    s->idle = (IdleKeys){0};
    for (int i = 0; i < count; i++)
        if (!variant_config(s, &variant[i], options, base))
            return false;
    session_warn_of_idle_keys(s);
    return true;
}

static void warn_of_one_rank(const Session *s, const Variant *variant, int count) {
    int modes = 0;
    for (int i = 0; i < count; i++)
        modes += !variant[i].single_rank;
    if (s->comm.size == 1 && modes > 1)
        terminal_warn(
            "one rank sends no messages, so modes differ little here; compare them with --ranks");
}

static bool compare(Session *s, const Options *options) {
    Variant variant[COMPARED_MOST];
    char base[CONFIG_TEXT];
    int count = list_variants(variant, options->modes);
    snprintf(base, sizeof base, "%s", s->config.run.dir);
    Comparison comparison = {.folder = base,
                             .score = score_shown(s->config.train.metric, shard_labels(&s->shard)),
                             .data = s->shard.dataset_name,
                             .ranks = s->comm.size,
                             .runs = options->runs};
    dataset_origin(&s->config, comparison.origin);
    bool ok = count > 0 || error_usage(&s->err, "--modes names no mode");
    s->compares = true;
    ok = ok && prepare_variants(s, variant, count, options, base);
    warn_of_one_rank(s, variant, count);
    ok = ok && run_variants(s, variant, count, options, &comparison);
    comm_agree(&s->comm, &s->err);
    session_report(s, report_table, &(Table){&comparison, options->json});
    comparison_clear(&comparison);
    return s->err.code == 0;
}

ExitCode cmd_compare(const Options *options, UNUSED Error *err) {
    Session session;
    stop_listen();
    if (session_start(&session, options) &&
        folder_claim(&session, &session.folder, &session.config,
                     (RunClaim){RUN_COMPARISON, options->resume, .exact = false}) &&
        session_load(&session))
        compare(&session, options);
    return session_end(&session);
}
