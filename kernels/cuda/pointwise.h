// What the files of pointwise work share: rows done by 16 lanes, an order of steps, and sums over
// rows in the CPU's blocks.
#ifndef FRINGE_KERNELS_CUDA_POINTWISE_H
#define FRINGE_KERNELS_CUDA_POINTWISE_H

#include "device.h"

static constexpr int POINTWISE_THREADS = 128, POINTWISE_ROWS = POINTWISE_THREADS / LANES;

// 16 lanes do a row, then the row that lies as many rows behind as there are such groups.
__device__ static inline int64_t lanes_row(void) {
    return (int64_t)blockIdx.x * POINTWISE_ROWS + threadIdx.x / LANES;
}
__device__ static inline int64_t lanes_step(void) { return (int64_t)gridDim.x * POINTWISE_ROWS; }
__device__ static inline int lane_of(void) { return (int)(threadIdx.x % LANES); }

#define LAUNCH_LANES(kernel, rows, ...)                                                            \
    LAUNCH(kernel, cuda_blocks((rows)*LANES, POINTWISE_THREADS), POINTWISE_THREADS, 0,             \
           cuda_stream(STREAM_COMPUTE), __VA_ARGS__)

// An order of steps in octal, the first step last: 0321 is dropout, activation, norm. Dropout is
// left out where it does nothing.
enum { DO_DROPOUT = 1, DO_ACTIVATION = 2, DO_NORM = 3, ANY_ORDER = -1 };
__host__ __device__ static inline bool order_has(int order, int step) {
    return (order & 7) == step || (order >> 3 & 7) == step || (order >> 6 & 7) == step;
}
__device__ static inline int order_head(int order) { // the steps before the norm; 0 without norm
    return (order & 7) == DO_NORM        ? 0
           : (order >> 3 & 7) == DO_NORM ? order & 7
           : (order >> 6 & 7) == DO_NORM ? order & 077
                                         : 0;
}
__device__ static inline int order_tail(int order) { // the steps after the norm; all without norm
    return (order & 7) == DO_NORM        ? order >> 3
           : (order >> 3 & 7) == DO_NORM ? order >> 6
           : (order >> 6 & 7) == DO_NORM ? 0
                                         : order;
}

// One call: what its kernels read and write.
struct PointwiseCall {
    int order;
    bool save; // forward fills saved
    DeviceRows out, z, dh;
    float *mean, *inverse; // PostSaved
    unsigned char *kept, *positive;
    const int64_t *gid;
    const float *gamma, *beta;
    RandomStream stream; // of dropout: an element is kept iff its 16-bit number is below threshold
    uint32_t threshold;
    float scale;
};
PointwiseCall pointwise_call(Rows out, Rows z, const Post *post, PostSaved saved);

__device__ static inline bool bit_of(const unsigned char *bits, int64_t row, int64_t stride,
                                     int64_t column) {
    return bits[row * (stride / 8) + column / 8] >> (column % 8) & 1;
}

// A step of column c of row r, as forward takes it; the bits of dropout are there already.
__device__ static inline float step_forward(const PointwiseCall &call, int step, float x, int64_t r,
                                            int64_t c) {
    if (step == DO_DROPOUT)
        return bit_of(call.kept, r, call.z.stride, c) ? x * call.scale : 0.0f;
    if (step == DO_ACTIVATION)
        return x < 0.0f ? 0.0f : x; // a NaN stays one
    return x;
}
__device__ static inline float steps_forward(const PointwiseCall &call, int steps, float x,
                                             int64_t r, int64_t c) {
    x = step_forward(call, steps & 7, x, r, c);
    x = step_forward(call, steps >> 3 & 7, x, r, c);
    return step_forward(call, steps >> 6 & 7, x, r, c);
}

// ---- sums over rows: blocks of 64 rows, of 512 when there are many, each in order, then the
// blocks
__host__ __device__ static inline int64_t sum_block_rows(int64_t rows) {
    return rows < 16384 ? 64 : 512;
}
static inline int64_t sum_blocks(int64_t rows) { return divide_up(rows, sum_block_rows(rows)); }
// sum[c] = the partial sums partial[b * step + c], b = 0 .. blocks - 1, in order.
void add_partials(float *sum, const float *partial, int64_t blocks, int64_t step, int64_t columns);

#endif
