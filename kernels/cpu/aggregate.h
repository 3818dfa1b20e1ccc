// What aggregate.c (plans, panels, threads) hands to aggregate_lanes.c (vectors): one task over a
// block of rows.
#pragma once

#include "cpu.h"

// Row k adds the edges begin[k] .. end[k] - 1 and is row `row[k]` of out (row NULL: k):
//   out[i] = left[i] * ( start + sum_e weight[e] * (right[column[e]] * x[column[e]]) )
// start is out[i] itself if `resume`, else right[i] x[i] if `self`, else 0.
// Sums are fp32, and rounded once where `out` is bf16.
typedef struct AggregateTask {
    CpuRows out, x;  // the version of a function is that of x.type
    int64_t columns; // floats to make: a multiple of 16
    const int64_t *begin, *end;
    const int32_t *row, *column;
    const float *weight, *left, *right; // NULL: all 1
    bool self, resume;
    int ahead; // edges between a prefetch and its use
} AggregateTask;

// The prefetch distance for rows of that many floats: some KiB under way, so narrow rows look
// further.
static inline int aggregate_ahead(int64_t columns) {
    return columns >= 256 ? 12 : columns >= 64 ? 16 : 24;
}

// Rows first .. last - 1 of a task, all its columns.
typedef void AggregateBlock(const AggregateTask *task, int64_t first, int64_t last);

// to[r] (tight rows of `width` numbers) = scale[r] * from[r] (rows of `stride`), r in begin .. end
// - 1; a copy of bf16, and where scale is NULL.
typedef void AggregateCopy(void *to, int64_t width, const void *from, int64_t stride,
                           const float *scale, int64_t begin, int64_t end);
#define AGGREGATE_LANES(lanes)                                                                     \
    AggregateBlock aggregate_block_##lanes;                                                        \
    AggregateCopy aggregate_copy_##lanes;
EACH_ROWS_LANES(AGGREGATE_LANES)
#undef AGGREGATE_LANES

// `numbers` further on in rows of that type.
static inline void *numbers_on(const void *at, int64_t numbers, RowsType type) {
    return (char *)at + numbers * (int64_t)rows_number(type);
}
