// What the files of the trainer room share.
#ifndef FRINGE_TRAINER_INTERNAL_H
#define FRINGE_TRAINER_INTERNAL_H

#include "fringe/assigner.h"
#include "fringe/gradsync.h"
#include "fringe/trainer.h"

struct Trainer {
    const Config *config; // borrowed, outlives the trainer
    const Shard *shard;   // borrowed, outlives the trainer
    const Comm *comm;     // borrowed, outlives the trainer
    const Backend *backend;
    const struct Optimizer *optimizer;
    const struct RateSchedule *rate_schedule;
    uint64_t seed;
    int threads;
    ModelShape shape;
    ModelPatterns patterns;
    Model *model;
    GradSync *sync;
    Assigner *assigner; // NULL: the codec knows no widths
    MemoryPlan plan;
    // flat arrays [parameter_count]
    float *parameters, *gradient, *moment1, *moment2, *decay, *best;
    // what early stopping and checkpoints know
    int64_t epoch, best_epoch, stale_evaluations;
    int64_t evaluated; // epoch whose weights last_metrics are of; -1: not known
    double best_score;
    Metrics best_metrics[4], last_metrics[4];
    bool stopped; // early
    Spans spans;
    Trace trace; // of run.trace
    char kernels[256];
};

// Optimizers are a table (optimizer.c); sgd is the smallest member and the one to copy.
typedef struct Optimizer {
    const char *name;
    // Applies trainer->gradient to trainer->parameters; epoch counts from 1.
    void (*step)(Trainer *trainer, double rate, int64_t epoch);
} Optimizer;
const Optimizer *optimizer_find(const char *name, Error *err);

// Learning-rate schedules are a table: factor of train.rate for epoch 1..epochs, without warm-up.
typedef struct RateSchedule {
    const char *name;
    double (*factor)(const Config *config, int64_t epoch);
} RateSchedule;
const RateSchedule *rate_schedule_find(const char *name, Error *err);
double rate_of(const Trainer *trainer, int64_t epoch);

// ---- evaluate.c
void evaluate_when_due(Trainer *trainer, EpochRecord *record); // Collective.
bool patience_is_over(const Trainer *trainer);

// Do all ranks have the memory that they plan to take? EXIT_MEMORY. Collective.
bool memory_fits(const MemoryPlan *plan, const Config *config, const Comm *comm, Error *err);

// The number validation is judged by.
double metric_score(const Config *config, bool multilabel, const Metrics *metrics);
bool metric_known(const Config *config, Error *err);

// The files of a checkpoint folder: weights, best weights, optimizer, widths and ranges of
// messages; beside them checkpoint.json.
enum { CHECKPOINT_FILES = 4, CHECKPOINT_PATH = 1400 };
extern const char *const checkpoint_files[CHECKPOINT_FILES];
extern const char checkpoint_manifest[]; // "checkpoint.json"
void checkpoint_path(char out[CHECKPOINT_PATH], const char *run_dir, int64_t epoch);
void checkpoint_file(char out[CHECKPOINT_PATH], const char *folder, int file);
typedef struct EpochList {
    int count;
    int64_t *epoch; // [count] newest first; owned
} EpochList;
// The checkpoints of a run. No folder is an empty list; a folder that cannot be read is an error.
bool checkpoint_list(EpochList *list, const char *run_dir, Error *err);
// Hashes the files of `folder` and writes its checkpoint.json. Local.
bool checkpoint_manifest_write(const TrainerState *state, const char *folder, const char *binding,
                               Error *err);
// Counters and binding of one checkpoint folder, with every file checked against its hash. Local.
bool checkpoint_manifest_read(const char *folder, TrainerState *state, char *binding, size_t size,
                              Error *err);

#endif
