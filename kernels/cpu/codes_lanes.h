// 16 floats <-> 16 codes of 8 or 16 bits, and the smallest and largest of 16 floats.
#pragma once

#include "lanes.h"
#include <math.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

// a < b ? a : b, and a > b ? a : b
#if defined(__AVX512F__)
LANES_INLINE Vec vec_min(Vec a, Vec b) { return (Vec)_mm512_min_ps((__m512)a, (__m512)b); }
LANES_INLINE Vec vec_max(Vec a, Vec b) { return (Vec)_mm512_max_ps((__m512)a, (__m512)b); }
#elif defined(__AVX2__)
LANES_INLINE Vec vec_min(Vec a, Vec b) { return (Vec)_mm256_min_ps((__m256)a, (__m256)b); }
LANES_INLINE Vec vec_max(Vec a, Vec b) { return (Vec)_mm256_max_ps((__m256)a, (__m256)b); }
#elif defined(__SSE2__)
LANES_INLINE Vec vec_min(Vec a, Vec b) { return (Vec)_mm_min_ps((__m128)a, (__m128)b); }
LANES_INLINE Vec vec_max(Vec a, Vec b) { return (Vec)_mm_max_ps((__m128)a, (__m128)b); }
#else
LANES_INLINE Vec vec_min(Vec a, Vec b) { return vec_select(a < b, a, b); }
LANES_INLINE Vec vec_max(Vec a, Vec b) { return vec_select(a > b, a, b); }
#endif

LANES_INLINE F16 f16_min(F16 a, F16 b) {
    F16_EACH(i) a.part[i] = vec_min(a.part[i], b.part[i]);
    return a;
}
LANES_INLINE F16 f16_max(F16 a, F16 b) {
    F16_EACH(i) a.part[i] = vec_max(a.part[i], b.part[i]);
    return a;
}

LANES_INLINE F16 f16_abs(F16 a) {
    F16_EACH(i) a.part[i] = (Vec)((VecInt)a.part[i] & 0x7fffffff);
    return a;
}
// `size` with the signs of a; -0 counts as 0.
LANES_INLINE F16 f16_signs(F16 a, float size) {
    F16_EACH(i) {
        VecInt sign = (VecInt)(a.part[i] + vec_set(0)) & INT32_MIN;
        a.part[i] = (Vec)(sign | (VecInt)vec_set(size));
    }
    return a;
}

// Lane i takes lane i ^ by.
LANES_INLINE Vec vec_turn(Vec a, int by) {
    int32_t lane[VEC_FLOATS];
    for (int i = 0; i < VEC_FLOATS; i++)
        lane[i] = i ^ by;
    VecInt from;
    __builtin_memcpy(&from, lane, sizeof from);
    return __builtin_shuffle(a, from);
}

// Of finite floats; which of two zeros is left does not matter to grid_make.
LANES_INLINE float f16_least(F16 a) {
    Vec all = a.part[0];
    F16_EACH(i) all = vec_min(all, a.part[i]);
#pragma GCC unroll 4
    for (int half = VEC_FLOATS / 2; half > 0; half /= 2)
        all = vec_min(all, vec_turn(all, half));
    return all[0];
}
LANES_INLINE float f16_most(F16 a) {
    Vec all = a.part[0];
    F16_EACH(i) all = vec_max(all, a.part[i]);
#pragma GCC unroll 4
    for (int half = VEC_FLOATS / 2; half > 0; half /= 2)
        all = vec_max(all, vec_turn(all, half));
    return all[0];
}

// T + k, or, where `signs`, s 2^16 + T + k whose upper half is s + m for T >= 0 and s - m for T <
// 0, m = (|T| + k) >> 16: for T < 0 the numbers k are counted from above.
LANES_INLINE VecInt codes_sum(VecInt fixed, VecInt k, bool signs, int s) {
    return signs ? fixed + (k ^ (fixed >> 31 & 0xffff)) + (s << 16) : fixed + k;
}

// The numbers k of a piece, by column: of 16 bits, or of 8, which stand for 2^8 k + 2^7.
typedef struct Coins {
    const uint16_t *half;
    const uint8_t *byte; // where not NULL
} Coins;

#if defined(__AVX512F__)
LANES_INLINE VecInt coins_at(Coins k, int64_t c) {
    if (k.byte == NULL)
        return (VecInt)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(k.half + c)));
    return ((VecInt)_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(k.byte + c))) << 8) + 0x80;
}
#elif defined(__AVX2__)
LANES_INLINE VecInt coins_at(Coins k, int64_t c) {
    if (k.byte == NULL)
        return (VecInt)_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(k.half + c)));
    return ((VecInt)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(k.byte + c))) << 8) + 0x80;
}
#else
LANES_INLINE VecInt coins_at(Coins k, int64_t c) {
    VecInt all;
    for (int i = 0; i < VEC_FLOATS; i++)
        all[i] = k.byte == NULL ? k.half[c + i] : k.byte[c + i] << 8 | 0x80;
    return all;
}
#endif

