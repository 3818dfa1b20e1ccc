// bf16 products over the threads: what is packed when (products.h has the bits, products_lanes.c
// and products_amx.c the tiles).
//
// The one idea: a thread takes a panel of rows and a strip of their columns, adds up all blocks of
// the depth in floats, and rounds them once. Rows of bf16 are multiplied where they lie, others are
// packed. Where the factors have room, the right one is packed once by each thread and the left one
// once for all strips, in low panels; else both are packed for each strip of a high panel. All of
// it stays in the thread's second cache, and lies on its stack, so that no epoch allocates.
#include "products.h"

const ProductKernels *product_kernels(void) {
#if defined(HAVE_AMX)
    if (cpu_products().order == SUMS_TILES && cpu_has_tiles())
        return &product_kernels_amx;
#endif
#if defined(HAVE_AVX512BF16)
    if (cpu_products().order == SUMS_PAIRS && cpu_converts_bf16())
        return &product_kernels_native_bf16;
#endif
    return LANES_OF(&product_kernels, );
}

// What a thread has packed of the two factors, and the sums of a strip: 1.5 MiB. The left factor is
// a high panel of one block, or a low one of all; the right one has room up to 4096 pairs of a
// strip.
enum { LEFT_ROOM = PRODUCT_HIGH * PRODUCT_PITCH, RIGHT_ROOM = 4096 * PRODUCT_STRIP };
static_assert(RIGHT_ROOM >= PRODUCT_PAIRS * PRODUCT_COLUMNS, "one of a weight gradient has room");
typedef struct Packed {
    uint32_t a[LEFT_ROOM] __attribute__((aligned(64)));
    uint32_t b[RIGHT_ROOM] __attribute__((aligned(64)));
    float c[PRODUCT_HIGH * PRODUCT_STRIP] __attribute__((aligned(64)));
    float bias[PRODUCT_STRIP] __attribute__((aligned(64)));
} Packed;

static ProductInput input_of(CpuRows rows, Range range, Range columns) {
    int64_t at = range.begin * rows.stride + columns.begin;
    return (ProductInput){.at = (char *)rows.at + at * (int64_t)rows_number(rows.type),
                          .rows = range.end - range.begin,
                          .columns = columns.end - columns.begin,
                          .stride = rows.stride,
                          .type = rows.type,
                          .padded = true};
}

// ---- the parts of a block: one, or those of bf16x3

static bool has_parts(void) { return cpu_products().inputs == PRODUCTS_BF16X3; }
static int64_t block_depth(void) {
    int64_t depth = cpu_products().order == SUMS_TILES ? TILES_DEPTH : PAIRS_DEPTH;
    return has_parts() ? depth / 4 : depth;
}
static int64_t part_pairs(int64_t depth) {
    int64_t whole = cpu_products().order == SUMS_TILES ? TILE_PAIRS : 1;
    return ((depth + 1) / 2 + whole - 1) / whole * whole;
}
static int64_t left_pitch(int64_t pairs) { return pairs + 16; } // of rows that are packed
static int64_t block_pairs(int64_t depth) {
    return part_pairs(depth) * (has_parts() ? PRODUCT_PARTS : 1);
}

// Packs `depth` terms of a factor.
static void pack(void (*by)(uint32_t *, const ProductInput *), uint32_t *to, ProductInput in,
                 int64_t depth, bool left) {
    in.parts = !has_parts() ? PARTS_ONE : left ? PARTS_LEFT : PARTS_RIGHT;
    in.pairs = part_pairs(depth);
    in.of = block_pairs(depth);
    in.pitch = left_pitch(in.of);
    assert(!has_parts() || in.type == ROWS_FP32);
    by(to, &in);
}

// ---- out = a op(w)

typedef struct Strip {
    CpuRows out;
    Range task, rows, columns; // of out: of the thread, of the panel, of the strip
    bool transposed;           // the right factors
    bool keeps;                // all blocks of both factors have room
    bool one_block;            // the left one has room in any case
    bool right_is_packed;
} Strip;

