// bf16 products over the threads: what is packed when (products.h has the bits, products_lanes.c
// and products_amx.c the tiles).
//
// The one idea: a thread takes a panel of rows and a strip of their columns, adds up all blocks of
// the depth in floats, and rounds them once. Rows of bf16 are multiplied where they lie, others are
// packed. Where the factors have room, the right one is packed once by each thread and the left one
// once for all strips, in low panels; else both are packed for each strip of a high panel. All of
// it stays in the thread's second cache.
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
// a high panel of one block, or a low one of all; the right one has room up to 4096 pairs of 64
// columns.
enum { LEFT_ROOM = 96 * 1024, RIGHT_ROOM = 4096 * 64 };
enum { SUMS_ROOM = PRODUCT_HIGH * (PRODUCT_STRIP + PRODUCT_GAP) };
static_assert(LEFT_ROOM >= PRODUCT_HIGH * PRODUCT_PITCH, "a high panel of one block has room");
static_assert(RIGHT_ROOM >= PRODUCT_PAIRS * PRODUCT_COLUMNS, "one of a weight gradient has room");
typedef struct Packed {
    uint32_t a[LEFT_ROOM] __attribute__((aligned(64)));
    uint32_t b[RIGHT_ROOM] __attribute__((aligned(64)));
    float c[SUMS_ROOM] __attribute__((aligned(64)));
    float bias[PRODUCT_WIDE] __attribute__((aligned(64)));
} Packed;

// One for each thread, for good. A thread's stack may have no room for it (OMP_STACKSIZE).
static Packed *packed_by_thread;
void products_ready(void) {
    static int threads;
    int needed = omp_get_max_threads();
    if (needed <= threads)
        return;
    free(packed_by_thread);
    packed_by_thread = (Packed *)aligned_alloc(64, (size_t)needed * sizeof *packed_by_thread);
    CHECK(packed_by_thread != NULL, EXIT_MEMORY, "no memory for %d threads to pack products",
          needed);
    threads = needed;
}

static ProductInput input_of(CpuRows rows, Range range, Range columns) {
    int64_t at = range.begin * rows.stride + columns.begin;
    return (ProductInput){.at = (char *)rows.at + at * (int64_t)rows_number(rows.type),
                          .rows = range.end - range.begin,
                          .columns = columns.end - columns.begin,
                          .stride = rows.stride,
                          .type = rows.type,
                          .padded = true};
}

static Walk walk_of(CpuRows rows, Range range, Range columns, int64_t blocks, bool writes) {
    const int64_t number = (int64_t)rows_number(rows.type), pitch = rows.stride * number;
    return (Walk){.at = (const char *)rows.at + range.begin * pitch + columns.begin * number,
                  .pitch = pitch,
                  .bytes = (columns.end - columns.begin) * number,
                  .rows = range.end - range.begin,
                  .blocks = blocks,
                  .writes = writes};
}

// ---- blocks of the depth

static bool has_parts(void) { return cpu_products().inputs == PRODUCTS_BF16X3; }
static int64_t block_depth(void) { return has_parts() ? PRODUCT_DEPTH / 2 : PRODUCT_DEPTH; }
static int64_t part_pairs(int64_t depth) {
    int64_t whole = cpu_products().order == SUMS_TILES ? TILE_PAIRS : 1;
    return ((depth + 1) / 2 + whole - 1) / whole * whole;
}
static int64_t left_pitch(int64_t pairs) { return pairs + PRODUCT_GAP; } // of rows that are packed
static int64_t block_pairs(int64_t depth) { return part_pairs(depth) * (has_parts() ? 2 : 1); }

// Packs `depth` terms of a factor.
static void pack(void (*by)(uint32_t *, const ProductInput *), uint32_t *to, ProductInput in,
                 int64_t depth) {
    in.parts = has_parts();
    in.pairs = part_pairs(depth);
    in.pitch = left_pitch(block_pairs(depth));
    assert(!has_parts() || in.type == ROWS_FP32);
    by(to, &in);
}

// ---- out = a op(w)

