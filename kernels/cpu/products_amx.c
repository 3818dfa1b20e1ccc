// The tiles of bf16 products by AMX (products.h defines the bits, as SUMS_TILES).
//
// The one idea: two tiles of 16 rows of the left factor and two of 16 columns of the right one give
// four of sums, which stay in tile registers over a whole block of the depth; both factors lie as
// the instruction takes them. So four products take four loads: two of the left factor, of which 32
// rows stay in the first cache, and two of the right one, which passes by from the second.
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

// ---- the sums of two rows of tiles, of two tiles each or one (WIDE)

typedef struct Tiles {
    float *at;
    int64_t stride;
} Tiles;

LANES_INLINE void load_sums(Tiles from, const int WIDE) {
    const float *below = from.at + SIDE * from.stride;
    const size_t line = (size_t)from.stride * sizeof *below;
    __asm__ volatile("" ::: "memory"); // GCC's _tile_loadd does not say that it reads, either
    _tile_loadd(0, from.at, line);
    _tile_loadd(2, below, line);
    if (WIDE == 2) {
        _tile_loadd(1, from.at + 16, line);
        _tile_loadd(3, below + 16, line);
    }
}
LANES_INLINE void zero_sums(void) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}
LANES_INLINE void store_sums(Tiles to, const int WIDE) {
    float *below = to.at + SIDE * to.stride;
    const size_t line = (size_t)to.stride * sizeof *below;
    _tile_stored(0, to.at, line);
    _tile_stored(2, below, line);
    if (WIDE == 2) {
        _tile_stored(1, to.at + 16, line);
        _tile_stored(3, below + 16, line);
    }
}

// The second tile of each factor lies so many pairs behind the first.
LANES_INLINE void multiply(const uint32_t *a, int64_t a_next, size_t pitch, const uint32_t *b,
                           int64_t b_next, const int WIDE) {
    _tile_loadd(4, a, pitch);
    _tile_loadd(6, b, LINE);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, a + a_next, pitch);
    _tile_dpbf16ps(2, 5, 6);
    if (WIDE == 2) {
        _tile_loadd(7, b + b_next, LINE);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
    }
}

