// Products of bf16 inputs with fp32 sums, and what defines their bits.
//
// An input is rounded to bf16 (bf16_flushed of bf16.h). One step of a sum is
//
//     c = a w + c, rounded once to the nearest float, halves to even;
//
// denormal inputs count as zeros, and a result that is denormal after rounding becomes a zero with
// its sign. That is a step of vdpbf16ps, of a fused multiply-add with FTZ and DAZ, and of
// product_step below, which is plain C. The terms are added up in one of two orders (SumOrder), by
// any of the kernels; the bias is added at the end by a step with w = 1. So an element depends on
// its row and its column alone: on no range, height, thread or vector width. NaNs are NaNs
// everywhere, but which of them is left open.
#pragma once

#include "../bf16.h"
#include "cpu.h"
#include <math.h>

enum {
    PRODUCT_DEPTH = 256, // of a block
    PRODUCT_PAIRS = PRODUCT_DEPTH / 2,
    PRODUCT_HIGH = 480,   // rows of a task, and of a panel whose factors are not kept
    PRODUCT_STRIP = 64,   // columns of a strip of such a panel
    PRODUCT_WIDE = 512,   // columns of a strip at most
    PRODUCT_COLUMNS = 256 // columns of a weight gradient that are made at a time
};

// SUMS_PAIRS cuts the depth into blocks of PRODUCT_DEPTH, each of which starts from +0, and adds up
// their sums in order. It takes the terms of a block in pairs, of a pair first the odd one, then
// the even one (an odd end has +0 for a partner): vdpbf16ps.
//
// SUMS_TILES takes TILE_DEPTH terms at a time (of the last, missing ones are +0): the even ones are
// added up from +0, and so are the odd ones; their sum is added to that of the terms before:
// tdpbf16ps of AMX. Inputs in fp32 as sums of two bf16 (bf16x3), high = bf16(x) and
// low = bf16(x - high), have three times as many: of each TILE_DEPTH first the products of the left
// factor's low parts and the right one's high ones, then of high and low ones, then of high ones.
enum { TILE_DEPTH = 32, TILE_PAIRS = TILE_DEPTH / 2 };
// Pairs that are stored of so many terms; with `parts` (bf16x3), low ones before high ones.
static inline int64_t step_pairs(bool parts) { return parts ? 2 * TILE_PAIRS : TILE_PAIRS; }

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
//
// PRODUCT_GAP numbers lie between packed rows, and between rows of sums: those of a power of two
// would share few sets of the first cache.
enum { PRODUCT_GAP = 16, PRODUCT_PITCH = PRODUCT_PAIRS + PRODUCT_GAP, PRODUCT_PANEL = 48 };

// Where whole sums go: rows [row, ...) and columns [column, ...) of `rows`, with the bias (NULL:
// none), which another step adds, rounded once, and with zeros in the padding.
typedef struct ProductOut {
    CpuRows rows;
    int64_t row, column;
    const float *bias; // of this strip, whole units
} ProductOut;

// Rows that will be needed next, which are asked for meanwhile.
typedef struct Walk {
    const char *at;
    int64_t pitch, bytes, done; // of the first row, `done` bytes are asked for
    int64_t rows;               // that are left
    int64_t blocks;             // that are left to ask for them
    int64_t each;               // lines at a time
    bool writes;
} Walk;
typedef struct ProductAhead {
    Walk of[2];
} ProductAhead;

// c[r] (+)= a[r] b over one block of the depth, or, of the last block, out = c (+) a b. Of
// `a` whole tiles of rows are read. b lies in units of 16 columns: pair p of column j is
// b[(j / 16 * pairs + p) * 16 + j % 16]. In SUMS_TILES, pairs is a multiple of TILE_PAIRS; `parts`
// (bf16x3): of both factors TILE_PAIRS pairs of low parts stand before as many of high ones.
typedef struct ProductBlock {
    const uint32_t *a, *b;
    int64_t rows, columns, pairs;
    float *c; // [rows, columns], with c_stride
    int64_t c_stride;
    int64_t pitch; // of a
    bool add, parts;
    ProductAhead *ahead;   // NULL: nothing is known
    const ProductOut *out; // NULL: the sums stay in c
} ProductBlock;

// What is packed: `columns` numbers each of `rows` rows from `at` on. Padded: whole units of 16 may
// be read. It becomes `pairs` pairs, the last ones +0, of each number's bf16, or, of fp32, as many
// of either of its `parts`. Rows of them lie `pitch` apart.
typedef struct ProductInput {
    const void *at;
    int64_t rows, columns, stride;
    RowsType type;
    bool padded, parts;
    int64_t pairs, pitch;
} ProductInput;
static inline int64_t stored_pairs(const ProductInput *in) {
    return in->parts ? 2 * in->pairs : in->pairs;
}

// The kernels of a vector width; where the CPU has AVX512-BF16 or AMX and `vectors` allows it,
// others. `block` by SumOrder; NULL: others have that order.
typedef struct ProductKernels {
    const char *name; // "vdpbf16ps"
    // A thread calls them before its first block and after its last one.
    void (*enter)(void);
    void (*leave)(void);
    void (*block[SUM_ORDERS])(const ProductBlock *block);
    void (*by_rows)(uint32_t *a, const ProductInput *in);    // pairs along a row
    void (*by_columns)(uint32_t *b, const ProductInput *in); // pairs of rows, as a right factor
    void (*transposed)(uint32_t *b, const ProductInput *in); // pairs along a row, likewise
    // Pairs of rows, as the left factor of a weight gradient.
    void (*left_by_columns)(uint32_t *a, const ProductInput *in);
    bool panels; // into which it puts them; false: they become rows
    // A strip of rows of out into c [rows, stride].
    void (*begin)(float *c, int64_t stride, CpuRows out, Range rows, Range columns);
    // Rows of which a task and whole tiles have a multiple, and columns, at most PRODUCT_WIDE:
    // those of a panel and of a strip where both factors are kept.
    int64_t low, wide;
} ProductKernels;
extern const ProductKernels product_kernels_plain, product_kernels_avx2, product_kernels_avx512,
    product_kernels_native_bf16, product_kernels_amx;
const ProductKernels *product_kernels(void); // of the order in use

// ---- what dense.c calls, in bf16 and bf16x3
// out = sum of the terms (+ out if add) (+ bias), added up in fp32 and rounded once: first out,
// then the first term, then the second, then the bias. By one thread at a time.
typedef struct ProductTerm {
    CpuRows a;
    const float *w; // [a.columns, out.columns], or transposed
} ProductTerm;
void products_dense(CpuRows out, Range range, const ProductTerm *term, int terms, bool transposed,
                    const float *bias, bool add, const Poll *poll);
// part [a.columns, g.columns] = aT g over a range of rows, in a thread of a parallel region before
// which products_ready was called.
void products_ready(void);
void products_part(float *part, CpuRows a, CpuRows g, Range rows, Pace *pace);
