// A stream of random numbers as vector kernels take it (philox_lanes.h): the round keys of
// philox4x32 worked out once, and the two words of the counter that a call does not change.
#pragma once

#include "fringe/base.h"

typedef struct PhiloxKey {
    uint64_t round[10][2];
    uint32_t epoch, tag;
    RandomKind kind;
} PhiloxKey;

static inline PhiloxKey philox_key(RandomKey random) {
    PhiloxKey key = {.epoch = random.epoch, .tag = random.tag, .kind = random.kind};
    uint32_t low = (uint32_t)random.seed, high = (uint32_t)(random.seed >> 32);
    for (int round = 0; round < 10; round++) {
        key.round[round][0] = low, key.round[round][1] = high;
        low += 0x9E3779B9u, high += 0xBB67AE85u;
    }
    return key;
}
