// bf16 products by their definition, one element at a time, and inputs that try it: ties,
// denormals, infinities, NaNs, products and sums that leave the range at either end.
#pragma once

#include "products.h"

// How a sum is made: in which order, of rounded inputs or of both parts of each (bf16x3).
typedef struct Truth {
    SumOrder order;
    bool parts;
} Truth;

static inline uint32_t truth_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float truth_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// To the nearest of the two bf16 around x; of two as near, the one that is even.
static inline float truth_rounded(float x) {
    uint32_t bits = truth_bits(x), low = bits & 0xffff, down = bits - low;
    if (isnan(x))
        return x;
    if (fabsf(x) < 0x1p-126f)
        return copysignf(0, x);
    bool up = low > 0x8000 || (low == 0x8000 && (down >> 16 & 1) != 0);
    return truth_float(up ? down + 0x10000 : down);
}

static inline double truth_daz(float x) {
    return fabsf(x) < 0x1p-126f ? copysign(0, (double)x) : (double)x;
}
static inline float truth_step(float c, float a, float w) {
    double t = truth_daz(a) * truth_daz(w) + truth_daz(c);
    return fabs(t) < 0x1p-126 - 0x1p-151 ? copysignf(0, (float)copysign(1, t)) : (float)t;
}

// What rounding leaves of x.
static inline float truth_low(float x) {
    float high = truth_rounded(x);
    return isfinite(high) ? truth_rounded(x - high) : 0;
}

// Of each factor so many numbers, `step` apart.
typedef struct TruthTerms {
    const float *a, *w;
    int64_t a_step, w_step, depth;
} TruthTerms;

// A number of either factor, rounded or what that leaves; +0 behind the last one.
static inline float truth_a(const TruthTerms *t, int64_t k, bool low) {
    float x = k < t->depth ? t->a[k * t->a_step] : 0;
    return low ? truth_low(x) : truth_rounded(x);
}
static inline float truth_w(const TruthTerms *t, int64_t k, bool low) {
    float x = k < t->depth ? t->w[k * t->w_step] : 0;
    return low ? truth_low(x) : truth_rounded(x);
}

// The terms from `begin` on that are taken together.
static inline float truth_of_pairs(const TruthTerms *t, int64_t begin) {
    float sum = 0;
    for (int64_t k = begin; k < begin + 256 && k < t->depth; k += 2) {
        sum = truth_step(sum, truth_a(t, k + 1, false), truth_w(t, k + 1, false));
        sum = truth_step(sum, truth_a(t, k, false), truth_w(t, k, false));
    }
    return sum;
}
static inline float truth_of_tile(const TruthTerms *t, int64_t begin, bool a_low, bool w_low) {
    float odd = 0, even = 0;
    for (int64_t k = begin; k < begin + 32; k += 2) {
        even = truth_step(even, truth_a(t, k, a_low), truth_w(t, k, w_low));
        odd = truth_step(odd, truth_a(t, k + 1, a_low), truth_w(t, k + 1, w_low));
    }
    return truth_step(even, odd, 1);
}

// The sum goes on from c (pairs: its blocks do, and one that starts has the first for its own).
static inline float truth_sum(Truth how, float c, bool add, const float *a, int64_t a_step,
                              const float *w, int64_t w_step, int64_t depth) {
    const TruthTerms t = {a, w, a_step, w_step, depth};
    if (!add)
        c = 0;
    for (int64_t k = 0; how.order == SUMS_PAIRS && k < depth; k += 256) {
        float sum = truth_of_pairs(&t, k);
        c = add || k > 0 ? truth_step(c, sum, 1) : sum;
    }
    for (int64_t k = 0; how.order == SUMS_TILES && k < depth; k += 32) {
        if (how.parts) {
            c = truth_step(c, truth_of_tile(&t, k, true, false), 1);
            c = truth_step(c, truth_of_tile(&t, k, false, true), 1);
        }
        c = truth_step(c, truth_of_tile(&t, k, false, false), 1);
    }
    return c;
}

static inline bool truth_same(float a, float b) {
    return truth_bits(a) == truth_bits(b) || (isnan(a) && isnan(b));
}

// The kernels that this CPU can run, also those that it would not choose: fused multiply-adds on a
// CPU with an instruction for bf16. NULL: it lacks that one.
enum { TRIED_KERNELS = 5 };
static inline void tried_kernels(const ProductKernels *out[TRIED_KERNELS]) {
    memset(out, 0, TRIED_KERNELS * sizeof *out);
    out[0] = &product_kernels_plain;
    for (int order = 0; order < SUM_ORDERS; order++) {
        BackendStart how = {.precision = "bf16", .sums = cpu_sums_names[order]};
        CHECK(backend_cpu.start(&how, &(Error){0}), EXIT_BUG, "bf16 does not start");
        out[1 + order] = product_kernels();
    }
    backend_cpu.start(&(BackendStart){0}, &(Error){0});
#if defined(__x86_64__)
    out[3] = __builtin_cpu_supports("avx512bw") ? &product_kernels_avx512 : NULL;
    out[4] = __builtin_cpu_supports("fma") ? &product_kernels_avx2 : NULL;
#endif
}

// c [rows, columns], tight, = x w of one block, whose rows of x are `stride` floats apart.
static inline void tried_block(const ProductKernels *kernels, SumOrder order, float *c,
                               const float *x, int64_t stride, const float *w, int64_t rows,
                               int64_t depth, int64_t columns) {
    int64_t pairs = (depth + 1) / 2;
    if (order == SUMS_TILES)
        pairs = (pairs + TILE_PAIRS - 1) / TILE_PAIRS * TILE_PAIRS;
    ProductInput left = {.at = x, .rows = rows, .columns = depth, .stride = stride},
                 right = {.at = w, .rows = depth, .columns = columns, .stride = columns};
    left.pairs = right.pairs = pairs;
    left.pitch = PRODUCT_PITCH;
    static uint32_t a[PRODUCT_HIGH * PRODUCT_PITCH] __attribute__((aligned(64)));
    static uint32_t b[PRODUCT_PAIRS * PRODUCT_COLUMNS] __attribute__((aligned(64)));
    kernels->by_rows(a, &left);
    kernels->by_columns(b, &right);
    kernels->enter();
    kernels->block[order](&(ProductBlock){.a = a,
                                          .b = b,
                                          .rows = rows,
                                          .columns = columns,
                                          .pairs = pairs,
                                          .c = c,
                                          .c_stride = columns,
                                          .pitch = PRODUCT_PITCH});
    kernels->leave();
}

// The inputs, by row and column: one row of eight has infinities and NaNs, one huge numbers, one
// has numbers whose products are denormal or nearly so, one denormals; all have ties.
static inline float truth_input(RandomKey key, int64_t row, int64_t column) {
    uint32_t word = (uint32_t)(0x1p32 * random_uniform32(key, row, 0, column)),
             kind = (uint32_t)row % 8;
    uint32_t low = word >> 30 == 0 ? 0x8000 : word & 0xffff, sign = word & 0x80000000u;
    uint32_t exponent = 120 + word % 13;
    if (kind == 1 && word % 29 == 0)
        return truth_float(sign | 0x7f800000u | (word >> 3 & 1)); // infinity or 7f800001
    if (kind == 2)
        exponent = word % 17 == 0 ? 254 : 180 + word % 16;
    if (kind == 3)
        exponent = 58 + word % 13;
    if (kind == 4 && word % 3 == 0)
        exponent = 0;
    return truth_float(sign | exponent << 23 | (word >> 8 & 0x7f0000) | low);
}
