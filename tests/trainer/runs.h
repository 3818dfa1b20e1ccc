// Whole runs of a small training, and a rank that does not hold what the others do.
#pragma once

#include "fixture.h"

static inline void settle(const char *const *more, int count) {
    const char *settings[32] = {"model.layers=3",  "model.hidden=[20]",
                                "train.epochs=12", "train.eval_every=3",
                                "run.threads=1",   "model.input_dropout=0.2"};
    for (int i = 0; i < count; i++)
        settings[6 + i] = more[i];
    assert_ok(config_load(&config, NULL, settings, 6 + count, &err));
}

static inline Trainer *trainer_with(const char *const *more, int count) {
    settle(more, count);
    return new_trainer();
}

typedef struct Run {
    double loss[64];
    float parameters[4096], average[4096];
    int64_t count, epochs;
    int64_t reduce_bytes; // of all epochs
} Run;

static inline void train(Run *run, Trainer *t) {
    EpochRecord record;
    while (!trainer_finished(t)) {
        assert_ok(trainer_epoch(t, &record, &err));
        run->loss[record.epoch - 1] = record.loss;
        run->reduce_bytes += record.reduce_bytes;
    }
    run->epochs = trainer_epochs_done(t);
    run->count = t->shape.parameter_count;
    assert_true(run->count <= 4096);
    if (t->average.most > 0)
        memcpy(run->average, t->average.mean, (size_t)t->shape.state_count * sizeof(float));
    memcpy(run->parameters, trainer_parameters(t, false), (size_t)run->count * sizeof(float));
}

static inline Run whole_run(const char *const *more, int count) {
    static Run run;
    memset(&run, 0, sizeof run);
    OWNED(Trainer) *t = trainer_with(more, count);
    train(&run, t);
    return run;
}

static inline bool same_weights(const Run *a, const Run *b) {
    return a->count == b->count &&
           memcmp(a->parameters, b->parameters, (size_t)a->count * sizeof(float)) == 0;
}

// As if a machine of the last rank had another libm, or a bit had flipped there: in what it
// computes with, or in what it will.
static inline void disturb(Trainer *t, int flat) {
    float *const all[] = {t->parameters, t->moment1, t->moment2, t->best};
    uint32_t *bits = (uint32_t *)all[flat];
    trainer_download(t);
    if (test_comm.rank == test_comm.size - 1)
        bits[t->shape.parameter_count - 1] ^= 1;
    trainer_upload(t);
}