static void pack_right(uint32_t *b, const Strip *s, const ProductTerm *term, Range depth) {
    int64_t deep = depth.end - depth.begin, wide = s->columns.end - s->columns.begin;
    int64_t all = term->a.columns, columns = s->out.columns;
    if (s->transposed)
        pack(product_kernels()->transposed, b,
             (ProductInput){.at = term->w + s->columns.begin * all + depth.begin,
                            .rows = wide,
                            .columns = deep,
                            .stride = all},
             deep, false);
    else
        pack(product_kernels()->by_columns, b,
             (ProductInput){.at = term->w + depth.begin * columns + s->columns.begin,
                            .rows = deep,
                            .columns = wide,
                            .stride = columns},
             deep, false);
}

// Whether rows of bf16 can be multiplied where they lie: they are whole tiles, and so is the depth.
static bool lies(const ProductInput *in, int64_t pairs) {
    return in->type == ROWS_BF16 && in->rows % PRODUCT_LOW == 0 &&
           2 * pairs <= rows_stride(in->columns);
}

// Of the rows of the next panel, each strip asks for its share.
static ProductAhead ahead_of(const Strip *s, const ProductInput *in) {
    int64_t strips = (s->out.columns + PRODUCT_STRIP - 1) / PRODUCT_STRIP;
    int64_t strip = s->columns.begin / PRODUCT_STRIP;
    int64_t rows = least(in->rows, s->task.end - s->rows.end);
    int64_t begin = rows * strip / strips, end = rows * (strip + 1) / strips;
    const uint32_t *next = (const uint32_t *)in->at + (in->rows + begin) * in->stride / 2;
    return (ProductAhead){next, end - begin};
}

// c (+)= one block of the depth, whose factors are, or become, a and b.
static void strip_block(Packed *packed, uint32_t *a, uint32_t *b, const Strip *s,
                        const ProductTerm *term, Range depth, bool add, const ProductOut *out) {
    ProductInput in = input_of(term->a, s->rows, depth);
    int64_t pairs = block_pairs(in.columns);
    bool in_place = lies(&in, pairs);
    if (!in_place && (s->columns.begin == 0 || !(s->keeps || s->one_block)))
        pack(product_kernels()->by_rows, a, in, in.columns, true);
    if (!s->right_is_packed)
        pack_right(b, s, term, depth);
    product_kernels()->block[cpu_products().order](
        &(ProductBlock){.a = in_place ? in.at : a,
                        .b = b,
                        .rows = in.rows,
                        .columns = rows_stride(s->columns.end - s->columns.begin),
                        .pairs = pairs,
                        .c = packed->c,
                        .c_stride = PRODUCT_STRIP,
                        .pitch = in_place ? in.stride / 2 : left_pitch(pairs),
                        .add = add,
                        .ahead = in_place ? ahead_of(s, &in) : (ProductAhead){0},
                        .out = out});
}

// Returns where the right factors of the next strip go.
static uint32_t *strip(Packed *packed, uint32_t *b, const Strip *s, const ProductTerm *term,
                       int terms, const float *bias, bool add) {
    const ProductOut out = {s->out, s->rows.begin, s->columns.begin,
                            bias != NULL ? packed->bias : NULL};
    uint32_t *a = packed->a;
    for (int64_t j = s->columns.begin; bias != NULL && j < s->columns.end; j++)
        packed->bias[j - s->columns.begin] = bias[j];
    if (add)
        product_kernels()->begin(packed->c, s->out, s->rows, s->columns);
    for (int i = 0; i < terms; i++)
        for (int64_t k = 0; k < term[i].a.columns; k += block_depth()) {
            Range depth = {k, least(k + block_depth(), term[i].a.columns)};
            int64_t pairs = block_pairs(depth.end - depth.begin);
            bool last = i == terms - 1 && depth.end == term[i].a.columns;
            strip_block(packed, a, b, s, &term[i], depth, add || i > 0 || k > 0,
                        last ? &out : NULL);
            if (s->keeps) {
                a += PRODUCT_LOW * left_pitch(pairs);
                b += pairs * PRODUCT_STRIP;
            }
        }
    return b;
}

