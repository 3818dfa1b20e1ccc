// What the tests of kernels share: random rows, and every vector width and number of threads in
// turn.
#pragma once

#include "cpu.h"
#include "rows.h"

// Standard normal in the columns, zero in the padding.
static inline Rows random_rows(int64_t count, int64_t columns, int which) {
    Rows rows = test_rows(count, columns);
    RandomKey key = random_key(7, RANDOM_FEATURES, (uint32_t)which, 0, 0);
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < columns; c++)
            floats(rows)[r * rows.stride + c] = (float)random_normal(key, r, 0, c);
    return rows;
}

static inline float *random_floats(int64_t count, int which) {
    float *at = TEST_ARRAY(float, count);
    RandomKey key = random_key(8, RANDOM_FEATURES, (uint32_t)which, 0, 0);
    for (int64_t i = 0; i < count; i++)
        at[i] = (float)random_normal(key, i, 0, 0);
    return at;
}

static inline void rows_dirty(Rows rows) {
    memset(floats(rows), 0xff, rows_bytes(rows.count, rows.columns));
}

static inline bool padding_is_zero(Rows rows) {
    for (int64_t r = 0; r < rows.count; r++)
        for (int64_t c = rows.columns; c < rows.stride; c++)
            if (floats(rows)[r * rows.stride + c] != 0)
                return false;
    return true;
}

static inline bool rows_equal(Rows a, Rows b) { // every bit, padding too
    return memcmp(floats(a), floats(b), rows_bytes(a.count, a.columns)) == 0;
}

// A way of running an operation: for (Way way = {0}; way_next(&way);) ... The first is plain on one
// thread, the reference of the others. Widths that the CPU lacks are left out. The sanitizers see
// each width on three threads.
typedef struct Way {
    int step, lanes, threads;
} Way;
static inline bool way_next(Way *way) {
    static const int threads[] = {1, 2, 3};
    for (; way->step < 3 * LANES_COUNT; way->step++) {
        way->lanes = way->step / 3, way->threads = threads[way->step % 3];
        bool rest = way->step > 0 && way->threads < 3; // of what the sanitizers have seen
        if (UNDER_SANITIZERS(rest, false) ||
            !cpu_choose_lanes(cpu_lanes_names[way->lanes], &(Error){0}))
            continue;
        omp_set_num_threads(way->threads);
        way->step++;
        return true;
    }
    assert_true(cpu_choose_lanes("auto", &(Error){0}));
    omp_set_num_threads(2);
    return false;
}
static inline bool way_is_first(const Way *way) { return way->step == 1; }
