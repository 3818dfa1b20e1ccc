// Where the sums of bf16 products go, and how their inputs are packed, for the files that make the
// products (products_lanes.c, products_amx.c).
#pragma once

#include "products.h"
#include "rows_lanes.h"

// ---- where sums go

// The first n numbers at c; a whole unit is 16. Without a call: across one, no vector stays in its
// register.
#if defined(__AVX512F__)
LANES_INLINE __mmask16 first_of_16(int64_t n) {
    return (__mmask16)(n < 16 ? (1u << n) - 1 : 0xffffu);
}
LANES_INLINE F16 get(const float *c, int64_t n) {
    return (F16){{(Vec)_mm512_maskz_loadu_ps(first_of_16(n), c)}};
}
LANES_INLINE void put(float *c, F16 sum, int64_t n) {
    _mm512_mask_storeu_ps(c, first_of_16(n), (__m512)sum.part[0]);
}
#elif defined(__AVX2__)
LANES_INLINE __m256i first_of_16(int64_t n, int part) {
    static const int32_t window[32] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                       -1, -1, -1, -1, -1, -1, -1, -1}; // then zeros
    return _mm256_loadu_si256((const __m256i *)(window + 16 - (n < 16 ? n : 16)) + part);
}
LANES_INLINE F16 get(const float *c, int64_t n) {
    F16 sum;
    F16_EACH(i) sum.part[i] = (Vec)_mm256_maskload_ps(c + 8 * i, first_of_16(n, i));
    return sum;
}
LANES_INLINE void put(float *c, F16 sum, int64_t n) {
    F16_EACH(i) _mm256_maskstore_ps(c + 8 * i, first_of_16(n, i), (__m256)sum.part[i]);
}
#else
LANES_INLINE F16 get(const float *c, int64_t n) {
    F16 sum = f16_set(0);
    memcpy(&sum, c, (size_t)(n < 16 ? n : 16) * sizeof *c);
    return sum;
}
LANES_INLINE void put(float *c, F16 sum, int64_t n) {
    memcpy(c, &sum, (size_t)(n < 16 ? n : 16) * sizeof *c);
}
#endif

// b + a by a step, so that denormals are zeros; a is a sum, which has none.
#if defined(__AVX2__)
LANES_INLINE F16 plus(F16 a, F16 b) { return f16_add(a, b); }
#else
LANES_INLINE F16 plus(F16 a, F16 b) {
    for (int i = 0; i < 16; i++)
        ((float *)&a)[i] = product_step(((float *)&b)[i], ((float *)&a)[i], 1);
    return a;
}
#endif

// Sums of `rows` rows from r on, `apart` floats from each other, of the 16 columns from `column`
// on, and what is in c, if add: rounded once, with zeros in the padding.
LANES_INLINE void deliver_rows(const ProductBlock *k, const float *sum, int64_t apart, int64_t r,
                               int64_t rows, int64_t column, const bool add, RowsType type) {
    const ProductOut out = *k->out;
    const bool has_bias = out.bias != NULL;
    const int64_t j = out.column + column, n = out.rows.columns - j;
    const float *c = k->c + r * k->c_stride + column;
    const int64_t c_stride = k->c_stride;
    const F16 bias = has_bias ? f16_load(out.bias + column) : f16_set(0);
    const Mask kept = mask_first(n < 16 ? n : 16);
    int64_t at = (out.row + r) * out.rows.stride + j;
    for (int64_t i = 0; i < rows; i++, at += out.rows.stride, sum += apart, c += c_stride) {
        F16 x = f16_load(sum);
        if (add)
            x = plus(x, f16_load(c));
        if (has_bias)
            x = plus(x, bias);
        x = f16_keep(x, kept);
        if (type == ROWS_BF16)
            halves_store((Half *)(void *)out.rows.at + at, x);
        else
            f16_store(out.rows.at + at, x);
    }
}
LANES_INLINE void deliver_sums(const ProductBlock *k, const float *sum, int64_t apart, int64_t r,
                               int64_t rows, int64_t column, const bool add) {
    if (k->out->rows.type == ROWS_BF16)
        deliver_rows(k, sum, apart, r, rows, column, add, ROWS_BF16);
    else
        deliver_rows(k, sum, apart, r, rows, column, add, ROWS_FP32);
}

