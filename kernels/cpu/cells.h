// Rows of any type for plain loops. A loop is a function of the type that is inlined at each place
// it is called from (CELLS_INLINE), once with each type, so that it has no question inside.
#pragma once

#include "../bf16.h"
#include "cpu.h"

#define CELLS_INLINE static inline __attribute__((always_inline))

// A row of numbers of that type.
typedef struct Cells {
    void *at;
    RowsType type;
} Cells;

CELLS_INLINE Cells row_cells(CpuRows rows, int64_t r, RowsType type) {
    return (Cells){(char *)rows.at + r * rows.stride * (int64_t)rows_number(type), type};
}

CELLS_INLINE float cell(Cells row, int64_t c) {
    if (row.type == ROWS_FP32)
        return ((const float *)row.at)[c];
    return float_of_bits((uint32_t)((const uint16_t *)row.at)[c] << 16);
}

CELLS_INLINE void cell_set(Cells row, int64_t c, float value) {
    if (row.type == ROWS_FP32)
        ((float *)row.at)[c] = value;
    else
        ((uint16_t *)row.at)[c] = (uint16_t)bf16_flushed(float_bits(value));
}

// `of` is a function whose last argument is a type, here a constant.
#define EACH_TYPE(type, of, ...)                                                                   \
    ((type) == ROWS_BF16 ? of(__VA_ARGS__, ROWS_BF16) : of(__VA_ARGS__, ROWS_FP32))
