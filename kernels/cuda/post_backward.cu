// The way back through dropout, LayerNorm and ReLU (formulas: kernels/cpu/pointwise_lanes.c).
//
// The one idea: dgamma and dbeta are sums over rows, dz needs sums along rows; each of the two
// kernels has its own kind of sum and no other. The sums over rows come first, because dz may take
// the place of dh.
#include "pointwise.h"

// ---- one element

// The steps' derivatives are factors of the element, so their order does not matter.
__device__ static inline float steps_backward(const PointwiseCall &call, int steps, float d,
                                              int64_t r, int64_t c) {
    if (order_has(steps, DO_DROPOUT))
        d = bit_of(call.kept, r, call.z.stride, c) ? d * call.scale : 0.0f;
    if (order_has(steps, DO_ACTIVATION))
        d = bit_of(call.positive, r, call.z.stride, c) ? d : 0.0f;
    return d;
}

// The gradient of the norm's output, and xhat.
struct Back {
    float d, xhat;
};
__device__ static inline Back back_at(const PointwiseCall &call, int64_t r, int64_t c) {
    const int64_t at = r * call.z.stride + c;
    const float u = steps_forward(call, order_head(call.order), call.z.at[at], r, c);
    return Back{steps_backward(call, order_tail(call.order), call.dh.at[at], r, c),
                (u - call.mean[r]) * call.inverse[r]};
}

// ---- dgamma and dbeta: a thread a column, over the rows of a block

static constexpr int SUM_THREADS = 64;

// partial: for each block of rows a row of dgamma, then a row of dbeta.
__global__ static void norm_sums(PointwiseCall call, float *partial, int64_t block, int tiles) {
    const int64_t b = blockIdx.x / tiles;
    const int64_t c = (int64_t)(blockIdx.x % tiles) * SUM_THREADS + threadIdx.x;
    if (c >= call.z.columns)
        return;
    float dgamma = 0, dbeta = 0;
    const int64_t end = least((b + 1) * block, call.z.count);
    for (int64_t r = b * block; r < end; r++) {
        const Back back = back_at(call, r, c);
        dgamma += back.d * back.xhat;
        dbeta += back.d;
    }
    partial[2 * b * call.z.stride + c] = dgamma;
    partial[(2 * b + 1) * call.z.stride + c] = dbeta;
}

__global__ static void sum_partials(float *sum, const float *partial, int64_t blocks, int64_t step,
                                    int64_t columns) {
    const int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns)
        return;
    float total = 0;
    for (int64_t b = 0; b < blocks; b++)
        total += partial[b * step + c];
    sum[c] = total;
}

void add_partials(float *sum, const float *partial, int64_t blocks, int64_t step, int64_t columns) {
    LAUNCH(sum_partials, divide_up(columns, SUM_THREADS), SUM_THREADS, 0,
           cuda_stream(STREAM_COMPUTE), sum, partial, blocks, step, columns);
}

// ---- dz: 16 lanes a row

// s = gamma d; du = (s - mean(s) - xhat mean(s xhat)) inverse; dz = head'(du)
__global__ __launch_bounds__(POINTWISE_THREADS) static void norm_rows(PointwiseCall call) {
    const float columns = (float)call.z.columns;
    const int head = order_head(call.order);
    for (int64_t r = lanes_row(); r < call.z.count; r += lanes_step()) {
        float sum = 0, product = 0;
        for (int64_t c = lane_of(); c < call.z.columns; c += LANES) {
            const Back back = back_at(call, r, c);
            const float s = call.gamma[c] * back.d;
            sum += s;
            product += s * back.xhat;
        }
        const float mean = lanes_sum(sum) / columns, slope = lanes_sum(product) / columns;
        for (int64_t c = lane_of(); c < call.z.stride; c += LANES) {
            float dz = 0;
            if (c < call.z.columns) {
                const Back back = back_at(call, r, c);
                const float s = call.gamma[c] * back.d - mean;
                dz = (s - back.xhat * slope) * call.inverse[r];
                dz = steps_backward(call, head, dz, r, c);
            }
            call.out.at[r * call.out.stride + c] = dz;
        }
    }
}

__global__ static void plain_rows(PointwiseCall call) {
    for (int64_t r = lanes_row(); r < call.z.count; r += lanes_step())
        for (int64_t c = lane_of(); c < call.z.stride; c += LANES)
            call.out.at[r * call.out.stride + c] =
                c < call.z.columns
                    ? steps_backward(call, call.order, call.dh.at[r * call.dh.stride + c], r, c)
                    : 0.0f;
}

int64_t cuda_post_scratch(int64_t rows, int64_t columns) {
    return 2 * sum_blocks(rows) * rows_stride_of(columns);
}

void cuda_post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                        DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                        const Poll *poll) {
    (void)poll;
    PointwiseCall call = pointwise_call(dz, z, post, saved);
    call.dh = device_rows(dh);
    if (!order_has(call.order, DO_NORM)) {
        LAUNCH_LANES(plain_rows, z.count, call);
        return;
    }
    const int64_t blocks = sum_blocks(z.count), tiles = divide_up(z.columns, SUM_THREADS);
    float *partial = floats_of(scratch);
    LAUNCH(norm_sums, blocks * tiles, SUM_THREADS, 0, cuda_stream(STREAM_COMPUTE), call, partial,
           sum_block_rows(z.count), (int)tiles);
    add_partials(floats_of(dgamma), partial, blocks, 2 * z.stride, z.columns);
    add_partials(floats_of(dbeta), partial + z.stride, blocks, 2 * z.stride, z.columns);
    LAUNCH_LANES(norm_rows, z.count, call);
}
