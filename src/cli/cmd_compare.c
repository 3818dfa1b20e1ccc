// fringe compare: the same training in several modes, and a table of what each gained. Every arm is
// a plain `train` in a folder of its own; the table is read from the metrics that it left.

#include "internal.h"

#include <math.h>
#include <string.h>

enum { ARMS = 16, HISTORY = 100000 };
static const char default_modes[] = "vanilla,lossless,adaqp-published,adaqp,alone";

typedef struct Arm {
    char name[CONFIG_WORD]; // also its folder
    char mode[CONFIG_WORD];
    bool alone;       // on rank 0, with the whole graph
    int threads;      // alone: how many; 0: all cores
    bool blocking;    // no computation hides its messages
    Summary test;     // at the last epoch, percent
    EpochTimes mean;  // of an epoch
    double epoch;     // seconds, the median
    double total;     // seconds of training and assigning, of a run
    double assigned;  // of that, assigning
    double to_target; // seconds until the validation reached the target; NaN: never
} Arm;

// ---- which arms

static void add_arm(Arm *arm, int *count, const char *mode) {
    if (strcmp(mode, "alone") == 0) {
        arm[(*count)++] =
            (Arm){.name = "alone-1-thread", .mode = "vanilla", .alone = true, .threads = 1};
        arm[(*count)++] = (Arm){.name = "alone-all-cores", .mode = "vanilla", .alone = true};
        return;
    }
    Arm *new = &arm[(*count)++];
    *new = (Arm){0};
    snprintf(new->name, sizeof new->name, "%s", mode);
    snprintf(new->mode, sizeof new->mode, "%s", mode);
}

static int list_arms(Arm *arm, const char *modes) {
    char words[512], *rest = words;
    int count = 0;
    snprintf(words, sizeof words, "%s", modes != NULL ? modes : default_modes);
    for (char *mode; (mode = strsep(&rest, ",")) != NULL && count < ARMS - 1;)
        if (mode[0] != 0)
            add_arm(arm, &count, mode);
    return count;
}

// ---- running one

// The config of an arm: mode and folder above everything that was set. Collective.
static bool arm_config(Session *s, const Arm *arm, const Options *options, const char *base) {
    char mode[CONFIG_WORD + 8], folder[8192], threads[32];
    Options with = *options;
    if (with.settings + 3 > CLI_SETTINGS)
        return error_set(&s->err, EXIT_USAGE, "--set: at most %d settings", CLI_SETTINGS - 3);
    snprintf(mode, sizeof mode, "mode=%s", arm->mode);
    snprintf(folder, sizeof folder, "run.dir=%s/%s", base, arm->name);
    snprintf(threads, sizeof threads, "run.threads=%d", arm->threads);
    with.setting[with.settings++] = mode;
    with.setting[with.settings++] = folder;
    if (arm->alone)
        with.setting[with.settings++] = threads;
    return session_config(s, &with);
}

// On rank 0 only; the others sleep, and rank 0's epoch is theirs.
static void run_alone(Session *s, const Options *options, RunResult *result) {
    if (s->comm.rank == 0) {
        Session alone = {.config = s->config, .started = s->started};
        char remarks[1024] = "";
        comm_self(&alone.comm);
        comm_set_timeout(&alone.comm, s->config.comm.timeout);
        if (partition_load(&alone.shard, &alone.config, &alone.comm, remarks, &alone.err)) {
            train_runs(&alone, options, result);
            shard_clear(&alone.shard);
        }
        s->err = alone.err;
    }
    stop_waits_for_epoch();
    comm_sleep(&s->comm);
}

// Metrics of run `run` of an arm; the number of epochs, 0 with an error.
static int64_t read_run(Session *s, const Arm *arm, const char *base, int run, int runs,
                        EpochTimes *times) {
    char folder[8192], number[32] = "";
    int64_t count;
    if (runs > 1)
        snprintf(number, sizeof number, "/run-%d", run + 1);
    snprintf(folder, sizeof folder, "%s/%s%s", base, arm->name, number);
    return report_history(folder, times, HISTORY, &count, &s->err) ? count : 0;
}

static void add_times(EpochTimes *sum, const EpochTimes *t, double share) {
    sum->bytes += t->bytes * share;
    sum->seconds += t->seconds * share;
    sum->compute += t->compute * share;
    sum->pack += t->pack * share;
    sum->wait += t->wait * share;
    sum->reduce += t->reduce * share;
    sum->evaluation += t->evaluation * share;
    sum->assignment += t->assignment * share;
}

static double median_seconds(const EpochTimes *times, int64_t count) {
    double *seconds = TAKE(double, count, "seconds of epochs");
    for (int64_t e = 0; e < count; e++)
        seconds[e] = times[e].seconds;
    double median = count > 0 ? sort_median(seconds, count) : 0;
    memory_give(seconds);
    return median;
}

