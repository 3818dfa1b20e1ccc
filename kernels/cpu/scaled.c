// Sums of two sets of rows with a factor for each row: GIN's self term, the diagonal of rows that
// came before post, what residuals remember. And the sum of all products of two sets of rows: the
// gradient of GIN's factor.
#include "cpu.h"
#include <omp.h>

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

static void add_row(float *out, float p, const float *a, float q, const float *x, int64_t columns) {
    if (p == 0)
        for (int64_t c = 0; c < columns; c++)
            out[c] = q * x[c];
    else
        for (int64_t c = 0; c < columns; c++)
            out[c] = p * a[c] + q * x[c];
}

void cpu_add_scaled(Rows out, Range range, RowFactor p, Rows a, RowFactor q, Rows x,
                    const Poll *poll) {
    const CpuRows to = cpu_rows(out), from = cpu_rows(a), added = cpu_rows(x);
    assert(out.columns == x.columns && out.columns == a.columns);
#pragma omp parallel if ((range.end - range.begin) * out.columns > PARALLEL)
    {
        Pace pace = pace_start(poll);
#pragma omp for schedule(static)
        for (int64_t begin = range.begin; begin < range.end; begin += PANEL_ROWS) {
            int64_t end = begin + PANEL_ROWS < range.end ? begin + PANEL_ROWS : range.end;
            for (int64_t r = begin; r < end; r++)
                add_row(to.at + r * to.stride, factor_of(p, r), from.at + r * from.stride,
                        factor_of(q, r), added.at + r * added.stride, to.columns);
            if (omp_get_thread_num() == 0)
                pace_call(&pace);
        }
    }
}

void cpu_message_add_scaled(Rows out, RowFactor p, Rows a, RowFactor q, Rows x, const Poll *poll) {
    cpu_add_scaled(out, (Range){0, out.count}, p, a, q, x, poll);
}

// Products of 16 columns side by side, added as a tree at the end.
static double dot_rows(CpuRows x, CpuRows y, int64_t begin, int64_t end) {
    double lane[16] = {0};
    for (int64_t r = begin; r < end; r++) {
        const float *a = x.at + r * x.stride, *b = y.at + r * y.stride;
        for (int64_t c = 0; c < x.stride; c += 16)
            for (int l = 0; l < 16; l++)
                lane[l] += (double)a[c + l] * (double)b[c + l];
    }
    for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

// In at most 256 blocks of rows whose size is a function of their number alone, added in order.
void cpu_dot(DeviceFloat *out, Rows x, Rows y) {
    assert(x.count == y.count && x.columns == y.columns && x.stride == y.stride);
    int64_t block = (x.count + BLOCKS - 1) / BLOCKS;
    block = block < 64 ? 64 : block;
    double part[BLOCKS] = {0}, sum = 0;
#pragma omp parallel for schedule(static)
    for (int64_t begin = 0; begin < x.count; begin += block)
        part[begin / block] = dot_rows(cpu_rows(x), cpu_rows(y), begin,
                                       begin + block < x.count ? begin + block : x.count);
    for (int b = 0; b < BLOCKS; b++)
        sum += part[b];
    *(float *)out = (float)sum;
}
