// Products of bf16 inputs with fp32 sums, and what defines their bits.
//
// An input is rounded to bf16 (bf16_flushed of bf16.h). One step of a sum is
//
//     c = a w + c, rounded once to the nearest float, halves to even;
//
// denormal inputs count as zeros, and a result that is denormal after rounding becomes a zero with
// its sign. That is a step of vdpbf16ps, of a fused multiply-add with FTZ and DAZ, and of
// product_step below, which is plain C. The depth is cut into blocks of PRODUCT_DEPTH: each block
// starts from +0 and takes its terms in pairs, of a pair first the odd one, then the even one (an
// odd end has +0 for a partner), and the sums of blocks, then the bias, are added in order by steps
// with w = 1. So an element depends on its row and its column alone: on no range, height, thread or
// vector width. NaNs are NaNs everywhere, but which of them is left open.
#pragma once

#include "../bf16.h"
#include "cpu.h"
#include <math.h>

enum {
    PRODUCT_DEPTH = 256,
    PRODUCT_PAIRS = PRODUCT_DEPTH / 2,
    PRODUCT_TILE = 24,    // a multiple of every tile's height
    PRODUCT_ROWS = 480,   // of a panel: a multiple of that
    PRODUCT_STRIP = 64,   // columns of rows that are made at a time
    PRODUCT_COLUMNS = 256 // of a weight gradient, likewise
};

// Exact in double but for the one rounding: of two summands that reach beyond a double's bits, one
// lies wholly below where a float rounds.
static inline float product_step(float c, float a, float w) {
    double from = fabsf(c) < 0x1p-126f ? copysign(0.0, (double)c) : (double)c;
    double t = (double)a * (double)w + from;
    return fabs(t) < 0x1p-126 - 0x1p-151 ? (float)copysign(0.0, t) : (float)t;
}

// How the left factor lies: pairs of bf16, the even one in the low half. Pair p of row r is
// a[r * pitch + p], whether it was packed by rows (with PRODUCT_PITCH) or lies in rows of bf16, or,
// where pitch is 0, in panels of PRODUCT_PANEL rows,
// a[(r / PRODUCT_PANEL * pairs + p) * PRODUCT_PANEL + r % PRODUCT_PANEL].
enum { PRODUCT_PITCH = PRODUCT_PAIRS + 16, PRODUCT_PANEL = 48 };

// Where whole sums go: rows [row, ...) and columns [column, ...) of `rows`, with the bias (NULL:
// none), which another step adds, rounded once, and with zeros in the padding.
typedef struct ProductOut {
    CpuRows rows;
    int64_t row, column;
    const float *bias; // [PRODUCT_STRIP], of this strip
} ProductOut;

// c[r] (+)= a[r] b over one block of the depth, or, of the last block, out = c (+) a b. Of a whole
// tiles of rows are read. b lies in units of 16 columns: pair p of column j is
// b[(j / 16 * pairs + p) * 16 + j % 16].
typedef struct ProductBlock {
    const uint32_t *a, *b;
    int64_t rows, columns, pairs;
    float *c; // [rows, columns], with c_stride
    int64_t c_stride;
    int64_t pitch; // of a
    bool add;
    const ProductOut *out; // NULL: the sums stay in c
} ProductBlock;

// `columns` numbers each of `rows` rows from `at` on. Padded: whole units of 16 may be read.
typedef struct ProductInput {
    const void *at;
    int64_t rows, columns, stride;
    RowsType type;
    bool padded;
} ProductInput;

// The version in use; where the CPU has AVX512-BF16 and `vectors` allows it, a fourth.
typedef struct ProductKernels {
    const char *name; // "vdpbf16ps"
    void (*block)(const ProductBlock *block);
    void (*by_rows)(uint32_t *a, const ProductInput *in);              // pairs along a row
    void (*by_columns)(uint32_t *b, const ProductInput *in, int unit); // pairs of rows, in units
    void (*transposed)(uint32_t *b, const ProductInput *in); // pairs along a row, as a column of b
    // A strip of rows of out into c [rows, PRODUCT_STRIP].
    void (*begin)(float *c, CpuRows out, Range rows, Range columns);
} ProductKernels;
extern const ProductKernels product_kernels_plain, product_kernels_avx2, product_kernels_avx512,
    product_kernels_native_bf16;
const ProductKernels *product_kernels(void);

// ---- what dense.c calls, in bf16
// out = sum of the terms (+ out if add) (+ bias), added up in fp32 and rounded once: first out,
// then the blocks of the first term, then those of the second, then the bias.
typedef struct ProductTerm {
    CpuRows a;
    const float *w; // [a.columns, out.columns], or transposed
} ProductTerm;
void products_dense(CpuRows out, Range range, const ProductTerm *term, int terms, bool transposed,
                    const float *bias, bool add, const Poll *poll);
// part [a.columns, g.columns] = aT g over a range of rows.
void products_part(float *part, CpuRows a, CpuRows g, Range rows, Pace *pace);
