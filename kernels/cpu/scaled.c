// Sums of two sets of rows with a factor for each row: GIN's self term, the diagonal of rows that
// came before post, what residuals remember.
#include "cells.h"

enum {
    PANEL_ROWS = 512,
    PARALLEL = 1 << 15 // floats below which one thread is quicker than starting the others
};

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
        for (int64_t r = begin; r < least(begin + PANEL_ROWS, range.end); r++)
            add_row(to, factor_at(p, r), from, factor_at(q, r), added, r);
        pace_call(&pace);
    }
}

void cpu_message_add_scaled(Rows out, RowFactor p, Rows a, RowFactor q, Rows x, const Poll *poll) {
    cpu_add_scaled(out, (Range){0, out.count}, p, a, q, x, poll);
}
