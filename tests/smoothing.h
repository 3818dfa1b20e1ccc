// A residual that only the reader has: rows are the mean of what arrives and what they were. It
// loops on the host, which only a test may do.
#pragma once

#include "device.h"
#include "fringe/codec.h"

static inline size_t smoothing_bytes(int64_t rows, int64_t columns, ResidualEnd end) {
    return end == RESIDUAL_READER ? rows_bytes(rows, columns) : 0;
}

// rows = memory = memory / 2 + rows / 2
static inline void smooth(const Backend *backend, DeviceByte *memory, Rows rows, ResidualStep step,
                          const Poll *poll) {
    float *known = (float *)memory;
    (void)backend, (void)step, (void)poll;
    for (int64_t k = 0; k < rows.count * rows.stride; k++)
        floats(rows)[k] = known[k] = 0.5F * known[k] + 0.5F * floats(rows)[k];
}

static const Residual smoothing = {
    .name = "smoothing", .bytes = smoothing_bytes, .after_decode = smooth};
