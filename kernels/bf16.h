// bf16: the upper half of a float, rounded to nearest, halves to even. One expression for the CPU
// and for devices.
#pragma once

#include "host_device.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

HOST_DEVICE static inline uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
HOST_DEVICE static inline float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The bf16 of a float's bits, as vcvtneps2bf16 has it but for denormals, which it takes as 0: a NaN
// stays one and becomes quiet. An exponent of ones: not finite, or beyond the largest bf16.
HOST_DEVICE static inline uint32_t bf16_rounded(uint32_t bits) {
    uint32_t finite = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : finite;
}

// The same with denormals as zeros, as dense products take them: all of vcvtneps2bf16.
HOST_DEVICE static inline uint32_t bf16_flushed(uint32_t bits) {
    return (bits & 0x7f800000) == 0 ? bits >> 16 & 0x8000 : bf16_rounded(bits);
}

// Whether a float with these bits has no bf16.
HOST_DEVICE static inline bool bf16_is_bad(uint32_t bits) {
    return (bf16_rounded(bits) & 0x7f80) == 0x7f80;
}
