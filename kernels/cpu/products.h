// Products of bf16 inputs with fp32 sums, and what defines their bits.
//
// An input is rounded to bf16 (bf16_flushed of bf16.h). One step of a sum is
//
//     c = a w + c, rounded once to the nearest float, halves to even;
//
// denormal inputs count as zeros, and a result that is denormal after rounding becomes a zero with
// its sign. That is a step of vdpbf16ps, of a fused multiply-add with FTZ and DAZ, and of
// product_step below, which is plain C. The depth is cut into blocks, each starts from +0, and the
// sums of blocks, then the bias, are added in order by steps with w = 1. Within a block the terms
// are added up in one of two orders (SumOrder), by any of the kernels. So an element depends on its
// row and its column alone: on no range, height, thread or vector width. NaNs are NaNs everywhere,
// but which of them is left open.
//
// Products of inputs in fp32 as sums of two bf16 (bf16x3), high = bf16(x) and low = bf16(x - high),
// are products of three times the depth: a block of it has the terms low high, then high low, then
// high high, each filled up with +0 to a multiple of TILE_DEPTH.
#pragma once

#include "../bf16.h"
#include "cpu.h"
#include <math.h>

enum {
    PAIRS_DEPTH = 256, // of a block in SUMS_PAIRS
    TILES_DEPTH = 384, // ... in SUMS_TILES
    PRODUCT_PAIRS = TILES_DEPTH / 2,
    PRODUCT_PARTS = 3,    // of a bf16x3 product, each of a quarter of that depth
    PRODUCT_LOW = 96,     // rows of a panel: a multiple of every tile's height
    PRODUCT_HIGH = 480,   // of one that keeps nothing, and of a task: a multiple of that
    PRODUCT_STRIP = 64,   // columns of rows that are made at a time
    PRODUCT_COLUMNS = 256 // of a weight gradient, likewise
};

// SUMS_PAIRS takes the terms of a block in pairs, of a pair first the odd one, then the even one
// (an odd end has +0 for a partner): vdpbf16ps. SUMS_TILES takes TILE_DEPTH of them at a time (of
// the last, missing ones are +0): the even ones are added up from +0, and so are the odd ones;
// their sum is added to that of the block: tdpbf16ps of AMX.
enum { TILE_DEPTH = 32, TILE_PAIRS = TILE_DEPTH / 2 };

// Exact in double but for the one rounding: of two summands that reach beyond a double's bits, one
// lies wholly below where a float rounds.
static inline float product_step(float c, float a, float w) {
    double from = fabsf(c) < 0x1p-126f ? copysign(0.0, (double)c) : (double)c;
    double t = (double)a * (double)w + from;
    return fabs(t) < 0x1p-126 - 0x1p-151 ? (float)copysign(0.0, t) : (float)t;
}

// How the left factor lies: pairs of bf16, the even one in the low half. Pair p of row r is
// a[r * pitch + p], whether it was packed by rows (pitch at most PRODUCT_PITCH) or lies in rows of
// bf16, or, where pitch is 0, in panels of PRODUCT_PANEL rows,
// a[(r / PRODUCT_PANEL * pairs + p) * PRODUCT_PANEL + r % PRODUCT_PANEL].
enum { PRODUCT_PITCH = PRODUCT_PAIRS + 16, PRODUCT_PANEL = 48 };

// Where whole sums go: rows [row, ...) and columns [column, ...) of `rows`, with the bias (NULL:
// none), which another step adds, rounded once, and with zeros in the padding.
typedef struct ProductOut {
    CpuRows rows;
    int64_t row, column;
    const float *bias; // [PRODUCT_STRIP], of this strip
} ProductOut;

// What will be read next: as many pairs of so many rows from `at` on, which lie with the pitch of
// a.
typedef struct ProductAhead {
    const uint32_t *at;
    int64_t rows;
} ProductAhead;

// c[r] (+)= a[r] b over one block of the depth, or, of the last block, out = c (+) a b. Of
// `a` whole tiles of rows are read. b lies in units of 16 columns: pair p of column j is
// b[(j / 16 * pairs + p) * 16 + j % 16]. In SUMS_TILES, pairs is a multiple of TILE_PAIRS.
typedef struct ProductBlock {
    const uint32_t *a, *b;
    int64_t rows, columns, pairs;
    float *c; // [rows, columns], with c_stride
    int64_t c_stride;
    int64_t pitch; // of a
    bool add;
    ProductAhead ahead;
    const ProductOut *out; // NULL: the sums stay in c
} ProductBlock;

// What is packed: `columns` numbers each of `rows` rows from `at` on. Padded: whole units of 16 may
// be read. It becomes `pairs` pairs, the last ones +0, of each number's bf16; of bf16x3, for which
// it is fp32, three times as many, one part behind the other: `of` a block. Rows of them lie
// `pitch` apart.
typedef enum ProductParts { PARTS_ONE, PARTS_LEFT, PARTS_RIGHT } ProductParts;
typedef struct ProductInput {
    const void *at;
    int64_t rows, columns, stride;
    RowsType type;
    bool padded;
    ProductParts parts;
    int64_t pairs, of, pitch;
} ProductInput;

// The kernels of a vector width; where the CPU has AVX512-BF16 or AMX and `vectors` allows it,
// others. `block` by SumOrder; NULL: others have that order.
typedef struct ProductKernels {
    const char *name; // "vdpbf16ps"
    void (*block[SUM_ORDERS])(const ProductBlock *block);
    void (*by_rows)(uint32_t *a, const ProductInput *in);    // pairs along a row
    void (*by_columns)(uint32_t *b, const ProductInput *in); // pairs of rows, as a right factor
    void (*transposed)(uint32_t *b, const ProductInput *in); // pairs along a row, likewise
    // Pairs of rows, as the left factor of a weight gradient.
    void (*left_by_columns)(uint32_t *a, const ProductInput *in);
    bool panels; // into which it puts them; false: they become rows
    // A strip of rows of out into c [rows, PRODUCT_STRIP].
    void (*begin)(float *c, CpuRows out, Range rows, Range columns);
} ProductKernels;
extern const ProductKernels product_kernels_plain, product_kernels_avx2, product_kernels_avx512,
    product_kernels_native_bf16, product_kernels_amx;
const ProductKernels *product_kernels(void); // of the order in use

// ---- what dense.c calls, in bf16 and bf16x3
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
