// The step of an optimizer, on flat arrays (kernels/cpu/optimizer_lanes.c has the formulas).
#include "pointwise.h"

static constexpr int FLAT_THREADS = 256;
#define LAUNCH_FLAT(kernel, count, ...)                                                            \
    LAUNCH(kernel, cuda_blocks((count), FLAT_THREADS), FLAT_THREADS, 0,                            \
           cuda_stream(STREAM_COMPUTE), __VA_ARGS__, (count))
#define EACH_FLAT(i, count)                                                                        \
    for (int64_t i = (int64_t)blockIdx.x * FLAT_THREADS + threadIdx.x,                             \
                 step_##i = (int64_t)gridDim.x * FLAT_THREADS;                                     \
         i < (count); i += step_##i)

// g + decay w; without an array, decay is 0.
__device__ static inline float decayed(const float *g, const float *decay, float w, int64_t i) {
    return g[i] + (decay != NULL ? decay[i] : 0.0f) * w;
}

__global__ __launch_bounds__(FLAT_THREADS) static void adam_step(float *w, float *m, float *v,
                                                                 const float *g, const float *decay,
                                                                 AdamStep step, int64_t count) {
    const float rest1 = step.rest1, rest2 = step.rest2;
    const float rate = step.rate / step.correction1;
    EACH_FLAT(i, count) {
        const float shrunk =
            step.decoupled && decay != NULL ? w[i] * (1.0f - step.rate * decay[i]) : w[i];
        const float d = step.decoupled ? g[i] : decayed(g, decay, w[i], i);
        const float mean = step.beta1 * m[i] + rest1 * d;
        const float square = step.beta2 * v[i] + (rest2 * d) * d;
        const float root = sqrtf(square / step.correction2) + step.epsilon;
        w[i] = shrunk - (rate * mean) / root;
        m[i] = mean;
        v[i] = square;
    }
}

void cuda_adam(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
               const DeviceFloat *decay, int64_t count, AdamStep step) {
    LAUNCH_FLAT(adam_step, count, floats_of(w), floats_of(m), floats_of(v), floats_of(g),
                floats_of(decay), step);
}

__global__ __launch_bounds__(FLAT_THREADS) static void sgd_step(float *w, float *velocity,
                                                                const float *g, const float *decay,
                                                                float rate, float momentum,
                                                                int64_t count) {
    EACH_FLAT(i, count) {
        const float d = momentum * velocity[i] + decayed(g, decay, w[i], i);
        velocity[i] = d;
        w[i] = w[i] - rate * d;
    }
}

void cuda_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g, const DeviceFloat *decay,
              int64_t count, float rate, float momentum) {
    LAUNCH_FLAT(sgd_step, count, floats_of(w), floats_of(velocity), floats_of(g), floats_of(decay),
                rate, momentum);
}

__global__ __launch_bounds__(FLAT_THREADS) static void scale_numbers(float *x, float factor,
                                                                     int64_t count) {
    EACH_FLAT(i, count)
    x[i] *= factor;
}

void cuda_scale(DeviceFloat *x, int64_t count, float factor) {
    LAUNCH_FLAT(scale_numbers, count, floats_of(x), factor);
}

__global__ __launch_bounds__(FLAT_THREADS) static void shrink_numbers(float *x, float by,
                                                                      int64_t count) {
    EACH_FLAT(i, count)
    x[i] = x[i] > by ? x[i] - by : x[i] < -by ? x[i] + by : x[i] != x[i] ? x[i] : 0.0f;
}

void cuda_shrink(DeviceFloat *x, int64_t count, float by) {
    LAUNCH_FLAT(shrink_numbers, count, floats_of(x), by);
}
