// Sums of products in double: of two sets of rows (the gradient of GIN's factor), of squares (what
// gradient clipping needs), and how far rows have moved since they were sent last.
#include "sums.h"
#include "cells.h"

double sum_of_parts(SumPart *part, const void *of, int64_t terms, int64_t least_block) {
    const int64_t block = sum_block(terms, least_block), blocks = divide_up(terms, block);
    double some[SUM_PARTS], sum = 0;
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < blocks; b++)
        some[b] = part(of, b * block, least((b + 1) * block, terms));
    for (int64_t b = 0; b < blocks; b++)
        sum += some[b];
    return sum;
}

// Products of 16 columns side by side, added as a tree at the end.
CELLS_INLINE double dot_rows(CpuRows x, CpuRows y, int64_t begin, int64_t end, RowsType type) {
    double lane[16] = {0};
    for (int64_t r = begin; r < end; r++) {
        Cells a = row_cells(x, r, type), b = row_cells(y, r, type);
        for (int64_t c = 0; c < x.stride; c += 16)
            for (int l = 0; l < 16; l++)
                lane[l] += (double)cell(a, c + l) * (double)cell(b, c + l);
    }
    return lanes_sum(lane);
}

static double dot_part(const void *of, int64_t begin, int64_t end) {
    const CpuRows *two = (const CpuRows *)of;
    return EACH_TYPE(two->type, dot_rows, two[0], two[1], begin, end);
}

void cpu_dot(DeviceFloat *out, Rows x, Rows y) {
    assert(x.count == y.count && x.columns == y.columns && x.stride == y.stride);
    assert(x.type == y.type);
    const CpuRows two[] = {cpu_rows_of_any(x), cpu_rows_of_any(y)};
    *floats_of(out) = (float)sum_of_parts(dot_part, two, x.count, LEAST_ROWS);
}

void cpu_square_sum(DeviceDouble *out, const DeviceFloat *x, int64_t count) {
    *doubles_of(out) = sum_of_parts(LANES_PICK(square_sum), x, count, LEAST_FLOATS);
}

void cpu_message_distance(DeviceDouble *two, const DeviceFloat *a, const DeviceFloat *b,
                          int64_t count, const Poll *poll) {
    const int64_t block = sum_block(count, LEAST_FLOATS), blocks = divide_up(count, block);
    double some[SUM_PARTS][2], *sum = doubles_of(two);
    DistancePart *part = LANES_PICK(distance);
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static) if (blocks > 8)
    for (int64_t i = 0; i < blocks; i++) {
        part(some[i], floats_of(a), floats_of(b), i * block, least((i + 1) * block, count));
        pace_call(&pace);
    }
    sum[0] = sum[1] = 0;
    for (int64_t i = 0; i < blocks; i++) {
        sum[0] += some[i][0];
        sum[1] += some[i][1];
    }
}
