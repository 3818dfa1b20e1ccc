// Sums of two sets of rows with a factor for each row: GIN's self term, the diagonal of rows that
// came before post, what residuals remember. And the sum of all products of two sets of rows: the
// gradient of GIN's factor.
#include "cells.h"

enum {
    PANEL_ROWS = 512,
    BLOCKS = 256,
    PARALLEL = 1 << 15 // floats below which one thread is quicker than starting the others
};

static float factor_of(RowFactor factor, int64_t r) {
    if (factor.at == NULL)
        return factor.plain;
    return factor.plain + factor.times * cpu_floats(factor.at)[factor.each ? r : 0];
}

CELLS_INLINE void add_cells(Cells out, float p, Cells a, float q, Cells x, int64_t columns) {
    if (p == 0)
        for (int64_t c = 0; c < columns; c++)
            cell_set(out, c, q * cell(x, c));
    else
        for (int64_t c = 0; c < columns; c++)
            cell_set(out, c, p * cell(a, c) + q * cell(x, c));
}

// Types mix where a sum in fp32 is rounded, or enters rows of bf16.
static void add_row(CpuRows out, float p, CpuRows a, float q, CpuRows x, int64_t r) {
    const RowsType bf16 = ROWS_BF16, fp32 = ROWS_FP32;
    const int64_t columns = out.columns;
    const unsigned types = out.type * 4 + a.type * 2 + x.type;
#define CASE(out_type, a_type, x_type)                                                             \
    case (out_type)*4 + (a_type)*2 + (x_type):                                                     \
        add_cells(row_cells(out, r, out_type), p, row_cells(a, r, a_type), q,                      \
                  row_cells(x, r, x_type), columns);                                               \
        break
    switch (types) {
        CASE(fp32, fp32, fp32);
        CASE(bf16, bf16, bf16);
        CASE(bf16, bf16, fp32);
    default:
        assert(!"rows of these types");
    }
#undef CASE
}

void cpu_add_scaled(Rows out, Range range, RowFactor p, Rows a, RowFactor q, Rows x,
                    const Poll *poll) {
    const CpuRows to = cpu_rows_of_any(out), from = cpu_rows_of_any(a), added = cpu_rows_of_any(x);
    assert(out.columns == x.columns && out.columns == a.columns);
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static) if ((range.end - range.begin) * out.columns > PARALLEL)
    for (int64_t begin = range.begin; begin < range.end; begin += PANEL_ROWS) {
        int64_t end = begin + PANEL_ROWS < range.end ? begin + PANEL_ROWS : range.end;
        for (int64_t r = begin; r < end; r++)
            add_row(to, factor_of(p, r), from, factor_of(q, r), added, r);
        pace_call(&pace);
    }
}

void cpu_message_add_scaled(Rows out, RowFactor p, Rows a, RowFactor q, Rows x, const Poll *poll) {
    cpu_add_scaled(out, (Range){0, out.count}, p, a, q, x, poll);
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

// In at most 256 blocks of rows whose size is a function of their number alone, added in order.
void cpu_dot(DeviceFloat *out, Rows x, Rows y) {
    assert(x.count == y.count && x.columns == y.columns && x.stride == y.stride);
    assert(x.type == y.type);
    int64_t block = (x.count + BLOCKS - 1) / BLOCKS;
    block = block < 64 ? 64 : block;
    double part[BLOCKS] = {0}, sum = 0;
#pragma omp parallel for schedule(static)
    for (int64_t begin = 0; begin < x.count; begin += block)
        part[begin / block] = EACH_TYPE(x.type, dot_rows, cpu_rows_of_any(x), cpu_rows_of_any(y),
                                        begin, begin + block < x.count ? begin + block : x.count);
    for (int b = 0; b < BLOCKS; b++)
        sum += part[b];
    *(float *)out = (float)sum;
}
