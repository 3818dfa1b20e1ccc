// fringe train: load, build, and for each epoch { train, report, checkpoint when due }.

#include "internal.h"

#include <sys/resource.h>

typedef struct Run { // one of --runs
    Session *session;
    Config config; // with the run's own folder
    int number;    // from 0
    int64_t seed;
    Replay replay; // of an earlier run, if the config names one
    Trainer *trainer;
    Training training; // the trainer, and which training it does
    Report *report;    // rank 0
    RunFolder folder;  // if it is not the session's
    int64_t saved;     // epoch of the newest checkpoint, -1: none
    double saved_at;   // clock: when that was written, or when the run began
    bool traced;       // trace.json is written
    RunSummary summary;
} Run;

// --- what all ranks agree on after an epoch

typedef struct Agreed {
    bool stop, save;
} Agreed;

static bool save_due_by_clock(const Run *run) {
    double minutes = run->config.run.checkpoint_minutes;
    return minutes > 0 && clock_seconds() - run->saved_at >= 60 * minutes;
}

// All ranks agree whether to stop, whether a report could not be written, and whether a checkpoint
// is due by rank 0's clock. Collective.
static Agreed agree(Run *run) {
    Session *s = run->session;
    double limit = s->config.run.stop_after;
    int64_t wanted[3] = {stop_asked() || (limit > 0 && clock_seconds() - s->started >= limit),
                         s->err.code != 0, s->comm.rank == 0 && save_due_by_clock(run)};
    comm_sum_int64(&s->comm, wanted, 3);
    if (wanted[1] > 0)
        comm_agree(&s->comm, &s->err);
    return (Agreed){wanted[0] > 0, wanted[2] > 0};
}

// --- building

// run.dir, or run.dir/run-1, ... where there are several.
static void run_folder(char *out, size_t size, const char *dir, int number, bool own) {
    char name[32];
    snprintf(name, sizeof name, "run-%d", number + 1);
    if (own)
        path_join(out, size, dir, name);
    else
        snprintf(out, size, "%s", dir);
}

// Claims the folder of one of several runs, or of a mode of compare, besides the session's folder.
static bool claim_own_folder(Run *run, const Options *options) {
    Session *s = run->session;
    return strcmp(run->config.run.dir, s->folder.path) == 0 ||
           folder_claim(s, &run->folder, &run->config,
                        (RunClaim){RUN_SINGLE, options->resume, .exact = true});
}

static bool resume(Run *run) {
    Session *s = run->session;
    bool found;
    Warnings warnings = {0};
    bool ok = checkpoint_restore(&run->training, run->config.run.dir, &found, &warnings, &s->err);
    if (s->comm.rank == 0)
        say_lines("warning    ", warnings.text);
    if (ok && found)
        run->saved = trainer_epochs_done(run->trainer);
    if (s->comm.rank == 0 && ok)
        terminal_note(found ? "resume     after epoch %ld\n"
                            : "resume     nothing to resume in run.dir; begins from the start\n",
                      trainer_epochs_done(run->trainer));
    return ok;
}

// Traced epochs that ran before the resume are either already in trace.json or lost. Collective.
static void resume_trace(Run *run) {
    Session *s = run->session;
    const ConfigInts *asked = &run->config.run.trace;
    int64_t done = trainer_epochs_done(run->trainer);
    if (asked->count != 2 || done < asked->value[0])
        return;
    bool kept = file_exists(PATH_IN(run->config.run.dir, "trace.json"));
    comm_broadcast(&s->comm, &kept, sizeof kept, 0);
    run->traced = kept || done >= asked->value[1];
    if (s->comm.rank == 0)
        terminal_say(kept ? "warning    trace.json is kept as it was before the resume\n"
                          : "warning    epochs %ld to %ld are not in trace.json: they ran before "
                            "the resume\n",
                     asked->value[0], done < asked->value[1] ? done : asked->value[1]);
}

// Prints the facts of a training once, also where several runs or modes share them.
static void describe(const Run *run) {
    Session *s = run->session;
    if (s->comm.rank != 0)
        return;
    progress_end("");
    if (!s->described)
        print_training(&run->config, &s->shard, &s->comm, run->trainer, &run->summary);
    if (run->number == 0)
        warn_of_training(&run->config, &s->comm, &run->summary);
    s->described = true;
}