// code = (T + k) >> 16, T the integer nearest to `fixed` (halves to even), k the numbers from
// column c on; where `signs`, that is the magnitude of a code around s.
LANES_INLINE void codes_store(uint8_t *code, F16 fixed, Coins k, int64_t c, bool signs, int s) {
#if defined(__AVX512F__)
    VecInt t = (VecInt)_mm512_cvtps_epi32((__m512)fixed.part[0]);
    __m512i sum = (__m512i)codes_sum(t, coins_at(k, c), signs, s);
    _mm_storeu_si128((void *)code, _mm512_cvtepi32_epi8(_mm512_srli_epi32(sum, 16)));
#elif defined(__AVX2__)
    __m256i whole[2];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        VecInt t = (VecInt)_mm256_cvtps_epi32((__m256)fixed.part[i]);
        whole[i] = _mm256_srli_epi32((__m256i)codes_sum(t, coins_at(k, c + 8 * i), signs, s), 16);
    }
    __m256i half = _mm256_permute4x64_epi64(_mm256_packs_epi32(whole[0], whole[1]), 0xd8);
    _mm_storeu_si128((void *)code, _mm_packus_epi16(_mm256_castsi256_si128(half),
                                                    _mm256_extracti128_si256(half, 1)));
#elif defined(__SSE2__)
    __m128i whole[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        VecInt t = (VecInt)_mm_cvtps_epi32((__m128)fixed.part[i]);
        whole[i] = _mm_srli_epi32((__m128i)codes_sum(t, coins_at(k, c + 4 * i), signs, s), 16);
    }
    _mm_storeu_si128((void *)code, _mm_packus_epi16(_mm_packs_epi32(whole[0], whole[1]),
                                                    _mm_packs_epi32(whole[2], whole[3])));
#else
    float lane[16] __attribute__((aligned(64)));
    f16_store(lane, fixed);
    for (int i = 0; i < 16; i++) {
        VecInt t = {(int32_t)lrintf(lane[i])};
        code[i] = (uint8_t)((uint32_t)codes_sum(t, coins_at(k, c + i), signs, s)[0] >> 16);
    }
#endif
}

LANES_INLINE F16 codes_load(const uint8_t *code) {
    F16 a;
#if defined(__AVX512F__)
    a.part[0] = (Vec)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)code)));
#elif defined(__AVX2__)
    F16_EACH(i)
    a.part[i] = (Vec)_mm256_cvtepi32_ps(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(code + 8 * i))));
#elif defined(__SSE2__)
    __m128i zero = _mm_setzero_si128(), all = _mm_loadu_si128((const void *)code);
    __m128i half[2] = {_mm_unpacklo_epi8(all, zero), _mm_unpackhi_epi8(all, zero)};
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        a.part[2 * i] = (Vec)_mm_cvtepi32_ps(_mm_unpacklo_epi16(half[i], zero));
        a.part[2 * i + 1] = (Vec)_mm_cvtepi32_ps(_mm_unpackhi_epi16(half[i], zero));
    }
#else
    float lane[16] __attribute__((aligned(64)));
    for (int i = 0; i < 16; i++)
        lane[i] = code[i];
    a = f16_load(lane);
#endif
    return a;
}

// floor of t >= 0, as integers
typedef struct I16 {
    VecInt part[VEC_COUNT];
} I16;
LANES_INLINE I16 f16_floor(F16 t) {
    I16 whole;
    F16_EACH(i) whole.part[i] = __builtin_convertvector(t.part[i], VecInt);
    return whole;
}
LANES_INLINE F16 i16_floats(I16 whole) {
    F16 a;
    F16_EACH(i) a.part[i] = __builtin_convertvector(whole.part[i], Vec);
    return a;
}
LANES_INLINE void i16_store_halves(uint16_t *to, I16 a) {
    int32_t lane[16];
    __builtin_memcpy(lane, &a, sizeof lane);
    for (int i = 0; i < 16; i++)
        to[i] = (uint16_t)lane[i];
}
LANES_INLINE void i16_store_bytes(uint8_t *to, I16 a) {
    int32_t lane[16];
    __builtin_memcpy(lane, &a, sizeof lane);
    for (int i = 0; i < 16; i++)
        to[i] = (uint8_t)lane[i];
}
LANES_INLINE I16 i16_load_halves(const uint16_t *from) {
    int32_t lane[16];
    for (int i = 0; i < 16; i++)
        lane[i] = from[i];
    I16 a;
    __builtin_memcpy(&a, lane, sizeof a);
    return a;
}
