// One operation of a backend on one shape: the same random inputs on every backend, and everything
// that the operation writes.
#pragma once

#include "base/testing.h"
#include "fringe/backend.h"

#include <string.h>

typedef struct Shape {
    int64_t rows, columns;
} Shape;

enum { BLOCKS_OF_A_CASE = 64 };

// One run. Blocks are freed when it ends.
typedef struct Case {
    const Backend *b;
    Shape shape;
    int variant;        // what the operation makes of it
    RowsType rows;      // of the numbers of its rows
    bool rounded;       // some of what was written is rows of bf16
    int64_t far;        // rows that are thought to lie in front of its rows (far_rows)
    int numbers;        // arrays of random numbers made so far: each has its own
    unsigned char *out; // what was written, as the host sees it; [out_bytes]
    size_t out_bytes;
    int blocks;
    void *block[BLOCKS_OF_A_CASE];
} Case;

enum { LARGE_SHAPES = 5 };

typedef struct Operation {
    const char *name;
    void (*run)(Case *c);
    int variants;
    double tolerance; // 0: every bit. Else of the norm of all floats that it writes
    int far;          // so many variants touch no row beside those of their ranges and lists
    int bf16;         // so many have a meaning for rows of bf16
    Shape large[LARGE_SHAPES]; // beyond all its blocks, tiles and grids (of the emulated device);
                               // as many as have rows
} Operation;

static inline int large_shapes(const Operation *o) {
    int count = 0;
    while (count < LARGE_SHAPES && o->large[count].rows > 0)
        count++;
    return count;
}

// ---- random inputs

static inline uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static inline uint32_t case_random(Case *c) {
    return (uint32_t)(mixed((uint64_t)++c->numbers * 977) >> 16);
}

static inline void *case_bytes(Case *c, size_t bytes) {
    assert(c->blocks < BLOCKS_OF_A_CASE);
    return c->block[c->blocks++] = c->b->alloc(bytes, "test");
}

static inline void *case_zeros(Case *c, size_t bytes) {
    assert(c->blocks < BLOCKS_OF_A_CASE);
    return c->block[c->blocks++] = c->b->alloc_zeroed(bytes, "test");
}

static inline void *uploaded(Case *c, const void *host, size_t bytes) {
    void *device = case_bytes(c, bytes);
    c->b->upload(device, host, bytes);
    c->b->finish(NULL);
    return device;
}

// Between -2 and 2, some of them zero.
static inline float *random_numbers(Case *c, int64_t count) {
    float *at = ALLOC(float, count + 1, "test");
    uint64_t seed = (uint64_t)case_random(c) << 32;
    for (int64_t i = 0; i < count; i++) {
        uint64_t k = mixed(seed + (uint64_t)i);
        at[i] = k % 29 == 0 ? 0 : (float)((double)(int64_t)k * 0x1p-62);
    }
    return at;
}

static inline DeviceFloat *case_floats(Case *c, int64_t count) {
    FREED float *host = random_numbers(c, count);
    return uploaded(c, host, (size_t)count * sizeof *host);
}

static inline Rows case_rows_of(Case *c, RowsType type, int64_t count, int64_t columns) {
    FREED float *host = random_numbers(c, count * columns);
    Rows rows = {.at = case_zeros(c, rows_bytes(count, columns)),
                 .count = count,
                 .columns = columns,
                 .stride = rows_stride(columns),
                 .type = type};
    c->b->upload_rows(rows, host);
    c->b->finish(NULL);
    return rows;
}

static inline Rows case_rows(Case *c, int64_t count, int64_t columns) {
    return case_rows_of(c, c->rows, count, columns);
}

// With numbers in their padding.
static inline Rows case_dirty_rows_of(Case *c, RowsType type, int64_t count, int64_t columns) {
    Rows rows = case_rows_of(c, type, count, rows_stride(columns));
    rows.columns = columns;
    return rows;
}

static inline Rows case_dirty_rows(Case *c, int64_t count, int64_t columns) {
    return case_dirty_rows_of(c, c->rows, count, columns);
}

