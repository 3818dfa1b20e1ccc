// Norms of columns (BatchNorm): sums over rows in double, and the rows from the sums of all ranks.
//
// Blocks of rows whose size is a function of their number alone are added in order, so the sums do
// not depend on threads.
#include "cpu.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t block_rows(int64_t rows) { return rows < 16384 ? 64 : 512; }

typedef struct Columns {
    CpuRows u;
    const float *middle, *factor; // NULL: xhat is u
} Columns;

static float xhat_at(const Columns *of, const float *u, int64_t c) {
    return of->middle != NULL ? (u[c] - of->middle[c]) * of->factor[c] : u[c];
}

int64_t cpu_column_products_scratch(int64_t rows, int64_t columns) {
    return 2 * columns * ((rows + block_rows(rows) - 1) / block_rows(rows));
}

static void sum_block(double *part, const Columns *of, CpuRows g, int64_t begin, int64_t end) {
    int64_t columns = g.columns;
    for (int64_t c = 0; c < 2 * columns; c++)
        part[c] = 0;
    for (int64_t r = begin; r < end; r++) {
        const float *d = g.at + r * g.stride, *u = of->u.at + r * of->u.stride;
        for (int64_t c = 0; c < columns; c++) {
            part[c] += (double)d[c];
            part[columns + c] += (double)d[c] * (double)xhat_at(of, u, c);
        }
    }
}

void cpu_column_products(DeviceDouble *sums, Rows g, Rows u, const DeviceFloat *middle,
                         const DeviceFloat *factor, DeviceDouble *scratch, const Poll *poll) {
    const Columns of = {cpu_rows(u), cpu_floats(middle), cpu_floats(factor)};
    int64_t block = block_rows(g.count), blocks = (g.count + block - 1) / block;
    int64_t both = 2 * g.columns;
    double *part = cpu_doubles(scratch), *sum = cpu_doubles(sums);
    (void)poll; // short: one look at the rows
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++)
        sum_block(part + b * both, &of, cpu_rows(g), b * block, least((b + 1) * block, g.count));
    for (int64_t c = 0; c < both; c++) {
        sum[c] = 0;
        for (int64_t b = 0; b < blocks; b++)
            sum[c] += part[b * both + c];
    }
}

void cpu_norm_columns(Rows out, Range range, Rows u, const DeviceFloat *middle,
                      const DeviceFloat *factor, const DeviceFloat *gamma, const DeviceFloat *beta,
                      const Poll *poll) {
    const Columns of = {cpu_rows(u), cpu_floats(middle), cpu_floats(factor)};
    const CpuRows to = cpu_rows(out);
    const float *scale = cpu_floats(gamma), *shift = cpu_floats(beta);
    (void)poll;
#pragma omp parallel for schedule(static)
    for (int64_t r = range.begin; r < range.end; r++)
        for (int64_t c = 0; c < to.columns; c++)
            to.at[r * to.stride + c] =
                xhat_at(&of, of.u.at + r * of.u.stride, c) * scale[c] + shift[c];
}

void cpu_norm_columns_back(Rows d, Rows u, const DeviceFloat *middle, const DeviceFloat *factor,
                           const DeviceFloat *gamma, const DeviceFloat *mean, const Poll *poll) {
    const Columns of = {cpu_rows(u), cpu_floats(middle), cpu_floats(factor)};
    const CpuRows to = cpu_rows(d);
    const float *scale = cpu_floats(gamma), *of_d = cpu_floats(mean), *of_both = of_d + d.columns;
    (void)poll;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < to.count; r++)
        for (int64_t c = 0; c < to.columns; c++) {
            float *at = to.at + r * to.stride + c;
            float xhat = xhat_at(&of, of.u.at + r * of.u.stride, c);
            *at = (scale[c] * of.factor[c]) * (*at - of_d[c] - xhat * of_both[c]);
        }
}
