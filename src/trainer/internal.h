// What the files of the trainer room share.
#pragma once

#include "fringe/assigner.h"
#include "fringe/gradsync.h"
#include "fringe/trainer.h"

// What train.sample draws by (sample.c).
typedef struct SampleRule SampleRule;
typedef struct Sampler {
    const SampleRule *rule;
    int64_t size;    // B; 0: all training nodes count
    float *row;      // [own nodes] weights of this epoch's rows
    float *norm;     // [own nodes] of a training node's gradient by its logits; NULL: not measured
    float *gradient; // [own nodes, K] scratch
    double least, total, gain; // of the norms of all ranks: what is added to each, their sum with
                               // it, and how much narrower their draw is than the uniform one
} Sampler;

// The mean of the weights of the last evaluations (average.c).
typedef struct Average {
    int64_t most, seen;  // N, 0: nothing is averaged; evaluations so far
    float *kept;         // [N, state_count] weights of evaluation i in row i mod N
    float *mean;         // [state_count] the host's mirror of
    DeviceFloat *device; // [state_count]
} Average;

struct Trainer {
    const Config *config; // borrowed, outlives the trainer
    const Shard *shard;   // borrowed, outlives the trainer
    const Comm *comm;     // borrowed, outlives the trainer
    const Replay *replay; // borrowed, outlives the trainer
    const Backend *backend;
    const struct Optimizer *optimizer;
    const struct RateSchedule *rate_schedule;
    const Score *judge; // the score of validation that chooses the best epoch
    int64_t left_out;   // classes that it leaves out
    uint64_t seed;
    int threads;
    ModelShape shape;
    ModelPatterns patterns;
    Model *model;
    GradForm gradients; // without spans
    GradSync *sync;
    Sampler sampler;
    Average average;
    Assigner *assigner; // NULL: the codec knows no widths
    Chooser *chooser;   // which exchanges are in full precision; NULL: those of evaluation alone
    MemoryForecast forecast;
    StateSections sections;
    // flat arrays [state_count], and the host's mirrors of them
    struct {
        DeviceFloat *parameters, *gradient, *moment1, *moment2, *decay, *best;
        DeviceDouble *square; // sum of squares of the gradient
    } device;
    float *parameters, *gradient, *moment1, *moment2, *decay, *best;
    double *square;
    DeviceEvent *square_ready;
    Taken *taken;         // owned: the blocks of flat arrays, of `sampler` and of `average`
    TrainerCounters now;  // without its kernels
    int64_t evaluated;    // epoch whose weights now.last_metrics are of; -1: not known
    bool stopped;         // early
    uint64_t *state_hash; // [size] of every rank, when they were last compared
    Timers timers;
    double spent[TIMER_KINDS]; // seconds of this rank in the epochs of this process
    int64_t timed;             // those epochs
    StreamTimer *timer;        // adds to them
    Trace trace;               // of run.trace
    char kernels[256];
};

// How many ranks share this rank's device; 0: it has none. Only the names of devices tell: a
// launcher may show all ranks of a machine the same device, or each another one. Collective.
int device_ranks(const Backend *backend, const Comm *comm);

// What a backend is started with, but for the ranks that share its device. Local.
BackendStart backend_start_of(const Config *config, const Comm *comm);
// After the start (backend NULL: it failed here): where ranks would add up products of bf16 in
// different orders, starts all with pairs. Collective.
bool agree_on_sums(const Backend *backend, BackendStart *how, const Comm *comm, Error *err);

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
    bool watches; // the plateau is a factor, too
} RateSchedule;
double rate_of(const Trainer *trainer, int64_t epoch);
void plateau_begin(Trainer *trainer);
// After each evaluation of train.eval_every, with its validation score.
void plateau_after(Trainer *trainer, double score);

// ---- evaluate.c
// False with EXIT_MISMATCH, where the ranks do not hold the same. Collective.
bool evaluate_when_due(Trainer *trainer, EpochRecord *record, Error *err);
bool patience_is_over(const Trainer *trainer);

// ---- sample.c
bool sampler_configure(Sampler *sampler, const Config *config, Error *err);
bool sampler_fits(const Sampler *sampler, const Shard *shard, Error *err);
void sampler_alloc(Sampler *sampler, const Shard *shard, const Allocator *allocator);
// Before an epoch's forward pass: draws, and counts the nodes of this rank in record->sampled.
void sampler_before(Trainer *trainer, EpochRecord *record);
void sampler_after(Trainer *trainer, int64_t epoch); // measures when due. Collective.
StateSection sampler_section(Trainer *trainer);      // NULL name: it keeps nothing

// ---- average.c
void average_alloc(Trainer *trainer, const Allocator *allocator);
// After an evaluation of the weights: they enter the mean, which is evaluated. Collective.
void average_after(Trainer *trainer);
StateSection average_section(Trainer *trainer); // of the mean's weights; NULL name: there is none

// ---- flat.c
static inline size_t trainer_flat_bytes(const Trainer *t) { // of an array [state_count]
    return (size_t)t->shape.state_count * sizeof(float);
}
void trainer_alloc_flat(Trainer *trainer, const Allocator *allocator);
// The flat arrays from the host to the device, and back; both agree but for what was written on one
// since.
void trainer_upload(Trainer *trainer);
void trainer_download(Trainer *trainer);

// ---- trainer.c
// Makes the Patterns where there is room for the most that making them may take. Collective.
bool patterns_build(ModelPatterns *patterns, const ModelShape *shape, const Shard *shard,
                    const Config *config, const Comm *comm, Error *err);

// Registers the trainer's own sections and those of its parts (state.c).
void register_sections(Trainer *trainer);
