// bf16 products by their definition, one element at a time, and inputs that try it: ties,
// denormals, infinities, NaNs, products and sums that leave the range at either end.
#pragma once

#include "products.h"

enum { TRUTH_DEPTH = 256 }; // of a block

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

// a and w are `depth` floats, so many apart; the sum goes on from c, or starts with its first
// block.
static inline float truth_sum(float c, bool add, const float *a, int64_t a_step, const float *w,
                              int64_t w_step, int64_t depth) {
    for (int64_t begin = 0; begin < depth; begin += TRUTH_DEPTH) {
        int64_t end = begin + TRUTH_DEPTH < depth ? begin + TRUTH_DEPTH : depth;
        float sum = 0;
        for (int64_t k = begin; k < end; k += 2) {
            bool odd = k + 1 < end;
            sum = truth_step(sum, odd ? truth_rounded(a[(k + 1) * a_step]) : 0,
                             odd ? truth_rounded(w[(k + 1) * w_step]) : 0);
            sum = truth_step(sum, truth_rounded(a[k * a_step]), truth_rounded(w[k * w_step]));
        }
        c = add || begin > 0 ? truth_step(c, sum, 1) : sum;
    }
    return c;
}

static inline bool truth_same(float a, float b) {
    return truth_bits(a) == truth_bits(b) || (isnan(a) && isnan(b));
}

// The kernels that this CPU can run, also those that it would not choose: fused multiply-adds on a
// CPU with an instruction for bf16. NULL: it lacks that one.
enum { TRIED_KERNELS = 4 };
static inline void tried_kernels(const ProductKernels *out[TRIED_KERNELS]) {
    memset(out, 0, TRIED_KERNELS * sizeof *out);
    out[0] = &product_kernels_plain;
    out[1] = product_kernels();
#if defined(__x86_64__)
    out[2] = __builtin_cpu_supports("avx512bw") ? &product_kernels_avx512 : NULL;
    out[3] = __builtin_cpu_supports("fma") ? &product_kernels_avx2 : NULL;
#endif
}

// c [rows, columns], tight, = x w of one block, whose rows of x are `stride` floats apart.
static inline void tried_block(const ProductKernels *kernels, float *c, const float *x,
                               int64_t stride, const float *w, int64_t rows, int64_t depth,
                               int64_t columns) {
    static uint32_t a[PRODUCT_ROWS * PRODUCT_PITCH] __attribute__((aligned(64)));
    static uint32_t b[PRODUCT_PAIRS * PRODUCT_COLUMNS] __attribute__((aligned(64)));
    kernels->by_rows(a, &(ProductInput){.at = x, .rows = rows, .columns = depth, .stride = stride});
    kernels->by_columns(
        b, &(ProductInput){.at = w, .rows = depth, .columns = columns, .stride = columns}, 16);
    kernels->block(&(ProductBlock){.a = a,
                                   .b = b,
                                   .rows = rows,
                                   .columns = columns,
                                   .pairs = (depth + 1) / 2,
                                   .c = c,
                                   .c_stride = columns,
                                   .pitch = PRODUCT_PITCH});
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
