// The tiles of bf16 products, and how their inputs are packed (products.h defines the bits).
//
// The one idea: a tile of c stays in registers over a whole block of the depth. A pair of the left
// factor is broadcast, 16 pairs of the right one are a vector, and one instruction takes both steps
// of 16 sums; where there is none, two fused multiply-adds of the halves do, with FTZ and DAZ.
#include "products.h"
#include "rows_lanes.h"

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

// ---- one step of 16 sums, twice

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
LANES_INLINE F16 two_steps(F16 sum, Left a, Right w) {
    F16_EACH(i) {
        sum.part[i] = FUSED(a.high, w.high.part[i], sum.part[i]);
        sum.part[i] = FUSED(a.low, w.low.part[i], sum.part[i]);
    }
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
static F16 two_steps(F16 sum, Left a, Right w) {
    for (int i = 0; i < 16; i++) {
        float *c = (float *)&sum + i;
        *c = product_step(*c, half_of(a & 0xffff0000u), half_of(w[i] & 0xffff0000u));
        *c = product_step(*c, half_of(a << 16), half_of(w[i] << 16));
    }
    return sum;
}
#endif

// ---- tiles

// c (+)= sum, at the first n columns; a whole unit is 16. Without a call: across one, no vector
// stays in its register.
#if defined(__AVX512F__)
LANES_INLINE void put(float *c, F16 sum, int64_t n, bool add) {
    __mmask16 some = (__mmask16)(n < 16 ? (1u << n) - 1 : 0xffffu);
    if (add)
        sum.part[0] = (Vec)_mm512_maskz_loadu_ps(some, c) + sum.part[0];
    _mm512_mask_storeu_ps(c, some, (__m512)sum.part[0]);
}
#elif defined(__AVX2__)
LANES_INLINE void put(float *c, F16 sum, int64_t n, bool add) {
    static const int32_t window[32] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                       -1, -1, -1, -1, -1, -1, -1, -1}; // then zeros
    F16_EACH(i) {
        __m256i some = _mm256_loadu_si256((const __m256i *)(window + 16 - (n < 16 ? n : 16)) + i);
        if (add)
            sum.part[i] = (Vec)_mm256_maskload_ps(c + 8 * i, some) + sum.part[i];
        _mm256_maskstore_ps(c + 8 * i, some, (__m256)sum.part[i]);
    }
}
#else
LANES_INLINE void put(float *c, F16 sum, int64_t n, bool add) {
    float *each = (float *)&sum;
    for (int64_t i = 0; i < n && i < 16; i++)
        c[i] = add ? product_step(c[i], each[i], 1) : each[i];
}
#endif

// By a step, so that denormals are zeros.
#if defined(__AVX2__)
LANES_INLINE F16 plus(F16 a, F16 b) { return f16_add(a, b); }
#else
LANES_INLINE F16 plus(F16 a, F16 b) {
    for (int i = 0; i < 16; i++)
        ((float *)&a)[i] = product_step(((float *)&b)[i], ((float *)&a)[i], 1);
    return a;
}
#endif

// The whole sum, rounded once, with zeros in the padding.
LANES_INLINE void deliver(const ProductBlock *k, int64_t r, int64_t column, F16 sum,
                          RowsType type) {
    const ProductOut *out = k->out;
    int64_t j = out->column + column, n = out->rows.columns - j;
    int64_t at = (out->row + r) * out->rows.stride + j;
    if (k->add)
        sum = plus(sum, f16_load(k->c + r * k->c_stride + column));
    if (out->bias != NULL)
        sum = plus(sum, f16_load(out->bias + column));
    if (n < 16)
        sum = f16_keep(sum, mask_first(n));
    if (type == ROWS_BF16)
        halves_store((Half *)(void *)out->rows.at + at, sum);
    else
        f16_store(out->rows.at + at, sum);
}

// The sums of a tile, row by row. Apart from where they are made: its registers are all taken.
static __attribute__((noinline)) void deliver_tile(const ProductBlock *k, const F16 *sum, int64_t r,
                                                   int64_t unit, int64_t height, int64_t units) {
    int64_t rows = k->rows - r < height ? k->rows - r : height;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t u = 0; u < units; u++, sum++)
            if (k->out->rows.type == ROWS_BF16)
                deliver(k, r + i, (unit + u) * 16, *sum, ROWS_BF16);
            else
                deliver(k, r + i, (unit + u) * 16, *sum, ROWS_FP32);
}

