// The tiles of bf16 products, in vectors (products.h defines the bits).
//
// The one idea: a tile of c stays in registers over a whole block of the depth. A pair of the left
// factor is broadcast, 16 pairs of the right one are a vector, and one instruction takes both steps
// of 16 sums; where there is none, two fused multiply-adds of the halves do, with FTZ and DAZ.
#include "products_lanes.h"

#if defined(__AVX512BF16__)
#define KERNELS product_kernels_native_bf16
#define STEPS "vdpbf16ps"
#else
#define KERNELS LANES_NAME(product_kernels)
#if defined(__AVX2__)
#define STEPS "fused multiply-adds"
#else
#define STEPS "plain steps"
#endif
#endif
#define UNROLL _Pragma("GCC unroll 24")

// ---- two steps of 16 sums

// A pair of the left factor for 16 lanes, and 16 pairs of the right one.
#if defined(__AVX512BF16__)
enum { STRIP = 4 }; // units of a strip, at most
typedef __m512bh Left;
typedef __m512bh Right;
LANES_INLINE Left left_pair(const uint32_t *at) {
    return (__m512bh)_mm512_set1_epi32((int32_t)*at);
}
LANES_INLINE Right right_pairs(const uint32_t *at) { return (__m512bh)_mm512_load_si512(at); }
LANES_INLINE F16 two_steps(F16 sum, Left a, Right w) {
    return (F16){{(Vec)_mm512_dpbf16_ps((__m512)sum.part[0], w, a)}};
}
#elif defined(__AVX2__)
#if defined(__AVX512F__)
enum { STRIP = 2 };
#define FUSED(a, w, c) (Vec) _mm512_fmadd_ps((__m512)(a), (__m512)(w), (__m512)(c))
#else
enum { STRIP = 1 };
#define FUSED(a, w, c) (Vec) _mm256_fmadd_ps((__m256)(a), (__m256)(w), (__m256)(c))
#endif
typedef struct Left {
    Vec low, high;
} Left;
typedef struct Right {
    F16 low, high;
} Right;
LANES_INLINE Left left_pair(const uint32_t *at) {
    VecBits pair = *at - (VecBits){0};
    return (Left){(Vec)(pair << 16), (Vec)(pair & 0xffff0000u)};
}
LANES_INLINE Right right_pairs(const uint32_t *at) {
    Right w;
    F16_EACH(i) {
        VecBits pairs = ((const VecBits *)at)[i];
        w.low.part[i] = (Vec)(pairs << 16);
        w.high.part[i] = (Vec)(pairs & 0xffff0000u);
    }
    return w;
}
LANES_INLINE F16 step_even(F16 sum, Left a, Right w) {
    F16_EACH(i) sum.part[i] = FUSED(a.low, w.low.part[i], sum.part[i]);
    return sum;
}
LANES_INLINE F16 step_odd(F16 sum, Left a, Right w) {
    F16_EACH(i) sum.part[i] = FUSED(a.high, w.high.part[i], sum.part[i]);
    return sum;
}
#else
enum { STRIP = 1 };
typedef uint32_t Left;
typedef const uint32_t *Right;
LANES_INLINE Left left_pair(const uint32_t *at) { return *at; }
LANES_INLINE Right right_pairs(const uint32_t *at) { return at; }
static float half_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static F16 step_even(F16 sum, Left a, Right w) {
    for (int i = 0; i < 16; i++) {
        float *c = (float *)&sum + i;
        *c = product_step(*c, half_of(a << 16), half_of(w[i] << 16));
    }
    return sum;
}
static F16 step_odd(F16 sum, Left a, Right w) {
    for (int i = 0; i < 16; i++) {
        float *c = (float *)&sum + i;
        *c = product_step(*c, half_of(a & 0xffff0000u), half_of(w[i] & 0xffff0000u));
    }
    return sum;
}
#endif
#if !defined(__AVX512BF16__)
LANES_INLINE F16 two_steps(F16 sum, Left a, Right w) {
    return step_even(step_odd(sum, a, w), a, w);
}
#endif

// ---- tiles

