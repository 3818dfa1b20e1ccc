// fringe inspect of one run: its folder, its run.json, its metrics.jsonl.

#include "inspect.h"

// ---- the facts

static void print_head(const RunRecord *run) {
    const char *mode = record_text(run, "config.mode");
    double ranks = record_number(run, "machine.ranks"),
           seed = record_number(run, "config.run.seed");
    printf("run        %s: %ld of %.0f epochs; %s, %.0f rank%s, seed %.0f\n",
           record_state_name(run->state), run->epochs, record_number(run, "config.train.epochs"),
           SHOWN(mode != NULL ? mode : "?"), ranks, ranks == 1 ? "" : "s", seed);
    if (run->state == RECORD_UNFINISHED)
        printf("           --resume auto continues it from its newest checkpoint\n");
}

static const char *text_of(const RunRecord *run, const char *path) {
    const char *text = record_text(run, path);
    return text != NULL ? text : "?";
}

static void print_setting(const RunRecord *run) {
    printf("data       %s%s: %s, %.0f features, %.0f %s\n", SHOWN(text_of(run, "data.name")),
           record_look_alike(run), SHOWN(text_of(run, "data.size")),
           record_number(run, "data.features"), record_number(run, "data.classes"),
           run->score->percent ? "classes" : "numbers to predict");
    printf("model      %s, %.0f layers; cut by %s; learning rate %g\n",
           SHOWN(text_of(run, "config.model.layer")), record_number(run, "config.model.layers"),
           SHOWN(text_of(run, "config.partition.method")), record_number(run, "config.train.lr"));
}

static void print_gradients(const RunRecord *run) {
    Config config;
    if (config_load(&config, PATH_IN(run->folder, "run.json"), NULL, 0, &(Error){0}) &&
        strcmp(config.gradients.codec, "none") != 0)
        printf("gradients  %s\n", gradients_text((char[GRADIENTS_TEXT]){0}, &config));
}

static void print_scores(const RunRecord *run, const RunFigures *figures) {
    const RecordedEpoch *last = &run->epoch[run->epochs - 1];
    printf("loss       %.4g after epoch %ld\n", last->loss, last->epoch);
    if (!isnan(figures->last_validation) || !isnan(figures->last_test))
        printf("last       validation %s, test %s\n",
               SHOWN_SCORE(run->score, figures->last_validation),
               SHOWN_SCORE(run->score, figures->last_test));
    if (figures->best_epoch > 0)
        printf("best       epoch %ld: validation %s, test %s\n", figures->best_epoch,
               SHOWN_SCORE(run->score, figures->validation),
               SHOWN_SCORE(run->score, figures->test));
}

static void print_costs(const RunRecord *run, const RunFigures *figures) {
    RecordedEpoch sum = record_sum(run->epoch, run->epochs, 1);
    double all = sum.seconds > 0 ? sum.seconds / 100 : 1;
    printf("time       %s per epoch (median), %s in all: compute %.0f %%, pack %.0f %%, "
           "wait %.0f %%, reduce %.0f %%\n",
           SHOWN_SECONDS(figures->seconds), SHOWN_SECONDS(sum.seconds), sum.compute / all,
           sum.pack / all, sum.wait / all, sum.reduce / all);
    printf("           evaluation %s, assignment of bit widths %s\n", SHOWN_SECONDS(sum.evaluation),
           SHOWN_SECONDS(sum.assignment));
    printf("bytes      %s of messages in the last epoch, %s in all; %s of weight gradients\n",
           SHOWN_BYTES(figures->bytes), SHOWN_BYTES(sum.bytes), SHOWN_BYTES(sum.reduce_bytes));
    if (sum.headers > 0)
        printf("           %.1f %% of %.0f messages were a header alone\n",
               100 * sum.skipped / sum.headers, sum.headers);
    if (!isnan(figures->gradient_memory))
        printf("           what the memory of gradients left: %.3g of them in the last epoch, %.3g "
               "on average\n",
               run->epoch[run->epochs - 1].gradient_memory, figures->gradient_memory);
}