// Rows lie too far apart for the processor to foresee what is needed next: the left factor of the
// tile after this one, and where the sums of this one go.
enum { LINE = 64 }; // bytes
LANES_INLINE void ask_for_rows(const uint32_t *a, int64_t pairs, const int HEIGHT, int64_t row) {
    for (int64_t p = 0; p < pairs; p += LINE / (int64_t)sizeof *a)
        for (int i = 0; i < HEIGHT; i++)
            __builtin_prefetch(a + i * row + p, 0, 2);
}
LANES_INLINE void ask_for_out(const ProductOut *out, int64_t r, int64_t unit, const int HEIGHT,
                              const int UNITS) {
    int64_t bytes = (int64_t)rows_number(out->rows.type);
    for (int i = 0; i < HEIGHT; i++) {
        int64_t at = (out->row + r + i) * out->rows.stride + out->column + unit * 16;
        for (int64_t b = 0; b < UNITS * 16 * bytes; b += LINE)
            __builtin_prefetch((const char *)out->rows.at + at * bytes + b, 1, 2);
    }
}

// Rows [r, r + HEIGHT), of which those below `rows` are stored, by the units from `unit` on.
LANES_INLINE void tile(const ProductBlock *k, const uint32_t *a, int64_t r, int64_t unit,
                       const int HEIGHT, const int UNITS, const int64_t ROW, const int PAIR) {
    F16 sum[24][STRIP], whole[24 * STRIP]; // of fixed size, or they would not become registers
    UNROLL for (int i = 0; i < HEIGHT; i++) UNROLL for (int u = 0; u < UNITS; u++) sum[i][u] =
        f16_set(0);
    const uint32_t *b = k->b + unit * k->pairs * 16;
    if (PAIR == 1)
        ask_for_rows(a + HEIGHT * ROW, k->pairs, HEIGHT, ROW);
    if (k->out != NULL)
        ask_for_out(k->out, r, unit, HEIGHT, UNITS);
    for (int64_t p = 0; p < k->pairs; p++) {
        Right w[STRIP];
        UNROLL for (int u = 0; u < UNITS; u++) w[u] = right_pairs(b + (u * k->pairs + p) * 16);
        UNROLL for (int i = 0; i < HEIGHT; i++) {
            Left x = left_pair(a + i * ROW + p * PAIR);
            UNROLL for (int u = 0; u < UNITS; u++) sum[i][u] = two_steps(sum[i][u], x, w[u]);
        }
    }
    if (k->out != NULL) {
        UNROLL for (int i = 0; i < HEIGHT; i++) UNROLL for (int u = 0; u < UNITS; u++)
            whole[i * UNITS + u] = sum[i][u];
        deliver_tile(k, whole, r, unit, HEIGHT, UNITS);
        return;
    }
    UNROLL for (int i = 0; i < HEIGHT; i++) if (r + i < k->rows)
        UNROLL for (int u = 0; u < UNITS; u++) {
        int64_t column = (unit + u) * 16;
        put(k->c + (r + i) * k->c_stride + column, sum[i][u], k->columns - column, k->add);
    }
}

// All rows by a strip of units.
LANES_INLINE void strip(const ProductBlock *k, int64_t unit, const int HEIGHT, const int UNITS) {
    if (k->pitch > 0)
        for (int64_t r = 0; r < k->rows; r += HEIGHT)
            tile(k, k->a + r * k->pitch, r, unit, HEIGHT, UNITS, k->pitch, 1);
    else
        for (int64_t r = 0; r < k->rows; r += HEIGHT)
            tile(k, k->a + r / PRODUCT_PANEL * k->pairs * PRODUCT_PANEL + r % PRODUCT_PANEL, r,
                 unit, HEIGHT, UNITS, 1, PRODUCT_PANEL);
}

// A strip of so many units, by the height that its registers leave.
LANES_INLINE void strip_of(const ProductBlock *k, int64_t unit, int64_t units) {
    switch (units) {
#if defined(__AVX512BF16__)
    case 4:
        return strip(k, unit, 6, 4);
    case 3:
        return strip(k, unit, 8, 3);
#endif
#if defined(__AVX512F__)
    case 2:
        return strip(k, unit, 12, 2);
    default:
        return strip(k, unit, 24, 1);
#elif defined(__AVX2__)
    default:
        return strip(k, unit, 4, 1);
#else
    default:
        return strip(k, unit, 2, 1);
#endif
    }
}

static __attribute__((noinline)) void strips(const ProductBlock *k) {
    int64_t units = (k->columns + 15) / 16;
    for (int64_t unit = 0; unit < units; unit += STRIP)
        strip_of(k, unit, units - unit < STRIP ? units - unit : STRIP);
}

