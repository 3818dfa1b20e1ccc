// A row of a message on its way between floats and bytes: what quantize_lanes.c and
// dequantize_lanes.c share.
//
// The one idea: a row goes through the first cache in pieces of BLOCK columns (random numbers, then
// a byte per value, then packed bits, or back), so that every step is a plain loop over vectors and
// memory sees the row once.
#pragma once

#include "../grid.h"
#include "codes_lanes.h"
#include "masks_lanes.h"
#include "planes_lanes.h"
#include "quantize.h"

// Columns: a multiple of 256, so that only the last piece of a row has a tail.
enum { BLOCK = 1024 };

// What a piece of a row becomes on its way. 16 entries more: vectors write whole.
typedef struct Piece {
    union {
        uint32_t word[BLOCK];
        uint16_t half[BLOCK];
        uint8_t byte[BLOCK];
    } random;
    uint16_t half[BLOCK + 16];
    uint8_t code[BLOCK + 16];
} __attribute__((aligned(64))) Piece;

LANES_INLINE int64_t columns_here(int64_t columns, int64_t first) {
    return columns - first < BLOCK ? columns - first : BLOCK;
}

// A row of GRID_MEAN has the codes 0 and 2 of 2 bits, of which the lower does not travel.
LANES_INLINE int bits_left_out(GridRule rule) { return rule == GRID_MEAN; }

// ---- Z and S as they travel

LANES_INLINE void parameter_put(unsigned char *array, int64_t i, float value, bool bf16) {
    uint32_t bits = float_bits(value);
    uint16_t upper = (uint16_t)(bits >> 16);
    if (bf16)
        memcpy(array + i * 2, &upper, 2);
    else
        memcpy(array + i * 4, &bits, 4);
}

LANES_INLINE float parameter_at(const unsigned char *array, int64_t i, bool bf16) {
    uint32_t bits;
    uint16_t upper;
    if (bf16) {
        memcpy(&upper, array + i * 2, 2);
        bits = (uint32_t)upper << 16;
    } else
        memcpy(&bits, array + i * 4, 4);
    return float_of_bits(bits);
}
