// What the files of pointwise work share: a call as its kernels see it, the orders of its steps,
// the steps of one element, and sums that are made of partial ones.
//
// The one idea: 16 lanes do a row (device.h), and a lane reads and writes its own columns alone, so
// the passes over a row need no barrier. Only the bits of dropout, eight to a byte, are written by
// one lane and read by others. The order of steps is a constant of a kernel where configs use it.
#pragma once

#include "device.h"
#include "philox.h"

#include "../orders.h"

static constexpr int ROW_THREADS = 128, ROW_GROUPS = ROW_THREADS / LANES;
static constexpr float NORM_EPSILON = 1e-5f;
#define ROW_KERNEL __global__ __launch_bounds__(ROW_THREADS) static void
static constexpr int ANY_ORDER = -1; // of a kernel whose order is a variable

// Dropout of one stream: an element is kept iff its 16-bit number is below threshold.
struct DropoutKey {
    RandomKey random;
    uint32_t threshold; // round(keep 2^16), 0 .. 2^16
    float scale;        // 1 / keep
};
DropoutKey dropout_key(float keep, RandomKey key);

// The bits of columns 8 block .. 8 block + 7 of a row.
__device__ static inline unsigned kept_byte(const DropoutKey &key, int64_t gid, int block) {
    uint32_t word[4];
    unsigned byte = 0;
    philox_block(word, key.random, gid, 0, (uint32_t)block);
#pragma unroll
    for (int i = 0; i < 8; i++)
        byte |= (unsigned)(philox_half(word, i) < key.threshold) << i;
    return byte;
}

template <typename Number> struct PostTask {
    int order;
    bool save; // forward fills mean .. positive
    RowsOf<Number> out, z, dh;
    float *mean, *inverse;
    unsigned char *kept, *positive; // [N, stride/8]
    const int64_t *gid;
    const float *gamma, *beta;
    DropoutKey key;
};

template <typename Number>
static PostTask<Number> post_task(Rows out, Rows z, const Post *post, PostSaved saved) {
    PostTask<Number> task = {};
    task.order = post_order(post);
    task.save = post->training;
    task.out = rows_of<Number>(out);
    task.z = rows_of<Number>(z);
    task.mean = floats_of(saved.mean);
    task.inverse = floats_of(saved.inverse);
    task.kept = bytes_of(saved.kept);
    task.positive = bytes_of(saved.positive);
    task.gamma = floats_of(post->gamma);
    task.beta = floats_of(post->beta);
    if (order_has(task.order, DO_DROPOUT))
        task.key = dropout_key(post->keep, post->random);
    return task;
}

// ---- one element

// One row, to one of its lanes.
template <typename Number> struct PostRow {
    const Number *z, *dh;
    Number *out;
    unsigned char *kept, *positive;
    float scale;          // of dropout
    float middle, factor; // mean and 1 / sqrt(variance + epsilon) of the norm's input
};

template <typename Number>
__device__ static inline PostRow<Number> post_row(const PostTask<Number> &task, int order,
                                                  int64_t r) {
    const int64_t at = r * task.z.stride;
    PostRow<Number> row = {};
    row.z = task.z.at + at;
    row.out = task.out.at + at;
    row.scale = task.key.scale;
    if (order_has(order, DO_DROPOUT))
        row.kept = task.kept + at / 8;
    if (order_has(order, DO_ACTIVATION))
        row.positive = task.positive + at / 8;
    return row;
}

__device__ static inline bool bit_of(const unsigned char *bits, int column) {
    return bits[column / 8] >> (column % 8) & 1;
}

// *positive: what the activation saves of the element.
template <typename Number>
__device__ static inline float step_forward(int step, float x, const PostRow<Number> &row,
                                            int column, bool *positive) {
    if (step == DO_DROPOUT) {
        x = x * row.scale;
        return bit_of(row.kept, column) ? x : 0.0f;
    }
    if (step == DO_ACTIVATION) {
        *positive = x > 0;
        return x < 0 ? 0.0f : x; // a NaN stays
    }
    return x;
}
template <typename Number>
__device__ static inline float steps_forward(int steps, float x, const PostRow<Number> &row,
                                             int column, bool *positive) {
    x = step_forward(steps & 7, x, row, column, positive);
    x = step_forward(steps >> 3 & 7, x, row, column, positive);
    return step_forward(steps >> 6 & 7, x, row, column, positive);
}
// u = head(z)
template <typename Number>
__device__ static inline float head_at(const PostRow<Number> &row, int head, int column) {
    bool unused;
    return steps_forward(head, value_of(row.z[column]), row, column, &unused);
}

// Both steps' derivatives are factors of the element, so their order does not matter.
template <typename Number>
__device__ static inline float steps_backward(int steps, float d, const PostRow<Number> &row,
                                              int column) {
    bool passes = true;
    if (order_has(steps, DO_DROPOUT)) {
        d = d * row.scale;
        passes = bit_of(row.kept, column);
    }
    if (order_has(steps, DO_ACTIVATION))
        passes = passes && bit_of(row.positive, column);
    return passes ? d : 0.0f;
}

// ---- rows of a kernel: 16 lanes do a row, then the row that lies as many behind as there are
// groups of lanes.
__device__ static inline int64_t first_row(void) {
    return (int64_t)blockIdx.x * ROW_GROUPS + threadIdx.x / LANES;
}
__device__ static inline int64_t row_step(void) { return (int64_t)gridDim.x * ROW_GROUPS; }
__device__ static inline int row_lane(void) { return (int)(threadIdx.x % LANES); }
template <typename Number> __device__ static inline int padded_columns(const RowsOf<Number> &rows) {
    return (int)((rows.columns + LANES - 1) / LANES * LANES);
}

#define LAUNCH_ROWS(kernel, rows, ...) LAUNCH_ITEMS(kernel, (rows)*LANES, ROW_THREADS, __VA_ARGS__)

// ---- sums of partial sums (sums.cu)

// sum[c] = at[c] + at[stride + c] + ..., `blocks` of them, in order.
void add_partials(float *sum, const float *at, int64_t blocks, int64_t stride, int64_t columns);

// The sum of part[0 .. parts), in order, to *out or *narrow, whichever is there.
void add_parts(double *out, float *narrow, const double *part, int64_t parts);
