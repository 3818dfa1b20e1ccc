// The random numbers of a row (base/random.h), 16 philox4x32 blocks side by side: 256 columns of 8
// bits, 128 of 16 or 64 of 32.
//
// The one idea: a block lives in the low halves of 64-bit lanes. The 32 x 32 -> 64 bit multiply of
// the CPU ignores the high halves of its operands, so the low word of a product needs no masking
// and the high word one shift; rubbish in the high halves never reaches a result.
#pragma once

#include "lanes.h"
#include "philox.h"

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

enum { PHILOX_BLOCKS = 16, PHILOX_WIDES = PHILOX_BLOCKS / WIDE_BLOCKS };

#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u

LANES_INLINE Wide wide_set(uint64_t value) { return value - (Wide){0}; }

// Which block a lane holds: one after the other ...
LANES_INLINE Wide wide_in_order(void) {
    static const uint64_t lane[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    Wide wide;
    __builtin_memcpy(&wide, lane, sizeof wide);
    return wide;
}
// ... or so that interleaving pairs of lanes, which vectors do within 128 bits only, puts them in
// order (wide_store).
LANES_INLINE Wide wide_for_store(void) {
    uint64_t lane[WIDE_BLOCKS];
    for (unsigned i = 0; i < WIDE_BLOCKS; i++)
        lane[i] = i / 2 + i % 2 * (WIDE_BLOCKS / 2);
    Wide wide;
    __builtin_memcpy(&wide, lane, sizeof wide);
    return wide;
}

// One round: words 0 and 2 are multiplied and change places with the others.
LANES_INLINE void philox_round(Wide word[4], const uint64_t key[2]) {
    Wide p0 = wide_multiply(word[0], wide_set(PHILOX_M0));
    Wide p1 = wide_multiply(word[2], wide_set(PHILOX_M1));
    word[0] = p1 >> 32 ^ word[1] ^ wide_set(key[0]);
    word[1] = p1;
    word[2] = p0 >> 32 ^ word[3] ^ wide_set(key[1]);
    word[3] = p0;
}

// The first three rounds for all blocks of a row, which differ in word 3 of the counter alone: it
// reaches word 2 in the first round, words 0 and 1 in the second, and all but word 1 in the third.
// So four of six products are numbers, not vectors.
LANES_INLINE void philox_first_rounds(Wide word[4], const uint64_t key[3][2],
                                      const uint32_t counter[3], Wide last) {
    uint64_t p0 = (uint64_t)counter[0] * PHILOX_M0, p1 = (uint64_t)counter[2] * PHILOX_M1;
    uint32_t word0 = (uint32_t)(p1 >> 32 ^ counter[1] ^ key[0][0]);
    Wide q = wide_multiply(last ^ wide_set(p0 >> 32 ^ key[0][1]), wide_set(PHILOX_M1));
    uint64_t r0 = (uint64_t)word0 * PHILOX_M0;
    uint32_t word2 = (uint32_t)(r0 >> 32 ^ p0 ^ key[1][1]);
    Wide s = wide_multiply(q >> 32 ^ wide_set((uint32_t)(p1 ^ key[1][0])), wide_set(PHILOX_M0));
    uint64_t r1 = (uint64_t)word2 * PHILOX_M1;
    word[0] = q ^ wide_set(r1 >> 32 ^ key[2][0]);
    word[1] = wide_set(r1);
    word[2] = s >> 32 ^ wide_set((uint32_t)(r0 ^ key[2][1]));
    word[3] = s;
}

LANES_INLINE void philox_rounds(Wide word[][4], int wides, const PhiloxKey *key, int begin,
                                int end) {
#pragma GCC unroll 4
    for (int round = begin; round < end; round++)
#pragma GCC unroll 4
        for (int i = 0; i < wides; i++)
            philox_round(word[i], key->round[round]);
}

// The four words of `wides` * WIDE_BLOCKS blocks of a row, from `block` on (a multiple of as many),
// one block per lane. The chains of several vectors run side by side, because one chain alone waits
// for its multiplies.
LANES_INLINE void philox_blocks(Wide word[][4], int wides, const PhiloxKey *key, int64_t row,
                                int peer, uint32_t block, Wide lane) {
    const uint32_t counter[] = {(uint32_t)row,
                                ((uint64_t)row >> 32 & 0xffff) | (uint32_t)peer << 16, key->epoch};
#pragma GCC unroll 4
    for (int i = 0; i < wides; i++)
        philox_first_rounds(word[i], key->round, counter,
                            lane + wide_set((key->tag | block) + (uint32_t)(i * WIDE_BLOCKS)));
    philox_rounds(word, wides, key, 3, 7);
    if (!key->kind.seven)
        philox_rounds(word, wides, key, 7, 10);
}

// The low halves of the lanes of two words, side by side.
LANES_INLINE Wide wide_pair(Wide low, Wide high) {
#if defined(__AVX512F__)
    return (Wide)_mm512_mask_shuffle_epi32((__m512i)low, 0xaaaa, (__m512i)high, _MM_PERM_CCAA);
#elif defined(__AVX2__)
    return (Wide)_mm256_blend_epi32((__m256i)low, (__m256i)(high << 32), 0xaa);
#else
    return (low & 0xffffffffu) | high << 32;
#endif
}

// The blocks of lanes as wide_for_store has them, one after the other: 16 bytes each.
LANES_INLINE void wide_store(unsigned char *to, const Wide word[4]) {
    Wide w01 = wide_pair(word[0], word[1]), w23 = wide_pair(word[2], word[3]);
#if defined(__AVX512F__)
    Wide both[2] = {(Wide)_mm512_unpacklo_epi64((__m512i)w01, (__m512i)w23),
                    (Wide)_mm512_unpackhi_epi64((__m512i)w01, (__m512i)w23)};
#elif defined(__AVX2__)
    Wide both[2] = {(Wide)_mm256_unpacklo_epi64((__m256i)w01, (__m256i)w23),
                    (Wide)_mm256_unpackhi_epi64((__m256i)w01, (__m256i)w23)};
#else
    Wide both[2] = {w01, w23};
#endif
    __builtin_memcpy(to, both, sizeof both);
}

// 16 blocks of a row, from `block` on (a multiple of 16), as they lie in memory: columns 16 block
// .. 16 block + 255 as bytes, 8 block .. 8 block + 127 as uint16_t, or 4 block .. 4 block + 63 as
// uint32_t.
LANES_INLINE void philox_store(void *to, const PhiloxKey *key, int64_t row, int peer,
                               uint32_t block) {
    Wide word[PHILOX_WIDES][4];
    philox_blocks(word, PHILOX_WIDES, key, row, peer, block, wide_for_store());
#pragma GCC unroll 4
    for (int i = 0; i < PHILOX_WIDES; i++)
        wide_store((unsigned char *)to + i * WIDE_BLOCKS * 16, word[i]);
}
