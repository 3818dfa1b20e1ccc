// trainer: epochs. Owns parameters, optimizer and early stopping, and offers their state to
// checkpoints in sections. Fills an EpochRecord; knows nothing of files, printing or reports.
#pragma once

#include "fringe/assigner.h"
#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/model.h"

extern const Family optimizer_family, rate_schedule_family, sample_family;

typedef struct EpochRecord {
    int64_t epoch;                // 1 is the first
    double loss;                  // training loss, global
    double rate;                  // learning rate used
    double gradient_norm;         // before clipping
    bool evaluated, best;         // metrics are filled; validation is the best so far
    Metrics metrics[4];           // by SPLIT_...
    const Metrics *average;       // [4] evaluated: of the mean that train.average makes, until the
                                  // next epoch; NULL: there is none
    int64_t bytes;                // sent by all ranks in training messages this epoch
    int64_t headers, skipped;     // messages of training of all ranks, and those of them without
                                  // rows, where a schedule may leave rows out; else 0
    int64_t halo_rows;            // sent by all ranks in training, where rows are sampled; else < 0
    int64_t sampled;              // training nodes that count, where train.sample draws; else < 0
    double sample_gain;           // sqrt(N sum p^2) of the norms that were measured; 0: none were
    bool sample_uniform;          // it gains too little, so that the draw is uniform
    int64_t reduce_bytes;         // sent by all ranks for gradients
    int64_t gradient_bits;        // of their values, where a rule chooses them; else 0
    double gradient_memory;       // what gradients.memory leaves of them (gradsync.h); NaN: nothing
    int64_t eval_bytes;           // sent for evaluation, counted apart
    double seconds, eval_seconds; // slowest rank
    Timers timers;                // of this epoch, means over ranks
    const Assignment
        *assignment;           // bit widths that this epoch was the first to use; NULL: unchanged
    double assign_seconds;     // before this epoch, slowest rank
    ExchangeSet fp32;          // exchanges that quantization.exchanges made exact
    const CodecChoice *choice; // that was made after this epoch; NULL: none
} EpochRecord;

typedef struct Trainer Trainer;

// What was measured and chosen, as soon as it is; else NULL.
const CodecChoice *trainer_codec_choice(const Trainer *trainer);

// The bit widths in use (assigner.h); 0 tensors for a codec without bit widths. Collective.
int trainer_widths(Trainer *trainer, Tensor tensor[ASSIGNED_CHANNELS]);

// Builds Patterns, model and optimizer on the shard, with random weights. Prints nothing. Checks
// the predicted memory first (EXIT_MEMORY): a bound before the Patterns are made, the whole plan
// before the model is. `replay` is what the rules replay:RUN repeat (assigner.h); NULL if the
// config names none. Collective.
Trainer *trainer_new(const Config *config, const Shard *shard, const Comm *comm, uint64_t seed,
                     const Replay *replay, Error *err);
void trainer_free(Trainer *trainer);
CLEARED_POINTER(trainer_drop, Trainer, trainer_free)
// The same plan without ranks, data or training: what trainer_new would plan on a rank with these
// Patterns, which may be outlines (halo.h). `comm` needs rank, size, node_rank and node_size. Of
// `shard` the sizes and the degrees are read. False with an error in the config. Local.
bool trainer_forecast_outline(MemoryForecast *forecast, const Config *config, const Shard *shard,
                              const ModelPatterns *patterns, const Comm *comm, Error *err);
const MemoryForecast *trainer_forecast(const Trainer *trainer);
const Backend *trainer_backend(const Trainer *trainer); // started
int trainer_threads(const Trainer *trainer);
const char *
trainer_kernels(const Trainer *trainer); // what tuning chose: "own forward: panels of 64; ..."

// One exchange of a training epoch, over all ranks.
typedef struct ExchangeSummary {
    ExchangeId id;
    int64_t columns;
    int64_t rows;    // sent
    int64_t sums;    // of them partial sums
    int64_t sources; // rows, if sources alone were sent
    int64_t *pair;   // [reader, sender, 2] rows and sources; rank 0 of at most SUMMARY_PAIRS
                     // ranks, else NULL; owned
} ExchangeSummary;

enum { SUMMARY_PAIRS = 32, SUMMARY_HOST = 64 };

// What run.precision=auto measured, the same on all ranks.
typedef enum Precision { PRECISION_FP32, PRECISION_BF16, PRECISION_BF16X3, PRECISIONS } Precision;
extern const char *const precision_names[PRECISIONS]; // "fp32", "bf16", "bf16x3"
typedef struct PrecisionChoice {
    char taken[CONFIG_WORD];    // a value of run.precision; "": nothing is chosen
    bool measured;              // false: a run that is resumed had it
    double bound;               // run.precision_error
    double seconds[PRECISIONS]; // three products of each matrix, slowest rank; -1: there is none
    double error[PRECISIONS];   // the largest of a matrix: norm of what its forward product is off
                                // sums in double / their norm; infinite where they overflow
} PrecisionChoice;
// Measures products of at most 4096 rows of each rank with the first weights of run.seed. Before a
// trainer is made; starts the backend. False: it does not start, or the config is wrong.
// Collective.
bool precision_measure(PrecisionChoice *choice, const Config *config, const Shard *shard,
                       const Comm *comm, Error *err);
// Takes the fastest that was measured with an error of at most `bound`. EXIT_CONFIG: there is none.
// Local, the same on all ranks.
bool precision_take(PrecisionChoice *choice, double bound, Error *err);

