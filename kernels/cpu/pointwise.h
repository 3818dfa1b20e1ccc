// What pointwise.c hands to the loops of pointwise_lanes.c. Only these two and their tests open it.
#pragma once

#include "../orders.h"
#include "cpu.h"
#include "philox.h"

// Dropout of one stream: element (row, column) is kept iff its 16-bit number is below threshold.
typedef struct DropoutKey {
    PhiloxKey philox;
    uint32_t threshold; // round(keep 2^16), 0 .. 2^16
    float scale;        // 1 / keep
} DropoutKey;

DropoutKey dropout_key(float keep, RandomKey key);

// One call of an operation: what its loop over rows reads and writes.
typedef struct PointwiseCall {
    int order;          // of steps (orders.h)
    bool save;          // forward fills saved
    bool stream;        // results go around the cache: too many to be found there later
    CpuRows out, z, dh; // of one type
    struct {
        float *mean, *inverse;
        uint8_t *kept, *positive;
    } saved; // PostSaved
    const int64_t *gid;
    const float *gamma, *beta;
    DropoutKey key;
    float *partial; // sums over rows: for each `block` of them a row (backward: dgamma, dbeta)
    int64_t block;  // a loop that sums is called with one whole block
} PointwiseCall;

#define POINTWISE_LANES(lanes)                                                                     \
    void post_forward_rows_##lanes(const PointwiseCall *call, int64_t begin, int64_t end);         \
    void post_backward_rows_##lanes(const PointwiseCall *call, int64_t begin, int64_t end);        \
    void dropout_rows_##lanes(const PointwiseCall *call, int64_t begin, int64_t end);              \
    void sum_rows_##lanes(const PointwiseCall *call, int64_t begin, int64_t end);
EACH_ROWS_LANES(POINTWISE_LANES)
#undef POINTWISE_LANES
