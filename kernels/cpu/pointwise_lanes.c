// Dropout, LayerNorm and ReLU after a convolution, a row at a time, in any order.
//
//   forward   h = tail(norm(head(z))): head and tail are the steps before and after the norm
//   norm      y = gamma xhat + beta, xhat = (u - mean) inverse, inverse = 1 / sqrt(variance + 1e-5)
//   backward  d = tail'(dh); s = gamma d; du = (s - mean(s) - xhat mean(s xhat)) inverse;
//             dz = head'(du); dgamma = sum d xhat; dbeta = sum d         (ALGORITHMS A.3)
//
// The one idea: one always-inline function per direction whose order of steps is a constant, so
// every order that configs use (orders.h) becomes its own straight loop over vectors, and one loop
// with the order as a variable does the others and what is left behind a last pair; a row stays
// in the first cache while it is read two or three times, and nothing but z, the masks and two
// numbers per row is saved.
#include "kept_lanes.h"
#include "pointwise.h"
#include "rows_lanes.h"

static const float norm_epsilon = 1e-5f;

// Rows are done in pairs: a sum along a row is one chain of additions, and two chains take no
// longer than one. A pair does not show in the result.
enum { PAIR = 2 };
#define EACH_ROW(i) _Pragma("GCC unroll 2") for (int i = 0; i < rows; i++)

typedef struct Row {
    const Cell *z, *dh;
    Cell *out;
    const uint8_t *kept;
    uint8_t *positive;
    F16 scale;          // of dropout
    F16 middle, factor; // mean and 1 / sqrt(variance + epsilon) of the norm's input
} Row;

// Rows are asked for this many rows before they are read, while dropout's bits are made or sums
// wait; into the second cache, since those of the pair at hand fill a good part of the first.
enum { ROWS_AHEAD = 4 };
LANES_INLINE void prefetch_ahead(const Cell *row, int64_t stride) {
    for (int64_t c = 0; c < stride; c += LINE_CELLS)
        __builtin_prefetch(row + ROWS_AHEAD * stride + c, 0, 2);
}

LANES_INLINE Row row_at(const PointwiseCall *call, int order, int64_t r, F16 scale) {
    int64_t bytes = call->z.stride / 8;
    Row row = {.z = cells_of(call->z, r), .out = cells_of(call->out, r), .scale = scale};
    if (order_has(order, DO_DROPOUT))
        row.kept = call->saved.kept + r * bytes;
    if (order_has(order, DO_ACTIVATION))
        row.positive = call->saved.positive + r * bytes;
    return row;
}

LANES_INLINE F16 step_forward(int step, F16 x, const Row *row, int64_t column, bool save) {
    if (step == DO_DROPOUT)
        return f16_keep(f16_mul(x, row->scale), mask_load(row->kept + column / 8));
    if (step == DO_ACTIVATION) {
        if (save)
            mask_store(row->positive + column / 8, f16_positive(x));
        return f16_relu(x);
    }
    return x;
}
LANES_INLINE F16 steps_forward(int steps, F16 x, const Row *row, int64_t column, bool save) {
    x = step_forward(steps & 7, x, row, column, save);
    x = step_forward(steps >> 3 & 7, x, row, column, save);
    return step_forward(steps >> 6 & 7, x, row, column, save);
}

// Both steps' derivatives are factors of the element, so their order does not matter.
LANES_INLINE F16 steps_backward(int steps, F16 d, const Row *row, int64_t column) {
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
    F16 scale;       // of dropout
} Span16;

LANES_INLINE Span16 span_of(const PointwiseCall *call, int order) {
    int64_t columns = call->z.columns, whole = columns / 16 * 16;
    Span16 span = {
        .whole = whole, .last = mask_first(columns - whole), .scale = f16_set(call->key.scale)};
    if (order_has(order, DO_NORM)) {
        span.gamma = f16_load_first(call->gamma + whole, columns - whole);
        span.beta = f16_load_first(call->beta + whole, columns - whole);
    }
    return span;
}

LANES_INLINE void put(Cell *to, F16 value, bool stream) {
    if (stream)
        row_stream(to, value);
    else
        row_store(to, value);
}

// u = head(z), a vector of it; zero outside the row.
LANES_INLINE F16 head_at(const Row *row, int head, int64_t c, const Span16 *span) {
    F16 u = steps_forward(head, row_load(row->z + c), row, c, false);
    return c < span->whole ? u : f16_keep(u, span->last);
}
LANES_INLINE F16 square_at(const Row *row, int head, int64_t c, const Span16 *span) {
    F16 away = f16_sub(head_at(row, head, c, span), row->middle);
    away = c < span->whole ? away : f16_keep(away, span->last);
    return f16_mul(away, away);
}

