// Rows on the device of a test, and their numbers on the host. Both go when the test has ended.
#pragma once

#include "device.h"
#include "support.h"

static inline void test_rows_drop(void *rows) { rows_free(device(), rows); }

// As alloc_rows makes them.
static inline Rows test_rows_of(RowsType type, int64_t count, int64_t columns) {
    Rows *rows = TEST_ARRAY(Rows, 1);
    *rows = alloc_rows(&(Allocator){.backend = device(), .rows = type}, count, columns, "test");
    test_later(test_rows_drop, rows);
    return *rows;
}
static inline Rows test_rows(int64_t count, int64_t columns) {
    return test_rows_of(ROWS_FP32, count, columns);
}

// Rows of zeros: rows_alloc says nothing of its columns.
static inline Rows zeroed_rows(int64_t count, int64_t columns) {
    Rows rows = test_rows(count, columns);
    device()->zero(rows.at, rows_bytes(count, columns));
    device()->finish(NULL);
    return rows;
}

// The numbers of rows as they are, [count, columns], in a new array of the host.
static inline float *host_rows(Rows rows) {
    float *host = TEST_ARRAY(float, rows.count *rows.columns);
    device()->download_rows(host, rows);
    device()->finish(NULL);
    return host;
}
