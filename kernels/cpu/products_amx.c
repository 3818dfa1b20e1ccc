// The tiles of bf16 products by AMX (products.h defines the bits, as SUMS_TILES).
//
// The one idea: two tiles of 16 rows of the left factor and two of 16 columns of the right one give
// four of sums, which stay in tile registers over a whole block of the depth; both factors lie as
// the instruction takes them. So four products take four loads, and a strip of the right factor
// stays in the first cache.
#include "products_lanes.h"

enum { SIDE = 16 };

// 0 to 3: the sums of two rows of tiles; 4 and 5: the left factor; 6 and 7: the right one. Static:
// GCC's _tile_loadconfig does not say that it reads all of it.
static const struct {
    uint8_t palette, none[15];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} shapes = {.palette = 1,
            .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
            .rows = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE}};

// ---- what is asked for while tiles are multiplied

// Rows, line by line. A burst of requests waits for memory, so each step makes `each` of them, and
// those of neighbouring lines let the processor go on by itself.
typedef struct Walk {
    const char *at; // the row
    int64_t pitch, bytes, done;
    int64_t rows, each; // rows that are left
} Walk;

static Walk walk(const void *at, int64_t pitch, int64_t bytes, int64_t rows, int64_t steps) {
    int64_t lines = rows * ((bytes + LINE - 1) / LINE);
    return (Walk){at, pitch, bytes, 0, rows, (lines + steps - 1) / steps};
}
LANES_INLINE void walk_on(Walk *w, const int WRITES) {
    for (int64_t i = 0; i < w->each && w->rows > 0; i++) {
        __builtin_prefetch(w->at + w->done, WRITES, 2);
        w->done += LINE;
        if (w->done >= w->bytes) {
            w->done = 0;
            w->at += w->pitch;
            w->rows--;
        }
    }
}

typedef struct Asking {
    Walk next, out; // the left factor of the next panel; where the sums of this tile go
} Asking;

// ---- the sums of two by two tiles, or of fewer

typedef float Sums[4][SIDE * 16] __attribute__((aligned(64)));

LANES_INLINE void sums_of(Sums sum, const ProductBlock *k, const uint32_t *a, const uint32_t *b,
                          const int HIGH, const int WIDE, Asking *q) {
    const size_t pitch = (size_t)k->pitch * sizeof *a, line = LINE;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t p = 0; p < k->pairs; p += TILE_PAIRS) {
        walk_on(&q->next, 0);
        walk_on(&q->out, 1);
        _tile_loadd(4, a + p, pitch);
        _tile_loadd(6, b + p * 16, line);
        _tile_dpbf16ps(0, 4, 6);
        if (WIDE == 2) {
            _tile_loadd(7, b + (k->pairs + p) * 16, line);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (HIGH == 2) {
            _tile_loadd(5, a + SIDE * k->pitch + p, pitch);
            _tile_dpbf16ps(2, 5, 6);
        }
        if (HIGH == 2 && WIDE == 2)
            _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sum[0], line);
    if (WIDE == 2)
        _tile_stored(1, sum[1], line);
    if (HIGH == 2)
        _tile_stored(2, sum[2], line);
    if (HIGH == 2 && WIDE == 2)
        _tile_stored(3, sum[3], line);
}

// c (+)= a tile of sums.
LANES_INLINE void put_sums(const ProductBlock *k, const float *sum, int64_t r, int64_t rows,
                           int64_t column) {
    float *c = k->c + r * k->c_stride + column;
    const int64_t stride = k->c_stride, n = k->columns - column;
    const bool add = k->add;
    for (int64_t i = 0; i < rows; i++)
        put(c + i * stride, f16_load(sum + 16 * i), n, add);
}

static Walk walk_of_out(const ProductBlock *k, int64_t r, int64_t unit, const int WIDE) {
    const CpuRows *rows = &k->out->rows;
    int64_t bytes = (int64_t)rows_number(rows->type);
    int64_t at = (k->out->row + r) * rows->stride + k->out->column + unit * 16;
    int64_t high = k->rows - r < 2 * SIDE ? k->rows - r : 2 * SIDE;
    return walk((const char *)rows->at + at * bytes, rows->stride * bytes, WIDE * 16 * bytes, high,
                k->pairs / TILE_PAIRS);
}

LANES_INLINE void tile(const ProductBlock *k, int64_t r, int64_t unit, const int WIDE, Asking *q) {
    Sums sum;
    const uint32_t *a = k->a + r * k->pitch, *b = k->b + unit * k->pairs * 16;
    bool high = k->rows - r > SIDE;
    if (k->out != NULL)
        q->out = walk_of_out(k, r, unit, WIDE);
    if (high)
        sums_of(sum, k, a, b, 2, WIDE, q);
    else
        sums_of(sum, k, a, b, 1, WIDE, q);
    for (int64_t i = 0; i < 2 * WIDE; i++) {
        int64_t row = r + i / WIDE * SIDE, column = (unit + i % WIDE) * 16;
        int64_t rows = k->rows - row < SIDE ? k->rows - row : SIDE;
        const float *of = sum[i / WIDE * 2 + i % WIDE];
        if (k->out == NULL)
            put_sums(k, of, row, rows, column);
        else
            deliver_sums(k, of, 16, row, rows, column);
    }
}