// Dropout's bits of row r. A function of its own: inlined wherever it is called it would be most of
// what there is to compile.
static __attribute__((noinline)) void row_kept(const PointwiseCall *call, int64_t r) {
    int64_t bytes = call->z.stride / 8;
    kept_row(call->saved.kept + r * bytes, bytes, &call->key, call->gid[r], 0);
}
LANES_INLINE void make_kept(const PointwiseCall *call, int order, int64_t r, int64_t end) {
    if (order_has(order, DO_DROPOUT) && r < end)
        row_kept(call, r);
}

// Mean and factor of rows. Where a sum waits for its last additions, the bits of dropout of one of
// the rows from `next` on are made.
LANES_INLINE void rows_norm(const PointwiseCall *call, Row *row, int rows, int order,
                            const Span16 *span, Range next) {
    int head = order_head(order);
    float columns = (float)call->z.columns;
    F16 sum[PAIR], square[PAIR];
    EACH_ROW(i) sum[i] = square[i] = f16_set(0);
    for (int64_t c = 0; c < span->whole; c += 16)
        EACH_ROW(i) sum[i] = f16_add(sum[i], head_at(row + i, head, c, span));
    if (span->last)
        EACH_ROW(i) sum[i] = f16_add(sum[i], head_at(row + i, head, span->whole, span));
    make_kept(call, order, next.begin, next.end);
    EACH_ROW(i) row[i].middle = f16_set(f16_sum(sum[i]) / columns);
    for (int64_t c = 0; c < span->whole; c += 16)
        EACH_ROW(i) square[i] = f16_add(square[i], square_at(row + i, head, c, span));
    if (span->last)
        EACH_ROW(i) square[i] = f16_add(square[i], square_at(row + i, head, span->whole, span));
    make_kept(call, order, next.begin + 1, next.end);
    EACH_ROW(i) {
        float variance = f16_sum(square[i]) / columns;
        row[i].factor = f16_set(1.0f / sqrtf(variance + norm_epsilon));
    }
}

LANES_INLINE F16 normed(const Row *row, F16 u, F16 gamma, F16 beta) {
    F16 xhat = f16_mul(f16_sub(u, row->middle), row->factor);
    return f16_add(f16_mul(xhat, gamma), beta);
}

LANES_INLINE void forward_some(const PointwiseCall *call, int order, bool save, int64_t r, int rows,
                               int64_t end, const Span16 *span) {
    int head = order_head(order), tail = order_tail(order);
    bool norm = order_has(order, DO_NORM), stream = call->stream;
    const float *gamma = call->gamma, *beta = call->beta; // the bits stored below could be theirs
    Row row[PAIR];
    EACH_ROW(i) {
        row[i] = row_at(call, order, r + i, span->scale);
        prefetch_ahead(row[i].z, call->z.stride);
        if (!norm)
            make_kept(call, order, r + i, end);
    }
    if (norm)
        rows_norm(call, row, rows, order, span, (Range){r + PAIR, end});
    for (int64_t c = 0; c < span->whole; c += 16)
        EACH_ROW(i) {
            F16 x = steps_forward(head, row_load(row[i].z + c), row + i, c, save);
            if (norm)
                x = normed(row + i, x, f16_load_loose(gamma + c), f16_load_loose(beta + c));
            put(row[i].out + c, steps_forward(tail, x, row + i, c, save), stream);
        }
    if (span->last)
        EACH_ROW(i) {
            int64_t c = span->whole;
            F16 x = steps_forward(head, row_load(row[i].z + c), row + i, c, save);
            if (norm)
                x = normed(row + i, x, span->gamma, span->beta);
            put(row[i].out + c, f16_keep(steps_forward(tail, x, row + i, c, save), span->last),
                stream);
        }
    if (norm && save)
        EACH_ROW(i) {
            call->saved.mean[r + i] = f16_first(row[i].middle);
            call->saved.inverse[r + i] = f16_first(row[i].factor);
        }
}

// `rows` rows at a time while there are as many; returns the first that is left. With the order as
// a variable it is one, for two would need more registers than there are.
LANES_INLINE int64_t forward_rows(const PointwiseCall *call, int order, bool save, int rows,
                                  int64_t r, int64_t end) {
    Span16 span = span_of(call, order);
    for (; r + rows <= end; r += rows)
        forward_some(call, order, save, r, rows, least(end, r + PAIR + rows), &span);
    return r;
}