// Facts about a training before its first epoch that take all ranks to know.
typedef struct RunSummary {
    double baseline[4];          // of model_baseline
    int64_t left_out;            // classes that the score of train.metric leaves out: all
                                 // validation nodes have them, or none
    int64_t own_least, own_most; // rows of a rank
    int64_t central, halo;       // rows, over all ranks
    double halo_ratio;           // halo rows / own rows, mean over ranks
    size_t predicted;            // bytes of the largest MemoryForecast
    size_t device_predicted;     // of a device; 0 where device memory is the host's
    bool sparse;                 // features are multiplied as CSR
    const char *dense_why;       // why sparse features are not; NULL
    PrecisionChoice precision;   // of run.precision=auto, as the caller has it
    int exchanges;
    ExchangeSummary exchange[2 * MODEL_LAYERS]; // [exchanges]
    double norm_bytes[2];                       // of model_norm_bytes; 0: no norm of columns
    double patterns_seconds;                    // to make the Patterns, slowest rank
    char (*host)[SUMMARY_HOST];                 // [ranks] rank 0, else NULL; owned
} RunSummary;
RunSummary trainer_summary(const Trainer *trainer); // Collective.
void run_summary_clear(RunSummary *summary);

// Seconds of one rank, means over the epochs that this process trained.
typedef struct RankTimes {
    int64_t epochs;
    double compute, pack, wait, reduce;
} RankTimes;
// Of all ranks: [ranks] on rank 0, memory_free it; else NULL. Collective.
RankTimes *trainer_rank_times(const Trainer *trainer);

// One epoch; assigns widths before it and evaluates after it when due. False with EXIT_DIVERGED if
// the loss is not finite, with EXIT_MISMATCH if at an evaluation the ranks do not hold the same
// weights and moments. Collective.
bool trainer_epoch(Trainer *trainer, EpochRecord *record, Error *err);
bool trainer_finished(const Trainer *trainer); // all epochs done, or early stopping said so
int64_t trainer_epochs_done(const Trainer *trainer);
// False with an error if early stopping has no validation nodes or no evaluations.
bool trainer_may_train(const Trainer *trainer, Error *err);
// The number of evaluations without a better score that ended training early; 0: it did not end
// early.
int64_t trainer_stopped_early(const Trainer *trainer);
// Evaluates the current weights unless they were evaluated after their epoch; the result is
// last_metrics of trainer_counters. Does not select or stop. Collective.
void trainer_evaluate_last(Trainer *trainer);
// Evaluation of the current (or best) weights, outside training. Collective.
void trainer_evaluate(Trainer *trainer, bool best, Metrics out[4]);
const float *trainer_parameters(const Trainer *trainer, bool best);

// Evaluation and prediction with given weights: a model on the full Pattern, without gradients,
// optimizer or assigner. It ignores the training section of the config.
typedef struct Inference {
    ModelShape shape;
    ModelPatterns patterns;
    const Backend *backend;
    Model *model; // owned: model_infer, model_embedding, model_metrics
    MemoryForecast forecast;
} Inference;
// `beside`: memory that the caller will allocate itself; checked with the rest (EXIT_MEMORY).
// *inference must stay where it is. Collective.
bool inference_open(Inference *inference, const Config *config, const Shard *shard,
                    const Comm *comm, const MemoryForecast *beside, Error *err);
void inference_close(Inference *inference);

// The trace of the epochs of run.trace, complete after the last of them (or of all): NULL before.
const Trace *trainer_trace(const Trainer *trainer);

// The sections of state that a checkpoint keeps, borrowed. An object whose state a resumed run
// needs registers its section here, before the first epoch.
StateSections *trainer_sections(Trainer *trainer);
// What a training runs on; "": not known, or nothing to choose.
typedef struct KernelChoice {
    char backend[CONFIG_WORD];   // the name of a member
    char spmm[CONFIG_WORD];      // Backend.spmm
    char precision[CONFIG_WORD]; // run.precision
    char sums[CONFIG_WORD];      // Backend.sums
} KernelChoice;
KernelChoice trainer_kernel_choice(const Trainer *trainer);
// What train.lr_schedule=plateau knows of past evaluations.
typedef struct Plateau {
    double factor; // of the rate; 0: another schedule
    double best;   // NaN: none yet
    int64_t bad;   // evaluations in a row without a better score
} Plateau;
// The counters that a checkpoint keeps beside the sections, the same on all ranks.
typedef struct TrainerCounters {
    int64_t epoch, best_epoch, stale_evaluations;
    double best_score;
    Metrics best_metrics[4], last_metrics[4]; // by SPLIT_...
    Metrics average_metrics[4];               // of train.average; no scores: there is none
    Plateau plateau;
    KernelChoice kernels;
} TrainerCounters;
TrainerCounters trainer_counters(const Trainer *trainer);
// Continues after that epoch; the sections must be restored from the same checkpoint. Local.
void trainer_set_counters(Trainer *trainer, const TrainerCounters *counters);

// Do all ranks hold the same parameters, moments, best weights and counters? EXIT_MISMATCH names
// the ranks that differ from rank 0. Allocates no memory. Collective.
bool trainer_replicas_agree(Trainer *trainer, Error *err);

// ---- for all that computes on a shard

// Starts the backend with what the config and the place of this rank say; NULL with an error.
// Collective, but does not agree on errors.
const Backend *backend_of(const Config *config, const Comm *comm, Error *err);
// Do all ranks have the memory that they plan to take, also on their devices (backend NULL: none is
// planned there)? EXIT_MEMORY. Collective.
bool memory_fits(const MemoryForecast *forecast, const Backend *backend, const Config *config,
                 const Comm *comm, Error *err);
