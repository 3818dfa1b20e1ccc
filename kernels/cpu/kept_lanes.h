// Which elements of a row dropout keeps, the columns of some vectors of blocks at a time: those
// whose 16-bit number is below the threshold.
#pragma once

#include "philox_lanes.h"
#include "pointwise.h"

enum { KEPT_WIDES = 4, KEPT_BYTES = KEPT_WIDES * WIDE_BLOCKS };

// One byte per block: bit 2j is the low half of word j, bit 2j + 1 the high half, 1 where kept.
#if defined(__AVX512BW__) && defined(__BMI2__)
LANES_INLINE void kept_bytes(uint8_t *kept, const Wide word[4], const DropoutKey *key) {
    __m512i last = _mm512_set1_epi16((short)(key->threshold - 1)); // k < threshold: k <= last
    __m512i w01 = (__m512i)wide_pair(word[0], word[1]), w23 = (__m512i)wide_pair(word[2], word[3]);
    uint64_t bytes = _pdep_u64(_mm512_cmple_epu16_mask(w01, last), 0x0f0f0f0f0f0f0f0fu) |
                     _pdep_u64(_mm512_cmple_epu16_mask(w23, last), 0xf0f0f0f0f0f0f0f0u);
    __builtin_memcpy(kept, &bytes, 8);
}
#else
LANES_INLINE void kept_bytes(uint8_t *kept, const Wide word[4], const DropoutKey *key) {
    Wide limit = wide_set(key->threshold), byte = wide_set(0);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) { // k - threshold is negative where kept: its top bit
        byte |= ((word[j] & 0xffff) - limit) >> 63 << (2 * j);
        byte |= ((word[j] >> 16 & 0xffff) - limit) >> 63 << (2 * j + 1);
    }
    uint64_t lane[WIDE_BLOCKS];
    __builtin_memcpy(lane, &byte, sizeof byte);
    for (int i = 0; i < WIDE_BLOCKS; i++)
        kept[i] = (uint8_t)lane[i];
}
#endif

// Bits of the columns from 8 block on, as many as `wides` vectors of blocks have.
LANES_INLINE void kept_columns(uint8_t *kept, int wides, const DropoutKey *key, int64_t row,
                               uint32_t block) {
    if (key->threshold == 0) { // keeps nothing; the vector path compares with threshold - 1
        __builtin_memset(kept, 0, (size_t)(wides * WIDE_BLOCKS));
        return;
    }
    Wide word[KEPT_WIDES][4];
    philox_blocks(word, wides, &key->philox, row, 0, block, wide_in_order());
#pragma GCC unroll 4
    for (int i = 0; i < wides; i++)
        kept_bytes(kept + i * WIDE_BLOCKS, word[i], key);
}

// Bits of a row's columns from 8 block on (a multiple of KEPT_BYTES): `bytes` of them, a byte for 8
// columns, an even number.
LANES_INLINE void kept_row(uint8_t *kept, int64_t bytes, const DropoutKey *key, int64_t row,
                           uint32_t block) {
    enum { HALF = KEPT_BYTES / 2 };
    int64_t at = 0;
    for (; bytes - at >= KEPT_BYTES; at += KEPT_BYTES)
        kept_columns(kept + at, KEPT_WIDES, key, row, block + (uint32_t)at);
    for (; at < bytes; at += HALF) {
        uint8_t some[HALF];
        kept_columns(some, KEPT_WIDES / 2, key, row, block + (uint32_t)at);
        __builtin_memcpy(kept + at, some, (size_t)(bytes - at < HALF ? bytes - at : HALF));
    }
}
