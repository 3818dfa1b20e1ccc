// The grid of a quantized row: Z + q S with q = 0 .. 2^b - 1 (ALGORITHMS A.1), or (q - s) S with
// q = 0 .. 2 s (GridRule in backend.h).
//
// The one idea: Z and S are made first, as they travel, and the row is quantized with these; so
// what the receiver decodes is unbiased, whatever was lost in making them. Z is not above the row's
// minimum and Z + (2^b - 1) S, as it is computed, not below its maximum; s S is not below the
// largest magnitude. Of the rule of powers of two S is one itself, so that nothing is lost in
// dividing by it.
#pragma once

#include "bf16.h"

#include <math.h>

typedef struct Grid {
    float zero, step; // Z, S; S = 0: every value of the row is Z
    float most;       // the largest q; s, where 0 is a value
} Grid;

// A bf16 is the upper half of a float, so both forms are floats whose bits are a multiple of a
// grain, and neighbours of one sign differ by it.
HOST_DEVICE static inline uint32_t grid_grain(bool bf16) { return bf16 ? 1u << 16 : 1u; }

// The largest number of that form that is not above `value`.
HOST_DEVICE static inline float grid_below(float value, uint32_t grain) {
    uint32_t bits = float_bits(value);
    if (bits >> 31) // a larger magnitude is below
        bits += grain - 1;
    return float_of_bits(bits & ~(grain - 1));
}

// False if the grid cannot be written: a parameter or the grid's end overflows. The row's values
// are finite.
HOST_DEVICE static inline bool grid_make(Grid *grid, float minimum, float maximum, int bits,
                                         bool bf16) {
    uint32_t grain = grid_grain(bf16);
    grid->most = (float)((1 << bits) - 1);
    grid->step = 0;
    grid->zero = grid_below(minimum + 0.0f, grain); // -0 becomes 0
    if (maximum == grid->zero)
        return true;
    // raised until it covers the maximum, also from an S that has underflown to 0
    uint32_t step = float_bits((maximum - grid->zero) / grid->most);
    step = (step + grain - 1) & ~(grain - 1);
    while (grid->zero + grid->most * float_of_bits(step) < maximum)
        step += grain;
    grid->step = float_of_bits(step);
    return isfinite(grid->most * grid->step) && isfinite(grid->zero + grid->most * grid->step);
}

// ---- (q - s) S, for the CPU alone. False if s S overflows.

static inline float grid_s(int bits) { return (float)((1 << (bits - 1)) - 1); }

// S is the smallest number of its form with s S >= reach, which is exact in double.
static inline bool grid_cover(Grid *grid, double reach, int bits, bool bf16) {
    uint32_t grain = grid_grain(bf16);
    *grid = (Grid){0, 0, grid_s(bits)};
    uint32_t step = float_bits((float)(reach / (double)grid->most));
    if ((double)grid->most * (double)float_of_bits(step) < reach) // rounded down
        step++;
    grid->step = float_of_bits((step + grain - 1) & ~(grain - 1));
    return isfinite(grid->most * grid->step);
}

// Of 2 bits, as s is 1: S is the number of its form that is nearest to the mean.
static inline bool grid_mean(Grid *grid, double mean, bool bf16) {
    *grid = (Grid){0, (float)mean, grid_s(2)};
    if (bf16)
        grid->step = float_of_bits(bf16_rounded(float_bits(grid->step)) << 16);
    return isfinite(grid->step);
}

// S is the least power of two of its form that is not below `most`.
static inline bool grid_power(Grid *grid, float most, int bits, bool bf16) {
    uint32_t size = float_bits(most), power = grid_grain(bf16);
    *grid = (Grid){0, 0, grid_s(bits)};
    if (most == 0)
        return true;
    while (power < size && power < 1u << 23) // those below the normal numbers
        power <<= 1;
    if (power < size)
        power = (size + 0x7fffff) & ~0x7fffffu;
    grid->step = float_of_bits(power);
    return isfinite(grid->step);
}

// 1 / S is as good as S only where both are normal numbers, and a product with it cannot overflow
// on the way; beyond these bounds values are divided.
HOST_DEVICE static inline bool grid_divides(const Grid *grid) {
    return !(grid->step >= 0x1p-100f && grid->step <= 0x1p100f);
}