typedef struct Strip {
    CpuRows out;
    Range task, rows, columns; // of out: of the thread, of the panel, of the strip
    int64_t high, wide;        // of a panel, of a strip
    bool transposed;           // the right factors
    bool keeps;                // all blocks of both factors have room
    bool one_block;            // the left one has room in any case
    bool right_is_packed;
    ProductAhead ahead;
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
             deep);
    else
        pack(product_kernels()->by_columns, b,
             (ProductInput){.at = term->w + depth.begin * columns + s->columns.begin,
                            .rows = deep,
                            .columns = wide,
                            .stride = columns},
             deep);
}

// Whether rows of bf16 can be multiplied where they lie: they are whole tiles, and so is the depth.
static bool lies(const ProductInput *in, int64_t pairs) {
    return in->type == ROWS_BF16 && in->rows % product_kernels()->low == 0 &&
           2 * pairs <= rows_stride(in->columns);
}

// c (+)= one block of the depth, whose factors are, or become, a and b.
static void strip_block(Packed *packed, uint32_t *a, uint32_t *b, Strip *s, const ProductTerm *term,
                        Range depth, bool add, const ProductOut *out) {
    ProductInput in = input_of(term->a, s->rows, depth);
    int64_t pairs = block_pairs(in.columns);
    bool in_place = lies(&in, pairs);
    if (!in_place && (s->columns.begin == 0 || !(s->keeps || s->one_block)))
        pack(product_kernels()->by_rows, a, in, in.columns);
    if (!s->right_is_packed)
        pack_right(b, s, term, depth);
    product_kernels()->block[cpu_products().order](
        &(ProductBlock){.a = in_place ? in.at : a,
                        .b = b,
                        .rows = in.rows,
                        .columns = rows_stride(s->columns.end - s->columns.begin),
                        .pairs = pairs,
                        .c = packed->c,
                        .c_stride = s->wide + PRODUCT_GAP,
                        .pitch = in_place ? in.stride / 2 : left_pitch(pairs),
                        .add = add,
                        .parts = has_parts(),
                        .ahead = &s->ahead,
                        .out = out});
}

static int64_t blocks_of(const ProductTerm *term) {
    return (term->a.columns + block_depth() - 1) / block_depth();
}

// This strip's share of the next panel of the task, over so many blocks. Of a panel that is a task
// the strip itself is written.
static Walk share_of(const Strip *s, CpuRows of, int64_t blocks, bool writes) {
    if (!s->keeps && writes)
        return walk_of(of, s->rows, s->columns, blocks, true);
    int64_t strips = (s->out.columns + s->wide - 1) / s->wide, strip = s->columns.begin / s->wide;
    int64_t first = s->rows.end, rows = least(s->high, s->task.end - first);
    Range share = {first + rows * strip / strips, first + rows * (strip + 1) / strips};
    return walk_of(of, share, (Range){0, of.columns}, blocks, writes);
}