// A block with FTZ and DAZ. It must not be inlined here: its arithmetic could leave the two calls.
static inline void flushed(void (*block)(const ProductBlock *), const ProductBlock *k) {
#if defined(__AVX2__)
    unsigned was = _mm_getcsr();
    _mm_setcsr(was | 0x8040);
    block(k);
    _mm_setcsr(was);
#else
    block(k);
#endif
}

// Rows lie too far apart for the processor to foresee what is needed next. A burst of requests
// waits for memory, so each step of a block makes some of them, line by line: those of neighbouring
// lines let the processor go on by itself.
enum { LINE = 64 }; // bytes
LANES_INLINE void walk_on(Walk *w) {
    for (int64_t i = 0; i < w->each && w->rows > 0; i++) {
        if (w->writes)
            __builtin_prefetch(w->at + w->done, 1, 2);
        else
            __builtin_prefetch(w->at + w->done, 0, 2);
        w->done += LINE;
        if (w->done >= w->bytes) {
            w->done = 0;
            w->at += w->pitch;
            w->rows--;
        }
    }
}
static void walk_in(Walk *w, int64_t steps) {
    int64_t lines = w->rows * ((w->bytes + LINE - 1) / LINE);
    steps *= w->blocks--;
    w->each = steps > 0 ? (lines + steps - 1) / steps : 0;
}
// A block of so many steps begins.
static void ask_in(const ProductBlock *k, int64_t steps) {
    if (k->ahead == NULL)
        return;
    walk_in(&k->ahead->of[0], steps);
    walk_in(&k->ahead->of[1], steps);
}
LANES_INLINE void ask(ProductAhead *ahead) {
    walk_on(&ahead->of[0]);
    walk_on(&ahead->of[1]);
}

// The sums of a strip that begin with what is there.
LANES_INLINE void begin(float *c, int64_t stride, CpuRows out, Range rows, Range columns) {
    for (int64_t r = rows.begin; r < rows.end; r++, c += stride)
        for (int64_t j = columns.begin; j < columns.end; j += 16) {
            int64_t at = r * out.stride + j;
            f16_store(c + j - columns.begin, out.type == ROWS_BF16
                                                 ? halves_load((const Half *)(void *)out.at + at)
                                                 : f16_load(out.at + at));
        }
}

// ---- packing

#if !defined(__AVX512BF16__)
LANES_INLINE F16 f16_rounded(F16 x) {
    F16_EACH(i) x.part[i] = (Vec)vec_rounded(x.part[i]);
    return x;
}
#else
LANES_INLINE F16 f16_rounded(F16 x) {
    x.part[0] = (Vec)(__builtin_convertvector((VecCells)halves_of(x), VecBits) << 16);
    return x;
}
#endif

// What rounding leaves of each number; nothing of what is not finite.
LANES_INLINE F16 f16_low(F16 x) {
    F16 high = f16_rounded(x), low = f16_sub(x, high);
    F16_EACH(i) {
        VecInt finite = ((VecInt)high.part[i] & 0x7f800000) < 0x7f800000;
        low.part[i] = (Vec)((VecInt)low.part[i] & finite);
    }
    return low;
}

