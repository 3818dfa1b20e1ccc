// What pointwise.c hands to the loops of pointwise_lanes.c. Only these two and their tests open it.
#ifndef FRINGE_KERNELS_POINTWISE_H
#define FRINGE_KERNELS_POINTWISE_H

#include "cpu.h"
#include "philox.h"

// Dropout of one stream: element (row, column) is kept iff its 16-bit number is below threshold.
typedef struct DropoutKey {
    PhiloxKey philox;
    uint32_t threshold; // round(keep 2^16), 0 .. 2^16
    float scale;        // 1 / keep
} DropoutKey;

DropoutKey dropout_key(float keep, RandomStream stream);

// An order of steps in octal, the first step last: 0321 is dropout, activation, norm. Dropout is
// left out where it does nothing.
enum { DO_DROPOUT = 1, DO_ACTIVATION = 2, DO_NORM = 3 };
static inline __attribute__((always_inline)) bool order_has(int order, int step) {
    return (order & 7) == step || (order >> 3 & 7) == step || (order >> 6 & 7) == step;
}

// One call of an operation: what its loop over rows reads and writes.
typedef struct PointwiseCall {
    int order;
    bool save;   // forward fills saved
    bool stream; // results go around the cache: too many to be found there later
    CpuRows out, z, dh;
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
POINTWISE_LANES(plain)
POINTWISE_LANES(avx2)
POINTWISE_LANES(avx512)
#undef POINTWISE_LANES

#endif
