// How far what is remembered of a row may follow what arrived: at most 1 / (1 + w) of the way,
// where w is what rounding adds to the row (ALGORITHMS D.3).

#include "internal.h"

enum { STEPS = 256 }; // of the integral, from -8 to 8

// E(max - min) of that many normal values: the integral of 1 - P(all below x) - P(all above x).
static double normal_range(int64_t columns) {
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        double below = erfc(-(16.0 * i / STEPS - 8) / sqrt(2)) / 2;
        sum += 1 - pow(below, (double)columns) - pow(1 - below, (double)columns);
    }
    return sum * 16 / STEPS;
}

// E(max - x)(x - min) with two values of the grid; with more, a sixth of the squared step.
static double normal_noise(int bits, int64_t columns) {
    double range = normal_range(columns), step = range / (double)((1 << bits) - 1);
    double noise = bits == 1 ? range * range / 4 - 1 : step * step / 6;
    return noise > 0 ? noise : 0;
}

float residual_part(int bits, int64_t columns) {
    return bits == 0 ? 1 : roundf(64 / (float)(1 + normal_noise(bits, columns))) / 64;
}
