// The random numbers of base/random.h on the device: one block of philox4x32, which is 16 numbers
// of 8 bits, 8 of 16 or 4 of 32.
//
// The one idea: a thread computes whole blocks for the columns it owns, so none is made twice and
// no thread waits for another's. The rounds are unrolled: words and keys stay in registers, and the
// keys of the rounds, which all threads share, are sums of constants.
#pragma once

#include "device.h"

// A product's lower and upper word. (Shifted out, the upper costs an addition more.)
__host__ __device__ static inline void philox_product(uint32_t half[2], uint32_t a, uint32_t b) {
    const uint64_t product = (uint64_t)a * b;
    memcpy(half, &product, sizeof product);
}

// The four words of one block: what random_block gives. block < 2^19.
__host__ __device__ static inline void philox_block(uint32_t out[4], RandomKey key, int64_t row,
                                                    int peer, uint32_t block) {
    uint32_t c0 = (uint32_t)row;
    uint32_t c1 = (uint32_t)((uint64_t)row >> 32 & 0xffff) | (uint32_t)peer << 16;
    uint32_t c2 = key.epoch, c3 = key.tag | (block & 0x7ffff);
    uint32_t k0 = (uint32_t)key.seed, k1 = (uint32_t)(key.seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        if (round == 7 && key.kind.seven)
            break;
        uint32_t p0[2], p1[2];
        philox_product(p0, c0, 0xD2511F53u);
        philox_product(p1, c2, 0xCD9E8D57u);
        c0 = p1[1] ^ c1 ^ k0;
        c1 = p1[0];
        c2 = p0[1] ^ c3 ^ k1;
        c3 = p0[0];
        k0 += 0x9E3779B9u; // golden ratio
        k1 += 0xBB67AE85u; // sqrt(3) - 1
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

// Number `lane` (0 .. 7) of 16 bits of a block.
__host__ __device__ static inline uint32_t philox_half(const uint32_t word[4], int lane) {
    return word[lane / 2] >> (lane % 2 * 16) & 0xffff;
}

// The 8 numbers of 16 bits for which those of 8 bits stand (RandomKind), of columns `column` (a
// multiple of 8) and on: 2^8 k + 2^7.
__host__ __device__ static inline void philox_narrow(uint32_t out[4], RandomKey key, int64_t row,
                                                     int peer, int column) {
    uint32_t word[4];
    philox_block(word, key, row, peer, (uint32_t)(column / 16));
    for (int i = 0; i < 4; i++) {
        const uint32_t two = word[column % 16 / 4 + i / 2] >> (i % 2 * 16);
        out[i] = (two & 0xff) << 8 | (two & 0xff00) << 16 | 0x00800080;
    }
}
