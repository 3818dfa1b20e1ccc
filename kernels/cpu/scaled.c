// Rows plus a multiple of other rows, rows times a number each, and the sum of all products of two
// sets of rows: GIN's self term, the diagonal of rows that came before post, and the gradient of
// GIN's factor.
#include "cpu.h"
#include <omp.h>

enum { PANEL_ROWS = 512, BLOCKS = 256 };

static void add_to_row(float *out, const float *a, const float *x, float scalar, int64_t columns) {
    for (int64_t c = 0; c < columns; c++)
        out[c] = a[c] + scalar * x[c];
}

void cpu_add_scaled(Rows out_rows, Range range, Rows a_rows, Rows x_rows, const DeviceFloat *scalar,
                    const Poll *poll) {
    CpuRows out = cpu_rows(out_rows), a = cpu_rows(a_rows), x = cpu_rows(x_rows);
    const float factor = *(const float *)scalar;
    assert(out.columns == x.columns && out.columns == a.columns);
#pragma omp parallel
    {
        Pace pace = pace_start(poll);
#pragma omp for schedule(static)
        for (int64_t begin = range.begin; begin < range.end; begin += PANEL_ROWS) {
            int64_t end = begin + PANEL_ROWS < range.end ? begin + PANEL_ROWS : range.end;
            for (int64_t r = begin; r < end; r++)
                add_to_row(out.at + r * out.stride, a.at + r * a.stride, x.at + r * x.stride,
                           factor, out.columns);
            if (omp_get_thread_num() == 0)
                pace_call(&pace);
        }
    }
}

static void scale_panel(CpuRows x, int64_t begin, int64_t end, const float *factor) {
    for (int64_t r = begin; r < end; r++)
        for (int64_t c = 0; c < x.columns; c++)
            x.at[r * x.stride + c] *= factor[r];
}

void cpu_scale_rows(Rows x, Range range, const DeviceFloat *factor, const Poll *poll) {
#pragma omp parallel
    {
        Pace pace = pace_start(poll);
#pragma omp for schedule(static)
        for (int64_t begin = range.begin; begin < range.end; begin += PANEL_ROWS) {
            int64_t end = begin + PANEL_ROWS < range.end ? begin + PANEL_ROWS : range.end;
            scale_panel(cpu_rows(x), begin, end, cpu_floats(factor));
            if (omp_get_thread_num() == 0)
                pace_call(&pace);
        }
    }
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
