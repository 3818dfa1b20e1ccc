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
// odd end has +0 for a partner), and the sums of blocks are added in order by steps with w = 1. So
// an element depends on its row and its column alone: on no range, height, thread or vector width.
// NaNs are NaNs everywhere, but which of them is left open.
#ifndef FRINGE_KERNELS_PRODUCTS_H
#define FRINGE_KERNELS_PRODUCTS_H

#include "../bf16.h"
#include "cpu.h"
#include <math.h>

enum {
    PRODUCT_DEPTH = 256,
    PRODUCT_PAIRS = PRODUCT_DEPTH / 2,
    PRODUCT_ROWS = 480,   // of a panel: a multiple of every tile's height
    PRODUCT_COLUMNS = 256 // of the right factor that is packed at a time
};

// Exact in double but for the one rounding: of two summands that reach beyond a double's bits, one
// lies wholly below where a float rounds.
static inline float product_step(float c, float a, float w) {
    double from = fabsf(c) < 0x1p-126f ? copysign(0.0, (double)c) : (double)c;
    double t = (double)a * (double)w + from;
    return fabs(t) < 0x1p-126 - 0x1p-151 ? (float)copysign(0.0, t) : (float)t;
}

// How the left factor lies: pairs of bf16, the even one in the low half. Pair p of row r is
// a[r * PRODUCT_PITCH + p] if it was packed by rows, else, in panels of PRODUCT_PANEL rows,
// a[(r / PRODUCT_PANEL * pairs + p) * PRODUCT_PANEL + r % PRODUCT_PANEL].
enum { PRODUCT_PITCH = PRODUCT_PAIRS + 16, PRODUCT_PANEL = 48 };

// c[r] (+)= a[r] b over one block of the depth. b lies in units of 16 columns: pair p of column j
// is b[(j / 16 * pairs + p) * 16 + j % 16].
typedef struct ProductBlock {
    const uint32_t *a, *b;
    int64_t rows, columns, pairs;
    float *c; // [rows, columns], with c_stride
    int64_t c_stride;
    bool by_rows; // how a lies
    bool add;
} ProductBlock;

// `columns` floats each of `rows` rows from `at` on.
typedef struct ProductInput {
    const float *at;
    int64_t rows, columns, stride;
} ProductInput;

// The version in use; where the CPU has AVX512-BF16 and `vectors` allows it, a fourth.
typedef struct ProductKernels {
    const char *name; // "vdpbf16ps"
    void (*block)(const ProductBlock *block);
    void (*by_rows)(uint32_t *a, const ProductInput *in);              // pairs along a row
    void (*by_columns)(uint32_t *b, const ProductInput *in, int unit); // pairs of rows, in units
    void (*transposed)(uint32_t *b, const ProductInput *in); // pairs along a row, as a column of b
} ProductKernels;
extern const ProductKernels product_kernels_plain, product_kernels_avx2, product_kernels_avx512,
    product_kernels_bf16;
const ProductKernels *product_kernels(void);

// While rows are in the cache: adds the bias (NULL: none), writes zeros into the padding.
void dense_finish(CpuRows out, Range range, const float *bias); // dense.c

// ---- what dense.c calls: the operations of the same names in bf16
void products_dense(CpuRows out, Range range, CpuRows a, bool transposed, const float *w,
                    const float *bias, bool add, const Poll *poll);
// part [a.columns, g.columns] = aT g over a range of rows.
void products_part(float *part, CpuRows a, CpuRows g, Range rows, Pace *pace);

#endif
