// Adam (Kingma, Ba: ICLR 2015, algorithm 1, with L2 added to the gradient; AdamW: Loshchilov,
// Hutter: ICLR 2019, algorithm 2) and SGD with momentum, all as in PyTorch, over flat arrays; and
// what gradient clipping needs: the sum of squares, and the product with a number.
#include "optimizer.h"

enum { PIECE = 4096, BLOCKS = 256 };

static void each_piece(void (*some)(const UpdateCall *, int64_t, int64_t), const UpdateCall *call,
                       int64_t count) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += PIECE)
        some(call, i, i + PIECE < count ? i + PIECE : count);
}

void cpu_adam(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
              const DeviceFloat *decay, int64_t count, AdamStep step) {
    UpdateCall call = {.w = cpu_floats(w),
                       .m = cpu_floats(m),
                       .v = cpu_floats(v),
                       .g = cpu_floats(g),
                       .decay = cpu_floats(decay),
                       .step = step};
    each_piece(LANES_PICK(adam_some), &call, count);
}

void cpu_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g, const DeviceFloat *decay,
             int64_t count, float rate, float momentum) {
    UpdateCall call = {.w = cpu_floats(w),
                       .m = cpu_floats(velocity),
                       .g = cpu_floats(g),
                       .decay = cpu_floats(decay),
                       .step = {.rate = rate},
                       .momentum = momentum};
    each_piece(LANES_PICK(sgd_some), &call, count);
}

// In at most 256 blocks whose size is a function of `count` alone, added in order.
void cpu_square_sum(DeviceDouble *out, const DeviceFloat *x, int64_t count) {
    int64_t block = (count + BLOCKS - 1) / BLOCKS;
    if (block < PIECE)
        block = PIECE;
    int64_t blocks = (count + block - 1) / block;
    double part[BLOCKS], sum = 0;
    double (*some)(const float *, int64_t, int64_t) = LANES_PICK(square_sum_some);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t end = (b + 1) * block;
        part[b] = some(cpu_floats(x), b * block, end < count ? end : count);
    }
    for (int64_t b = 0; b < blocks; b++)
        sum += part[b];
    *cpu_doubles(out) = sum;
}

void cpu_scale(DeviceFloat *x, int64_t count, float factor) {
    float *at = cpu_floats(x);
#pragma omp parallel for schedule(static) if (count > BLOCKS * PIECE)
    for (int64_t i = 0; i < count; i++)
        at[i] *= factor;
}

void cpu_shrink(DeviceFloat *x, int64_t count, float by) {
    float *at = cpu_floats(x);
#pragma omp parallel for schedule(static) if (count > BLOCKS * PIECE)
    for (int64_t i = 0; i < count; i++)
        at[i] = at[i] > by ? at[i] - by : at[i] < -by ? at[i] + by : at[i] != at[i] ? at[i] : 0.0f;
}
