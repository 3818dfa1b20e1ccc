// What the kernels of the CPU and of CUDA devices have in common beside arithmetic: numbers as they
// lie in a device's memory, what an operation's arguments say of a row, and how sums are cut.
#pragma once

#include "fringe/backend.h"
#include "host_device.h"

// Numbers of a device, for its own code.
HOST_DEVICE static inline float *floats_of(const DeviceFloat *at) { return (float *)at; }
HOST_DEVICE static inline double *doubles_of(const DeviceDouble *at) { return (double *)at; }
HOST_DEVICE static inline int32_t *int32s_of(const DeviceInt32 *at) { return (int32_t *)at; }
HOST_DEVICE static inline int64_t *int64s_of(const DeviceInt64 *at) { return (int64_t *)at; }
HOST_DEVICE static inline unsigned char *bytes_of(const DeviceByte *at) {
    return (unsigned char *)at;
}

HOST_DEVICE static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
HOST_DEVICE static inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

HOST_DEVICE static inline float factor_at(RowFactor factor, int64_t r) {
    if (factor.at == NULL)
        return factor.plain;
    return factor.plain + factor.times * floats_of(factor.at)[factor.each ? r : 0];
}

// Of row r of what a message is made of, by its number in [own rows | partial aggregates].
HOST_DEVICE static inline float message_scale(const MessageSource *source, int64_t r) {
    return source->scale != NULL && r < source->x.count ? floats_of(source->scale)[r] : 1.0f;
}
HOST_DEVICE static inline int message_peer(const MessageSource *source, int64_t r) {
    return r < source->x.count ? source->peer : source->partial_peer;
}

// ---- sums whose order is fixed: those of blocks, whose size is a function of the number of terms
// alone, added in order

// In double, the terms of a block: at most SUM_PARTS blocks of `least_block` terms or more.
enum { SUM_PARTS = 256, LEAST_ROWS = 64, LEAST_FLOATS = 4096 };
static inline int64_t sum_block(int64_t terms, int64_t least_block) {
    const int64_t even = divide_up(terms, SUM_PARTS);
    return even < least_block ? least_block : even;
}
// Down columns, the rows of a block: 64, and 512 of many rows.
static inline int64_t column_block(int64_t rows) { return rows < 16384 ? 64 : 512; }
static inline int64_t column_blocks(int64_t rows) { return divide_up(rows, column_block(rows)); }