// low high, high low, high high: nine loads for twelve products.
LANES_INLINE void multiply_parts(const uint32_t *a, int64_t a_next, size_t pitch, const uint32_t *b,
                                 int64_t b_next, const int WIDE) {
    const uint32_t *high = b + TILE_PAIRS * 16;
    multiply(a, a_next, pitch, high, b_next, WIDE);
    _tile_loadd(4, a + TILE_PAIRS, pitch);
    _tile_loadd(5, a + TILE_PAIRS + a_next, pitch);
    if (WIDE == 2) {
        _tile_loadd(6, b + b_next, LINE);
        _tile_dpbf16ps(1, 4, 6);
        _tile_dpbf16ps(3, 5, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_loadd(6, b, LINE);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
    _tile_loadd(6, high, LINE);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
}

LANES_INLINE void sums_of(const ProductBlock *k, int64_t r, int64_t unit, const int WIDE,
                          const bool PARTS, ProductAhead *ahead) {
    const uint32_t *a = k->a + r * k->pitch, *b = k->b + unit * k->pairs * 16;
    const int64_t step = step_pairs(PARTS);
    const int64_t a_next = SIDE * k->pitch, b_next = k->pairs * 16;
    const size_t pitch = (size_t)k->pitch * sizeof *a;
    for (int64_t p = 0; p < k->pairs; p += step, a += step, b += step * 16) {
        ask(ahead);
        if (PARTS)
            multiply_parts(a, a_next, pitch, b, b_next, WIDE);
        else
            multiply(a, a_next, pitch, b, b_next, WIDE);
    }
}

// ---- where sums come from and go to: c, or, where that has no whole tiles, a copy of its rows

typedef float Sums[2 * SIDE][32] __attribute__((aligned(64)));

// The part of a row of the copy that c has, 16 columns at a time.
#define EACH_ROW(...)                                                                              \
    for (int64_t i = 0; i < 2 * SIDE && i < k->rows - r; i++)                                      \
        for (int64_t j = 0; j < 32 && j < k->columns - unit * 16; j += 16) {                       \
            float *c = k->c + (r + i) * k->c_stride + unit * 16 + j;                               \
            int64_t n = k->columns - unit * 16 - j;                                                \
            __VA_ARGS__;                                                                           \
        }

LANES_INLINE void tile(const ProductBlock *k, int64_t r, int64_t unit, const int WIDE,
                       const bool PARTS, ProductAhead *ahead) {
    Sums sum;
    const bool whole = k->rows - r >= 2 * SIDE && k->columns - unit * 16 >= WIDE * 16;
    const Tiles copy = {sum[0], 32}, there = {k->c + r * k->c_stride + unit * 16, k->c_stride};
    if (k->add && !whole)
        EACH_ROW(f16_store(&sum[i][j], get(c, n)))
    if (k->add)
        load_sums(whole ? there : copy, WIDE);
    else
        zero_sums();
    sums_of(k, r, unit, WIDE, PARTS, ahead);
    store_sums(whole && k->out == NULL ? there : copy, WIDE);
    int64_t rows = k->rows - r < 2 * SIDE ? k->rows - r : 2 * SIDE;
    for (int u = 0; u < WIDE && k->out != NULL; u++)
        deliver_sums(k, &sum[0][u * 16], 32, r, rows, (unit + u) * 16, false);
    if (k->out == NULL && !whole)
        EACH_ROW(put(c, f16_load(&sum[i][j]), n))
}

LANES_INLINE void all_tiles(const ProductBlock *k, const bool PARTS) {
    ProductAhead ahead = {0}; // a copy, which lies in registers
    int64_t units = (k->columns + 15) / 16, rows = (k->rows + 2 * SIDE - 1) / (2 * SIDE);
    ask_in(k, rows * ((units + 1) / 2) * k->pairs / step_pairs(PARTS));
    if (k->ahead != NULL)
        ahead = *k->ahead;
    for (int64_t r = 0; r < k->rows; r += 2 * SIDE)
        for (int64_t unit = 0; unit < units; unit += 2)
            if (units - unit > 1)
                tile(k, r, unit, 2, PARTS, &ahead);
            else
                tile(k, r, unit, 1, PARTS, &ahead);
    if (k->ahead != NULL)
        *k->ahead = ahead;
}
static __attribute__((noinline)) void tiles(const ProductBlock *k) {
    if (k->parts)
        all_tiles(k, true);
    else
        all_tiles(k, false);
}
static void block(const ProductBlock *k) { flushed(tiles, k); }
static void enter(void) { _tile_loadconfig(&shapes); }
static void leave(void) { _tile_release(); }

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
    Square x[2];
    for (int64_t p = 0; p < in->pairs; p += 16)
        for (int64_t c = 0; c < in->columns; c += 16) {
            for (int i = 0; i < 16; i++)
                input_pairs((uint32_t *)&x[0][i], in, p + i, c, 16 * 16, ROWS_FP32, PARTS);
            for (int part = 0; part < (PARTS ? 2 : 1); part++) {
                transpose(x[part]);
                store_rows(a, in, c, pair_at(p, PARTS) + part * TILE_PAIRS, x[part], 0, 16);
            }
        }
}
static void transpose_floats(uint32_t *a, const ProductInput *in) {
    if (in->parts)
        pack_floats(a, in, true);
    else
        pack_floats(a, in, false);
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
        for (int64_t c = 0; c < in->columns; c += 32) {
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
                                            .enter = enter,
                                            .leave = leave,
                                            .block = {[SUMS_TILES] = block},
                                            .by_rows = by_rows,
                                            .by_columns = by_columns,
                                            .transposed = transposed,
                                            .left_by_columns = left_by_columns,
                                            .begin = begin,
                                            .low = 2 * SIDE,
                                            .wide = PRODUCT_WIDE};
