// Inside the report room: the open report, and the writers of its files.
#pragma once

#include "fringe/report.h"

enum { REPORT_SAMPLES = 4096 };

// The last epochs, for the time that is left.
enum { PACE_LAST = 15 };
typedef struct PaceTimes {
    double last[PACE_LAST]; // seconds; a ring
    int64_t count;          // ever kept
} PaceTimes;
typedef struct Pace {
    PaceTimes epoch, evaluation, assignment;
} Pace;
void pace_add(Pace *pace, const EpochRecord *record);
// Seconds until `epochs` more are done; NaN before the third epoch.
double pace_left(const Pace *pace, int64_t epochs);

// Sums over the epochs of this process, in seconds.
typedef struct RunTimes {
    int64_t epochs;
    double seconds, evaluation, assignment; // seconds: training
    Timers timers;
} RunTimes;
void report_add_times(RunTimes *times, const EpochRecord *record);

// One line without its newline, at most 80 columns where the numbers allow it.
enum { REPORT_LINE = 320 };
// `left`: seconds, or NaN if they are not known.
void report_line(const EpochRecord *record, const Score *score, int64_t epochs, double left,
                 char out[REPORT_LINE]);
void report_parts_line(const EpochRecord *record, char out[REPORT_LINE]); // with --verbose

// Counts epochs in a row in which what is coded of the gradients is longer than they are. True
// once, after the 20th.
bool report_memory_costs(int *epochs, double memory);

// Which exchanges send fp32 rows from now on, and why.
void report_print_choice(const Sink *sink, const CodecChoice *choice);
// "codec_choice" of run.json, if there is one.
void report_put_choice(JsonWriter *writer, const Report *report);
// "precision_choice" of run.json, where run.precision=auto chose; a resumed run keeps it.
void report_put_precision(JsonWriter *writer, const Report *report);

// The live line: percent and time left. Writes a few times a second at most.
void report_begin_progress(const Report *report);
void report_progress(Report *report, const EpochRecord *record, double left);

struct Report {
    const Config *config;   // borrowed, outlives the report
    const Shard *shard;     // borrowed
    const Trainer *trainer; // borrowed
    const Comm *comm;       // borrowed
    const Sink *sink;       // borrowed
    RunSummary summary;
    bool resumed;
    int64_t resumed_at;      // epoch, or 0
    Writer *writer;          // of everything below; owned
    int metrics;             // descriptor of metrics.jsonl, at its end
    char folder[PATH_BYTES]; // run.dir
    char path[PATH_BYTES];   // of metrics.jsonl
    JsonWriter line;         // kept between epochs, so that an epoch allocates no memory
    JsonWriter event;        // begun: what stands before an epoch's line in the log of events
    double opened;           // clock
    char started[CLOCK_UTC], ended[CLOCK_UTC]; // of this process; "": it has not ended
    Json *before;                              // run.json before a resume, or NULL; owned
    RankTimes *ranks;                          // [size] at the end, else NULL; owned
    int64_t epochs;                            // number reported since then
    int costly;        // epochs in a row in which gradients.memory cost more than it brought
    bool said_uniform; // that train.sample draws uniformly
    Pace pace;
    RunTimes times;
    double progressed;     // clock of the last progress shown
    char scored[QUANTITY]; // the last validation score that was measured, or ""
    int64_t bytes;         // of the last epoch, also of one before a resume
    double *sample; // [REPORT_SAMPLES] seconds of the first epochs, also before a resume; owned
    int samples;
};

// train.average made a mean and evaluated it.
static inline bool report_has_average(const RunResult *result) {
    return result->average[SPLIT_VAL].count > 0;
}
// Writes the scores of the three splits as members of the current object.
void report_put_splits(JsonWriter *writer, const Metrics metrics[4]);

// Writes run.json: config, versions, machine, data, parts, summary, and `result` if not NULL.
bool report_write_run(Report *report, const RunResult *result, Error *err);
// The score that people are shown.
static inline const Score *report_score(const Report *report) {
    return score_shown(report->config->train.metric, shard_labels(report->shard));
}
// Removes the assignments that were applied after epoch `last`.
bool report_cut_assignments(const char *folder, int64_t last, Error *err);
// Adds start, end, command line and hosts of the run, and of each process that worked on it.
void report_put_sessions(JsonWriter *writer, const Report *report);
void report_put_rank_times(JsonWriter *writer, const Report *report);
