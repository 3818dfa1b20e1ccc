// Numbers for tests that make whole gradients and rows of them again and again: a tenth of the time
// of random.h's.
#pragma once

#include <stdint.h>

// 32 bits of (a, b), mixed as in MurmurHash3 (Appleby, fmix64).
static inline uint32_t test_mix(uint64_t a, uint64_t b) {
    uint64_t mix = a ^ b * 0x9e3779b97f4a7c15U;
    mix = (mix ^ mix >> 33) * 0xff51afd7ed558ccdU;
    mix = (mix ^ mix >> 33) * 0xc4ceb9fe1a85ec53U;
    return (uint32_t)(mix >> 32);
}
