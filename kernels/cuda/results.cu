// Losses over the rows of a split, their gradients, and the optimizer (formulas:
// kernels/cpu/loss_lanes.c and optimizer_lanes.c).
//
// The one idea: 16 lanes do a row as the CPU's vector does; a thread block does a block of rows,
// eight at a time, and its first thread adds their losses in order.
#include "pointwise.h"

#include "../expressions.h"

static constexpr int BLOCKS = 256, BLOCK_ROWS = 64, THREADS = 256;

struct LossCall {
    DeviceRows g, logits; // g.at NULL: only the loss
    const void *labels;   // int32_t of a row, or bytes of its columns
    const unsigned char *split;
    unsigned char which;
    float weight;
};

__device__ static inline float exp_of(float x) { // x <= 0
    const float shifted = EXP_SHIFTED(x), n = shifted - 0x1.8p23f, r = EXP_REST(x, n);
    const unsigned power = __float_as_uint(shifted) - __float_as_uint(0x1.8p23f) + 127;
    const float e = EXP_OF_REST(r) * __uint_as_float(power << 23);
    return x < EXP_LEAST ? 0.0f : e;
}
__device__ static inline float log1p_of(float t) { // 0 .. 1
    const float s = t / (t + 2.0f), w = s * s;
    return LOG1P_OF(s, w);
}

__device__ static inline void zero_row(float *g, int64_t stride) {
    for (int64_t c = lane_of(); c < stride; c += LANES)
        g[c] = 0;
}

__device__ static inline float row_max(const float *z, int64_t columns) {
    float most = z[0];
    for (int64_t c = lane_of(); c < columns; c += LANES)
        most = z[c] > most ? z[c] : most;
    for (int half = LANES / 2; half > 0; half /= 2) {
        const float other = __shfl_xor_sync(lanes_mask(), most, half, LANES);
        most = other > most ? other : most;
    }
    return most;
}

// The loss of a row, in all its lanes. g may be the row of z itself: a lane writes only what it
// alone reads from there on.
struct Softmax {
    __device__ static double row(const LossCall &call, int64_t r) {
        const float *z = call.logits.at + r * call.logits.stride;
        const int64_t columns = call.logits.columns;
        const int32_t label = ((const int32_t *)call.labels)[r];
        const float right = z[label], most = row_max(z, columns);
        float sum = 0;
        for (int64_t c = lane_of(); c < columns; c += LANES)
            sum += exp_of(z[c] - most);
        const float total = lanes_sum(sum), scale = 1.0f / total;
        if (call.g.at != NULL) {
            float *g = call.g.at + r * call.g.stride;
            for (int64_t c = lane_of(); c < call.g.stride; c += LANES) {
                const float p = c < columns ? exp_of(z[c] - most) * scale : 0.0f;
                g[c] = c == label ? (p - 1.0f) * call.weight : p * call.weight;
            }
        }
        return log((double)total) + ((double)most - (double)right);
    }
};

struct Bce {
    __device__ static double row(const LossCall &call, int64_t r) {
        const float *x = call.logits.at + r * call.logits.stride;
        const int64_t columns = call.logits.columns;
        const unsigned char *labels = (const unsigned char *)call.labels + r * columns;
        float *g = call.g.at != NULL ? call.g.at + r * call.g.stride : NULL;
        float sum = 0;
        for (int64_t c = lane_of(); c < call.logits.stride; c += LANES) {
            float d = 0;
            if (c < columns) {
                const float a = x[c], y = labels[c] != 0 ? 1.0f : 0.0f;
                const bool negative = a < 0.0f;
                const float t = exp_of(negative ? a : -a);
                sum += (negative ? 0.0f : a) - a * y + log1p_of(t);
                d = ((negative ? t : 1.0f) / (t + 1.0f) - y) * call.weight;
            }
            if (g != NULL)
                g[c] = d;
        }
        return (double)lanes_sum(sum);
    }
};

