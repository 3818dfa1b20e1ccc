// Norms of columns (BatchNorm): sums over rows in double, and the rows from the sums of all ranks.
//
// Blocks of rows whose size is a function of their number alone are added in order, so the sums do
// not depend on threads.
#include "cells.h"

typedef struct Columns {
    CpuRows u;
    const float *middle, *factor; // NULL: xhat is u
} Columns;

CELLS_INLINE float xhat_at(const Columns *of, Cells u, int64_t c) {
    return of->middle != NULL ? (cell(u, c) - of->middle[c]) * of->factor[c] : cell(u, c);
}

int64_t cpu_column_products_scratch(int64_t rows, int64_t columns) {
    return 2 * columns * column_blocks(rows);
}

CELLS_INLINE void add_block(double *part, const Columns *of, CpuRows g, int64_t begin, int64_t end,
                            RowsType type) {
    int64_t columns = g.columns;
    for (int64_t c = 0; c < 2 * columns; c++)
        part[c] = 0;
    for (int64_t r = begin; r < end; r++) {
        Cells d = row_cells(g, r, type), u = row_cells(of->u, r, type);
        for (int64_t c = 0; c < columns; c++) {
            part[c] += (double)cell(d, c);
            part[columns + c] += (double)cell(d, c) * (double)xhat_at(of, u, c);
        }
    }
}

void cpu_column_products(DeviceDouble *sums, Rows g, Rows u, const DeviceFloat *middle,
                         const DeviceFloat *factor, DeviceDouble *scratch, const Poll *poll) {
    const Columns of = {cpu_rows_of_any(u), floats_of(middle), floats_of(factor)};
    assert(g.type == u.type);
    int64_t block = column_block(g.count), blocks = column_blocks(g.count), both = 2 * g.columns;
    double *part = doubles_of(scratch), *sum = doubles_of(sums);
    (void)poll; // short: one look at the rows
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++)
        EACH_TYPE(g.type, add_block, part + b * both, &of, cpu_rows_of_any(g), b * block,
                  least((b + 1) * block, g.count));
    for (int64_t c = 0; c < both; c++) {
        sum[c] = 0;
        for (int64_t b = 0; b < blocks; b++)
            sum[c] += part[b * both + c];
    }
}

CELLS_INLINE void norm_row(CpuRows to, int64_t r, const Columns *of, const float *scale,
                           const float *shift, RowsType type) {
    Cells out = row_cells(to, r, type), u = row_cells(of->u, r, type);
    for (int64_t c = 0; c < to.columns; c++)
        cell_set(out, c, xhat_at(of, u, c) * scale[c] + shift[c]);
}

void cpu_norm_columns(Rows out, Range range, Rows u, const DeviceFloat *middle,
                      const DeviceFloat *factor, const DeviceFloat *gamma, const DeviceFloat *beta,
                      UNUSED const Poll *poll) {
    const Columns of = {cpu_rows_of_any(u), floats_of(middle), floats_of(factor)};
    const CpuRows to = cpu_rows_of_any(out);
    assert(out.type == u.type);
#pragma omp parallel for schedule(static)
    for (int64_t r = range.begin; r < range.end; r++)
        EACH_TYPE(to.type, norm_row, to, r, &of, floats_of(gamma), floats_of(beta));
}

// of_d: the means of g, and behind them those of g times xhat.
CELLS_INLINE void norm_row_back(CpuRows to, int64_t r, const Columns *of, const float *scale,
                                const float *of_d, RowsType type) {
    Cells d = row_cells(to, r, type), u = row_cells(of->u, r, type);
    for (int64_t c = 0; c < to.columns; c++) {
        float xhat = xhat_at(of, u, c);
        cell_set(d, c,
                 (scale[c] * of->factor[c]) * (cell(d, c) - of_d[c] - xhat * of_d[to.columns + c]));
    }
}

void cpu_norm_columns_back(Rows d, Rows u, const DeviceFloat *middle, const DeviceFloat *factor,
                           const DeviceFloat *gamma, const DeviceFloat *mean,
                           UNUSED const Poll *poll) {
    const Columns of = {cpu_rows_of_any(u), floats_of(middle), floats_of(factor)};
    const CpuRows to = cpu_rows_of_any(d);
    assert(d.type == u.type);
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < to.count; r++)
        EACH_TYPE(to.type, norm_row_back, to, r, &of, floats_of(gamma), floats_of(mean));
}
