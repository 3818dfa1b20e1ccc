// Dropout, LayerNorm and ReLU after a convolution, a row at a time, in any order.
//
//   forward   h = tail(norm(head(z))): head and tail are the steps before and after the norm
//   norm      y = gamma xhat + beta, xhat = (u - mean) inverse, inverse = 1 / sqrt(variance + 1e-5)
//   backward  d = tail'(dh); s = gamma d; du = (s - mean(s) - xhat mean(s xhat)) inverse;
//             dz = head'(du); dgamma = sum d xhat; dbeta = sum d         (ALGORITHMS A.3)
//
// The one idea: one always-inline function per direction whose order of steps is a constant, so
// every order becomes its own straight loop over vectors; a row stays in the first cache while it
// is read two or three times, and nothing but z, the masks and two numbers per row is saved.
#include "masks_lanes.h"
#include "philox_lanes.h"
#include "pointwise.h"
#include <math.h>

static const float norm_epsilon = 1e-5f;

LANES_INLINE int order_head(int order) { // the steps before the norm; 0 without norm
    return (order & 7) == DO_NORM        ? 0
           : (order >> 3 & 7) == DO_NORM ? order & 7
           : (order >> 6 & 7) == DO_NORM ? order & 077
                                         : 0;
}
LANES_INLINE int order_tail(int order) { // the steps after the norm; all without norm
    return (order & 7) == DO_NORM        ? order >> 3
           : (order >> 3 & 7) == DO_NORM ? order >> 6
           : (order >> 6 & 7) == DO_NORM ? 0
                                         : order;
}

// What a row's loops read besides z: the same for all its columns.
typedef struct RowState {
    const uint8_t *kept;
    uint8_t *positive; // NULL: nothing is saved
    F16 scale;
} RowState;

LANES_INLINE F16 step_forward(int step, F16 x, const RowState *row, int64_t column, bool save) {
    if (step == DO_DROPOUT)
        return f16_keep(f16_mul(x, row->scale), mask_load(row->kept + column / 8));
    if (step == DO_ACTIVATION) {
        if (save)
            mask_store(row->positive + column / 8, f16_positive(x));
        return f16_relu(x);
    }
    return x;
}
LANES_INLINE F16 steps_forward(int steps, F16 x, const RowState *row, int64_t column, bool save) {
    x = step_forward(steps & 7, x, row, column, save);
    x = step_forward(steps >> 3 & 7, x, row, column, save);
    return step_forward(steps >> 6 & 7, x, row, column, save);
}

// Both steps' derivatives are factors of the element, so their order does not matter.
LANES_INLINE F16 steps_backward(int steps, F16 d, const RowState *row, int64_t column) {
    Mask mask = 0xffff;
    if (order_has(steps, DO_DROPOUT)) {
        d = f16_mul(d, row->scale);
        mask &= mask_load(row->kept + column / 8);
    }
    if (order_has(steps, DO_ACTIVATION))
        mask &= mask_load(row->positive + column / 8);
    return steps == 0 ? d : f16_keep(d, mask);
}

// The vectors of a row: `whole` full ones, then one with the lanes of `last` in use (0: none).
typedef struct Span16 {
    int64_t whole; // columns
    Mask last;
    F16 gamma, beta; // of the last vector
} Span16;

LANES_INLINE Span16 span_of(const PointwiseCall *call, int order) {
    int64_t columns = call->z.columns, whole = columns / 16 * 16;
    Span16 span = {.whole = whole, .last = mask_first(columns - whole)};
    if (order_has(order, DO_NORM)) {
        span.gamma = f16_load_first(call->gamma + whole, columns - whole);
        span.beta = f16_load_first(call->beta + whole, columns - whole);
    }
    return span;
}

LANES_INLINE void put(float *to, F16 value, bool stream) {
    if (stream)
        f16_stream(to, value);
    else
        f16_store(to, value);
}

// Mean and 1 / sqrt(biased variance + epsilon) of a row of head(z).
LANES_INLINE void row_norm(float *mean, float *inverse, const float *z, int head,
                           const RowState *row, const Span16 *span, int64_t columns) {
    F16 sum = f16_set(0), square = f16_set(0);
    for (int64_t c = 0; c < span->whole; c += 16)
        sum = f16_add(sum, steps_forward(head, f16_load(z + c), row, c, false));
    if (span->last) {
        F16 u = steps_forward(head, f16_load(z + span->whole), row, span->whole, false);
        sum = f16_add(sum, f16_keep(u, span->last));
    }
    *mean = f16_sum(sum) / (float)columns;
    F16 middle = f16_set(*mean);
    for (int64_t c = 0; c < span->whole; c += 16) {
        F16 u = steps_forward(head, f16_load(z + c), row, c, false), away = f16_sub(u, middle);
        square = f16_add(square, f16_mul(away, away));
    }
    if (span->last) {
        F16 u = steps_forward(head, f16_load(z + span->whole), row, span->whole, false);
        F16 away = f16_keep(f16_sub(u, middle), span->last);
        square = f16_add(square, f16_mul(away, away));
    }
    *inverse = 1.0f / sqrtf(f16_sum(square) / (float)columns + norm_epsilon);
}