// Sums of `extra` and the pairs of each block, over all blocks of the depth.
static int64_t all_pairs(const ProductTerm *term, int terms, int64_t extra) {
    int64_t pairs = 0;
    for (int i = 0; i < terms; i++)
        for (int64_t k = 0; k < term[i].a.columns; k += block_depth())
            pairs += block_pairs(least(block_depth(), term[i].a.columns - k)) + extra;
    return pairs;
}

// Whether there is room for the whole right factor and, of a low panel, the whole left one.
static Strip strip_of(CpuRows out, const ProductTerm *term, int terms, bool transposed) {
    int64_t strips = (out.columns + PRODUCT_STRIP - 1) / PRODUCT_STRIP;
    int64_t right = all_pairs(term, terms, 0) * strips * PRODUCT_STRIP;
    int64_t left = all_pairs(term, terms, left_pitch(0)) * PRODUCT_LOW;
    return (Strip){.out = out,
                   .transposed = transposed,
                   .one_block = terms == 1 && term->a.columns <= block_depth(),
                   .keeps = right <= RIGHT_ROOM && left <= LEFT_ROOM};
}

static void panel(Packed *packed, Strip *s, const ProductTerm *term, int terms, const float *bias,
                  bool add) {
    uint32_t *b = packed->b;
    for (int64_t c = 0; c < s->out.columns; c += PRODUCT_STRIP) {
        s->columns = (Range){c, least(c + PRODUCT_STRIP, s->out.columns)};
        b = strip(packed, b, s, term, terms, bias, add);
    }
    s->right_is_packed = s->keeps;
}

void products_dense(CpuRows out, Range range, const ProductTerm *term, int terms, bool transposed,
                    const float *bias, bool add, const Poll *poll) {
#pragma omp parallel
    {
        Packed packed;
        Strip s = strip_of(out, term, terms, transposed);
        int64_t height = s.keeps ? PRODUCT_LOW : PRODUCT_HIGH;
        Pace pace = pace_start(poll);
#pragma omp for schedule(dynamic)
        for (int64_t r = range.begin; r < range.end; r += PRODUCT_HIGH) {
            s.task = (Range){r, least(r + PRODUCT_HIGH, range.end)};
            for (int64_t i = r; i < s.task.end; i += height) {
                s.rows = (Range){i, least(i + height, s.task.end)};
                panel(&packed, &s, term, terms, bias, add);
            }
            if (omp_get_thread_num() == 0)
                pace_call(&pace);
        }
    }
}

// ---- the weight gradient

// The left factor's columns [i, end) of a block of rows, packed as rows of its transpose.
static void part_block(Packed *packed, float *part, CpuRows a, CpuRows g, Range rows, bool add) {
    const ProductKernels *k = product_kernels();
    int64_t deep = rows.end - rows.begin;
    for (int64_t c = 0; c < g.columns; c += PRODUCT_COLUMNS) {
        int64_t wide = least(PRODUCT_COLUMNS, g.columns - c);
        pack(k->by_columns, packed->b, input_of(g, rows, (Range){c, c + wide}), deep, false);
        for (int64_t i = 0; i < a.columns; i += PRODUCT_HIGH) {
            int64_t high = least(PRODUCT_HIGH, a.columns - i);
            pack(k->left_by_columns, packed->a, input_of(a, rows, (Range){i, i + high}), deep,
                 true);
            k->block[cpu_products().order](
                &(ProductBlock){.a = packed->a,
                                .b = packed->b,
                                .rows = high,
                                .columns = wide,
                                .pairs = block_pairs(deep),
                                .c = part + i * g.columns + c,
                                .c_stride = g.columns,
                                .pitch = k->panels ? 0 : left_pitch(block_pairs(deep)),
                                .add = add});
        }
    }
}

void products_part(float *part, CpuRows a, CpuRows g, Range rows, Pace *pace) {
    Packed packed;
    if (rows.begin == rows.end)
        memset(part, 0, (size_t)(a.columns * g.columns) * sizeof *part);
    for (int64_t r = rows.begin; r < rows.end; r += block_depth()) {
        part_block(&packed, part, a, g, (Range){r, least(r + block_depth(), rows.end)},
                   r > rows.begin);
        if (omp_get_thread_num() == 0)
            pace_call(pace);
    }
}