static bool begin(Run *run, const Options *options) {
    Session *s = run->session;
    run->saved = -1;
    run->saved_at = clock_seconds();
    if (!claim_own_folder(run, options))
        return false;
    if (options->resume)
        resume_backend(s, &run->config, options);
    if (!settle_precision(s, &run->config, options))
        return false;
    if (s->comm.rank == 0)
        progress_begin("plan", "messages and memory");
    if (!replay_read(&run->replay, &run->config, &s->comm, &s->err))
        return false;
    run->trainer =
        trainer_new(&run->config, &s->shard, &s->comm, (uint64_t)run->seed, &run->replay, &s->err);
    if (run->trainer == NULL || !trainer_may_train(run->trainer, &s->err))
        return false;
    run->training = (Training){.trainer = run->trainer,
                               .config = &run->config,
                               .shard = &s->shard,
                               .comm = &s->comm,
                               .seed = (uint64_t)run->seed};
    run->summary = trainer_summary(run->trainer);
    run->summary.precision = s->precision;
    describe(run);
    if (options->resume && !resume(run))
        return false;
    if (run->saved < 0 && !checkpoint_start(&run->training, &s->err))
        return false;
    resume_trace(run);
    if (s->comm.rank == 0) // what steps of data.transforms took from the data, for predict --data
        partition_fitted(&run->config, PATH_IN(run->config.run.dir, RUN_FITTED), &s->err);
    if (s->comm.rank == 0 && s->err.code == 0)
        run->report = report_open(&run->config, &s->shard, run->trainer, &s->comm, &run->summary,
                                  options->resume ? trainer_epochs_done(run->trainer) : -1,
                                  &terminal_sink, &s->err);
    return comm_agree(&s->comm, &s->err);
}

static void end(Run *run) {
    report_close(run->report);
    run_summary_clear(&run->summary);
    trainer_free(run->trainer);
    replay_clear(&run->replay);
    runfolder_release(&run->folder);
}

// --- epochs

// Flushes metrics.jsonl first: a checkpoint must not contain epochs that the metrics lack.
static bool save(Run *run) {
    Session *s = run->session;
    int64_t epoch = trainer_epochs_done(run->trainer);
    if (epoch == run->saved)
        return true;
    if (run->report != NULL)
        report_sync(run->report, &s->err);
    if (!comm_agree(&s->comm, &s->err) ||
        !checkpoint_write(&run->training, run->config.run.dir,
                          (int)run->config.run.keep_checkpoints, &s->err))
        return false;
    run->saved = epoch;
    run->saved_at = clock_seconds();
    return true;
}

static bool stop(Run *run) {
    if (save(run) && run->report != NULL)
        report_stopped(run->report, &run->session->err);
    return error_set(
        &run->session->err, EXIT_STOPPED,
        "stopped on request after epoch %ld; the checkpoint is in %s; continue with --resume auto",
        run->saved, run->config.run.dir);
}

// All ranks gather the widths; rank 0 has the report.
static void report_widths(Run *run, const Assignment *assignment) {
    Tensor widths[ASSIGNED_CHANNELS];
    int count = trainer_widths(run->trainer, widths);
    if (run->report != NULL)
        report_assignment(run->report, assignment, widths, count, &run->session->err);
    else
        assigner_widths_free(widths, count);
}

// Once, after the last epoch of run.trace. All ranks gather the events; rank 0 has the report.
static void report_traced(Run *run) {
    const Trace *trace = trainer_trace(run->trainer);
    if (trace == NULL || run->traced)
        return;
    int64_t *offset;
    TraceEvent *events = trace_gather(trace, &run->session->comm, &offset);
    int64_t lost = trace->lost;
    comm_sum_int64(&run->session->comm, &lost, 1);
    if (run->report != NULL) {
        report_trace(run->report, events, offset, &run->session->err);
        if (lost > 0)
            terminal_warn("trace.json is missing %ld events; name fewer epochs in run.trace", lost);
    } else {
        MEMORY_FREE(events, offset);
    }
    run->traced = true;
}

static bool train(Run *run) {
    Session *s = run->session;
    EpochRecord record;
    int64_t every = run->config.run.checkpoint_every;
    while (!trainer_finished(run->trainer)) {
        if (!trainer_epoch(run->trainer, &record, &s->err))
            return comm_agree(&s->comm, &s->err);
        if (run->report != NULL)
            report_epoch(run->report, &record, &s->err);
        if (record.assignment != NULL)
            report_widths(run, record.assignment);
        report_traced(run);
        Agreed agreed = agree(run);
        if (s->err.code != 0)
            return false;
        if (agreed.stop && !trainer_finished(run->trainer))
            return stop(run);
        bool due = agreed.save || (every > 0 && record.epoch % every == 0);
        if (due && !save(run))
            return false;
    }
    trainer_evaluate_last(
        run->trainer); // needed if a resume found all epochs done, or for 0 epochs
    return save(run);
}

// --- the result

static RunResult result_of(Run *run) {
    const Session *s = run->session;
    TrainerCounters counters = trainer_counters(run->trainer);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    RunResult result = {.epochs = counters.epoch,
                        .best_epoch = counters.best_epoch,
                        .stopped_early = trainer_stopped_early(run->trainer)};
    memcpy(result.last, counters.last_metrics, sizeof result.last);
    memcpy(result.best, counters.best_metrics, sizeof result.best);
    memcpy(result.average, counters.average_metrics, sizeof result.average);
    result.taken = (size_t)comm_max_double(&s->comm, (double)memory_peak());
    result.resident = (size_t)comm_max_double(&s->comm, 1024.0 * (double)usage.ru_maxrss);
    result.seconds = clock_seconds() - s->started;
    return result;
}

