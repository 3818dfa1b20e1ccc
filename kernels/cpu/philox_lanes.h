// Which elements dropout keeps, 128 columns at a time: the 16-bit numbers of base/random.h, 16
// philox4x32-10 blocks side by side.
//
// The one idea: a block lives in the low halves of 64-bit lanes. The 32 x 32 -> 64 bit multiply of
// the CPU ignores the high halves of its operands, so the low word of a product needs no masking
// and the high word one shift; rubbish in the high halves never reaches a result.
#ifndef FRINGE_KERNELS_PHILOX_LANES_H
#define FRINGE_KERNELS_PHILOX_LANES_H

#include "lanes.h"
#include "pointwise.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
typedef uint64_t Wide __attribute__((vector_size(64)));
#define WIDE_BLOCKS 8
LANES_INLINE Wide wide_multiply(Wide a, Wide b) {
    return (Wide)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}
#elif defined(__AVX2__)
typedef uint64_t Wide __attribute__((vector_size(32)));
#define WIDE_BLOCKS 4
LANES_INLINE Wide wide_multiply(Wide a, Wide b) {
    return (Wide)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
#else
typedef uint64_t Wide;
#define WIDE_BLOCKS 1
LANES_INLINE Wide wide_multiply(Wide a, Wide b) { return (uint64_t)(uint32_t)a * (uint32_t)b; }
#endif

enum { KEPT_COLUMNS = 128, KEPT_WIDES = 16 / WIDE_BLOCKS };

LANES_INLINE Wide wide_set(uint64_t value) { return value - (Wide){0}; }

LANES_INLINE Wide wide_count(uint64_t first) {
    static const uint64_t lane[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    Wide wide;
    __builtin_memcpy(&wide, lane, sizeof wide);
    return wide + wide_set(first);
}

// The four words of 16 blocks of a row, from `block` on (a multiple of 16), one block per lane. The
// chains of several vectors run side by side, because one chain alone waits for its multiplies.
LANES_INLINE void philox_16(Wide word[KEPT_WIDES][4], const DropoutKey *key, int64_t row,
                            uint32_t block) {
#pragma GCC unroll 4
    for (int i = 0; i < KEPT_WIDES; i++) {
        word[i][0] = wide_set((uint32_t)row);
        word[i][1] = wide_set((uint64_t)row >> 32 & 0xffff); // peer 0
        word[i][2] = wide_set(key->epoch);
        word[i][3] = wide_count((key->tag | block) + (uint32_t)(i * WIDE_BLOCKS));
    }
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++)
#pragma GCC unroll 4
        for (int i = 0; i < KEPT_WIDES; i++) {
            Wide p0 = wide_multiply(word[i][0], wide_set(0xD2511F53u));
            Wide p1 = wide_multiply(word[i][2], wide_set(0xCD9E8D57u));
            word[i][0] = p1 >> 32 ^ word[i][1] ^ wide_set(key->round[round][0]);
            word[i][1] = p1;
            word[i][2] = p0 >> 32 ^ word[i][3] ^ wide_set(key->round[round][1]);
            word[i][3] = p0;
        }
}

// One byte per block: bit 2j is the low half of word j, bit 2j + 1 the high half, 1 where kept.
#if defined(__AVX512BW__) && defined(__BMI2__)
LANES_INLINE void kept_bytes(uint8_t *kept, const Wide word[4], const DropoutKey *key) {
    __m512i last = _mm512_set1_epi16((short)(key->threshold - 1)); // k < threshold: k <= last
    __m512i w01 =
        _mm512_mask_shuffle_epi32((__m512i)word[0], 0xaaaa, (__m512i)word[1], _MM_PERM_CCAA);
    __m512i w23 =
        _mm512_mask_shuffle_epi32((__m512i)word[2], 0xaaaa, (__m512i)word[3], _MM_PERM_CCAA);
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
    Wide word[KEPT_WIDES][4];
    philox_16(word, key, row, block);
#pragma GCC unroll 4
    for (int i = 0; i < KEPT_WIDES; i++)
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
