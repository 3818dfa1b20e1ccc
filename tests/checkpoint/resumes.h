// A training that stops and goes on from its checkpoint, beside the one that never stopped.
#pragma once

#include "../trainer/runs.h"
#include "training.h"

// The settings are those of `want`, a whole run of 12 epochs; `section` is what it keeps beside
// weights and moments, NULL: nothing.
static inline void assert_goes_on_as(const Run *want, const char *name, int stop,
                                     const char *section) {
    Run got = *want;
    const char *dir = test_path(name);
    stop_after(stop, dir);
    OWNED(Trainer) *t = new_trainer();
    assert_true(section == NULL || state_find(trainer_sections(t), section) != NULL);
    assert_ok(resume(t, dir, &err));
    train(&got, t);
    if (!same_weights(&got, want))
        fail_msg("%s: a resumed training has other weights", name);
    assert_memory_equal(got.loss + stop, want->loss + stop, (size_t)(12 - stop) * sizeof(double));
}
