// The exponential and the logarithm of the losses: polynomials of our own, so that they are the
// same in every vector width, on every machine and on a device.
//
// The one idea: the arithmetic is written once, as macros that make a function of any type of
// number on which + - * / work lane by lane: a GCC vector on the CPU, a float on a device. What
// looks at bits differs between the two, and stays with them. Multiply and add are never fused.
#pragma once

// exp(x) for x = -87 .. 0, relative error 2e-7, after Cephes (Moshier); NaN stays. Below, callers
// take 0. power2(n + 1.5 2^23), whose low bits are n, is 2^n.
#define DEFINE_EXP(HEAD, Number, name, power2)                                                     \
    HEAD Number name(Number x) {                                                                   \
        Number shifted = x * 1.44269504f + 0x1.8p23f, n = shifted - 0x1.8p23f;                     \
        Number r = x - n * 0.693359375f + n * 2.12194440e-4f; /* x - n log 2, in two steps */      \
        Number p = r * 1.9875691500e-4f + 1.3981999507e-3f;                                        \
        p = p * r + 8.3334519073e-3f;                                                              \
        p = p * r + 4.1665795894e-2f;                                                              \
        p = p * r + 1.6666665459e-1f;                                                              \
        p = p * r + 5.0000001201e-1f;                                                              \
        return (p * (r * r) + r + 1.0f) * power2(shifted);                                         \
    }

// log(1 + t) for t = 0 .. 1, relative error 2e-7: 2 atanh(t / (2 + t)).
#define DEFINE_LOG1P(HEAD, Number, name)                                                           \
    HEAD Number name(Number t) {                                                                   \
        Number s = t / (t + 2.0f), w = s * s;                                                      \
        Number p = w * (1.0f / 15) + 1.0f / 13;                                                    \
        p = p * w + 1.0f / 11;                                                                     \
        p = p * w + 1.0f / 9;                                                                      \
        p = p * w + 1.0f / 7;                                                                      \
        p = p * w + 1.0f / 5;                                                                      \
        p = p * w + 1.0f / 3;                                                                      \
        return 2.0f * s * (p * w + 1.0f);                                                          \
    }