// ---- backward

// One vector of a row on its way back: the gradient of the norm's output, and xhat.
typedef struct Back {
    F16 d, xhat;
} Back;
LANES_INLINE Back back_at(const Row *row, int head, int tail, int64_t c) {
    F16 u = steps_forward(head, row_load(row->z + c), row, c, false);
    return (Back){steps_backward(tail, row_load(row->dh + c), row, c),
                  f16_mul(f16_sub(u, row->middle), row->factor)};
}

// Sums along the rows of s = gamma d and of s xhat; dgamma and dbeta take their vector of the rows.
LANES_INLINE void norm_back_sums(F16 *sum, F16 *product, float *dgamma, float *dbeta, int rows,
                                 const Back *back, F16 gamma) {
    F16 to_gamma = f16_load(dgamma), to_beta = f16_load(dbeta);
    EACH_ROW(i) {
        to_gamma = f16_add(to_gamma, f16_mul(back[i].d, back[i].xhat));
        to_beta = f16_add(to_beta, back[i].d);
        F16 s = f16_mul(gamma, back[i].d);
        sum[i] = f16_add(sum[i], s);
        product[i] = f16_add(product[i], f16_mul(s, back[i].xhat));
    }
    f16_store(dgamma, to_gamma);
    f16_store(dbeta, to_beta);
}

// du = (s - mean(s) - xhat mean(s xhat)) factor, and through the head to dz.
LANES_INLINE F16 norm_back(const Row *row, int head, int64_t c, Back back, F16 gamma, F16 mean,
                           F16 slope) {
    F16 s = f16_sub(f16_mul(gamma, back.d), mean);
    F16 du = f16_mul(f16_sub(s, f16_mul(back.xhat, slope)), row->factor);
    return steps_backward(head, du, row, c);
}

LANES_INLINE void backward_norm(const PointwiseCall *call, const Row *row, int rows, int order,
                                const Span16 *span, float *dgamma) {
    float *dbeta = dgamma + call->z.stride;
    int head = order_head(order), tail = order_tail(order);
    bool stream = call->stream;
    float columns = (float)call->z.columns;
    F16 sum[PAIR], product[PAIR];
    EACH_ROW(i) sum[i] = product[i] = f16_set(0);
    Back back[PAIR];
    for (int64_t c = 0; c < span->whole; c += 16) {
        EACH_ROW(i) back[i] = back_at(row + i, head, tail, c);
        norm_back_sums(sum, product, dgamma + c, dbeta + c, rows, back,
                       f16_load_loose(call->gamma + c));
    }
    if (span->last) {
        EACH_ROW(i) {
            back[i] = back_at(row + i, head, tail, span->whole);
            back[i].d = f16_keep(back[i].d, span->last);
            back[i].xhat = f16_keep(back[i].xhat, span->last);
        }
        norm_back_sums(sum, product, dgamma + span->whole, dbeta + span->whole, rows, back,
                       span->gamma);
    }
    EACH_ROW(i) {
        sum[i] = f16_set(f16_sum(sum[i]) / columns);
        product[i] = f16_set(f16_sum(product[i]) / columns);
    }
    for (int64_t c = 0; c < span->whole; c += 16)
        EACH_ROW(i)
    put(row[i].out + c,
        norm_back(row + i, head, c, back_at(row + i, head, tail, c),
                  f16_load_loose(call->gamma + c), sum[i], product[i]),
        stream);
    if (span->last)
        EACH_ROW(i) {
            int64_t c = span->whole;
            F16 dz = norm_back(row + i, head, c, back_at(row + i, head, tail, c), span->gamma,
                               sum[i], product[i]);
            put(row[i].out + c, f16_keep(dz, span->last), stream);
        }
}

LANES_INLINE void backward_plain(const PointwiseCall *call, const Row *row, int rows, int order,
                                 const Span16 *span) {
    bool stream = call->stream;
    for (int64_t c = 0; c < span->whole; c += 16)
        EACH_ROW(i)
    put(row[i].out + c, steps_backward(order, row_load(row[i].dh + c), row + i, c), stream);
    if (span->last)
        EACH_ROW(i) {
            F16 d = row_load(row[i].dh + span->whole);
            d = steps_backward(order, d, row + i, span->whole);
            put(row[i].out + span->whole, f16_keep(d, span->last), stream);
        }
}

