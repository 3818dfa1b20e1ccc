// Where the sums of bf16 products go, and how their inputs are packed, for the files that make the
// products (products_lanes.c, products_amx.c).
#pragma once

#include "products.h"
#include "rows_lanes.h"

// ---- where sums go

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

// Whole sums of `rows` rows from r on, `apart` floats from each other, of the 16 columns from
// `column` on: rounded once, with zeros in the padding.
LANES_INLINE void deliver_rows(const ProductBlock *k, const float *sum, int64_t apart, int64_t r,
                               int64_t rows, int64_t column, RowsType type) {
    const ProductOut out = *k->out;
    const bool add = k->add, has_bias = out.bias != NULL;
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
                               int64_t rows, int64_t column) {
    if (k->out->rows.type == ROWS_BF16)
        deliver_rows(k, sum, apart, r, rows, column, ROWS_BF16);
    else
        deliver_rows(k, sum, apart, r, rows, column, ROWS_FP32);
}

// FTZ and DAZ for what is added up between the two.
#if defined(__AVX2__)
LANES_INLINE unsigned flush_begin(void) {
    unsigned was = _mm_getcsr();
    _mm_setcsr(was | 0x8040);
    return was;
}
LANES_INLINE void flush_end(unsigned was) { _mm_setcsr(was); }
#else
LANES_INLINE unsigned flush_begin(void) { return 0; }
LANES_INLINE void flush_end(unsigned was) { (void)was; }
#endif

// Rows lie too far apart for the processor to foresee what is needed next: of the left factor of
// the next panel the rows [r, r + HEIGHT), and where the sums of this tile go.
enum { LINE = 64 }; // bytes
LANES_INLINE void ask_for_rows(const ProductBlock *k, int64_t r, const int HEIGHT) {
    const ProductAhead *next = &k->ahead;
    for (int64_t i = r; i < r + HEIGHT && i < next->rows; i++)
        for (int64_t p = 0; p < k->pairs; p += LINE / (int64_t)sizeof *next->at)
            __builtin_prefetch(next->at + i * k->pitch + p, 0, 2);
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

// The sums of a strip that begin with what is there.
LANES_INLINE void begin(float *c, CpuRows out, Range rows, Range columns) {
    for (int64_t r = rows.begin; r < rows.end; r++, c += PRODUCT_STRIP)
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

// Whether a part of bf16x3 has what rounding leaves (products.h: low high, high low, high high).
LANES_INLINE bool part_is_low(const ProductInput *in, int part) {
    return in->parts == PARTS_LEFT ? part == 0 : part == 1;
}

// 16 numbers at column c of a row of pairs, in every part.
LANES_INLINE void put_row(uint32_t *a, const ProductInput *in, int64_t c, F16 x, const bool PARTS) {
    F16 low = PARTS ? f16_low(x) : x;
    for (int part = 0; part < (PARTS ? PRODUCT_PARTS : 1); part++)
        halves_store_loose((Half *)(a + part * in->pairs) + c,
                           PARTS && part_is_low(in, part) ? low : x);
}
LANES_INLINE void pack_rows(uint32_t *a, const ProductInput *in, RowsType type, const bool PARTS) {
    for (int64_t r = 0; r < in->rows; r++, a += in->pitch) {
        for (int64_t c = 0; c < in->columns; c += 16)
            put_row(a, in, c, input_16(in, r, c, type), PARTS);
        for (int64_t c = (in->columns + 15) / 16 * 16; c < 2 * in->pairs; c += 16)
            put_row(a, in, c, f16_set(0), PARTS);
    }
}
static void by_rows(uint32_t *a, const ProductInput *in) {
    if (in->type == ROWS_BF16)
        pack_rows(a, in, ROWS_BF16, false);
    else if (in->parts == PARTS_ONE)
        pack_rows(a, in, ROWS_FP32, false);
    else
        pack_rows(a, in, ROWS_FP32, true);
}

// Pair p of 16 columns from c on, in every part; `apart` numbers lie between two parts.
LANES_INLINE void input_pairs(uint32_t *to, const ProductInput *in, int64_t p, int64_t c,
                              int64_t apart, RowsType type, const bool PARTS) {
    F16 even = f16_set(0), odd = f16_set(0);
    if (2 * p < in->rows)
        even = input_16(in, 2 * p, c, type);
    if (2 * p + 1 < in->rows)
        odd = input_16(in, 2 * p + 1, c, type);
    if (!PARTS) {
        put_pairs(to, even, odd);
        return;
    }
    F16 even_low = f16_low(even), odd_low = f16_low(odd);
    for (int part = 0; part < PRODUCT_PARTS; part++)
        if (part_is_low(in, part))
            put_pairs(to + part * apart, even_low, odd_low);
        else
            put_pairs(to + part * apart, even, odd);
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
    for (int64_t p = 0; p < in->pairs; p++)
        for (int64_t c = 0; c < in->columns; c += 16) {
            if (type == ROWS_BF16)
                ask_for_pairs(in, p, c);
            input_pairs(b + (c / unit * in->of + p) * unit + c % unit, in, p, c, in->pairs * unit,
                        type, PARTS);
        }
}
LANES_INLINE void in_units(uint32_t *b, const ProductInput *in, int unit) {
    if (in->type == ROWS_BF16)
        pack_columns(b, in, unit, ROWS_BF16, false);
    else if (in->parts == PARTS_ONE)
        pack_columns(b, in, unit, ROWS_FP32, false);
    else
        pack_columns(b, in, unit, ROWS_FP32, true);
}
static void by_columns(uint32_t *b, const ProductInput *in) { in_units(b, in, 16); }

static void transposed(uint32_t *b, const ProductInput *in) {
    uint32_t row[16 * PRODUCT_PITCH] __attribute__((aligned(64)));
    for (int64_t j = 0; j < in->rows; j += 16) {
        int64_t rows = in->rows - j < 16 ? in->rows - j : 16;
        ProductInput some = *in;
        some.at = (const float *)in->at + j * in->stride;
        some.rows = rows;
        some.pitch = PRODUCT_PITCH;
        by_rows(row, &some);
        memset(row + rows * PRODUCT_PITCH, 0, (size_t)(16 - rows) * PRODUCT_PITCH * sizeof *row);
        for (int64_t p = 0; p < in->of; p++)
            for (int i = 0; i < 16; i++)
                b[(j / 16 * in->of + p) * 16 + i] = row[i * PRODUCT_PITCH + p];
    }
}
