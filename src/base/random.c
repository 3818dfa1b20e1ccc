// Counter-based random numbers: philox4x32 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011, section 3.3). The idea: a number is a function of where it
// is used, so it depends neither on threads nor on ranks. The layout of the counter is in random.h.

#include "fringe/base/random.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
static const uint32_t weyl[2] = {0x9E3779B9u, 0xBB67AE85u}; // golden ratio, sqrt(3) - 1

void random_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2], int rounds) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < rounds; round++) {
        uint64_t product0 = (uint64_t)multiplier[0] * c0;
        uint64_t product1 = (uint64_t)multiplier[1] * c2;
        c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)product1;
        c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)product0;
        k0 += weyl[0];
        k1 += weyl[1];
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

void random_block(uint32_t out[4], RandomKey random, int64_t row, int peer, uint32_t block) {
    const uint32_t counter[4] = {
        (uint32_t)row,
        (uint32_t)((uint64_t)row >> 32 & 0xffff) | (uint32_t)peer << 16,
        random.epoch,
        random.tag | (block & 0x7ffff),
    };
    const uint32_t key[2] = {(uint32_t)random.seed, (uint32_t)(random.seed >> 32)};
    random_philox(out, counter, key, random_rounds(random.kind));
}

RandomDraw random_draw(RandomKey key, int32_t of) {
    uint32_t word[4];
    random_block(word, key, of, 0, 0);
    return (RandomDraw){(uint64_t)word[0] << 32 | word[1], of};
}

static int compare_draws(const void *a, const void *b) {
    const RandomDraw *x = a, *y = b;
    return x->number != y->number ? (x->number < y->number ? -1 : 1)
                                  : (x->of > y->of) - (x->of < y->of);
}

void random_sort(RandomDraw *draw, int64_t count) {
    qsort(draw, (size_t)count, sizeof *draw, compare_draws);
}

float random_uniform16(RandomKey key, int64_t row, int peer, int64_t column) {
    uint32_t word[4];
    random_block(word, key, row, peer, (uint32_t)(column / 8));
    uint32_t lane = (uint32_t)(column % 8);
    uint32_t k = word[lane / 2] >> (lane % 2 * 16) & 0xffff;
    return ((float)k + 0.5f) * 0x1p-16f;
}

double random_uniform32(RandomKey key, int64_t row, int peer, int64_t column) {
    uint32_t word[4];
    random_block(word, key, row, peer, (uint32_t)(column / 4));
    return ((double)word[column % 4] + 0.5) * 0x1p-32;
}

double random_normal(RandomKey key, int64_t row, int peer, int64_t column) {
    double radius = sqrt(-2.0 * log(random_uniform32(key, row, peer, 2 * column)));
    double angle = 2.0 * M_PI * random_uniform32(key, row, peer, 2 * column + 1);
    return radius * cos(angle);
}
