// Which elements of a row dropout keeps, 128 columns at a time: those whose 16-bit number is below
// the threshold.
#ifndef FRINGE_KERNELS_KEPT_LANES_H
#define FRINGE_KERNELS_KEPT_LANES_H

#include "philox_lanes.h"
#include "pointwise.h"

enum { KEPT_COLUMNS = 8 * PHILOX_BLOCKS };

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

// Bits of columns 8 block .. 8 block + 127 of a row into 16 bytes.
LANES_INLINE void kept_columns(uint8_t kept[16], const DropoutKey *key, int64_t row,
                               uint32_t block) {
    if (key->threshold == 0) { // keeps nothing; the vector path compares with threshold - 1
        __builtin_memset(kept, 0, 16);
        return;
    }
    Wide word[PHILOX_WIDES][4];
    philox_16(word, &key->philox, row, 0, block, wide_in_order());
#pragma GCC unroll 4
    for (int i = 0; i < PHILOX_WIDES; i++)
        kept_bytes(kept + i * WIDE_BLOCKS, word[i], key);
}

// Bits of a whole row: `bytes` of them (a byte is 8 columns).
LANES_INLINE void kept_row(uint8_t *kept, int64_t bytes, const DropoutKey *key, int64_t row) {
    for (int64_t at = 0; at < bytes; at += 16) {
        uint8_t *to = kept + at, some[16];
        bool whole = bytes - at >= 16;
        kept_columns(whole ? to : some, key, row, (uint32_t)at);
        if (!whole)
            __builtin_memcpy(to, some, (size_t)(bytes - at));
    }
}

#endif
