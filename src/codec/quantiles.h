// quantiles: magnitudes in buckets with about as many values each. Buckets are bounded by numbers
// whose lower 16 bits are 0 (bf16), of which one histogram counts all: their ranks are exact, and
// no sample is drawn (ALGORITHMS D.5).
#pragma once

#include <stdint.h>
#include <string.h>

enum { QUANTILE_BINS = 1 << 15 };

// The bin of a value by its magnitude, in ascending order.
static inline uint32_t quantile_bin(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 16 & (QUANTILE_BINS - 1);
}

// Bins [QUANTILE_BINS] come with the numbers of their values, n > 0 together; those that have some
// get the number of their bucket. Buckets are ascending and none is empty. Returns how many there
// are, at most `most`.
int quantiles_make(uint32_t *bin, int64_t n, int most);
