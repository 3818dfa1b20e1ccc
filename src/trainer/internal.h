// What the files of the trainer room share.
#ifndef FRINGE_TRAINER_INTERNAL_H
#define FRINGE_TRAINER_INTERNAL_H

#include "fringe/assigner.h"
#include "fringe/gradsync.h"
#include "fringe/trainer.h"

// The file of model.weights that a run started from; empty: from random weights.
typedef struct FirstWeights {
    char path[CONFIG_TEXT], hash[33];
} FirstWeights;

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
    FirstWeights first_weights;
    uint64_t *state_hash; // [size] of every rank, when they were last compared
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

// Learning-rate schedules are a table: factor of train.lr for epoch 1..epochs, without warm-up.
typedef struct RateSchedule {
    const char *name;
    double (*factor)(const Config *config, int64_t epoch);
} RateSchedule;
double rate_of(const Trainer *trainer, int64_t epoch);

// ---- evaluate.c
// False with EXIT_DISAGREE, where the ranks do not hold the same. Collective.
bool evaluate_when_due(Trainer *trainer, EpochRecord *record, Error *err);
bool patience_is_over(const Trainer *trainer);

// Do all ranks have the memory that they plan to take? EXIT_MEMORY. Collective.
bool memory_fits(const MemoryPlan *plan, const Config *config, const Comm *comm, Error *err);
// Makes the Patterns where there is room for the most that making them may take. Collective.
bool patterns_build(ModelPatterns *patterns, const ModelShape *shape, const Shard *shard,
                    const Config *config, const Comm *comm, Error *err);

// The number validation is judged by.
double metric_score(const Config *config, bool multilabel, const Metrics *metrics);

// Compares parameters, moments, best weights and counters over the ranks: EXIT_DISAGREE names those
// that do not hold what rank 0 does. Takes no memory. Collective.
bool replicas_agree(Trainer *trainer, Error *err);

// ---- checkpoints

// Which training a checkpoint belongs to.
typedef struct Identity {
    const Json *config; // what is learned; inside the manifest's document
    char data[64], cut[64];
    int64_t parts, seed;
    FirstWeights first_weights;
} Identity;
void identity_put(JsonWriter *writer, const Trainer *trainer); // members of a manifest
bool identity_read(Identity *identity, const Json *document);  // false: they are not there
// Refuses a checkpoint of another training (EXIT_CONFIG) and says all that differs. Rank 0.
bool identity_check(const Trainer *trainer, const Identity *was, const char *folder, Error *err);

// The files of a checkpoint folder: weights, best weights, optimizer, widths and ranges of
// messages; beside them checkpoint.json.
enum { CHECKPOINT_FILES = 4, CHECKPOINT_PATH = 1400 };
extern const char *const checkpoint_files[CHECKPOINT_FILES];
extern const char checkpoint_manifest[]; // "checkpoint.json"
void checkpoint_path(char out[CHECKPOINT_PATH], const char *run_dir, int64_t epoch);
void checkpoint_file(char out[CHECKPOINT_PATH], const char *folder, int file);
int64_t checkpoint_epoch_of(const char *name); // the N of "epoch-N"; -1 where it is another name
typedef struct EpochList {
    int count;
    int64_t *epoch; // [count] newest first; owned
} EpochList;
// The checkpoints of a run. No folder is an empty list; a folder that cannot be read is an error.
bool checkpoint_list(EpochList *list, const char *run_dir, Error *err);

// checkpoint.json, read.
typedef struct Manifest {
    int64_t version;
    TrainerState state; // its counters
    Identity identity;  // since version 2
    bool has[CHECKPOINT_FILES];
    char unknown[128]; // a file that this program does not know; "" if there is none
    Json *document;    // owned
} Manifest;
// Hashes the files of `folder` and writes its checkpoint.json. Local.
bool checkpoint_manifest_write(const Trainer *trainer, const TrainerState *state,
                               const char *folder, Error *err);
// Reads one, and checks that it and every file it names are as they were written: EXIT_DATA or
// EXIT_NO_INPUT if not, EXIT_CONFIG for a newer version. Local.
bool checkpoint_manifest_read(Manifest *manifest, const char *folder, Error *err);
void checkpoint_manifest_clear(Manifest *manifest);
// Weights that were named are not given up for others: where a manifest lies beside the file, the
// checkpoint must be whole. Local.
bool checkpoint_check_named(const char *file, Error *err);

#endif