// A stop request may come between two of several runs, or modes of compare. Collective.
static bool still_wanted(Session *s) {
    int64_t asked = stop_asked();
    comm_sum_int64(&s->comm, &asked, 1);
    return asked == 0 || error_set(&s->err, EXIT_STOPPED,
                                   "stopped on request; the runs that have ended are kept; "
                                   "continue with --resume auto");
}

static bool train_once(Run *run, const Options *options, RunResult *result) {
    Session *s = run->session;
    bool ok = still_wanted(s) && begin(run, options);
    stop_waits_for("this epoch is finished and");
    ok = ok && train(run);
    if (ok) {
        *result = result_of(run);
        RankTimes *ranks = trainer_rank_times(run->trainer);
        if (run->report != NULL)
            report_rank_times(run->report, ranks);
        if (run->report != NULL && report_result(run->report, result, &s->err)) {
            report_print_times(run->report);
            terminal_settle(); // mpirun forwards stdout and stderr apart: the last epoch comes
                               // first
            report_print_result(run->report, result, !s->compares);
        }
        ok = comm_agree(&s->comm, &s->err);
    }
    end(run);
    return ok;
}

// --- --runs

typedef struct Runs {
    const Session *session;
    const RunResult *result; // [count]
    int count;
} Runs;

// Prints one line, and writes runs.json beside the folders of the runs.
static void summarize(void *context, Error *err) {
    const Runs *runs = context;
    const Session *s = runs->session;
    JsonWriter writer;
    json_writer_init(&writer, true);
    report_runs(&writer, score_shown(s->config.train.metric, shard_labels(&s->shard)),
                s->config.run.seed, runs->result, runs->count, &terminal_sink, !s->compares);
    json_writer_store(&writer, PATH_IN(s->config.run.dir, "runs.json"), err);
}

static Run run_number(Session *s, int number, int runs) {
    Run run = {
        .session = s, .config = s->config, .number = number, .seed = s->config.run.seed + number};
    run_folder(run.config.run.dir, sizeof run.config.run.dir, s->config.run.dir, number,
               runs > 1 || s->sweep.point != NULL);
    run.config.run.seed = run.seed;
    return run;
}

static void announce(const Run *run, int runs) {
    const Sweep *sweep = &run->session->sweep;
    if (run->session->comm.rank != 0)
        return;
    if (sweep->point != NULL)
        terminal_note("run        %d of %d: %s, seed %ld\n", sweep->before + run->number + 1,
                      sweep->total, SHOWN(sweep->point), run->seed);
    else if (runs > 1)
        terminal_note("run        %d of %d, seed %ld\n", run->number + 1, runs, run->seed);
}

bool train_runs(Session *s, const Options *options, RunResult *result) {
    bool ok = true, sweeps = s->sweep.point != NULL;
    for (int i = 0; i < options->runs && ok; i++) {
        Run run = run_number(s, i, options->runs);
        announce(&run, options->runs);
        if (sweeps && options->resume && sweep_is_done(s, &run.config)) {
            recall_precision(s, &run.config); // the other runs of the point have it, too
            continue;
        }
        ok = train_once(&run, options, &result[i]);
    }
    if (ok && options->runs > 1 && !sweeps)
        ok = comm_on_root(&s->comm, summarize, &(Runs){s, result, options->runs}, &s->err);
    return ok && comm_agree(&s->comm, &s->err);
}

// CONFIG is the folder of a run, and --resume goes on there: not in a newer run of the same
// training.
static bool goes_on_where_named(const Session *s, const Options *options, RunKind kind) {
    const char *named = config_named(options);
    return options->resume && kind == RUN_SINGLE && file_is_folder(named) &&
           runfolder_is_same(named, s->config.run.dir);
}

ExitCode cmd_train(const Options *options, UNUSED Error *err) {
    Session session;
    FREED RunResult *result = ALLOC(RunResult, options->runs, "results of runs");
    RunKind kind = options->sweeps > 0 ? RUN_SWEEP : options->runs > 1 ? RUN_SEVERAL : RUN_SINGLE;
    stop_listen();
    bool started = session_start(&session, options) &&
                   (options->sweeps == 0 || sweep_check(&session, options));
    if (started && options->sweeps == 0)
        session_warn_of_idle_keys(&session);
    RunClaim claim = {kind, options->resume,
                      .exact = started && goes_on_where_named(&session, options, kind)};
    if (started && folder_claim(&session, &session.folder, &session.config, claim) &&
        session_load(&session)) {
        if (options->sweeps > 0)
            sweep_train(&session, options);
        else
            train_runs(&session, options, result);
    }
    return session_end(&session);
}
