// A residual that both ends have: what travels is the difference to what the reader has. It loops
// on the host, which only a test may do.
#pragma once

#include "device.h"
#include "fringe/codec.h"

static inline size_t difference_bytes(int64_t rows, int64_t columns, ResidualEnd end) {
    (void)end;
    return rows_bytes(rows, columns);
}

static inline void subtract_memory(const Backend *backend, DeviceByte *memory, Rows rows,
                                   ResidualStep step, const Poll *poll) {
    const float *known = (const float *)memory;
    (void)backend, (void)step, (void)poll;
    for (int64_t k = 0; k < rows.count * rows.stride; k++)
        floats(rows)[k] -= known[k];
}

static inline void add_to_memory(const Backend *backend, DeviceByte *memory, Rows rows,
                                 ResidualStep step, const Poll *poll) {
    float *known = (float *)memory;
    (void)backend, (void)step, (void)poll;
    for (int64_t k = 0; k < rows.count * rows.stride; k++)
        floats(rows)[k] = known[k] += floats(rows)[k];
}

static const Residual difference = {.name = "difference",
                                    .bytes = difference_bytes,
                                    .before_encode = subtract_memory,
                                    .after_encode = add_to_memory,
                                    .after_decode = add_to_memory};
