// Activations of one value and their derivatives, for both compilers: the same bits on all
// backends.
//
// The normal distribution function is made of erfc by its rational Chebyshev fit (Press et al.:
// Numerical Recipes, 6.2), whose relative error is 1.2e-7 everywhere.
#pragma once

#include "bf16.h"
#include "expressions.h"
#include "fringe/backend.h"

// 2^n; `shifted` is n + 1.5 2^23 (expressions.h).
HOST_DEVICE static inline float activation_power2(float shifted) {
    return float_of_bits((float_bits(shifted) - float_bits(0x1.8p23f) + 127) << 23);
}
DEFINE_EXP(HOST_DEVICE static inline, float, activation_exp_near, activation_power2)
HOST_DEVICE static inline float activation_exp(float x) { // x <= 0
    return x < -87.0f ? 0.0f : activation_exp_near(x);
}

HOST_DEVICE static inline float normal_below(float x) {
    const float y = (x < 0 ? -x : x) * 0.70710678f, t = 1.0f / (1.0f + 0.5f * y);
    float p = t * 0.17087277f - 0.82215223f;
    p = p * t + 1.48851587f;
    p = p * t - 1.13520398f;
    p = p * t + 0.27886807f;
    p = p * t - 0.18628806f;
    p = p * t + 0.09678418f;
    p = p * t + 0.37409196f;
    p = p * t + 1.00002368f;
    p = p * t - 1.26551223f;
    const float tail = 0.5f * (t * activation_exp(p - y * y)); // erfc(y) / 2
    return x < 0 ? tail : 1.0f - tail;
}

HOST_DEVICE static inline float activation_of(int function, float slope, float x) {
    if (function == ACTIVATION_GELU)
        return x * normal_below(x);
    if (!(x < 0)) // a NaN stays
        return x;
    return function == ACTIVATION_ELU          ? activation_exp(x) - 1.0f
           : function == ACTIVATION_LEAKY_RELU ? slope * x
                                               : 0.0f;
}

HOST_DEVICE static inline float activation_slope(int function, float slope, float x) {
    if (function == ACTIVATION_GELU)
        return normal_below(x) + x * (0.39894228f * activation_exp(-0.5f * (x * x)));
    if (x > 0)
        return 1.0f;
    return function == ACTIVATION_ELU          ? activation_exp(x)
           : function == ACTIVATION_LEAKY_RELU ? slope
                                               : 0.0f;
}
