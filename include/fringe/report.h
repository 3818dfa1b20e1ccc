// report: the output of a run for people and programs. It writes run.json (resolved config,
// versions, machine), metrics.jsonl (one object per epoch, the source of truth) and one plain line
// per logged epoch into a sink. Rank 0 only. A thread of the report (base/writer.h) writes the
// files in the order of the calls; if it fails, a later call returns the error.
#pragma once

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/records.h"
#include "fringe/trainer.h"

typedef struct Report Report;

// Begins to report into run.dir, which must be claimed (runfolder.h). `resume_epoch` >= 0: cuts
// metrics.jsonl and assignments back to that epoch, and warns of missing epochs; -1: a new run,
// none of whose files may exist. Writes run.json. Its arguments must outlive the report.
Report *report_open(const Config *config, const Shard *shard, const Trainer *trainer,
                    const Comm *comm, const RunSummary *summary, int64_t resume_epoch,
                    const Sink *sink, Error *err);
// Writes one line of metrics.jsonl, and a line when due.
bool report_epoch(Report *report, const EpochRecord *record, Error *err);
// Writes assignments/epoch-N.json and the widths beside it (assigner_widths), which it takes over.
bool report_assignment(Report *report, const Assignment *assignment, const Tensor *widths,
                       int count, Error *err);
// Writes trace.json from the events of all ranks (trace_gather); takes over both arrays.
bool report_trace(Report *report, TraceEvent *event, int64_t *offset, Error *err);
// Waits until everything reported is written and metrics.jsonl is flushed to disk; sends heartbeats
// meanwhile. Call it before a checkpoint is written.
bool report_sync(Report *report, Error *err);

// Writes an object with all scores of a split; they are null if it is empty.
void report_put_metrics(JsonWriter *writer, const char *key, const Metrics *metrics);

// How a run ended; run.json gets it as "result".
typedef struct RunResult {
    int64_t epochs, best_epoch; // best_epoch 0: nothing was validated
    int64_t stopped_early;      // evaluations without a better validation that ended the run, or 0
    Metrics last[4], best[4];   // by SPLIT_...: after the last epoch, at the best validation
    Metrics average[4];         // of the mean of train.average; no scores: there is none
    double seconds_per_epoch;   // median, training only, of the whole run; filled by report_result
    int64_t bytes_per_epoch; // of messages, all ranks, of the last epoch; filled by report_result
    size_t taken, resident;  // bytes, largest of all ranks: peak allocated, peak resident
    double seconds;          // wall clock since the start or the resume
} RunResult;
// For run.json: the times of all ranks, which it takes over. Call it before report_result.
void report_rank_times(Report *report, RankTimes *ranks);
bool report_result(Report *report, RunResult *result, Error *err); // waits until it is written
bool report_stopped(Report *report, Error *err); // run.json of a run that goes on later; likewise
void report_close(Report *report);               // likewise; NULL is allowed

// The lines of a run that has ended: where the time went of the epochs of this process, so not of
// those before a resume, and its result, which may be the output of the command.
void report_print_times(const Report *report);
void report_print_result(const Report *report, const RunResult *result, bool is_output);
// For several runs with the seeds `first_seed`, first_seed + 1, ...: puts their line, as above,
// and writes the object of runs.json.
void report_runs(JsonWriter *writer, const Score *score, int64_t first_seed,
                 const RunResult *result, int runs, const Sink *sink, bool is_output);

// A comparison: the same training in several variants, which are modes and single-rank baselines.
// Rank 0 only; functions that read files may take long.
enum { COMPARED_MOST = 16 };
typedef struct ComparedVariant {
    char name[CONFIG_WORD];         // also its folder inside that of the comparison
    bool blocking;                  // computation does not overlap with messages
    MeanDeviation validation, test; // at the last epoch, times score_scale
    RecordedEpoch mean;             // of an epoch
    double epoch;                   // seconds, the median
    double total;                   // seconds of training and assignment, of a run
    double to_target;               // seconds until the validation reached the target; NaN: never
} ComparedVariant;
typedef struct Comparison {
    const char *folder;          // borrowed, outlives the comparison
    const Score *score;          // that is compared
    const char *data;            // the name of the dataset, borrowed
    char origin[DATASET_ORIGIN]; // where it comes from; ""
    int ranks, runs;             // runs: of every variant
    int count;
    ComparedVariant variant[COMPARED_MOST]; // [count]
    double target;        // validation score; NaN without validation nodes or before it is read
    RecordedEpoch *times; // work space; owned
} Comparison;
void comparison_clear(Comparison *comparison);
// Adds a variant whose runs have ended with `result` [runs], and reads their metrics. After an
// error nothing is added.
bool comparison_add(Comparison *comparison, const char *name, bool blocking,
                    const RunResult *result, Error *err);
// Sets the target to 1 % below the best validation of the first variant; fills to_target of all.
bool comparison_read_targets(Comparison *comparison, Error *err);
void comparison_put(JsonWriter *writer, const Comparison *comparison); // compare.json; count > 0
// The table that compare.json holds, without scores of validation; texts are borrowed from it.
// False if it is another document.
bool comparison_of(Comparison *comparison, const Json *document);

// A table of results with means and deviations over runs, for papers and spreadsheets.
typedef struct ResultRow {
    char name[256];                 // "adaqp", "train.lr=0.01"
    MeanDeviation validation, test; // NaN: not measured
    double seconds, bytes;          // of an epoch; NaN: not measured
    double gradient_bytes;          // of weight gradients, likewise
    int runs;
} ResultRow;
typedef struct ResultTable {
    const char *what;   // heading of the names: "mode"
    const Score *score; // of the rows
    const char *when;   // "last" epoch or "best" validation: where the scores are taken
    ResultRow *row;     // [rows] borrowed
    int rows;
    int winner; // the row with the best mean validation; -1: none was validated
} ResultTable;
int result_winner(const ResultRow *row, int rows, const Score *score);
// Writes folder/name.csv and folder/name.tex.
bool result_table_write(const ResultTable *table, const char *folder, const char *name, Error *err);
// Writes compare.csv and compare.tex into the folder of the comparison.
bool comparison_write_tables(const Comparison *comparison, Error *err);

// Versions of everything linked, one per line (--version) and as JSON members (run.json).
// Into a writer for a run, with the backend that it has started; writer and backend NULL: into the
// sink, of all backends that start here.
void report_versions(JsonWriter *writer, const Sink *out, const Backend *started);