// What the run measured and chose: the precision of run.precision=auto, and which exchanges send
// fp32 rows.
static void print_choices(const RunRecord *run) {
    const char *precision = record_text(run, "precision_choice.taken");
    if (precision != NULL)
        printf("precision  measured; run.precision=auto took %s\n", SHOWN(precision));
    const Json *names = record_member(run, "codec_choice.fp32");
    if (names == NULL || json_type(names) != JSON_ARRAY)
        return;
    printf("exchanges  measured; fp32 rows from epoch %.0f on:",
           record_number(run, "codec_choice.from_epoch"));
    for (const Json *at = json_first(names); at != NULL; at = json_next(at))
        if (json_type(at) == JSON_STRING)
            printf(" %s", SHOWN(json_string(at)));
    printf("%s\n", json_first(names) == NULL ? " none" : "");
}

static void print_times(const RunRecord *run, const RunFigures *figures) {
    const char *started = record_text(run, "started"), *ended = record_text(run, "ended");
    if (started != NULL)
        printf("started    %s; %s%s, %s ago\n", SHOWN(started),
               ended != NULL ? "ended " : "written last", SHOWN(ended != NULL ? ended : ""),
               SHOWN_AGE(figures->age));
}

static void print_facts(const RunRecord *run) {
    RunFigures figures = record_figures(run);
    print_head(run);
    print_setting(run);
    print_gradients(run);
    if (run->epochs > 0) {
        print_scores(run, &figures);
        print_costs(run, &figures);
        print_choices(run);
    }
    print_times(run, &figures);
}

// ---- the kind "run"

static bool has_begun(const char *path) { return inspect_holds(path, "checkpoints"); }

static void put_costs(JsonWriter *w, const RunRecord *run) {
    RecordedEpoch sum = record_sum(run->epoch, run->epochs, 1);
    JSON_PUT_OBJECT(w, "total") {
        JSON_PUT(w, PAIR("seconds", sum.seconds), PAIR("compute", sum.compute),
                 PAIR("pack", sum.pack), PAIR("wait", sum.wait), PAIR("reduce", sum.reduce),
                 PAIR("evaluation", sum.evaluation), PAIR("assignment", sum.assignment),
                 PAIR("bytes", sum.bytes), PAIR("reduce_bytes", sum.reduce_bytes));
        if (sum.headers > 0)
            JSON_PUT(w, PAIR("headers", sum.headers), PAIR("skipped", sum.skipped));
    }
}

static void put_facts(JsonWriter *w, const RunRecord *run) {
    RunFigures figures = record_figures(run);
    JSON_PUT(w, PAIR("state", record_state_name(run->state)),
             PAIR("mode", record_text(run, "config.mode")),
             PAIR("data", record_text(run, "data.name")),
             PAIR("ranks", record_number(run, "machine.ranks")), PAIR("epochs", run->epochs),
             PAIR("epochs_wanted", record_number(run, "config.train.epochs")),
             PAIR("loss", run->epochs > 0 ? run->epoch[run->epochs - 1].loss : NAN),
             PAIR("last_validation", figures.last_validation), PAIR("last_test", figures.last_test),
             PAIR("best_epoch", figures.best_epoch), PAIR("best_validation", figures.validation),
             PAIR("test_at_best", figures.test), PAIR("seconds_per_epoch", figures.seconds),
             PAIR("bytes_per_epoch", figures.bytes));
    if (!isnan(figures.gradient_memory))
        json_put_double(w, "gradient_memory", figures.gradient_memory);
    put_costs(w, run);
    JSON_PUT(w, PAIR("started", record_text(run, "started")),
             PAIR("ended", record_text(run, "ended")), PAIR("age_seconds", figures.age));
    json_put_value(w, "run", run->json);
}

static bool show_record(const Inspection *at) {
    CLEARED(record_clear) RunRecord run = {0};
    if (!record_read(&run, at->folder, at->err))
        return false;
    if (at->json != NULL)
        put_facts(at->json, &run);
    else
        print_facts(&run);
    return true;
}