// What is read from the metrics of the arms. Rank 0, aside: disks may take their time.
typedef struct Reading {
    Session *session;
    Arm *arm; // [arms]
    int arms, runs;
    const char *base;
    EpochTimes *times; // [HISTORY]
    double target;
} Reading;

// Means over the runs of an arm.
static void read_arm(void *context) {
    const Reading *r = context;
    Arm *arm = r->arm;
    EpochTimes *times = r->times;
    int runs = r->runs;
    for (int run = 0; run < runs; run++) {
        int64_t count = read_run(r->session, arm, r->base, run, runs, times);
        arm->epoch += median_seconds(times, count) / runs;
        for (int64_t e = 0; e < count; e++) {
            add_times(&arm->mean, &times[e], 1.0 / ((double)count * runs));
            arm->total += (times[e].seconds + times[e].assignment) / runs;
            arm->assigned += times[e].assignment / runs;
        }
    }
}

static bool run_arm(Session *s, Arm *arm, const Options *options, const char *base,
                    EpochTimes *times) {
    RunResult *result = TAKE(RunResult, options->runs, "results of runs");
    double *test = TAKE(double, options->runs, "results of runs");
    if (s->comm.rank == 0)
        terminal_say("compare    %s\n", SHOWN(arm->name));
    bool fine = arm_config(s, arm, options, base);
    if (fine && arm->alone)
        run_alone(s, options, result);
    else if (fine)
        train_runs(s, options, result);
    arm->blocking = strcmp(s->config.comm.schedule, "blocking") == 0;
    if (s->comm.rank == 0 && s->err.code == 0) {
        for (int i = 0; i < options->runs; i++)
            test[i] = 100 * report_score(&result[i].last[SPLIT_TEST]);
        arm->test = report_summary(test, options->runs);
        comm_aside(&s->comm, read_arm, &(Reading){s, arm, 1, options->runs, base, times, NAN});
    }
    memory_give(test);
    memory_give(result);
    return comm_agree(&s->comm, &s->err);
}

// ---- the table (rank 0)

// Seconds of the first run until its validation reaches the target.
static double time_to_target(const Reading *r, const Arm *arm) {
    int64_t count = read_run(r->session, arm, r->base, 0, r->runs, r->times);
    double seconds = 0;
    for (int64_t e = 0; e < count; e++) {
        seconds += r->times[e].seconds + r->times[e].assignment;
        if (r->times[e].validation >= r->target) // false for NaN
            return seconds;
    }
    return NAN;
}

// 99 % of the best validation of the first arm; NaN without validation nodes.
static double target_of(const Reading *r) {
    int64_t count = read_run(r->session, &r->arm[0], r->base, 0, r->runs, r->times);
    double best = NAN;
    for (int64_t e = 0; e < count; e++)
        best = fmax(best, r->times[e].validation); // of a number and NaN the number
    return 0.99 * best;
}

static void read_targets(void *context) {
    Reading *r = context;
    r->target = target_of(r);
    for (int i = 0; i < r->arms; i++)
        r->arm[i].to_target = time_to_target(r, &r->arm[i]);
}

static void print_share(double seconds, double epoch) {
    terminal_print(" %9.1f", epoch > 0 ? 100 * seconds / epoch : 0);
}

// Where messages are hidden, what they take is not seen, only what they make it wait.
static void print_arm(const Arm *arm, const Arm *first) {
    const EpochTimes *t = &arm->mean;
    char test[32];
    snprintf(test, sizeof test, isnan(arm->test.mean) ? "  none" : "%6.2f +- %-5.2f",
             arm->test.mean, arm->test.count > 1 ? arm->test.deviation : 0.0);
    terminal_print("%-16s %-15s %9.3f %8.2fx", arm->name, test, 1 / arm->epoch,
                   first->epoch / arm->epoch);
    if (arm->blocking)
        print_share(t->pack + t->wait, t->seconds);
    else
        terminal_print(" %9s", "-");
    print_share(t->wait, t->seconds);
    print_share(t->pack, t->seconds);
    terminal_print(" %9.2f %11.3f ", arm->total > 0 ? 100 * arm->assigned / arm->total : 0,
                   t->bytes / 1e6);
    if (isnan(arm->to_target))
        terminal_print("%10s\n", "never");
    else
        terminal_print("%10.2f\n", arm->to_target);
}

