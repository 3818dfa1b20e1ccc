// The random numbers that round, one by one.
#pragma once

#include "fringe/base/random.h"

// That of a value of 8 bits or fewer: with 8 bits where the kind is narrow, else 16.
static inline float random_rounding(RandomKey key, int64_t row, int peer, int64_t column) {
    if (!key.kind.narrow)
        return random_uniform16(key, row, peer, column);
    uint32_t word[4];
    random_block(word, key, row, peer, (uint32_t)(column / 16));
    uint32_t k = word[column % 16 / 4] >> (column % 4 * 8) & 0xff;
    return ((float)k + 0.5f) * 0x1p-8f;
}
