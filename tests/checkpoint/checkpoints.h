// A run with checkpoints after epochs 2 and 4, what can be done to its files, and its resume.
#pragma once

#include "training.h"

static char run_dir[512];

static void settle(void) {
    config =
        CONFIGURED("model.layers=2", "model.hidden=[8]", "run.threads=1", "train.eval_every=2");
}

static int make_run(void **state) {
    static int number;
    (void)state;
    settle();
    use_graph((TestGraphKind){.nodes = 60, .degree = 5, .features = 7, .classes = 3}, 9);
    snprintf(run_dir, sizeof run_dir, "%s", test_path(test_text("run-%d", ++number)));
    OWNED(Trainer) *t = new_trainer();
    for (int epoch = 1; epoch <= 4; epoch++) {
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
        if (epoch % 2 == 0)
            assert_ok(save_training(t, run_dir, 2, &err));
    }
    return 0;
}

#define RUN_TEST(name) TEST_WITH(name, make_run, NULL)

static inline const char *in_run(const char *name) {
    return test_text("%s/checkpoints%s%s", run_dir, name[0] != 0 ? "/" : "", name);
}

// Epochs done after a resume; -1: none was found, -2: refused with *err.
static inline int64_t resumed(Warnings *warnings, Error *err) {
    bool found = false;
    OWNED(Trainer) *t = new_trainer();
    bool ok = resume_training(t, run_dir, &found, warnings, err);
    return !ok ? -2 : found ? trainer_epochs_done(t) : -1;
}
