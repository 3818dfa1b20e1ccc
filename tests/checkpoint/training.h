// What tests of checkpoints begin with: a trainer of the fixture, and which training it does.
#pragma once

#include "../trainer/fixture.h"
#include "fringe/checkpoint.h"

static inline Training training_of(Trainer *t) {
    return (Training){
        .trainer = t, .config = &config, .shard = &graph.shard, .comm = &test_comm, .seed = 3};
}

// Writes weights as a file that model_read reads.
static inline bool write_weights(const Trainer *t, const char *path, Error *err) {
    const ModelShape *shape = &t->shape;
    float *turned = TEST_ARRAY(float, shape->parameter_count);
    Tensor tensor[MODEL_PARAMETERS];
    int count = model_tensors(shape, trainer_parameters(t, false), turned, tensor);
    return tensors_write(path, tensor, count, NULL, false, err);
}

static inline bool save_training(Trainer *t, const char *dir, int keep, Error *err) {
    Training training = training_of(t);
    return checkpoint_write(&training, dir, keep, err);
}

// Trains that many epochs and leaves a checkpoint of them alone in the folder. Collective.
static inline void stop_after(int epochs, const char *dir) {
    if (test_comm.rank == 0)
        file_remove(dir, &(Error){0});
    comm_barrier(&test_comm);
    OWNED(Trainer) *t = new_trainer();
    for (int e = 0; e < epochs; e++)
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    assert_ok(save_training(t, dir, 2, &err));
}

static inline bool resume_training(Trainer *t, const char *dir, bool *found, Warnings *warnings,
                                   Error *err) {
    Training training = training_of(t);
    return checkpoint_restore(&training, dir, found, warnings, err);
}

// The same where what lies in the folder is found.
static inline bool resume(Trainer *t, const char *dir, Error *err) {
    bool found = false, ok = resume_training(t, dir, &found, &(Warnings){0}, err);
    assert_true(!ok || found);
    return ok;
}
