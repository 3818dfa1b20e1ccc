// What optimizer.c hands to the loops of optimizer_lanes.c.
#pragma once

#include "cpu.h"

typedef struct UpdateCall {
    float *w, *m, *v; // sgd: m is the velocity
    const float *g, *decay;
    AdamStep step;  // sgd: rate
    float momentum; // sgd
} UpdateCall;

#define OPTIMIZER_LANES(lanes)                                                                     \
    void adam_some_##lanes(const UpdateCall *call, int64_t begin, int64_t end);                    \
    void sgd_some_##lanes(const UpdateCall *call, int64_t begin, int64_t end);                     \
    double square_sum_some_##lanes(const float *x, int64_t begin, int64_t end);
OPTIMIZER_LANES(plain)
OPTIMIZER_LANES(avx2)
OPTIMIZER_LANES(avx512)
#undef OPTIMIZER_LANES