// 16 numbers from column c of row r on; zeros behind the row, where it is not padded.
LANES_INLINE F16 input_16(const ProductInput *in, int64_t r, int64_t c, RowsType type) {
    int64_t at = r * in->stride + c, n = in->columns - c;
    if (type == ROWS_BF16) // always padded
        return halves_load((const Half *)in->at + at);
    const float *from = (const float *)in->at + at;
    return n >= 16 || in->padded ? f16_load_loose(from) : f16_load_first(from, n);
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

// Where pair p stands, or the low part of it, before the high one.
LANES_INLINE int64_t pair_at(int64_t p, const bool PARTS) {
    return PARTS ? p / TILE_PAIRS * 2 * TILE_PAIRS + p % TILE_PAIRS : p;
}

// 16 numbers at column c of a row of pairs.
LANES_INLINE void put_row(uint32_t *a, int64_t c, F16 x, const bool PARTS) {
    a += pair_at(c / 2, PARTS);
    if (PARTS) {
        halves_store_loose((Half *)a, f16_low(x));
        a += TILE_PAIRS;
    }
    halves_store_loose((Half *)a, x);
}
LANES_INLINE void pack_rows(uint32_t *a, const ProductInput *in, RowsType type, const bool PARTS) {
    for (int64_t r = 0; r < in->rows; r++, a += in->pitch) {
        for (int64_t c = 0; c < in->columns; c += 16)
            put_row(a, c, input_16(in, r, c, type), PARTS);
        for (int64_t c = (in->columns + 15) / 16 * 16; c < 2 * in->pairs; c += 16)
            put_row(a, c, f16_set(0), PARTS);
    }
}
static void by_rows(uint32_t *a, const ProductInput *in) {
    if (in->type == ROWS_BF16)
        pack_rows(a, in, ROWS_BF16, false);
    else if (!in->parts)
        pack_rows(a, in, ROWS_FP32, false);
    else
        pack_rows(a, in, ROWS_FP32, true);
}

// Pair p of 16 columns from c on; its high part lies `apart` numbers behind the low one.
LANES_INLINE void input_pairs(uint32_t *to, const ProductInput *in, int64_t p, int64_t c,
                              int64_t apart, RowsType type, const bool PARTS) {
    F16 even = f16_set(0), odd = f16_set(0);
    if (2 * p < in->rows)
        even = input_16(in, 2 * p, c, type);
    if (2 * p + 1 < in->rows)
        odd = input_16(in, 2 * p + 1, c, type);
    if (PARTS) {
        put_pairs(to, f16_low(even), f16_low(odd));
        to += apart;
    }
    put_pairs(to, even, odd);
}

// Rows that are read for the first time are asked for a few pairs ahead.
LANES_INLINE void ask_for_pairs(const ProductInput *in, int64_t p, int64_t c) {
    enum { AHEAD = 4 };
    const Half *later = (const Half *)in->at + 2 * (p + AHEAD) * in->stride + c;
    __builtin_prefetch(later);
    __builtin_prefetch(later + in->stride);
}

LANES_INLINE void pack_columns(uint32_t *b, const ProductInput *in, int unit, RowsType type,
                               const bool PARTS) {
    const int64_t stored = stored_pairs(in);
    for (int64_t p = 0; p < in->pairs; p++)
        for (int64_t c = 0; c < in->columns; c += 16) {
            if (type == ROWS_BF16)
                ask_for_pairs(in, p, c);
            input_pairs(b + (c / unit * stored + pair_at(p, PARTS)) * unit + c % unit, in, p, c,
                        TILE_PAIRS * unit, type, PARTS);
        }
}
LANES_INLINE void in_units(uint32_t *b, const ProductInput *in, int unit) {
    if (in->type == ROWS_BF16)
        pack_columns(b, in, unit, ROWS_BF16, false);
    else if (!in->parts)
        pack_columns(b, in, unit, ROWS_FP32, false);
    else
        pack_columns(b, in, unit, ROWS_FP32, true);
}
static void by_columns(uint32_t *b, const ProductInput *in) { in_units(b, in, 16); }

static void transposed(uint32_t *b, const ProductInput *in) {
    uint32_t row[16 * PRODUCT_PITCH] __attribute__((aligned(64)));
    const int64_t stored = stored_pairs(in);
    for (int64_t j = 0; j < in->rows; j += 16) {
        int64_t rows = in->rows - j < 16 ? in->rows - j : 16;
        ProductInput some = *in;
        some.at = (const float *)in->at + j * in->stride;
        some.rows = rows;
        some.pitch = PRODUCT_PITCH;
        by_rows(row, &some);
        memset(row + rows * PRODUCT_PITCH, 0, (size_t)(16 - rows) * PRODUCT_PITCH * sizeof *row);
        for (int64_t p = 0; p < stored; p++)
            for (int i = 0; i < 16; i++)
                b[(j / 16 * stored + p) * 16 + i] = row[i * PRODUCT_PITCH + p];
    }
}