static __attribute__((noinline)) void strips(const ProductBlock *k) {
    int64_t units = (k->columns + 15) / 16;
    int64_t tiles = (units + 1) / 2 * ((k->rows + 2 * SIDE - 1) / (2 * SIDE));
    const int64_t pair = sizeof *k->a;
    Asking q = {.next = walk(k->ahead.at, k->pitch * pair, k->pairs * pair, k->ahead.rows,
                             tiles * k->pairs / TILE_PAIRS)};
    for (int64_t unit = 0; unit < units; unit += 2)
        for (int64_t r = 0; r < k->rows; r += 2 * SIDE)
            if (units - unit > 1)
                tile(k, r, unit, 2, &q);
            else
                tile(k, r, unit, 1, &q);
}

static void block(const ProductBlock *k) {
    unsigned was = flush_begin();
    _tile_loadconfig(&shapes);
    strips(k);
    _tile_release();
    flush_end(was);
}

// ---- the left factor of a weight gradient: pairs of rows, as rows of the transpose

typedef __m512i Square[16]; // 16 x 16 pairs

// Four steps of lanes: pairs of one row and the next, of two and the next two, of four, of eight.
LANES_INLINE void transpose(Square x) {
    Square y;
    for (int i = 0; i < 16; i += 2) {
        y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int h = 0; h < 2; h++) {
            x[i + 2 * h] = _mm512_unpacklo_epi64(y[i + h], y[i + 2 + h]);
            x[i + 2 * h + 1] = _mm512_unpackhi_epi64(y[i + h], y[i + 2 + h]);
        }
    for (int i = 0; i < 4; i++)
        for (int h = 0; h < 2; h++) {
            y[8 * h + i] = _mm512_shuffle_i32x4(x[8 * h + i], x[8 * h + 4 + i], 0x88);
            y[8 * h + 4 + i] = _mm512_shuffle_i32x4(x[8 * h + i], x[8 * h + 4 + i], 0xdd);
        }
    for (int i = 0; i < 8; i++) {
        x[i] = _mm512_shuffle_i32x4(y[i], y[8 + i], 0x88);
        x[8 + i] = _mm512_shuffle_i32x4(y[i], y[8 + i], 0xdd);
    }
}

LANES_INLINE void store_rows(uint32_t *a, const ProductInput *in, int64_t row, int64_t p, Square x,
                             int begin, int end) {
    for (int i = begin; i < end; i++)
        _mm512_store_si512(a + (row + i) * in->pitch + p, x[i]);
}

LANES_INLINE void pack_floats(uint32_t *a, const ProductInput *in, const bool PARTS) {
    Square x[PRODUCT_PARTS];
    for (int64_t p = 0; p < in->pairs; p += 16)
        for (int64_t c = 0; c < in->columns; c += 16) {
            for (int i = 0; i < 16; i++)
                input_pairs((uint32_t *)&x[0][i], in, p + i, c, 16 * 16, ROWS_FP32, PARTS);
            for (int part = 0; part < (PARTS ? PRODUCT_PARTS : 1); part++) {
                transpose(x[part]);
                store_rows(a, in, c, part * in->pairs + p, x[part], 0, 16);
            }
        }
}
static void transpose_floats(uint32_t *a, const ProductInput *in) {
    if (in->parts == PARTS_ONE)
        pack_floats(a, in, false);
    else
        pack_floats(a, in, true);
}

// Of bf16, 32 columns at a time. Interleaving two rows within 128 bits puts columns 0 to 3, 8 to
// 11, ... into one square and 4 to 7, 12 to 15, ... into the other.
LANES_INLINE __m512i halves_32(const ProductInput *in, int64_t r, int64_t c) {
    __mmask32 some = in->columns - c > 16 ? 0xffffffff : 0xffff;
    const Half *row = (const Half *)in->at + r * in->stride + c;
    return r < in->rows ? _mm512_maskz_loadu_epi16(some, row) : _mm512_setzero_si512();
}
static void transpose_halves(uint32_t *a, const ProductInput *in) {
    Square low, high;
    for (int64_t p = 0; p < in->pairs; p += 16) {
        const int64_t half = sizeof(Half), more = in->rows - 2 * (p + 16);
        Walk next = walk((const Half *)in->at + 2 * (p + 16) * in->stride, in->stride * half,
                         in->columns * half, more < 32 ? more : 32, (in->columns + 31) / 32);
        for (int64_t c = 0; c < in->columns; c += 32) {
            walk_on(&next, 0);
            for (int i = 0; i < 16; i++) {
                __m512i even = halves_32(in, 2 * (p + i), c),
                        odd = halves_32(in, 2 * (p + i) + 1, c);
                low[i] = _mm512_unpacklo_epi16(even, odd);
                high[i] = _mm512_unpackhi_epi16(even, odd);
            }
            transpose(low);
            transpose(high);
            for (int i = 0; i < 16; i += 4) {
                store_rows(a, in, c + i, p, low, i, i + 4);
                store_rows(a, in, c + i + 4, p, high, i, i + 4);
            }
        }
    }
}
static void left_by_columns(uint32_t *a, const ProductInput *in) {
    if (in->type == ROWS_BF16)
        transpose_halves(a, in);
    else
        transpose_floats(a, in);
}

const ProductKernels product_kernels_amx = {.name = "tdpbf16ps",
                                            .block = {[SUMS_TILES] = block},
                                            .by_rows = by_rows,
                                            .by_columns = by_columns,
                                            .transposed = transposed,
                                            .left_by_columns = left_by_columns,
                                            .begin = begin};
