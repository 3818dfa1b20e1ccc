// What distance.c hands to the loop of distance_lanes.c.
#pragma once

#include "cpu.h"

// two[0] = the sum of (a - b)^2 over [begin, end), two[1] = that of b^2.
#define DISTANCE_LANES(lanes)                                                                      \
    void distance_some_##lanes(double two[2], const float *a, const float *b, int64_t begin,       \
                               int64_t end);
DISTANCE_LANES(plain)
DISTANCE_LANES(avx2)
DISTANCE_LANES(avx512)
#undef DISTANCE_LANES
