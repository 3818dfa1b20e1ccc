// min_max: SketchML's MinMaxSketch (Jiang et al., SIGMOD 2018, section 3.3): a number below 256 of
// each of some keys, in fewer cells than keys. Each table has one cell for a key, which takes the
// least of the numbers that come; of a key's cells the largest counts. So what is found is never
// above what was put in: by such numbers magnitudes shrink and never grow.
#pragma once

#include <stdint.h>

enum { MIN_MAX_TABLES = 8 };

typedef struct MinMax {
    int tables;
    int64_t bins;  // of a table
    uint8_t *cell; // [tables, bins] borrowed
    // Of a table, the upper half of factor * key + summand, modulo 2^64, scaled to the bins: of two
    // keys the bins are independent (Dietzfelbinger, STACS 1996).
    uint64_t factor[MIN_MAX_TABLES], summand[MIN_MAX_TABLES];
} MinMax;

// The seed chooses the bins. Cells stay as they are.
MinMax min_max_open(uint32_t seed, int tables, int64_t bins, uint8_t *cell);
void min_max_clear(const MinMax *sketch, uint8_t most); // before numbers up to `most` are put in
void min_max_put(const MinMax *sketch, uint32_t key, uint8_t number);
uint8_t min_max_get(const MinMax *sketch, uint32_t key);