// A run without run.json was copied in part.
static bool show_run(const Inspection *at) {
    if ((at->json != NULL || inspect_holds(at->folder, "run.json")) && !show_record(at))
        return false;
    if (at->json != NULL || !at->is_folder)
        return true;
    if ((inspect_holds(at->folder, "checkpoints/LATEST") &&
         !checkpoint_inspect(&terminal_tables, at->folder, at->err)) ||
        !inspect_assignments(at->folder, at->err))
        return false;
    runfolder_print(&terminal_tables, at->folder);
    return true;
}

const Inspected inspected_run = {"run", "run.json", has_begun, show_run};

// ---- the kind "metrics"

enum { EPOCHS_MOST = 1000000, EPOCHS_SHOWN = 12 };

static bool is_metrics(const char *path) { return inspect_is_named(path, "metrics.jsonl"); }

// Without run.json the labels are not known: micro-F1 is the accuracy where nodes have one.
static RecordedEpoch *read_metrics(const char *path, const Score **score, int64_t *count,
                                   Error *err) {
    RunRecord run;
    const char *folder = FOLDER_OF(path);
    if (record_read(&run, folder, &(Error){0})) { // also while the run writes its last line
        RecordedEpoch *of_run = run.epoch;
        *count = run.epochs;
        *score = run.score;
        run.epoch = NULL;
        record_clear(&run);
        return of_run;
    }
    RecordedEpoch *epoch = ALLOC(RecordedEpoch, EPOCHS_MOST, "epochs of a run");
    *score = score_of_labels(LABEL_CLASSES);
    if (record_history(folder, *score, epoch, EPOCHS_MOST, count, err))
        return epoch;
    memory_free(epoch);
    return NULL;
}

static void print_epoch(const RecordedEpoch *e, const Score *score) {
    printf("%8ld  %9.4g  %10s  %10s  %10s  %10s\n", e->epoch, e->loss,
           isnan(e->validation) ? "-" : SHOWN_SCORE(score, e->validation),
           isnan(e->test) ? "-" : SHOWN_SCORE(score, e->test), SHOWN_SECONDS(e->seconds),
           SHOWN_BYTES(e->bytes));
}

// The first, the last, and some between them.
static void print_epochs(const RecordedEpoch *epoch, int64_t count, const Score *score) {
    int64_t rows = count < EPOCHS_SHOWN ? count : EPOCHS_SHOWN;
    printf("metrics    %ld epochs%s\n", count, rows < count ? "; some of them:" : "");
    if (rows > 0)
        printf("%8s  %9s  %10s  %10s  %10s  %10s\n", "epoch", "loss", "validation", "test", "time",
               "messages");
    for (int64_t i = 0; i < rows; i++)
        print_epoch(&epoch[rows > 1 ? i * (count - 1) / (rows - 1) : 0], score);
}

static void put_epochs(JsonWriter *w, const RecordedEpoch *epoch, int64_t count) {
    JSON_PUT_ARRAY(w, "epochs")
        for (int64_t i = 0; i < count; i++)
            JSON_PUT_OBJECT(w, NULL)
                JSON_PUT(w, PAIR("epoch", epoch[i].epoch), PAIR("loss", epoch[i].loss),
                         PAIR("validation", epoch[i].validation), PAIR("test", epoch[i].test),
                         PAIR("seconds", epoch[i].seconds), PAIR("bytes", epoch[i].bytes));
}

static bool show_metrics(const Inspection *at) {
    int64_t count;
    const Score *score;
    FREED RecordedEpoch *epoch = read_metrics(at->path, &score, &count, at->err);
    if (epoch == NULL)
        return false;
    if (at->json != NULL)
        put_epochs(at->json, epoch, count);
    else
        print_epochs(epoch, count, score);
    return true;
}

const Inspected inspected_metrics = {"metrics", NULL, is_metrics, show_metrics};
