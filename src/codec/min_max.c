// See min_max.h.

#include "min_max.h"

#include <assert.h>
#include <string.h>

// The next number of splitmix64 (Steele, Lea, Flood: OOPSLA 2014).
static uint64_t next_number(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

MinMax min_max_open(uint32_t seed, int tables, int64_t bins, uint8_t *cell) {
    MinMax sketch = {.tables = tables, .bins = bins, .cell = cell};
    uint64_t state = seed;
    assert(tables <= MIN_MAX_TABLES && bins < INT32_MAX);
    for (int i = 0; i < tables; i++) {
        sketch.factor[i] = next_number(&state);
        sketch.summand[i] = next_number(&state);
    }
    return sketch;
}

void min_max_clear(const MinMax *sketch, uint8_t most) {
    memset(sketch->cell, most, (size_t)(sketch->tables * sketch->bins));
}

static uint8_t *cell_of(const MinMax *sketch, int table, uint32_t key) {
    uint64_t hash = (sketch->factor[table] * key + sketch->summand[table]) >> 32;
    return sketch->cell + table * sketch->bins + (int64_t)(hash * (uint64_t)sketch->bins >> 32);
}

void min_max_put(const MinMax *sketch, uint32_t key, uint8_t number) {
    for (int i = 0; i < sketch->tables; i++) {
        uint8_t *cell = cell_of(sketch, i, key);
        if (number < *cell)
            *cell = number;
    }
}

uint8_t min_max_get(const MinMax *sketch, uint32_t key) {
    uint8_t most = 0;
    for (int i = 0; i < sketch->tables; i++) {
        uint8_t number = *cell_of(sketch, i, key);
        most = number > most ? number : most;
    }
    return most;
}
