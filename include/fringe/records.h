// records: reads back the runs that fringe wrote. A run is a folder with run.json and
// metrics.jsonl, finished or not; the folders of --runs, of a comparison and of a sweep hold
// several runs. These functions read files, may take long, and change nothing. Local.
#pragma once

#include "fringe/assigner.h"
#include "fringe/base.h"
#include "fringe/model.h"

// One line of metrics.jsonl. Times are in seconds, training without evaluation unless named.
typedef struct RecordedEpoch {
    int64_t epoch; // 0 if the line names none
    double loss, lr, gradient_norm;
    double headers, skipped;    // messages, and those of them without rows; 0: all had theirs
    double bytes, reduce_bytes; // of halo rows, and of the sum of weight gradients; all ranks
    double gradient_bits;       // of their values, where a rule chooses them; else NaN
    double gradient_memory;     // what gradients.memory left of them, over them; NaN: nothing
    double seconds, compute, pack, wait, reduce, evaluation, assignment;
    double train, validation, test; // a score; NaN if nothing was evaluated
    ExchangeSet fp32;               // exchanges of training that were exact by measurement
} RecordedEpoch;

// Of one line, an object, with that score of its splits (NULL: none).
RecordedEpoch record_epoch(const Json *line, const Score *score);
// Adds that share of the messages, bytes and times of an epoch.
void record_add(RecordedEpoch *sum, const RecordedEpoch *epoch, double share);
// The sum of them over epochs [0, count), times `share`.
RecordedEpoch record_sum(const RecordedEpoch *epoch, int64_t count, double share);
// The median of their times; NaN for none.
double record_median_seconds(const RecordedEpoch *epoch, int64_t count);
// Reads the first `most` epochs of the run in that folder.
bool record_history(const char *run_dir, const Score *score, RecordedEpoch *epoch, int64_t most,
                    int64_t *count, Error *err);

// Reads what the config's rule replay:RUN repeats of that run, which must exist and not be the run
// of `config` itself: the epochs with assignments, of which there must be some, and the exact
// exchanges of at most train.epochs. Without such a rule they do nothing.
bool replay_read_widths(Replay *replay, const Config *config, Error *err);
bool replay_read_exchanges(Replay *replay, const Config *config, Error *err);
// Both on rank 0, for all ranks. Collective.
bool replay_read(Replay *replay, const Config *config, const Comm *comm, Error *err);
void replay_clear(Replay *replay); // also after an error

typedef enum RecordState { RECORD_RUNNING, RECORD_FINISHED, RECORD_UNFINISHED } RecordState;

typedef struct RunRecord {
    char folder[PATH_BYTES];
    RecordState state;    // running: a living process holds the lock of the folder
    Json *json;           // run.json; owned
    const Score *score;   // that its epochs have: what people are shown of such labels
    RecordedEpoch *epoch; // [epochs] metrics.jsonl; owned
    int64_t epochs;
} RunRecord;

const char *record_state_name(RecordState state); // "running", "finished", "unfinished"

// Reads the run in that folder. EXIT_NO_INPUT without run.json; a missing metrics.jsonl is a run
// without epochs. After an error the record is empty.
bool record_read(RunRecord *record, const char *folder, Error *err);
void record_clear(RunRecord *record);

// A member of run.json by its path, "config.model.layer": NULL or NaN if it is missing or has
// another type. The text lives as long as the record.
const Json *record_member(const RunRecord *record, const char *path);
const char *record_text(const RunRecord *record, const char *path);
double record_number(const RunRecord *record, const char *path);
// What stands behind the name of its dataset if that only looks like the set of that name; else "".
const char *record_look_alike(const RunRecord *record);

typedef struct RunRecords {
    RunRecord *run; // [count] owned
    int count;
} RunRecords;

// Adds all runs at or below `folder`, in the order of their names with numbers by value (run-2
// before run-10). EXIT_NO_INPUT if there is none. A run that cannot be read is left out with a
// warning.
bool records_add(RunRecords *records, const char *folder, const Sink *sink, Error *err);
void records_clear(RunRecords *records);

// What a list of runs shows of one. Scores are NaN if nothing was evaluated.
typedef struct RunFigures {
    int64_t best_epoch;      // 0: nothing was validated
    double validation, test; // at the best validation; without one: of the last evaluation
    double last_validation, last_test;
    double seconds, bytes;  // of an epoch: the median, and of the last one; NaN without one
    double gradient_bytes;  // of weight gradients: the mean over epochs; NaN without one
    double gradient_memory; // its mean over epochs; NaN without a memory
    double age;             // seconds since it ended, or else since it last wrote
} RunFigures;
RunFigures record_figures(const RunRecord *record);
// Of the lines of metrics.jsonl: the last one with scores of validation or test nodes, and the one
// with the best validation score, by result.best_epoch if it is known; -1: there is none.
int64_t record_last_scored(const RunRecord *record);
int64_t record_best(const RunRecord *record);

// The keys whose values differ between the runs, such as "config.train.lr" or "machine.ranks". Keys
// that say where a run writes and when it prints or saves are left out. [*count] strings of
// RECORD_KEY bytes; memory_free them.
enum { RECORD_KEY = 96, RECORD_VALUE = 128 };
char (*records_differing_keys(const RunRecords *records, int *count))[RECORD_KEY];
// The part of the key that names it among the others: "lr", or "train.lr" if several end in "lr".
const char *record_short_key(const char (*key)[RECORD_KEY], int count, int which);
// Also true if neither has the key.
bool record_same_value(const RunRecord *a, const RunRecord *b, const char *key);
bool record_has_value(const RunRecord *record, const char *key, const Json *value);
// The value of a key as a text that may be cut; false if the run has no such key.
bool record_value(const RunRecord *record, const char *key, char out[RECORD_VALUE]);
