// The step of an optimizer, on flat arrays (kernels/cpu/optimizer_lanes.c has the formulas).
#include "pointwise.h"

static constexpr int FLAT_THREADS = 256;
#define FLAT_KERNEL __global__ __launch_bounds__(FLAT_THREADS) static void

// g + decay w; without an array, decay is 0.
__device__ static inline float decayed(const float *g, const float *decay, float w, int64_t i) {
    return g[i] + (decay != NULL ? decay[i] : 0.0f) * w;
}

FLAT_KERNEL adam_step(float *w, float *m, float *v, const float *g, const float *decay,
                      AdamStep step, int64_t count) {
    const float rest1 = step.rest1, rest2 = step.rest2;
    const float rate = step.rate / step.correction1;
    EACH_ITEM(i, count) {
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
    LAUNCH_ITEMS(adam_step, count, FLAT_THREADS, floats_of(w), floats_of(m), floats_of(v),
                 floats_of(g), floats_of(decay), step, count);
}

FLAT_KERNEL sgd_step(float *w, float *velocity, const float *g, const float *decay, float rate,
                     float momentum, int64_t count) {
    EACH_ITEM(i, count) {
        const float d = momentum * velocity[i] + decayed(g, decay, w[i], i);
        velocity[i] = d;
        w[i] = w[i] - rate * d;
    }
}

void cuda_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g, const DeviceFloat *decay,
              int64_t count, float rate, float momentum) {
    LAUNCH_ITEMS(sgd_step, count, FLAT_THREADS, floats_of(w), floats_of(velocity), floats_of(g),
                 floats_of(decay), rate, momentum, count);
}

FLAT_KERNEL scale_numbers(float *x, float factor, int64_t count) {
    EACH_ITEM(i, count)
        x[i] *= factor;
}

void cuda_scale(DeviceFloat *x, int64_t count, float factor) {
    LAUNCH_ITEMS(scale_numbers, count, FLAT_THREADS, floats_of(x), factor, count);
}

FLAT_KERNEL shrink_numbers(float *x, float by, int64_t count) {
    EACH_ITEM(i, count)
        x[i] = x[i] > by ? x[i] - by : x[i] < -by ? x[i] + by : x[i] != x[i] ? x[i] : 0.0f;
}

void cuda_shrink(DeviceFloat *x, int64_t count, float by) {
    LAUNCH_ITEMS(shrink_numbers, count, FLAT_THREADS, floats_of(x), by, count);
}
