// rANS once more, written from the description in src/codec/rans.h alone, one code after the other:
// what is read here was written as described.
#pragma once

#include "support.h"

enum { SUM = 4096, LEAST = 1 << 23, STATES = 4 };

static inline uint32_t slow_number(const unsigned char **at) {
    uint32_t number = 0, weight = 1;
    for (; **at >= 128; weight *= 128)
        number += (*(*at)++ - 128U) * weight;
    return number + *(*at)++ * weight;
}

static inline void slow_table(uint32_t frequency[257], int codes, const unsigned char **at) {
    for (int s = 0; s < codes;) {
        frequency[s] = slow_number(at);
        uint32_t run = frequency[s] == 0 ? slow_number(at) : 1;
        assert_true(run >= 1);
        while (run-- > 0)
            frequency[s + 1] = 0, s++;
        assert_true(s <= codes);
    }
}

static inline uint8_t slow_code(uint32_t *state, const uint32_t frequency[257],
                                const unsigned char **at) {
    uint32_t low = *state % SUM;
    int s = 0;
    for (; low >= frequency[s]; s++)
        low -= frequency[s];
    *state = frequency[s] * (*state / SUM) + low;
    while (*state < LEAST)
        *state = *state * 256 + *(*at)++;
    return (uint8_t)s;
}
