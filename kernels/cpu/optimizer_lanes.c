// One step of an optimizer on 16 numbers at a time.
//
//   g += decay w, or decoupled  w -= rate decay w
//   adam  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//         w -= (rate / correction1) m / (sqrt(v / correction2) + epsilon)
//   sgd   velocity = momentum velocity + g;  w -= rate velocity
#include "masks_lanes.h"
#include "optimizer.h"

// `count` floats (16 at most) at `from`, or zeros if there is no array.
LANES_INLINE F16 some_load(const float *from, int64_t begin, int64_t count) {
    if (from == NULL)
        return f16_set(0);
    return count >= 16 ? f16_load_loose(from + begin) : f16_load_first(from + begin, count);
}

LANES_INLINE void some_store(float *to, int64_t begin, int64_t count, F16 a) {
    if (count >= 16) {
        f16_store_loose(to + begin, a);
        return;
    }
    float lane[16] __attribute__((aligned(64)));
    f16_store(lane, a);
    __builtin_memcpy(to + begin, lane, (size_t)count * sizeof *to);
}

void LANES_NAME(adam_some)(const UpdateCall *call, int64_t begin, int64_t end) {
    const AdamStep step = call->step;
    F16 beta1 = f16_set(step.beta1), rest1 = f16_set(step.rest1);
    F16 beta2 = f16_set(step.beta2), rest2 = f16_set(step.rest2);
    F16 rate = f16_set(step.rate / step.correction1), epsilon = f16_set(step.epsilon);
    F16 correction2 = f16_set(step.correction2);
    for (int64_t i = begin; i < end; i += 16) {
        int64_t count = end - i;
        F16 w = some_load(call->w, i, count), g = some_load(call->g, i, count);
        F16 m = some_load(call->m, i, count), v = some_load(call->v, i, count);
        F16 decay = some_load(call->decay, i, count);
        if (step.decoupled)
            w = f16_mul(w, f16_sub(f16_set(1), f16_mul(f16_set(step.rate), decay)));
        else
            g = f16_add(g, f16_mul(decay, w));
        m = f16_add(f16_mul(beta1, m), f16_mul(rest1, g));
        v = f16_add(f16_mul(beta2, v), f16_mul(f16_mul(rest2, g), g));
        F16 root = f16_add(f16_sqrt(f16_div(v, correction2)), epsilon);
        w = f16_sub(w, f16_div(f16_mul(rate, m), root));
        some_store(call->w, i, count, w);
        some_store(call->m, i, count, m);
        some_store(call->v, i, count, v);
    }
}

void LANES_NAME(sgd_some)(const UpdateCall *call, int64_t begin, int64_t end) {
    F16 rate = f16_set(call->step.rate), momentum = f16_set(call->momentum);
    for (int64_t i = begin; i < end; i += 16) {
        int64_t count = end - i;
        F16 w = some_load(call->w, i, count), g = some_load(call->g, i, count);
        g = f16_add(g, f16_mul(some_load(call->decay, i, count), w));
        g = f16_add(f16_mul(momentum, some_load(call->m, i, count)), g);
        some_store(call->m, i, count, g);
        some_store(call->w, i, count, f16_sub(w, f16_mul(rate, g)));
    }
}