LANES_INLINE void forward_rows(const PointwiseCall *call, int order, bool save, int64_t begin,
                               int64_t end) {
    int head = order_head(order), tail = order_tail(order);
    bool norm = order_has(order, DO_NORM), stream = call->stream;
    Span16 span = span_of(call, order);
    int64_t columns = call->z.columns, bytes = call->z.stride / 8;
    RowState row = {.scale = f16_set(call->key.scale)};
    for (int64_t r = begin; r < end; r++) {
        const float *z = call->z.at + r * call->z.stride;
        float *h = call->out.at + r * call->out.stride, mean = 0, inverse = 1;
        if (order_has(order, DO_DROPOUT)) {
            row.kept = call->saved.kept + r * bytes;
            kept_row(call->saved.kept + r * bytes, bytes, &call->key, call->gid[r]);
        }
        if (save && order_has(order, DO_ACTIVATION))
            row.positive = call->saved.positive + r * bytes;
        if (norm)
            row_norm(&mean, &inverse, z, head, &row, &span, columns);
        F16 middle = f16_set(mean), factor = f16_set(inverse);
        for (int64_t c = 0; c < span.whole; c += 16) {
            F16 x = steps_forward(head, f16_load(z + c), &row, c, save);
            if (norm)
                x = f16_add(
                    f16_mul(f16_mul(f16_sub(x, middle), factor), f16_load_loose(call->gamma + c)),
                    f16_load_loose(call->beta + c));
            put(h + c, steps_forward(tail, x, &row, c, save), stream);
        }
        if (span.last) {
            int64_t c = span.whole;
            F16 x = steps_forward(head, f16_load(z + c), &row, c, save);
            if (norm)
                x = f16_add(f16_mul(f16_mul(f16_sub(x, middle), factor), span.gamma), span.beta);
            put(h + c, f16_keep(steps_forward(tail, x, &row, c, save), span.last), stream);
        }
        if (norm && save) {
            call->saved.mean[r] = mean;
            call->saved.inverse[r] = inverse;
        }
    }
    if (stream)
        f16_stream_end();
}

// One vector of a row on its way back: what the norm's derivative needs of it.
typedef struct Back {
    F16 d, xhat; // of the norm's output; of its input
} Back;
LANES_INLINE Back back_at(const float *dh, const float *z, int64_t c, int head, int tail,
                          const RowState *row, F16 middle, F16 factor) {
    F16 u = steps_forward(head, f16_load(z + c), row, c, false);
    return (Back){steps_backward(tail, f16_load(dh + c), row, c),
                  f16_mul(f16_sub(u, middle), factor)};
}

LANES_INLINE void norm_back_sums(F16 *sum, F16 *product, float *dgamma, float *dbeta, int64_t c,
                                 Back back, F16 gamma) {
    f16_store(dgamma + c, f16_add(f16_load(dgamma + c), f16_mul(back.d, back.xhat)));
    f16_store(dbeta + c, f16_add(f16_load(dbeta + c), back.d));
    F16 s = f16_mul(gamma, back.d);
    *sum = f16_add(*sum, s);
    *product = f16_add(*product, f16_mul(s, back.xhat));
}

LANES_INLINE F16 norm_back(Back back, F16 gamma, F16 mean, F16 slope, F16 factor) {
    F16 s = f16_sub(f16_mul(gamma, back.d), mean);
    return f16_mul(f16_sub(s, f16_mul(back.xhat, slope)), factor);
}

LANES_INLINE void backward_norm_row(const PointwiseCall *call, int head, int tail, float *dz,
                                    const float *dh, const float *z, const RowState *row,
                                    const Span16 *span, F16 middle, F16 factor, float *dgamma,
                                    float *dbeta) {
    F16 sum = f16_set(0), product = f16_set(0);
    float columns = (float)call->z.columns;
    for (int64_t c = 0; c < span->whole; c += 16)
        norm_back_sums(&sum, &product, dgamma, dbeta, c,
                       back_at(dh, z, c, head, tail, row, middle, factor),
                       f16_load_loose(call->gamma + c));
    if (span->last) {
        Back back = back_at(dh, z, span->whole, head, tail, row, middle, factor);
        back.d = f16_keep(back.d, span->last);
        back.xhat = f16_keep(back.xhat, span->last);
        norm_back_sums(&sum, &product, dgamma, dbeta, span->whole, back, span->gamma);
    }
    F16 mean = f16_set(f16_sum(sum) / columns), slope = f16_set(f16_sum(product) / columns);
    for (int64_t c = 0; c < span->whole; c += 16) {
        Back back = back_at(dh, z, c, head, tail, row, middle, factor);
        F16 du = norm_back(back, f16_load_loose(call->gamma + c), mean, slope, factor);
        put(dz + c, steps_backward(head, du, row, c), call->stream);
    }
    if (span->last) {
        Back back = back_at(dh, z, span->whole, head, tail, row, middle, factor);
        F16 du = norm_back(back, span->gamma, mean, slope, factor);
        du = f16_keep(steps_backward(head, du, row, span->whole), span->last);
        put(dz + span->whole, du, call->stream);
    }
}