static void block(const ProductBlock *k) {
#if defined(__AVX2__)
    enum { FLUSH = 0x8040 }; // FTZ and DAZ
    unsigned was = _mm_getcsr();
    _mm_setcsr(was | FLUSH);
    strips(k);
    _mm_setcsr(was);
#else
    strips(k);
#endif
}

// ---- packing

// 16 numbers from column c of row r on; zeros behind the row, where it is not padded.
LANES_INLINE F16 input_16(const ProductInput *in, int64_t r, int64_t c, RowsType type) {
    int64_t at = r * in->stride + c, n = in->columns - c;
    if (type == ROWS_BF16) // always padded
        return halves_load((const Half *)in->at + at);
    const float *from = (const float *)in->at + at;
    if (n >= 16 || in->padded)
        return f16_load_loose(from);
    return f16_load_first(from, n);
}

// Pairs of an even and an odd one.
#if defined(__AVX512BF16__)
LANES_INLINE void put_pairs(uint32_t *to, F16 even, F16 odd) {
    static const uint16_t woven[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                       21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                       11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    __m512i both = (__m512i)_mm512_cvtne2ps_pbh((__m512)odd.part[0], (__m512)even.part[0]);
    _mm512_store_si512(to, _mm512_permutexvar_epi16(_mm512_loadu_si512(woven), both));
}
#else
LANES_INLINE void put_pairs(uint32_t *to, F16 even, F16 odd) {
    F16_EACH(i)((VecBits *)to)[i] = vec_rounded(odd.part[i]) | vec_rounded(even.part[i]) >> 16;
}
#endif

LANES_INLINE void pack_rows(uint32_t *a, const ProductInput *in, RowsType type) {
    for (int64_t r = 0; r < in->rows; r++)
        for (int64_t c = 0; c < in->columns; c += 16)
            halves_store_loose((Half *)(a + r * PRODUCT_PITCH) + c, input_16(in, r, c, type));
}
static void by_rows(uint32_t *a, const ProductInput *in) {
    if (in->type == ROWS_BF16)
        pack_rows(a, in, ROWS_BF16);
    else
        pack_rows(a, in, ROWS_FP32);
}

// Rows that are read for the first time are asked for a few pairs ahead.
LANES_INLINE void pack_columns(uint32_t *b, const ProductInput *in, int unit, RowsType type) {
    enum { AHEAD = 4 };
    int64_t pairs = (in->rows + 1) / 2;
    for (int64_t p = 0; p < pairs; p++)
        for (int64_t c = 0; c < in->columns; c += 16) {
            if (type == ROWS_BF16) {
                const Half *later = (const Half *)in->at + 2 * (p + AHEAD) * in->stride + c;
                __builtin_prefetch(later);
                __builtin_prefetch(later + in->stride);
            }
            F16 even = input_16(in, 2 * p, c, type), odd = f16_set(0);
            if (2 * p + 1 < in->rows)
                odd = input_16(in, 2 * p + 1, c, type);
            put_pairs(b + (c / unit * pairs + p) * unit + c % unit, even, odd);
        }
}
static void by_columns(uint32_t *b, const ProductInput *in, int unit) {
    if (in->type == ROWS_BF16)
        pack_columns(b, in, unit, ROWS_BF16);
    else
        pack_columns(b, in, unit, ROWS_FP32);
}

static void transposed(uint32_t *b, const ProductInput *in) {
    uint32_t row[16 * PRODUCT_PITCH] __attribute__((aligned(64)));
    int64_t pairs = (in->columns + 1) / 2;
    for (int64_t j = 0; j < in->rows; j += 16) {
        int64_t rows = in->rows - j < 16 ? in->rows - j : 16;
        ProductInput some = *in;
        some.at = (const float *)in->at + j * in->stride;
        some.rows = rows;
        by_rows(row, &some);
        memset(row + rows * PRODUCT_PITCH, 0, (size_t)(16 - rows) * PRODUCT_PITCH * sizeof *row);
        for (int64_t p = 0; p < pairs; p++)
            for (int i = 0; i < 16; i++)
                b[(j / 16 * pairs + p) * 16 + i] = row[i * PRODUCT_PITCH + p];
    }
}

// ---- the sums of a strip that begin with what is there

static void begin(float *c, CpuRows out, Range rows, Range columns) {
    for (int64_t r = rows.begin; r < rows.end; r++, c += PRODUCT_STRIP)
        for (int64_t j = columns.begin; j < columns.end; j += 16) {
            int64_t at = r * out.stride + j;
            f16_store(c + j - columns.begin, out.type == ROWS_BF16
                                                 ? halves_load((const Half *)(void *)out.at + at)
                                                 : f16_load(out.at + at));
        }
}

const ProductKernels KERNELS = {STEPS, block, by_rows, by_columns, transposed, begin};
