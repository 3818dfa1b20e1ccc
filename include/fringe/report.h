// report: what a person and a program see of a run. run.json (resolved config, versions, machine),
// metrics.jsonl (one object per epoch, the source of truth), one plain line per logged epoch on
// stderr. Rank 0 only. Files are written by a thread of the report (base/writer.h), in the order of
// the calls; what it could not write comes back as the error of a later call.
#ifndef FRINGE_REPORT_H
#define FRINGE_REPORT_H

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/trainer.h"

typedef struct Report Report;

// One exchange of a training epoch, over all ranks.
typedef struct ExchangeFacts {
    ExchangeId id;
    int64_t columns;
    int64_t rows;    // sent
    int64_t sums;    // of them partial sums
    int64_t sources; // rows, if sources alone were sent
    int64_t *pair;   // [reader, sender, 2] rows and sources; rank 0 of at most FACTS_PAIRS
                     // ranks, else NULL
} ExchangeFacts;

enum { FACTS_PAIRS = 32 };

// What only all ranks together know of a run; run.json keeps it.
typedef struct RunFacts {
    double baseline[4]; // by SPLIT_..., NaN where it is empty: accuracy of the most frequent
                        // training class, or micro-F1 of the classes that most training nodes have
    int64_t own_least, own_most; // rows of a rank
    int64_t central, halo;       // rows, over all ranks
    size_t predicted;            // bytes of the largest MemoryPlan
    int exchanges;
    ExchangeFacts exchange[2 * MODEL_LAYERS]; // pairs owned
    double patterns_seconds;                  // to make the Patterns, slowest rank
} RunFacts;

// Begins to report into <dir>, which is claimed (runfolder.h). `resume_epoch` >= 0 cuts
// metrics.jsonl and assignments back to that epoch and says what is lacking; -1: the run starts
// anew, and none of its files is there yet. Writes run.json. What it borrows outlives the report.
Report *report_open(const Config *config, const Shard *shard, const Trainer *trainer,
                    const Comm *comm, const RunFacts *facts, int64_t resume_epoch, Error *err);
// One line of metrics.jsonl, and a line on stderr when due.
bool report_epoch(Report *report, const EpochRecord *record, Error *err);
// <dir>/assignments/epoch-N.json and the widths beside it (assigner_widths), which it takes over.
bool report_assignment(Report *report, const Assignment *assignment, const Tensor *widths,
                       int count, Error *err);
// trace.json, from the events of all ranks (trace_gather), both arrays of which it takes over.
bool report_trace(Report *report, TraceEvent *event, int64_t *offset, Error *err);
// Prints the assignments that a run stored; nothing if there are none.
bool report_show_assignments(const char *run_dir, Error *err);
// Waits until all that was reported is written, metrics.jsonl on the disk, and answers for this
// rank meanwhile; call it before a checkpoint says so.
bool report_sync(Report *report, Error *err);
void report_line(const EpochRecord *record, int64_t epochs, double eta_seconds, char *out,
                 size_t size);

// One line of metrics.jsonl, read back; epoch 0 where it names none. Seconds; scores are NaN where
// nothing was evaluated.
typedef struct EpochTimes {
    int64_t epoch;
    double bytes, seconds, compute, pack, wait, reduce, evaluation, assignment;
    double validation, test; // accuracy, or micro-F1
} EpochTimes;
// The first `most` epochs of the run in that folder.
bool report_history(const char *run_dir, EpochTimes *times, int64_t most, int64_t *count,
                    Error *err);

// What is printed of a split: its accuracy, or micro-F1 (the same where a node has one label); NaN
// where the split is empty.
double report_score(const Metrics *metrics);
// "93.00 %", or "none" for what is no number. Returns out.
enum { REPORT_PERCENT = 16 };
const char *report_percent(char out[REPORT_PERCENT], double share);
// An object of all figures of a split; they are null where it is empty.
void report_put_metrics(JsonWriter *writer, const char *key, const Metrics *metrics);

// How a run ended; run.json gets it as "result".
typedef struct RunResult {
    int64_t epochs, best_epoch; // best_epoch 0: nothing was validated
    int64_t stopped_early;    // evaluations without a better validation that ended it; 0: none did
    Metrics last[4], best[4]; // by SPLIT_...: after the last epoch, at the best validation
    double seconds_per_epoch; // median, training only, of the whole run; filled by report_result
    int64_t bytes_per_epoch;  // of messages, all ranks, of the last epoch; filled by report_result
    size_t taken, resident;   // bytes: most ever taken by a rank, most ever resident
    double seconds;           // wall clock since the start or the resume
} RunResult;
bool report_result(Report *report, RunResult *result, Error *err); // waits until it is written
void report_close(Report *report);                                 // likewise; NULL is fine

// Mean and sample standard deviation.
typedef struct Summary {
    double mean, deviation;
    int count;
} Summary;
Summary report_summary(const double *value, int count);

// Versions of everything linked, one per line (--version) and as JSON members (run.json).
void report_versions(JsonWriter *writer); // NULL: prints to stdout

#endif
