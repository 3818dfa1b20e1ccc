// trainer: epochs. Owns parameters, optimizer, early stopping and what a checkpoint holds; fills an
// EpochRecord and knows nothing of files, printing or reports. Modes are a table: a name for
// (codec, schedule, savings).
#ifndef FRINGE_TRAINER_H
#define FRINGE_TRAINER_H

#include "fringe/assigner.h"
#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/model.h"

extern const Family optimizer_family, rate_schedule_family, metric_family;

typedef struct EpochRecord {
    int64_t epoch;                // 1 is the first
    double loss;                  // training loss, global
    double rate;                  // learning rate used
    double gradient_norm;         // before clipping
    bool evaluated, best;         // metrics are filled; validation is the best so far
    Metrics metrics[4];           // by SPLIT_...
    int64_t bytes;                // sent by all ranks in training messages this epoch
    int64_t reduce_bytes;         // sent by all ranks for gradients
    int64_t eval_bytes;           // sent for evaluation, counted apart
    double seconds, eval_seconds; // slowest rank
    Spans spans;                  // of this epoch, means over ranks
    const Assignment *assignment; // widths that this epoch was the first to use; NULL: as before
    double assign_seconds;        // before this epoch, slowest rank
} EpochRecord;

typedef struct Trainer Trainer;

// The widths in use (assigner.h); 0 tensors where the codec knows none. Collective.
int trainer_widths(Trainer *trainer, Tensor tensor[ASSIGNED_CHANNELS]);

// Builds Patterns, model and optimizer on the shard, with random weights. Prints nothing. Checks
// the predicted memory first (EXIT_MEMORY): a bound before the Patterns are made, the whole plan
// before the model is. Collective.
Trainer *trainer_new(const Config *config, const Shard *shard, const Comm *comm, uint64_t seed,
                     Error *err);
void trainer_free(Trainer *trainer);
// Gives the weights of model.weights, if it names a file, to a trainer that starts; one that goes
// on from a checkpoint does not need that file any more. Collective.
bool trainer_start(Trainer *trainer, Error *err);
const MemoryPlan *trainer_plan(const Trainer *trainer);
const ModelShape *trainer_shape(const Trainer *trainer);
const Model *trainer_model(const Trainer *trainer);
const ModelPatterns *trainer_patterns(const Trainer *trainer);
int trainer_threads(const Trainer *trainer);
const char *
trainer_kernels(const Trainer *trainer); // what tuning chose: "own forward: panels of 64; ..."

// One exchange of a training epoch, over all ranks.
typedef struct ExchangeSummary {
    int layer, direction;
    int64_t columns;
    int64_t rows;    // sent
    int64_t sums;    // of them partial sums
    int64_t sources; // rows, if sources alone were sent
    int64_t *pair;   // [reader, sender, 2] rows and sources; rank 0 of at most SUMMARY_PAIRS
                     // ranks, else NULL; owned
} ExchangeSummary;

enum { SUMMARY_PAIRS = 32 };

// What only all ranks together know of a training before its first epoch.
typedef struct RunSummary {
    double baseline[4];          // of model_baseline
    int64_t own_least, own_most; // rows of a rank
    int64_t central, halo;       // rows, over all ranks
    size_t predicted;            // bytes of the largest MemoryPlan
    int exchanges;
    ExchangeSummary exchange[2 * MODEL_LAYERS]; // [exchanges]
    double patterns_seconds;                    // to make the Patterns, slowest rank
} RunSummary;
RunSummary trainer_summary(const Trainer *trainer); // Collective.
void run_summary_clear(RunSummary *summary);

// One epoch; assigns widths before it and evaluates after it when due. False with EXIT_DIVERGED if
// the loss is not finite, with EXIT_DISAGREE if at an evaluation the ranks do not hold the same
// weights and moments. Collective.
bool trainer_epoch(Trainer *trainer, EpochRecord *record, Error *err);
bool trainer_finished(const Trainer *trainer); // all epochs done, or early stopping said so
int64_t trainer_epochs_done(const Trainer *trainer);
// What training needs beyond evaluation: early stopping needs validation nodes and evaluations.
bool trainer_may_train(const Trainer *trainer, Error *err);
// Evaluations without a better validation that ended training before train.epochs; 0: nothing did.
int64_t trainer_stopped_early(const Trainer *trainer);
// Evaluates the weights as they are, unless that was done after their epoch: then trainer_state's
// last_metrics are theirs. Selects and stops nothing. Collective.
void trainer_evaluate_last(Trainer *trainer);
// Evaluation of the current (or best) weights, outside training. Collective.
void trainer_evaluate(Trainer *trainer, bool best, Metrics out[4]);
const float *trainer_parameters(const Trainer *trainer, bool best);

// What evaluates and predicts with weights that are there: a model on the full Pattern, without
// gradients, optimizer or assigner. What config says of training is not looked at.
typedef struct Inference {
    ModelShape shape;
    ModelPatterns patterns;
    Model *model; // owned: model_infer, model_embedding, model_metrics
    MemoryPlan plan;
} Inference;
// `beside`: what the caller will take itself; checked with the rest before it is taken
// (EXIT_MEMORY). *inference must stay where it is. Collective.
bool inference_open(Inference *inference, const Config *config, const Shard *shard,
                    const Comm *comm, const MemoryPlan *beside, Error *err);
void inference_close(Inference *inference);

// The trace of the epochs of run.trace, complete after the last of them (or of all): NULL before.
const Trace *trainer_trace(const Trainer *trainer);

// State beside the weights, for checkpoints: optimizer moments, step, early stopping, best weights.
// Replicated on all ranks, so rank 0's copy is the state. tensors point into the trainer; scalars
// are in *counters.
typedef struct TrainerState {
    Tensor tensor[8]; // "moment1", "moment2", "best" ...: flat arrays [parameter_count]
    int tensors;
    struct {
        int64_t epoch, best_epoch, stale_evaluations;
        double best_score;
        Metrics best_metrics[4], last_metrics[4];
    } counters;
} TrainerState;
void trainer_state(Trainer *trainer, TrainerState *state); // borrowed views
void trainer_restore(Trainer *trainer, const TrainerState *state, const float *parameters);

// Checkpoints (DESIGN 9): <dir>/checkpoints/epoch-N/{model, best, optimizer}.safetensors and
// checkpoint.json, written to a temporary folder, synced, renamed; LATEST renamed over. Rank 0
// writes. EXIT_DISAGREE if the ranks do not hold the same weights and moments. Collective (agrees
// on errors).
bool checkpoint_write(Trainer *trainer, const char *run_dir, int keep, Error *err);
// Restores the newest whole checkpoint (skipping damaged ones with a warning). *found false if
// there is none at all. EXIT_DATA if there are some and none is whole, EXIT_IO if one cannot be
// read, EXIT_CONFIG, with all that differs, if the newest whole one is of another training (what is
// learned, data, parts, seed, first weights), or if it is of version 1 or a newer version.
// Collective.
bool checkpoint_restore(Trainer *trainer, const char *run_dir, bool *found, Warnings *warnings,
                        Error *err);
// Reads only the weights (PyG names) of a checkpoint folder, run folder or .safetensors file into
// `path`.
bool checkpoint_weights_path(const char *where, bool best, char *path, size_t size, Error *err);
bool checkpoint_inspect(const char *where, Error *err); // header and statistics, stdout

#endif