// part[b] = the losses of the rows of block b, added in order.
template <class Loss>
__global__ __launch_bounds__(POINTWISE_THREADS) static void loss_blocks(double *part, LossCall call,
                                                                        int64_t block) {
    SHARED(double, losses);
    const int64_t begin = blockIdx.x * block, end = least(begin + block, call.logits.count);
    double sum = 0;
    for (int64_t first = begin; first < end; first += POINTWISE_ROWS) {
        const int64_t r = first + threadIdx.x / LANES;
        double loss = 0;
        if (r < end && call.split[r] == call.which)
            loss = Loss::row(call, r);
        else if (r < end && call.g.at != NULL)
            zero_row(call.g.at + r * call.g.stride, call.g.stride);
        if (lane_of() == 0)
            losses[threadIdx.x / LANES] = loss;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int i = 0; i < POINTWISE_ROWS; i++)
                sum += losses[i];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

__global__ static void add_losses(double *loss, const double *part, int64_t blocks) {
    double sum = 0;
    for (int64_t b = 0; b < blocks; b++)
        sum += part[b];
    *loss = sum;
}

static void loss_of(void (*kernel)(double *, LossCall, int64_t), DeviceDouble *loss,
                    const LossCall &call) {
    int64_t block = divide_up(call.logits.count, BLOCKS);
    block = block < BLOCK_ROWS ? BLOCK_ROWS : block;
    const int64_t blocks = divide_up(call.logits.count, block);
    double *part = (double *)cuda_scratch(SCRATCH_LOSS, BLOCKS * sizeof(double));
    LAUNCH(kernel, blocks, POINTWISE_THREADS, POINTWISE_ROWS * sizeof(double),
           cuda_stream(STREAM_COMPUTE), part, call, block);
    LAUNCH(add_losses, 1, 1, 0, cuda_stream(STREAM_COMPUTE), doubles_of(loss), part, blocks);
}

void cuda_softmax_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceInt32 *label,
                       const DeviceByte *split, uint8_t which, float weight) {
    loss_of(loss_blocks<Softmax>, loss,
            LossCall{device_rows(g), device_rows(logits), label, bytes_of(split), which, weight});
}

void cuda_bce_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceByte *labels,
                   const DeviceByte *split, uint8_t which, float weight) {
    loss_of(loss_blocks<Bce>, loss,
            LossCall{device_rows(g), device_rows(logits), labels, bytes_of(split), which, weight});
}

// ---- optimizer

__global__ static void adam_step(float *w, float *m, float *v, const float *g, const float *decay,
                                 int64_t count, AdamStep s, float rate) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const float gradient = g[i] + (decay != NULL ? decay[i] : 0.0f) * w[i];
        m[i] = s.beta1 * m[i] + (1.0f - s.beta1) * gradient;
        v[i] = s.beta2 * v[i] + (1.0f - s.beta2) * gradient * gradient;
        const float root = sqrtf(v[i] / s.correction2) + s.epsilon;
        w[i] = w[i] - rate * m[i] / root;
    }
}

void cuda_adam(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
               const DeviceFloat *decay, int64_t count, AdamStep step) {
    LAUNCH(adam_step, cuda_blocks(count, THREADS), THREADS, 0, cuda_stream(STREAM_COMPUTE),
           floats_of(w), floats_of(m), floats_of(v), floats_of(g), floats_of(decay), count, step,
           step.rate / step.correction1);
}

__global__ static void sgd_step(float *w, float *velocity, const float *g, const float *decay,
                                int64_t count, float rate, float momentum) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const float gradient = g[i] + (decay != NULL ? decay[i] : 0.0f) * w[i];
        velocity[i] = momentum * velocity[i] + gradient;
        w[i] = w[i] - rate * velocity[i];
    }
}

void cuda_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g, const DeviceFloat *decay,
              int64_t count, float rate, float momentum) {
    LAUNCH(sgd_step, cuda_blocks(count, THREADS), THREADS, 0, cuda_stream(STREAM_COMPUTE),
           floats_of(w), floats_of(velocity), floats_of(g), floats_of(decay), count, rate,
           momentum);
}

__global__ static void scale_floats(float *x, int64_t count, float factor) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        x[i] *= factor;
}

void cuda_scale(DeviceFloat *x, int64_t count, float factor) {
    LAUNCH(scale_floats, cuda_blocks(count, THREADS), THREADS, 0, cuda_stream(STREAM_COMPUTE),
           floats_of(x), count, factor);
}