static void print_table(const Session *s, const Arm *arm, int count, double target) {
    terminal_print("\n%-16s %-15s %9s %9s %9s %9s %9s %9s %11s %10s\n", "mode", "test %",
                   "epochs/s", "speed-up", "comm %", "wait %", "pack %", "assign %", "MB/epoch",
                   "to target");
    for (int i = 0; i < count; i++)
        print_arm(&arm[i], &arm[0]);
    char reached[REPORT_PERCENT];
    terminal_print(
        "%d ranks. epochs/s: of the median epoch. speed-up: over %s. comm: packing, sending and "
        "unpacking, of the epoch, where no computation hides it; wait: what none covered; pack: "
        "both ends; assign: of the whole training. to target: seconds of training until the "
        "validation of the first run reached %s.\n",
        s->comm.size, arm[0].name, report_percent(reached, target));
}

static bool write_table(Session *s, const Arm *arm, int count, const char *base, double target) {
    JsonWriter w;
    char path[CONFIG_TEXT + 32];
    json_writer_init(&w, true);
    json_begin_object(&w, NULL);
    json_put_int(&w, "ranks", s->comm.size);
    json_put_string(&w, "speed_up_over", arm[0].name);
    json_put_double(&w, "target", target);
    json_begin_array(&w, "modes");
    for (int i = 0; i < count; i++) {
        const EpochTimes *t = &arm[i].mean;
        json_begin_object(&w, NULL);
        json_put_string(&w, "name", arm[i].name);
        json_put_double(&w, "test_mean", arm[i].test.mean);
        json_put_double(&w, "test_deviation", arm[i].test.deviation);
        json_put_int(&w, "runs", arm[i].test.count);
        json_put_double(&w, "epoch_seconds", arm[i].epoch);
        json_put_double(&w, "mean_epoch_seconds", t->seconds);
        json_put_double(&w, "speed_up", arm[0].epoch / arm[i].epoch);
        json_put_double(&w, "compute_seconds", t->compute);
        json_put_double(&w, "pack_seconds", t->pack);
        json_put_double(&w, "wait_seconds", t->wait);
        json_put_double(&w, "reduce_seconds", t->reduce);
        json_put_double(&w, "evaluation_seconds", t->evaluation);
        json_put_double(&w, "assignment_seconds", t->assignment);
        json_put_double(&w, "training_seconds", arm[i].total);
        json_put_double(&w, "bytes", t->bytes);
        json_put_double(&w, "seconds_to_target", arm[i].to_target);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    snprintf(path, sizeof path, "%s/compare.json", base);
    bool fine = session_replace(s, path, &w);
    json_writer_clear(&w);
    return fine;
}

// What is done is told, whatever ended the rest.
static void tell(Session *s, Arm *arm, int count, const char *base, int runs, EpochTimes *times) {
    Error ended = s->err;
    s->err = (Error){0};
    Reading reading = {s, arm, count, runs, base, times, NAN};
    comm_aside(&s->comm, read_targets, &reading);
    print_table(s, arm, count, reading.target);
    write_table(s, arm, count, base, reading.target);
    if (ended.code != 0)
        s->err = ended;
}

// One rank alone may lack the memory for the whole graph. Collective.
static bool leave_out(Session *s, const Arm *arm) {
    if (!arm->alone || s->err.code != EXIT_MEMORY)
        return false;
    if (s->comm.rank == 0)
        terminal_say("remark     %s is left out: %s\n", arm->name, SHOWN(s->err.text));
    s->err = (Error){0};
    return true;
}

// Every arm is checked before hours are spent, and before anything moves. Collective.
static bool prepare_arms(Session *s, const Arm *arm, int count, const Options *options,
                         const char *base) {
    for (int i = 0; i < count; i++)
        if (!arm_config(s, &arm[i], options, base))
            return false;
    return options->resume || folder_start_anew(s);
}

static bool compare(Session *s, const Options *options) {
    Arm arm[ARMS];
    char base[CONFIG_TEXT];
    int count = list_arms(arm, options->modes), done = 0;
    snprintf(base, sizeof base, "%s", s->config.run.dir);
    EpochTimes *times = TAKE(EpochTimes, s->comm.rank == 0 ? HISTORY : 0, "metrics");
    bool fine = count > 0 || error_set(&s->err, EXIT_USAGE, "--modes names no mode");
    fine = fine && prepare_arms(s, arm, count, options, base);
    for (int i = 0; i < count && fine; i++)
        if (run_arm(s, &arm[i], options, base, times))
            arm[done++] = arm[i];
        else
            fine = leave_out(s, &arm[i]);
    if (done > 0 && s->comm.rank == 0)
        tell(s, arm, done, base, options->runs, times);
    memory_give(times);
    return comm_agree(&s->comm, &s->err);
}

ExitCode cmd_compare(const Options *options, int *argc, char ***argv) {
    Session session;
    stop_listen();
    if (session_start(&session, options, argc, argv) &&
        folder_claim(&session, &session.folder, &session.config, RUN_COMPARISON, options->resume) &&
        session_load(&session))
        compare(&session, options);
    return session_end(&session);
}
