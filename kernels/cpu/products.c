// bf16 products over the threads: what is packed when (products.h has the bits, products_lanes.c
// the tiles).
//
// The one idea: a thread takes a panel of rows, packs a block of its depth, then the right factor
// of that block, a few hundred columns at a time, and multiplies. Both stay in its second cache,
// and lie on its stack, so that no epoch allocates.
#include "products.h"
#include <omp.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

const ProductKernels *product_kernels(void) {
#if defined(__x86_64__)
#if defined(HAVE_AVX512BF16)
    if (cpu_lanes() == LANES_AVX512 && __builtin_cpu_supports("avx512bf16"))
        return &product_kernels_bf16;
#endif
    if (cpu_lanes() == LANES_AVX512)
        return &product_kernels_avx512;
    if (cpu_lanes() == LANES_AVX2)
        return &product_kernels_avx2;
#endif
    return &product_kernels_plain;
}

// What a thread has packed of the two factors of a block.
typedef struct Packed {
    uint32_t a[PRODUCT_ROWS * PRODUCT_PITCH] __attribute__((aligned(64)));
    uint32_t b[PRODUCT_PAIRS * PRODUCT_COLUMNS] __attribute__((aligned(64)));
} Packed;

// ---- out = a op(w)

typedef struct Factor {
    const float *w; // [depth, columns], or [columns, depth] where it is transposed
    int64_t depth, columns;
    bool transposed;
} Factor;

static void pack_factor(uint32_t *b, const Factor *f, Range depth, Range columns) {
    int64_t deep = depth.end - depth.begin, wide = columns.end - columns.begin;
    if (f->transposed)
        product_kernels()->transposed(
            b,
            &(ProductInput){f->w + columns.begin * f->depth + depth.begin, wide, deep, f->depth});
    else
        product_kernels()->by_columns(
            b,
            &(ProductInput){f->w + depth.begin * f->columns + columns.begin, deep, wide,
                            f->columns},
            16);
}

// The rows of a panel by one block of the depth; a has been packed. Whole units are stored: what
// lies in the padding is made zero afterwards.
static void panel_block(Packed *packed, CpuRows out, Range rows, const Factor *f, Range depth,
                        bool add) {
    for (int64_t c = 0; c < f->columns; c += PRODUCT_COLUMNS) {
        int64_t end = least(c + PRODUCT_COLUMNS, f->columns);
        pack_factor(packed->b, f, depth, (Range){c, end});
        product_kernels()->block(&(ProductBlock){.a = packed->a,
                                                 .b = packed->b,
                                                 .rows = rows.end - rows.begin,
                                                 .columns = rows_stride(end - c),
                                                 .pairs = (depth.end - depth.begin + 1) / 2,
                                                 .c = out.at + rows.begin * out.stride + c,
                                                 .c_stride = out.stride,
                                                 .by_rows = true,
                                                 .add = add});
    }
}

static void panel(CpuRows out, Range rows, CpuRows a, const Factor *f, bool add) {
    Packed packed;
    for (int64_t k = 0; k < f->depth; k += PRODUCT_DEPTH) {
        Range depth = {k, least(k + PRODUCT_DEPTH, f->depth)};
        product_kernels()->by_rows(packed.a,
                                   &(ProductInput){a.at + rows.begin * a.stride + k,
                                                   rows.end - rows.begin, depth.end - k, a.stride});
        panel_block(&packed, out, rows, f, depth, add || k > 0);
    }
}

void products_dense(CpuRows out, Range range, CpuRows a, bool transposed, const float *w,
                    const float *bias, bool add, const Poll *poll) {
    Factor factor = {w, a.columns, out.columns, transposed};
#pragma omp parallel
    {
        Pace pace = pace_start(poll);
#pragma omp for schedule(dynamic)
        for (int64_t r = range.begin; r < range.end; r += PRODUCT_ROWS) {
            Range rows = {r, least(r + PRODUCT_ROWS, range.end)};
            panel(out, rows, a, &factor, add);
            dense_finish(out, rows, bias);
            if (omp_get_thread_num() == 0)
                pace_call(&pace);
        }
    }
}

// ---- the weight gradient

// The left factor's columns [i, end) of a block of rows, packed as rows of its transpose.
static void part_block(Packed *packed, float *part, CpuRows a, CpuRows g, Range rows, bool add) {
    int64_t deep = rows.end - rows.begin, pairs = (deep + 1) / 2;
    for (int64_t c = 0; c < g.columns; c += PRODUCT_COLUMNS) {
        int64_t wide = least(PRODUCT_COLUMNS, g.columns - c);
        product_kernels()->by_columns(
            packed->b, &(ProductInput){g.at + rows.begin * g.stride + c, deep, wide, g.stride}, 16);
        for (int64_t i = 0; i < a.columns; i += PRODUCT_ROWS) {
            int64_t high = least(PRODUCT_ROWS, a.columns - i);
            product_kernels()->by_columns(
                packed->a, &(ProductInput){a.at + rows.begin * a.stride + i, deep, high, a.stride},
                PRODUCT_PANEL);
            product_kernels()->block(&(ProductBlock){.a = packed->a,
                                                     .b = packed->b,
                                                     .rows = high,
                                                     .columns = wide,
                                                     .pairs = pairs,
                                                     .c = part + i * g.columns + c,
                                                     .c_stride = g.columns,
                                                     .add = add});
        }
    }
}

void products_part(float *part, CpuRows a, CpuRows g, Range rows, Pace *pace) {
    Packed packed;
    if (rows.begin == rows.end)
        memset(part, 0, (size_t)(a.columns * g.columns) * sizeof *part);
    for (int64_t r = rows.begin; r < rows.end; r += PRODUCT_DEPTH) {
        part_block(&packed, part, a, g, (Range){r, least(r + PRODUCT_DEPTH, rows.end)},
                   r > rows.begin);
        if (omp_get_thread_num() == 0)
            pace_call(pace);
    }
}
