// Sums in double of what 16 floats at a time are added to, lane by lane, so that the three
// compilations add the same numbers in the same order.
#pragma once

#include "lanes.h"

typedef double VecDouble __attribute__((vector_size(VEC_FLOATS * 4)));
typedef float VecHalf __attribute__((vector_size(VEC_FLOATS * 2)));

typedef struct D16 {
    VecDouble part[2 * VEC_COUNT];
} D16;

#define D16_EACH(i) _Pragma("GCC unroll 8") for (int i = 0; i < 2 * VEC_COUNT; i++)

LANES_INLINE D16 d16_of(F16 a) {
    VecHalf half[2 * VEC_COUNT];
    D16 all;
    __builtin_memcpy(half, &a, sizeof half);
    D16_EACH(i) all.part[i] = __builtin_convertvector(half[i], VecDouble);
    return all;
}
LANES_INLINE D16 d16_add(D16 a, D16 b) {
    D16_EACH(i) a.part[i] += b.part[i];
    return a;
}
LANES_INLINE D16 d16_mul(D16 a, D16 b) {
    D16_EACH(i) a.part[i] *= b.part[i];
    return a;
}

// Lane 0 + lane 1 + ... + lane 15.
LANES_INLINE double d16_sum(D16 a) {
    double lane[16], sum = 0;
    __builtin_memcpy(lane, &a, sizeof lane);
    for (int i = 0; i < 16; i++)
        sum += lane[i];
    return sum;
}
