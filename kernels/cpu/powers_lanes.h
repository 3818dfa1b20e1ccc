// Codes of a grid of powers of two (gradients.codec=log): see quantize_lanes.c.
#pragma once

#include "pieces_lanes.h"

// 2^n as two factors, of which a power of two is made in floats also where it is none.
typedef struct Power {
    F16 factor[2];
} Power;

LANES_INLINE Power power_of(int n) {
    int half = n / 2;
    return (Power){{f16_set(float_of_bits((uint32_t)(half + 127) << 23)),
                    f16_set(float_of_bits((uint32_t)(n - half + 127) << 23))}};
}

LANES_INLINE F16 times(F16 a, Power power) {
    return f16_mul(f16_mul(a, power.factor[0]), power.factor[1]);
}

LANES_INLINE int exponent_of(float power) { // of a power of two
    int exponent;
    (void)__builtin_frexpf(power, &exponent);
    return exponent - 1;
}

enum { EXPONENT_MOST = 250 }; // more are never needed: no float is below m0 S then

// What magnitudes are measured in: S, and m0 S 2^-23.
typedef struct Powers {
    F16 scale, least; // least: m0
    Power one, low;
    int s;
} Powers;

LANES_INLINE Powers powers_of(const Grid *grid, float scale) {
    int s = (int)grid->most, one = -exponent_of(grid->step), low = one + s - 1 + 23;
    return (Powers){.scale = f16_set(scale),
                    .least = f16_set(float_of_bits((uint32_t)(127 - (s - 1)) << 23)),
                    .one = power_of(one),
                    .low = power_of(low < EXPONENT_MOST ? low : EXPONENT_MOST),
                    .s = s};
}

// 16 codes of the values x; what lies behind the row may be anything.
LANES_INLINE I16 codes_of_powers(const Powers *in, F16 x, const uint32_t *word) {
    F16 value = f16_mul(x, in->scale), size = f16_abs(value);
    F16 y = f16_min(times(size, in->one), f16_set(1)), low = times(size, in->low);
    I16 code;
    F16_EACH(i) {
        VecInt k;
        memcpy(&k, word + i * VEC_FLOATS, sizeof k);
        k = k >> 9 & 0x7fffff;
        VecInt above = (((VecInt)y.part[i] + k) >> 23) - 127 + in->s;
        VecInt below = (__builtin_convertvector(k, Vec) < low.part[i]) & 1;
        VecInt is_below = y.part[i] < in->least.part[i];
        VecInt m = (below & is_below) | (above & ~is_below), minus = (VecInt)value.part[i] >> 31;
        code.part[i] = in->s + ((m ^ minus) - minus);
    }
    return code;
}
