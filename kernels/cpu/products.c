// bf16 products over the threads: what is packed when (products.h has the bits, products_lanes.c
// the tiles).
//
// The one idea: a thread takes a panel of rows and a strip of their columns, adds up all blocks of
// the depth in floats, and rounds them once. Rows of bf16 are multiplied where they lie; others are
// packed, as is the block of the right factor. All of it stays in its second cache, and lies on its
// stack, so that no epoch allocates.
#include "products.h"

const ProductKernels *product_kernels(void) {
#if defined(HAVE_AVX512BF16)
    if (cpu_converts_bf16())
        return &product_kernels_native_bf16;
#endif
    return LANES_OF(&product_kernels, );
}

// What a thread has packed of the two factors of a block, and the sums of a strip.
typedef struct Packed {
    uint32_t a[PRODUCT_ROWS * PRODUCT_PITCH] __attribute__((aligned(64)));
    uint32_t b[PRODUCT_PAIRS * PRODUCT_COLUMNS] __attribute__((aligned(64)));
    float c[PRODUCT_ROWS * PRODUCT_STRIP] __attribute__((aligned(64)));
    float bias[PRODUCT_STRIP] __attribute__((aligned(64)));
} Packed;

static ProductInput input_of(CpuRows rows, Range range, Range columns) {
    int64_t at = range.begin * rows.stride + columns.begin;
    return (ProductInput){(char *)rows.at + at * (int64_t)rows_number(rows.type),
                          range.end - range.begin,
                          columns.end - columns.begin,
                          rows.stride,
                          rows.type,
                          true};
}

// ---- out = a op(w)

typedef struct Strip {
    CpuRows out;
    Range rows, columns; // of out
    bool transposed;     // the right factors
    bool packs_once;     // the left one is a block, which all strips of these rows multiply
} Strip;

static void pack_factor(uint32_t *b, const Strip *s, const ProductTerm *term, Range depth) {
    int64_t deep = depth.end - depth.begin, wide = s->columns.end - s->columns.begin;
    int64_t all = term->a.columns, columns = s->out.columns;
    if (s->transposed)
        product_kernels()->transposed(
            b, &(ProductInput){.at = term->w + s->columns.begin * all + depth.begin,
                               .rows = wide,
                               .columns = deep,
                               .stride = all});
    else
        product_kernels()->by_columns(
            b,
            &(ProductInput){.at = term->w + depth.begin * columns + s->columns.begin,
                            .rows = deep,
                            .columns = wide,
                            .stride = columns},
            16);
}

// c (+)= one block of the depth. Rows that are no whole tiles are packed: of others more are read.
static void strip_block(Packed *packed, const Strip *s, const ProductTerm *term, Range depth,
                        bool add, const ProductOut *out) {
    ProductInput in = input_of(term->a, s->rows, depth);
    bool lies = in.type == ROWS_BF16 && in.rows % PRODUCT_TILE == 0;
    bool is_packed = s->packs_once && s->columns.begin > 0;
    if (!lies && !is_packed)
        product_kernels()->by_rows(packed->a, &in);
    pack_factor(packed->b, s, term, depth);
    product_kernels()->block(
        &(ProductBlock){.a = lies ? in.at : packed->a,
                        .b = packed->b,
                        .rows = in.rows,
                        .columns = rows_stride(s->columns.end - s->columns.begin),
                        .pairs = (in.columns + 1) / 2,
                        .c = packed->c,
                        .c_stride = PRODUCT_STRIP,
                        .pitch = lies ? in.stride / 2 : PRODUCT_PITCH,
                        .add = add,
                        .out = out});
}

static void strip(Packed *packed, const Strip *s, const ProductTerm *term, int terms,
                  const float *bias, bool add) {
    const ProductOut out = {s->out, s->rows.begin, s->columns.begin,
                            bias != NULL ? packed->bias : NULL};
    for (int64_t j = s->columns.begin; bias != NULL && j < s->columns.end; j++)
        packed->bias[j - s->columns.begin] = bias[j];
    if (add)
        product_kernels()->begin(packed->c, s->out, s->rows, s->columns);
    for (int i = 0; i < terms; i++)
        for (int64_t k = 0; k < term[i].a.columns; k += PRODUCT_DEPTH) {
            Range depth = {k, least(k + PRODUCT_DEPTH, term[i].a.columns)};
            bool last = i == terms - 1 && depth.end == term[i].a.columns;
            strip_block(packed, s, &term[i], depth, add || i > 0 || k > 0, last ? &out : NULL);
        }
}

void products_dense(CpuRows out, Range range, const ProductTerm *term, int terms, bool transposed,
                    const float *bias, bool add, const Poll *poll) {
#pragma omp parallel
    {
        Packed packed;
        bool once = terms == 1 && term->a.columns <= PRODUCT_DEPTH;
        Pace pace = pace_start(poll);
#pragma omp for schedule(dynamic)
        for (int64_t r = range.begin; r < range.end; r += PRODUCT_ROWS) {
            Range rows = {r, least(r + PRODUCT_ROWS, range.end)};
            for (int64_t c = 0; c < out.columns; c += PRODUCT_STRIP) {
                Range columns = {c, least(c + PRODUCT_STRIP, out.columns)};
                strip(&packed, &(Strip){out, rows, columns, transposed, once}, term, terms, bias,
                      add);
            }
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
        ProductInput right = input_of(g, rows, (Range){c, c + wide});
        product_kernels()->by_columns(packed->b, &right, 16);
        for (int64_t i = 0; i < a.columns; i += PRODUCT_ROWS) {
            int64_t high = least(PRODUCT_ROWS, a.columns - i);
            ProductInput left = input_of(a, rows, (Range){i, i + high});
            product_kernels()->by_columns(packed->a, &left, PRODUCT_PANEL);
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
