// What tests of checkpoints begin with: a trainer of the fixture, and which training it does.
#ifndef FRINGE_TESTS_CHECKPOINT_TRAINING_H
#define FRINGE_TESTS_CHECKPOINT_TRAINING_H

#include "../trainer/fixture.h"
#include "fringe/checkpoint.h"

static inline Training training_of(Trainer *t) {
    return (Training){
        .trainer = t, .config = &config, .shard = &graph.shard, .comm = &test_comm, .seed = 3};
}

static inline bool save_training(Trainer *t, const char *dir, int keep, Error *err) {
    Training training = training_of(t);
    return checkpoint_write(&training, dir, keep, err);
}

static inline bool resume_training(Trainer *t, const char *dir, bool *found, Warnings *warnings,
                                   Error *err) {
    Training training = training_of(t);
    return checkpoint_restore(&training, dir, found, warnings, err);
}

#endif
