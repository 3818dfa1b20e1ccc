// F16 under a mask of 16 bits, one per lane: what dropout and ReLU keep, and the last columns of a
// row. Lanes outside the mask become +0 in every compilation.
#pragma once

#include "lanes.h"
#include <stdbool.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef uint16_t Mask;

#if defined(__AVX512F__)

LANES_INLINE F16 f16_keep(F16 a, Mask mask) {
    return (F16){{(Vec)_mm512_maskz_mov_ps(mask, (__m512)a.part[0])}};
}
LANES_INLINE Mask f16_positive(F16 a) {
    return (Mask)_mm512_cmp_ps_mask((__m512)a.part[0], _mm512_setzero_ps(), _CMP_GT_OQ);
}
// 0 where a < 0, else a: a NaN stays one.
LANES_INLINE F16 f16_relu(F16 a) {
    return (F16){{(Vec)_mm512_max_ps(_mm512_setzero_ps(), (__m512)a.part[0])}};
}
LANES_INLINE F16 f16_sqrt(F16 a) { return (F16){{(Vec)_mm512_sqrt_ps((__m512)a.part[0])}}; }
LANES_INLINE void f16_stream(float *to, F16 a) { _mm512_stream_ps(to, (__m512)a.part[0]); }

#else

// All bits of a lane set where its bit of the mask is.
LANES_INLINE VecInt vec_mask(Mask mask, int part) {
    int32_t bit[VEC_FLOATS];
    for (int i = 0; i < VEC_FLOATS; i++)
        bit[i] = 1 << (part * VEC_FLOATS + i);
    VecInt bits;
    __builtin_memcpy(&bits, bit, sizeof bits);
    return ((bits & (int32_t)mask) == bits);
}
LANES_INLINE F16 f16_keep(F16 a, Mask mask) {
    F16_EACH(i) a.part[i] = (Vec)((VecInt)a.part[i] & vec_mask(mask, i));
    return a;
}
LANES_INLINE Mask f16_positive(F16 a) {
    unsigned mask = 0;
    F16_EACH(i) {
        VecInt positive = a.part[i] > 0.0f;
#if defined(__AVX2__)
        mask |= (unsigned)_mm256_movemask_ps((__m256)positive) << (8 * i);
#else
        for (int lane = 0; lane < VEC_FLOATS; lane++)
            mask |= (unsigned)(positive[lane] & 1) << (VEC_FLOATS * i + lane);
#endif
    }
    return (Mask)mask;
}
LANES_INLINE F16 f16_relu(F16 a) {
    F16_EACH(i) a.part[i] = (Vec)((VecInt)a.part[i] & ~(VecInt)(a.part[i] < 0.0f));
    return a;
}
LANES_INLINE F16 f16_sqrt(F16 a) {
#if defined(__AVX2__)
    F16_EACH(i) a.part[i] = (Vec)_mm256_sqrt_ps((__m256)a.part[i]);
#elif defined(__SSE2__)
    F16_EACH(i) a.part[i] = (Vec)_mm_sqrt_ps((__m128)a.part[i]);
#else
    F16_EACH(i)
    for (int lane = 0; lane < VEC_FLOATS; lane++)
        a.part[i][lane] = __builtin_sqrtf(a.part[i][lane]);
#endif
    return a;
}
#if defined(__AVX2__)
LANES_INLINE void f16_stream(float *to, F16 a) {
    _mm256_stream_ps(to, (__m256)a.part[0]);
    _mm256_stream_ps(to + 8, (__m256)a.part[1]);
}
#else
LANES_INLINE void f16_stream(float *to, F16 a) { f16_store(to, a); }
#endif

#endif

// After f16_stream, before other threads read.
LANES_INLINE void f16_stream_end(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

LANES_INLINE Mask mask_load(const uint8_t *from) {
    Mask mask;
    __builtin_memcpy(&mask, from, sizeof mask);
    return mask;
}
LANES_INLINE void mask_store(uint8_t *to, Mask mask) { __builtin_memcpy(to, &mask, sizeof mask); }

LANES_INLINE float f16_first(F16 a) { return a.part[0][0]; }

// The first `count` lanes: all from 16 on.
LANES_INLINE Mask mask_first(int64_t count) {
    return count >= 16 ? (Mask)0xffff : (Mask)((1u << count) - 1);
}

// The first `count` floats of `from`, then zeros; nothing behind them is read.
LANES_INLINE F16 f16_load_first(const float *from, int64_t count) {
    float lane[16] __attribute__((aligned(64))) = {0};
    __builtin_memcpy(lane, from, (size_t)count * sizeof *from);
    return f16_load(lane);
}
