// Vectors for files that are compiled three times (X_lanes.c: -DLANES=plain, avx2, avx512).
//
// The one idea: the unit of work is 16 floats, as wide as a row's padding. F16 is that unit, made
// of one, two or four registers; every operation on it is lane by lane (a sum of lanes is the fixed
// tree f16_sum), multiply and add are never fused, so the three compilations give the same bits.
// Vec is one register, for code in which the width does not show in the result.
#pragma once

#include <stdint.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

// LANES_NAME(f): f_plain, f_avx2 or f_avx512.
#define LANES_PASTE_(f, lanes) f##_##lanes
#define LANES_PASTE(f, lanes) LANES_PASTE_(f, lanes)
#define LANES_NAME(f) LANES_PASTE(f, LANES)

#if defined(__AVX512F__)
#define VEC_FLOATS 16
#elif defined(__AVX2__)
#define VEC_FLOATS 8
#else
#define VEC_FLOATS 4
#endif
#define VEC_COUNT (16 / VEC_FLOATS) // registers in an F16

#if defined(__SANITIZE_ADDRESS__) // instrumented copies of everything inlined would take minutes to
                                  // compile
#define LANES_INLINE static inline __attribute__((unused))
#else
#define LANES_INLINE static inline __attribute__((always_inline))
#endif
#pragma GCC diagnostic ignored "-Wpsabi" // vectors are passed to inlined functions only

typedef float Vec __attribute__((vector_size(VEC_FLOATS * 4), may_alias));
typedef float VecLoose __attribute__((vector_size(VEC_FLOATS * 4), may_alias, aligned(4)));
typedef int32_t VecInt __attribute__((vector_size(VEC_FLOATS * 4), may_alias));
typedef uint32_t VecBits __attribute__((vector_size(VEC_FLOATS * 4), may_alias));

typedef struct F16 {
    Vec part[VEC_COUNT];
} F16;

#define F16_EACH(i) _Pragma("GCC unroll 4") for (int i = 0; i < VEC_COUNT; i++)

LANES_INLINE Vec vec_set(float value) { return value - (Vec){0}; } // x - 0 is x, also for -0
LANES_INLINE Vec vec_select(VecInt mask, Vec yes, Vec no) {
    return (Vec)(((VecInt)yes & mask) | ((VecInt)no & ~mask));
}

// 64-byte aligned
LANES_INLINE F16 f16_load(const float *from) {
    F16 a;
    F16_EACH(i) a.part[i] = ((const Vec *)from)[i];
    return a;
}
LANES_INLINE void f16_store(float *to, F16 a) { F16_EACH(i)((Vec *)to)[i] = a.part[i]; }
// anywhere
LANES_INLINE F16 f16_load_loose(const float *from) {
    F16 a;
    F16_EACH(i) a.part[i] = ((const VecLoose *)from)[i];
    return a;
}
LANES_INLINE void f16_store_loose(float *to, F16 a) { F16_EACH(i)((VecLoose *)to)[i] = a.part[i]; }

LANES_INLINE F16 f16_set(float value) {
    F16 a;
    F16_EACH(i) a.part[i] = vec_set(value);
    return a;
}
LANES_INLINE F16 f16_add(F16 a, F16 b) {
    F16_EACH(i) a.part[i] += b.part[i];
    return a;
}
LANES_INLINE F16 f16_sub(F16 a, F16 b) {
    F16_EACH(i) a.part[i] -= b.part[i];
    return a;
}
LANES_INLINE F16 f16_mul(F16 a, F16 b) {
    F16_EACH(i) a.part[i] *= b.part[i];
    return a;
}
LANES_INLINE F16 f16_div(F16 a, F16 b) {
    F16_EACH(i) a.part[i] /= b.part[i];
    return a;
}

// `count` floats and what fills their last unit; 64-byte aligned.
LANES_INLINE void floats_zero(float *at, int64_t count) {
    for (int64_t i = 0; i < count; i += 16)
        f16_store(at + i, f16_set(0));
}

// The fixed tree: lane i takes lane i+8, then i+4, i+2, i+1.
#if defined(__AVX2__)
LANES_INLINE float f16_sum(F16 a) {
#if defined(__AVX512F__)
    __m512d whole = (__m512d)a.part[0];
    __m256 eight = _mm256_add_ps((__m256)_mm512_castpd512_pd256(whole),
                                 (__m256)_mm512_extractf64x4_pd(whole, 1));
#else
    __m256 eight = (__m256)(a.part[0] + a.part[1]);
#endif
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
#else
LANES_INLINE float f16_sum(F16 a) {
    float lane[16] __attribute__((aligned(64)));
    f16_store(lane, a);
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}
#endif
