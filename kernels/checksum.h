// The checksum of a message that stays on its device.
//
// The one idea: it is a sum, modulo 2^64, of one term for each word of the payload, so that any
// number of threads may add their terms in any order. A term mixes the word with its place: two
// words that change places, and any change within one word, change the sum but for chances of about
// 2^-32.
#pragma once

#include "host_device.h"

#include <stddef.h>
#include <stdint.h>

enum { CHECKSUM_WORD = sizeof(uint64_t) };

HOST_DEVICE static inline uint64_t checksum_term(uint64_t word, uint64_t place) {
    const uint64_t mixed = word ^ (place + 1) * 0x9e3779b97f4a7c15u;
    return (mixed & 0xffffffffu) * (mixed >> 32) + word;
}

// Word `place` of a payload of `bytes` bytes; zeros follow its end. Little-endian.
HOST_DEVICE static inline uint64_t checksum_word(const unsigned char *payload, uint64_t bytes,
                                                 uint64_t place) {
    const uint64_t begin = place * CHECKSUM_WORD;
    if (begin + CHECKSUM_WORD <= bytes)
        return ((const uint64_t *)(const void *)payload)[place];
    uint64_t word = 0;
    for (uint64_t i = begin; i < bytes; i++)
        word |= (uint64_t)payload[i] << 8 * (i - begin);
    return word;
}
