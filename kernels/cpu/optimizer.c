// Adam (Kingma, Ba: ICLR 2015, algorithm 1, with L2 added to the gradient; AdamW: Loshchilov,
// Hutter: ICLR 2019, algorithm 2) and SGD with momentum, all as in PyTorch, over flat arrays; the
// product with a number, and what a proximal step leaves.
#include "optimizer.h"

enum { PIECE = 4096, MANY = 1 << 20 };

static void each_piece(UpdateSome *some, const UpdateCall *call, int64_t count) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += PIECE)
        some(call, i, least(i + PIECE, count));
}

void cpu_adam(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
              const DeviceFloat *decay, int64_t count, AdamStep step) {
    UpdateCall call = {.w = floats_of(w),
                       .m = floats_of(m),
                       .v = floats_of(v),
                       .g = floats_of(g),
                       .decay = floats_of(decay),
                       .step = step};
    each_piece(LANES_PICK(adam_some), &call, count);
}

void cpu_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g, const DeviceFloat *decay,
             int64_t count, float rate, float momentum) {
    UpdateCall call = {.w = floats_of(w),
                       .m = floats_of(velocity),
                       .g = floats_of(g),
                       .decay = floats_of(decay),
                       .step = {.rate = rate},
                       .momentum = momentum};
    each_piece(LANES_PICK(sgd_some), &call, count);
}

void cpu_scale(DeviceFloat *x, int64_t count, float factor) {
    float *at = floats_of(x);
#pragma omp parallel for schedule(static) if (count > MANY)
    for (int64_t i = 0; i < count; i++)
        at[i] *= factor;
}

void cpu_shrink(DeviceFloat *x, int64_t count, float by) {
    float *at = floats_of(x);
#pragma omp parallel for schedule(static) if (count > MANY)
    for (int64_t i = 0; i < count; i++)
        at[i] = at[i] > by ? at[i] - by : at[i] < -by ? at[i] + by : at[i] != at[i] ? at[i] : 0.0f;
}