LANES_INLINE void backward_some(const PointwiseCall *call, int order, int64_t r, int rows,
                                const Span16 *span, float *dgamma) {
    Row row[PAIR];
    EACH_ROW(i) {
        row[i] = row_at(call, order, r + i, span->scale);
        row[i].dh = cells_of(call->dh, r + i);
        prefetch_ahead(row[i].z, call->z.stride);
        prefetch_ahead(row[i].dh, call->z.stride);
        if (order_has(order, DO_NORM)) {
            row[i].middle = f16_set(call->saved.mean[r + i]);
            row[i].factor = f16_set(call->saved.inverse[r + i]);
        }
    }
    if (order_has(order, DO_NORM))
        backward_norm(call, row, rows, order, span, dgamma);
    else
        backward_plain(call, row, rows, order, span);
}

LANES_INLINE int64_t backward_rows(const PointwiseCall *call, int order, int rows, int64_t r,
                                   int64_t end, float *dgamma) {
    Span16 span = span_of(call, order);
    for (; r + rows <= end; r += rows)
        backward_some(call, order, r, rows, &span, dgamma);
    return r;
}

#if defined(__x86_64__) && !defined(__AVX2__) // rare: one loop that reads the order compiles fast
#define CASES_OF(orders, X)
#else
#define CASES_OF(orders, X) orders(X)
#endif
#define CASE_OF(order, pairs)                                                                      \
    case order:                                                                                    \
        r = pairs;                                                                                 \
        break;
#define FORWARD_SAVING(order) CASE_OF(order, forward_rows(call, order, true, PAIR, begin, end))
#define FORWARD_ONLY(order) CASE_OF(order, forward_rows(call, order, false, PAIR, begin, end))
#define BACKWARD(order) CASE_OF(order, backward_rows(call, order, PAIR, begin, end, dgamma))

void LANES_NAME(post_forward_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    int64_t r = begin;
    for (int i = 0; i < PAIR && order_has(call->order, DO_NORM); i++)
        make_kept(call, call->order, begin + i, end);
    if (call->save)
        switch (call->order) { CASES_OF(ORDERS_TRAINED, FORWARD_SAVING) }
    else
        switch (call->order) { CASES_OF(ORDERS_EVALUATED, FORWARD_ONLY) }
    forward_rows(call, call->order, call->save, 1, r, end);
    if (call->stream)
        f16_stream_end();
}

void LANES_NAME(post_backward_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    int64_t stride = call->z.stride, r = begin;
    float *dgamma = NULL; // and behind them those of beta
    if (order_has(call->order, DO_NORM)) {
        dgamma = call->partial + begin / call->block * 2 * stride;
        floats_zero(dgamma, 2 * stride);
    }
    switch (call->order) { CASES_OF(ORDERS_TRAINED, BACKWARD) }
    backward_rows(call, call->order, 1, r, end, dgamma);
    if (call->stream)
        f16_stream_end();
}

void LANES_NAME(dropout_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    F16 scale = f16_set(call->key.scale);
    int64_t columns = call->z.columns;
    for (int64_t r = begin; r < end; r++) {
        const Cell *x = cells_of(call->z, r);
        Cell *out = cells_of(call->out, r);
        for (int64_t first = 0; first < columns; first += 8 * KEPT_BYTES) {
            uint8_t kept[KEPT_BYTES];
            int64_t here = least(columns - first, 8 * KEPT_BYTES);
            kept_row(kept, (here + 15) / 16 * 2, &call->key, call->gid[r], (uint32_t)(first / 8));
            for (int64_t c = 0; c < here; c += 16) { // x is +0 in the padding, so out is
                F16 value = f16_mul(row_load(x + first + c), scale);
                put(out + first + c, f16_keep(value, mask_load(kept + c / 8)), call->stream);
            }
        }
    }
    if (call->stream)
        f16_stream_end();
}

// Sums of the columns over a block of rows, in order.
void LANES_NAME(sum_rows)(const PointwiseCall *call, int64_t begin, int64_t end) {
    CpuRows g = call->z;
    float *sum = call->partial + begin / call->block * g.stride;
    floats_zero(sum, (g.columns + 15) / 16 * 16);
    for (int64_t r = begin; r < end; r++)
        for (int64_t c = 0; c < g.columns; c += 16)
            f16_store(sum + c, f16_add(f16_load(sum + c), row_load(cells_of(g, r) + c)));
}