// The sums of a tile, row by row. Apart from where they are made: its registers are all taken.
static __attribute__((noinline)) void deliver_tile(const ProductBlock *k, const F16 *sum, int64_t r,
                                                   int64_t unit, int64_t height, int64_t units,
                                                   bool add) {
    int64_t rows = k->rows - r < height ? k->rows - r : height;
    for (int64_t u = 0; u < units; u++)
        deliver_sums(k, (const float *)(sum + u), 16 * units, r, rows, (unit + u) * 16, add);
}

// The sums of a tile over the depth.
typedef F16 Sums[24][STRIP]; // of fixed size, or they would not become registers

LANES_INLINE void sums_of_pairs(Sums sum, const ProductBlock *k, const uint32_t *a,
                                const uint32_t *b, const int HEIGHT, const int UNITS,
                                const int64_t ROW, const int PAIR) {
    for (int64_t p = 0; p < k->pairs; p++) {
        Right w[STRIP];
        UNROLL for (int u = 0; u < UNITS; u++) w[u] = right_pairs(b + (u * k->pairs + p) * 16);
        UNROLL for (int i = 0; i < HEIGHT; i++) {
            Left x = left_pair(a + i * ROW + p * PAIR);
            UNROLL for (int u = 0; u < UNITS; u++) sum[i][u] = two_steps(sum[i][u], x, w[u]);
        }
    }
}

#if !defined(__AVX512BF16__)
LANES_INLINE void some_of_tiles(Sums sum, const uint32_t *a, const uint32_t *b, const int HEIGHT,
                                const int64_t ROW, const int PAIR) {
    F16 even[24] = {0}, odd[24] = {0};
    for (int64_t p = 0; p < TILE_PAIRS; p++) {
        Right w = right_pairs(b + p * 16);
        UNROLL for (int i = 0; i < HEIGHT; i++) {
            Left x = left_pair(a + i * ROW + p * PAIR);
            even[i] = step_even(even[i], x, w);
            odd[i] = step_odd(odd[i], x, w);
        }
    }
    UNROLL for (int i = 0; i < HEIGHT; i++) sum[i][0] = plus(plus(even[i], odd[i]), sum[i][0]);
}
LANES_INLINE void sums_of_tiles(Sums sum, const ProductBlock *k, const uint32_t *a,
                                const uint32_t *b, const int HEIGHT, const int64_t ROW,
                                const int PAIR) {
    for (int64_t p = 0; p < k->pairs; p += step_pairs(k->parts))
        for (int part = k->parts ? 0 : 2; part < 3; part++) {
            int64_t left = p, right = p; // low high, high low, high high
            if (k->parts)
                left += part > 0 ? TILE_PAIRS : 0, right += part != 1 ? TILE_PAIRS : 0;
            some_of_tiles(sum, a + left * PAIR, b + right * 16, HEIGHT, ROW, PAIR);
        }
}
#else // AVX-512 does it
LANES_INLINE void sums_of_tiles(UNUSED Sums sum, UNUSED const ProductBlock *k,
                                UNUSED const uint32_t *a, UNUSED const uint32_t *b,
                                UNUSED const int HEIGHT, UNUSED const int64_t ROW,
                                UNUSED const int PAIR) {}
#endif

// Rows [r, r + HEIGHT), of which those below `rows` are stored, by the units from `unit` on.
LANES_INLINE void tile(const ProductBlock *k, const uint32_t *a, int64_t r, int64_t unit,
                       const int HEIGHT, const int UNITS, const int64_t ROW, const int PAIR,
                       const SumOrder ORDER) {
    Sums sum;
    F16 whole[24 * STRIP];
    const bool goes_on = ORDER == SUMS_TILES && k->add, add = ORDER == SUMS_PAIRS && k->add;
    const uint32_t *b = k->b + unit * k->pairs * 16;
    float *c = k->c + r * k->c_stride + unit * 16;
    const int64_t n = k->columns - unit * 16;
    UNROLL for (int i = 0; i < HEIGHT; i++) UNROLL for (int u = 0; u < UNITS; u++) sum[i][u] =
        goes_on && r + i < k->rows ? get(c + i * k->c_stride + u * 16, n - u * 16) : f16_set(0);
    if (k->ahead != NULL)
        ask(k->ahead);
    if (ORDER == SUMS_TILES)
        sums_of_tiles(sum, k, a, b, HEIGHT, ROW, PAIR);
    else
        sums_of_pairs(sum, k, a, b, HEIGHT, UNITS, ROW, PAIR);
    if (k->out != NULL) {
        UNROLL for (int i = 0; i < HEIGHT; i++) UNROLL for (int u = 0; u < UNITS; u++)
            whole[i * UNITS + u] = sum[i][u];
        deliver_tile(k, whole, r, unit, HEIGHT, UNITS, add);
        return;
    }
    UNROLL for (int i = 0; i < HEIGHT; i++) if (r + i < k->rows)
        UNROLL for (int u = 0; u < UNITS; u++) {
        float *to = c + i * k->c_stride + u * 16;
        put(to, add ? plus(sum[i][u], get(to, n - u * 16)) : sum[i][u], n - u * 16);
    }
}