static inline DeviceInt32 *case_int32s(Case *c, int64_t count, int64_t from, int32_t below) {
    FREED int32_t *host = ALLOC(int32_t, count + 1, "test");
    for (int64_t i = 0; i < count; i++)
        host[i] = (int32_t)(from + case_random(c) % (uint32_t)below);
    return uploaded(c, host, (size_t)count * sizeof *host);
}

static inline DeviceByte *case_small_bytes(Case *c, int64_t count, unsigned below) {
    FREED unsigned char *host = ALLOC(unsigned char, count + 1, "test");
    for (int64_t i = 0; i < count; i++)
        host[i] = (unsigned char)(case_random(c) % below);
    return uploaded(c, host, (size_t)count);
}

static inline DeviceInt64 *case_ids(Case *c, int64_t count) {
    FREED int64_t *host = ALLOC(int64_t, count + 1, "test");
    for (int64_t i = 0; i < count; i++)
        host[i] = i % 5 == 4 ? -1 - i : i * 1000003; // a partial sum's id is below 0
    return uploaded(c, host, (size_t)count * sizeof *host);
}

// ---- far rows: the same rows, as the last ones of very many. What lies in front of them is
// nobody's memory, so an operation that computes their places in too few bits reads or writes
// elsewhere.

static inline DeviceFloat *far_floats(const Case *c, const DeviceFloat *at, int64_t of_a_row) {
    return at == NULL ? NULL : flat_at(at, -c->far * of_a_row);
}
static inline Rows far_rows(const Case *c, Rows rows) {
    int64_t bytes = c->far * rows.stride * (int64_t)rows_number(rows.type);
    rows.at = (DeviceFloat *)byte_at((DeviceByte *)rows.at, -bytes);
    rows.count += c->far;
    return rows;
}
static inline Range far_range(const Case *c, Range range) {
    return (Range){c->far + range.begin, c->far + range.end};
}
static inline DeviceInt64 *far_ids(const Case *c, const DeviceInt64 *at) {
    return int64_at(at, -c->far);
}
static inline DeviceByte *far_bytes(const Case *c, const DeviceByte *at, int64_t of_a_row) {
    return byte_at(at, -c->far * of_a_row);
}

// ---- results

static inline void case_put(Case *c, const void *host, size_t bytes) {
    unsigned char *all = memory_alloc(c->out_bytes + bytes, "test");
    if (c->out_bytes > 0)
        memcpy(all, c->out, c->out_bytes);
    if (bytes > 0)
        memcpy(all + c->out_bytes, host, bytes);
    memory_free(c->out);
    c->out = all;
    c->out_bytes += bytes;
}

static inline void *case_downloaded(Case *c, const void *device, size_t bytes) {
    void *host = memory_alloc(bytes, "test");
    c->b->finish(NULL);
    c->b->download(host, device, bytes);
    c->b->finish(NULL);
    return host;
}

static inline void case_keep(Case *c, const void *device, size_t bytes) {
    FREED void *host = case_downloaded(c, device, bytes);
    case_put(c, host, bytes);
}

// With their padding; those of bf16 as the floats that they are.
static inline void case_keep_rows(Case *c, Rows rows) {
    if (rows.type == ROWS_FP32)
        return case_keep(c, rows.at, rows_size(rows));
    const int64_t count = rows.count * rows.stride;
    c->rounded = true;
    FREED uint16_t *half = case_downloaded(c, rows.at, rows_size(rows));
    FREED uint32_t *bits = ALLOC(uint32_t, count, "test");
    for (int64_t i = 0; i < count; i++)
        bits[i] = (uint32_t)half[i] << 16;
    case_put(c, bits, (size_t)count * sizeof *bits);
}

static inline void case_clear(Case *c) {
    while (c->blocks > 0)
        c->b->free(c->block[--c->blocks]);
    memory_free(c->out);
    c->out = NULL;
    c->out_bytes = 0;
}

// The range that a variant names: all rows, or a piece of them.
static inline Range range_of(const Case *c, int64_t rows) {
    return c->variant % 2 == 0 ? (Range){0, rows} : (Range){rows / 3, rows - rows / 4};
}
