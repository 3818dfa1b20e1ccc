// What a core can do at most, measured by loops on registers: fused multiply-adds of fp32, and
// vdpbf16ps and tdpbf16ps on bf16. Each runs on every thread.
#pragma once

#include "kernels/products_truth.h"

// ---- FMA peak: independent chains of the widest vectors

typedef float Wide __attribute__((vector_size(64)));
enum { CHAINS = 12, STEPS = 1 << 20 };

#define PEAK_LOOP                                                                                  \
    Wide sum[CHAINS];                                                                              \
    for (int c = 0; c < CHAINS; c++) /* different, or they would be one */                         \
        for (int i = 0; i < 16; i++)                                                               \
            sum[c][i] = (float)c;                                                                  \
    for (int i = 0; i < STEPS; i++)                                                                \
        _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) sum[c] = sum[c] * a + b;         \
    for (int c = 1; c < CHAINS; c++)                                                               \
        sum[0] += sum[c];                                                                          \
    *out = sum[0];

#if defined(__x86_64__)
__attribute__((target("avx512f"), optimize("fp-contract=fast"))) static void
peak_avx512(Wide *out, float a, float b) {
    PEAK_LOOP
}
__attribute__((target("avx2,fma"), optimize("fp-contract=fast"))) static void
peak_avx2(Wide *out, float a, float b) {
    PEAK_LOOP
}
#endif
static void peak_plain(Wide *out, float a, float b) { PEAK_LOOP }

static void peak(void *context) {
    float *factor = (float *)context;
#pragma omp parallel
    {
        Wide out;
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f"))
            peak_avx512(&out, factor[0], factor[1]);
        else if (__builtin_cpu_supports("fma"))
            peak_avx2(&out, factor[0], factor[1]);
        else
#endif
            peak_plain(&out, factor[0], factor[1]);
        if (out[0] > 1e30f) // never: the loop must not be dropped
            factor[0] = 0;
    }
}

// ---- the limit of bf16: the same with vdpbf16ps, of two products a lane

#if defined(__x86_64__) && __GNUC__ >= 10
#include <immintrin.h>
static bool has_limit(void) { return __builtin_cpu_supports("avx512bf16"); }
__attribute__((target("avx512f,avx512bf16"))) static void limit_bf16(float out[16]) {
    __m512 sum[CHAINS];
    __m512bh a = (__m512bh)_mm512_set1_epi32(0x3f003f00),
             b = (__m512bh)_mm512_set1_epi32(0x3c003c00);
    for (int c = 0; c < CHAINS; c++)
        sum[c] = _mm512_set1_ps((float)c);
    for (int i = 0; i < STEPS; i++) {
        _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) sum[c] =
            _mm512_dpbf16_ps(sum[c], a, b);
        __asm__ volatile("" ::"x"(sum[0])); // the steps stay
    }
    for (int c = 1; c < CHAINS; c++)
        sum[0] = _mm512_add_ps(sum[0], sum[c]);
    _mm512_storeu_ps(out, sum[0]);
}
#else
static bool has_limit(void) { return false; }
static void limit_bf16(float out[16]) { (void)out; }
#endif

static void limit(void *context) {
    float *factor = (float *)context;
#pragma omp parallel
    {
        float out[16] = {0};
        limit_bf16(out);
        if (out[0] > 1e30f) // never
            factor[0] = 0;
    }
}

// ---- the limit of AMX: tdpbf16ps on tiles that stay

#if defined(__x86_64__) && __GNUC__ >= 11
static bool has_tiles(void) { return cpu_has_tiles(); }
__attribute__((target("amx-tile,amx-bf16"))) static void limit_tiles(void) {
    static const struct {
        uint8_t palette, none[15];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shapes = {.palette = 1,
                .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&shapes);
    for (int i = 0; i < STEPS; i++) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_release();
}
#else
static bool has_tiles(void) { return false; }
static void limit_tiles(void) {}
#endif

static void limit_of_tiles(void *context) {
    (void)context;
#pragma omp parallel
    limit_tiles();
}
