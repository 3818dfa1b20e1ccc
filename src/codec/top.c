// The largest magnitudes of some rows: what top-k sparsification sends (Aji and Heafield: Sparse
// Communication for Distributed Gradient Descent, EMNLP 2017). The least magnitude that stays is
// found digit by digit, as magnitudes of floats are ordered as their bits are.

#include "internal.h"

static uint32_t magnitude(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x7fffffffU;
}

// Rows of floats on the host.
typedef struct Floats {
    float *at;
    int64_t count, stride;
    const int32_t *length; // NULL: all have `columns`
    int64_t columns;
} Floats;

static int64_t length_of(const Floats *rows, int64_t i) {
    return rows->length != NULL ? rows->length[i] : rows->columns;
}

static int64_t floats_in(const Floats *rows) {
    int64_t floats = 0;
    for (int64_t i = 0; i < rows->count; i++)
        floats += length_of(rows, i);
    return floats;
}

enum { DIGIT = 8, DIGITS = 1 << DIGIT };

// How many magnitudes have which next digit, of those that begin as `least` does.
static void count_digits(int64_t count[DIGITS], const Floats *rows, uint32_t least, int shift) {
    memset(count, 0, DIGITS * sizeof *count);
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t c = 0; c < length_of(rows, i); c++) {
            uint32_t bits = magnitude(rows->at[i * rows->stride + c]);
            if ((uint64_t)bits >> (shift + DIGIT) == (uint64_t)least >> (shift + DIGIT))
                count[bits >> shift & (DIGITS - 1)]++;
        }
}

// The kept-th largest magnitude; *kept becomes how many that are just as large stay.
static uint32_t least_kept(const Floats *rows, int64_t *kept) {
    uint32_t least = 0;
    for (int shift = 32 - DIGIT; shift >= 0; shift -= DIGIT) {
        int64_t count[DIGITS];
        int digit = DIGITS - 1;
        count_digits(count, rows, least, shift);
        for (; digit > 0 && count[digit] < *kept; digit--)
            *kept -= count[digit];
        least |= (uint32_t)digit << shift;
    }
    return least;
}

void top_keep(const Backend *backend, Rows rows, const int32_t *length, double part) {
    Floats floats = {.at = host_mirror(backend, rows.at, NULL),
                     .count = rows.count,
                     .stride = rows.stride,
                     .length = length,
                     .columns = rows.columns};
    assert(backend->host_is_device);
    int64_t kept = top_count(part, floats_in(&floats));
    uint32_t least = least_kept(&floats, &kept);
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t c = 0; c < length_of(&floats, i); c++) {
            float *at = &floats.at[i * rows.stride + c];
            uint32_t bits = magnitude(*at);
            if (bits < least || (bits == least && kept-- <= 0))
                *at = 0;
        }
}
