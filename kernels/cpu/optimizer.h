// What optimizer.c hands to the loops of optimizer_lanes.c.
#pragma once

#include "cpu.h"

typedef struct UpdateCall {
    float *w, *m, *v; // sgd: m is the velocity
    const float *g, *decay;
    AdamStep step;  // sgd: rate
    float momentum; // sgd
} UpdateCall;

typedef void UpdateSome(const UpdateCall *call, int64_t begin, int64_t end);
UpdateSome adam_some_plain, adam_some_avx2, adam_some_avx512;
UpdateSome sgd_some_plain, sgd_some_avx2, sgd_some_avx512;