// Returns where the right factors of the next strip go.
static uint32_t *strip(Packed *packed, uint32_t *b, Strip *s, const ProductTerm *term, int terms,
                       const float *bias, bool add) {
    const ProductOut out = {s->out, s->rows.begin, s->columns.begin,
                            bias != NULL ? packed->bias : NULL};
    uint32_t *a = packed->a;
    for (int64_t j = s->columns.begin; bias != NULL && j < s->columns.end; j++)
        packed->bias[j - s->columns.begin] = bias[j];
    if (add)
        product_kernels()->begin(packed->c, s->wide + PRODUCT_GAP, s->out, s->rows, s->columns);
    s->ahead.of[1] =
        share_of(s, s->out, blocks_of(term) + (terms > 1 ? blocks_of(term + 1) : 0), true);
    for (int i = 0; i < terms; i++) {
        s->ahead.of[0] = share_of(s, term[i].a, blocks_of(&term[i]), false);
        for (int64_t k = 0; k < term[i].a.columns; k += block_depth()) {
            Range depth = {k, least(k + block_depth(), term[i].a.columns)};
            int64_t pairs = block_pairs(depth.end - depth.begin);
            bool last = i == terms - 1 && depth.end == term[i].a.columns;
            strip_block(packed, a, b, s, &term[i], depth, add || i > 0 || k > 0,
                        last ? &out : NULL);
            if (s->keeps) {
                a += s->high * left_pitch(pairs);
                b += pairs * rows_stride(s->columns.end - s->columns.begin);
            }
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
    const int64_t low = product_kernels()->low;
    const int64_t wide = least(rows_stride(out.columns), product_kernels()->wide);
    bool keeps = all_pairs(term, terms, 0) * rows_stride(out.columns) <= RIGHT_ROOM &&
                 all_pairs(term, terms, PRODUCT_GAP) * low <= LEFT_ROOM;
    assert(PRODUCT_HIGH % low == 0 && low * (wide + PRODUCT_GAP) <= SUMS_ROOM);
    return (Strip){.out = out,
                   .high = keeps ? low : PRODUCT_HIGH,
                   .wide = keeps ? wide : PRODUCT_STRIP,
                   .transposed = transposed,
                   .one_block = terms == 1 && term->a.columns <= block_depth(),
                   .keeps = keeps};
}

static void panel(Packed *packed, Strip *s, const ProductTerm *term, int terms, const float *bias,
                  bool add) {
    uint32_t *b = packed->b;
    for (int64_t c = 0; c < s->out.columns; c += s->wide) {
        s->columns = (Range){c, least(c + s->wide, s->out.columns)};
        b = strip(packed, b, s, term, terms, bias, add);
    }
    s->right_is_packed = s->keeps;
}

void products_dense(CpuRows out, Range range, const ProductTerm *term, int terms, bool transposed,
                    const float *bias, bool add, const Poll *poll) {
    products_ready();
#pragma omp parallel
    {
        Packed *packed = &packed_by_thread[omp_get_thread_num()];
        Strip s = strip_of(out, term, terms, transposed);
        Pace pace = pace_start(poll);
        product_kernels()->enter();
#pragma omp for schedule(dynamic)
        for (int64_t r = range.begin; r < range.end; r += PRODUCT_HIGH) {
            s.task = (Range){r, least(r + PRODUCT_HIGH, range.end)};
            for (int64_t i = r; i < s.task.end; i += s.high) {
                s.rows = (Range){i, least(i + s.high, s.task.end)};
                panel(packed, &s, term, terms, bias, add);
            }
            pace_call(&pace);
        }
        product_kernels()->leave();
    }
}

// ---- the weight gradient

// One block of rows, of which columns of the left factor become rows.
static void part_block(Packed *packed, float *part, CpuRows a, CpuRows g, Range rows, Range next,
                       bool add) {
    const ProductKernels *k = product_kernels();
    int64_t deep = rows.end - rows.begin;
    int64_t blocks = (g.columns + PRODUCT_COLUMNS - 1) / PRODUCT_COLUMNS *
                     ((a.columns + PRODUCT_HIGH - 1) / PRODUCT_HIGH);
    ProductAhead ahead = {{walk_of(a, next, (Range){0, a.columns}, blocks, false),
                           walk_of(g, next, (Range){0, g.columns}, blocks, false)}};
    for (int64_t c = 0; c < g.columns; c += PRODUCT_COLUMNS) {
        int64_t wide = least(PRODUCT_COLUMNS, g.columns - c);
        pack(k->by_columns, packed->b, input_of(g, rows, (Range){c, c + wide}), deep);
        for (int64_t i = 0; i < a.columns; i += PRODUCT_HIGH) {
            int64_t high = least(PRODUCT_HIGH, a.columns - i);
            pack(k->left_by_columns, packed->a, input_of(a, rows, (Range){i, i + high}), deep);
            k->block[cpu_products().order](
                &(ProductBlock){.a = packed->a,
                                .b = packed->b,
                                .rows = high,
                                .columns = wide,
                                .pairs = block_pairs(deep),
                                .c = part + i * g.columns + c,
                                .c_stride = g.columns,
                                .pitch = k->panels ? 0 : left_pitch(block_pairs(deep)),
                                .add = add,
                                .parts = has_parts(),
                                .ahead = &ahead});
        }
    }
}

void products_part(float *part, CpuRows a, CpuRows g, Range rows, Pace *pace) {
    Packed *packed = &packed_by_thread[omp_get_thread_num()];
    product_kernels()->enter();
    for (int64_t r = rows.begin; r < rows.end; r += block_depth()) {
        int64_t end = least(r + block_depth(), rows.end);
        Range next = {end, least(end + block_depth(), rows.end)};
        part_block(packed, part, a, g, (Range){r, end}, next, r > rows.begin);
        pace_call(pace);
    }
    product_kernels()->leave();
}