// All rows by a strip of units.
LANES_INLINE void strip(const ProductBlock *k, int64_t unit, const int HEIGHT, const int UNITS,
                        const SumOrder ORDER) {
    if (unit == 0)
        ask_in(k, (k->rows + HEIGHT - 1) / HEIGHT * ((k->columns + 16 * UNITS - 1) / (16 * UNITS)));
    if (k->pitch > 0)
        for (int64_t r = 0; r < k->rows; r += HEIGHT)
            tile(k, k->a + r * k->pitch, r, unit, HEIGHT, UNITS, k->pitch, 1, ORDER);
    else
        for (int64_t r = 0; r < k->rows; r += HEIGHT)
            tile(k, k->a + r / PRODUCT_PANEL * k->pairs * PRODUCT_PANEL + r % PRODUCT_PANEL, r,
                 unit, HEIGHT, UNITS, 1, PRODUCT_PANEL, ORDER);
}

// A strip of so many units, by the height that its registers leave.
LANES_INLINE void strip_of(const ProductBlock *k, int64_t unit, int64_t units) {
    switch (units) {
#if defined(__AVX512BF16__)
    case 4:
        return strip(k, unit, 6, 4, SUMS_PAIRS);
    case 3:
        return strip(k, unit, 8, 3, SUMS_PAIRS);
#endif
#if defined(__AVX512F__)
    case 2:
        return strip(k, unit, 12, 2, SUMS_PAIRS);
    default:
        return strip(k, unit, 24, 1, SUMS_PAIRS);
#elif defined(__AVX2__)
    default:
        return strip(k, unit, 4, 1, SUMS_PAIRS);
#else
    default:
        return strip(k, unit, 2, 1, SUMS_PAIRS);
#endif
    }
}

static __attribute__((noinline)) void strips(const ProductBlock *k) {
    int64_t units = (k->columns + 15) / 16;
    for (int64_t unit = 0; unit < units; unit += STRIP)
        strip_of(k, unit, units - unit < STRIP ? units - unit : STRIP);
}

static void block(const ProductBlock *k) { flushed(strips, k); }

// The order of AMX, for a CPU that has none: a third of its registers are the sums.
#if defined(__AVX512BF16__)
#define BY_TILES NULL
#else
static __attribute__((noinline)) void strips_by_tiles(const ProductBlock *k) {
    for (int64_t unit = 0; unit * 16 < k->columns; unit++)
#if defined(__AVX512F__)
        strip(k, unit, 8, 1, SUMS_TILES);
#else
        strip(k, unit, 2, 1, SUMS_TILES);
#endif
}
static void block_by_tiles(const ProductBlock *k) { flushed(strips_by_tiles, k); }
#define BY_TILES block_by_tiles
#endif

static void nothing(void) {}
static void in_panels(uint32_t *a, const ProductInput *in) { in_units(a, in, PRODUCT_PANEL); }

const ProductKernels KERNELS = {.name = STEPS,
                                .enter = nothing,
                                .leave = nothing,
                                .block = {[SUMS_PAIRS] = block, [SUMS_TILES] = BY_TILES},
                                .by_rows = by_rows,
                                .by_columns = by_columns,
                                .transposed = transposed,
                                .left_by_columns = in_panels,
                                .panels = true,
                                .begin = begin,
                                .low = 96,
                                .wide = PRODUCT_STRIP};
