// What a message of quantized rows must hold, made a value at a time.
#pragma once

#include "../rounding.h"
#include "round_trip.h"

typedef struct Truth {
    float zero, step, most;
} Truth;

static inline Truth true_grid(const float *x, int64_t columns, float scale, int bits, bool bf16) {
    float least = scale * x[0], most = least;
    for (int64_t c = 1; c < columns; c++) {
        least = fminf(least, scale * x[c]);
        most = fmaxf(most, scale * x[c]);
    }
    Truth g = {.zero = least == 0 ? 0 : least, .most = (float)largest_code(bits)};
    if (bf16 && bf16_cut(g.zero) != g.zero)
        g.zero = g.zero < 0 ? bf16_next(bf16_cut(g.zero)) : bf16_cut(g.zero);
    if (most == g.zero)
        return g;
    g.step = (most - g.zero) / g.most;
    if (bf16 && bf16_cut(g.step) != g.step)
        g.step = bf16_next(bf16_cut(g.step));
    if (g.step == 0)
        g.step = bf16 ? 0x1p-133F : 0x1p-149F;
    while (g.zero + g.most * g.step < most)
        g.step = bf16 ? bf16_next(g.step) : nextafterf(g.step, INFINITY);
    return g;
}

static inline int true_code(const RoundTrip *t, Truth g, float x, int bits, int64_t r, int64_t c,
                            bool nearest) {
    if (g.step == 0)
        return 0;
    bool divide = g.step < 0x1p-100F || g.step > 0x1p100F || bits == 16;
    float steps = divide ? (x - g.zero) / g.step : (x - g.zero) * (1 / g.step);
    const MessageSource *s = &t->source;
    if (bits < 16) {
        double u = nearest ? 0.5 : (double)random_rounding(s->random, t->gid[r], s->peer, c);
        return (int)fmin(floor(rint((double)steps * 0x1p16) * 0x1p-16 + u), (double)g.most);
    }
    double number = random_uniform32(s->random, t->gid[r], s->peer, c);
    float u = nearest ? 0.5F : (float)((floor(number * 0x1p23) + 0.5) * 0x1p-23);
    steps = fminf(steps, g.most);
    return (int)(floorf(steps) + floorf((steps - floorf(steps)) + u));
}

// Code c of a row that begins at `to`.
static inline void true_pack(unsigned char *to, int code, int bits, int64_t c, int64_t columns) {
    for (int width = 16; width > 0; width /= 2) {
        if (!(bits & width))
            continue;
        int64_t group = 128 / width, full = columns / group * group, bit = c * width;
        if (c < full && width < 16)
            bit = (c / group * 16 + c % 16) * 8 + c % group / 16 * width;
        for (int i = 0; i < width; i++, bit++, code >>= 1)
            to[bit / 8] |= (unsigned char)((code & 1) << bit % 8);
        to += (columns * width + 7) / 8;
    }
}