LANES_INLINE void zero_rows(float *at, int64_t count) {
    for (int64_t i = 0; i < count; i += 16)
        f16_store(at + i, f16_set(0));
}

LANES_INLINE void backward_rows(const PointwiseCall *call, int order, int64_t begin, int64_t end) {
    int head = order_head(order), tail = order_tail(order);
    bool norm = order_has(order, DO_NORM);
    Span16 span = span_of(call, order);
    int64_t bytes = call->z.stride / 8, stride = call->z.stride;
    float *dgamma = call->partial + begin / call->block * 2 * stride, *dbeta = dgamma + stride;
    if (norm)
        zero_rows(dgamma, 2 * stride);
    RowState row = {.scale = f16_set(call->key.scale)};
    for (int64_t r = begin; r < end; r++) {
        const float *z = call->z.at + r * call->z.stride, *dh = call->dh.at + r * call->dh.stride;
        float *dz = call->out.at + r * call->out.stride;
        if (order_has(order, DO_DROPOUT))
            row.kept = call->saved.kept + r * bytes;
        if (order_has(order, DO_ACTIVATION))
            row.positive = call->saved.positive + r * bytes;
        if (norm) {
            F16 middle = f16_set(call->saved.mean[r]), factor = f16_set(call->saved.inverse[r]);
            backward_norm_row(call, head, tail, dz, dh, z, &row, &span, middle, factor, dgamma,
                              dbeta);
            continue;
        }
        for (int64_t c = 0; c < span.whole; c += 16)
            put(dz + c, steps_backward(tail, f16_load(dh + c), &row, c), call->stream);
        if (span.last) {
            F16 d = steps_backward(tail, f16_load(dh + span.whole), &row, span.whole);
            put(dz + span.whole, f16_keep(d, span.last), call->stream);
        }
    }
    if (call->stream)
        f16_stream_end();
}

// Every order, first step in the last digit; those without dropout are also run without saving.
#define ORDERS_PLAIN(X) X(0) X(02) X(03) X(023) X(032)
#define ORDERS_DROPOUT(X)                                                                          \
    X(01) X(012) X(021) X(013) X(031) X(0123) X(0132) X(0213) X(0231) X(0312) X(0321)

#define FORWARD(order)                                                                             \
    case order:                                                                                    \
        forward_rows(call, order, true, begin, end);                                               \
        return;
#define FORWARD_ONLY(order)                                                                        \
    case order:                                                                                    \
        forward_rows(call, order, false, begin, end);                                              \
        return;
#define BACKWARD(order)                                                                            \
    case order:                                                                                    \
        backward_rows(call, order, begin, end);                                                    \
        return;

void LANES_NAME(post_forward_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    if (!call->save)
        switch (call->order) { ORDERS_PLAIN(FORWARD_ONLY) }
    switch (call->order) { ORDERS_PLAIN(FORWARD) ORDERS_DROPOUT(FORWARD) }
    __builtin_unreachable();
}

void LANES_NAME(post_backward_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    switch (call->order) { ORDERS_PLAIN(BACKWARD) ORDERS_DROPOUT(BACKWARD) }
    __builtin_unreachable();
}

void LANES_NAME(dropout_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    F16 scale = f16_set(call->key.scale);
    int64_t columns = call->z.columns;
    for (int64_t r = begin; r < end; r++) {
        const float *x = call->z.at + r * call->z.stride;
        float *out = call->out.at + r * call->out.stride;
        for (int64_t first = 0; first < columns; first += KEPT_COLUMNS) {
            uint8_t kept[16];
            kept_columns(kept, &call->key, call->gid[r], (uint32_t)(first / 8));
            int64_t here = columns - first < KEPT_COLUMNS ? columns - first : KEPT_COLUMNS;
            for (int64_t c = 0; c < here; c += 16) { // x is +0 in the padding, so out is
                F16 value = f16_mul(f16_load(x + first + c), scale);
                put(out + first + c, f16_keep(value, mask_load(kept + c / 8)), call->stream);
            }
        }
    }
    if (call->stream)
        f16_stream_end();
}

void LANES_NAME(scale_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
        const float *x = call->z.at + r * call->z.stride;
        float *out = call->out.at + r * call->out.stride;
        F16 factor = f16_set(call->row_scale != NULL ? call->row_scale[r] : 1.0f);
        for (int64_t c = 0; c < call->z.columns; c += 16)
            f16_store(out + c, f16_mul(f16_load(x + c), factor));
    }
}

// Sums of the columns over a block of rows, in order.
void LANES_NAME(sum_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    Rows g = call->z;
    float *sum = call->partial + begin / call->block * g.stride;
    zero_rows(sum, (g.columns + 15) / 16 * 16);
    for (int64_t r = begin; r < end; r++)
        for (int64_t c = 0; c < g.columns; c += 16)
            f16_store(sum + c, f16_add(f16_load(sum + c), f16_load(g.at + r * g.stride + c)));
}
