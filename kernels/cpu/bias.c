// out[r] += bias: for layers whose aggregate is the last thing that happens to a row (transform
// first), where no dense product is left to add the bias while the row is in the cache.
#include "cpu.h"
#include <omp.h>

enum { PANEL_ROWS = 512 }; // rows between polls

static void add_to_panel(CpuRows out, int64_t begin, int64_t end, const float *bias) {
    for (int64_t r = begin; r < end; r++) {
        float *row = out.at + r * out.stride;
        for (int64_t c = 0; c < out.columns; c++)
            row[c] += bias[c];
    }
}

void cpu_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *poll) {
#pragma omp parallel
    {
        Pace pace = pace_start(poll);
#pragma omp for schedule(static)
        for (int64_t r = range.begin; r < range.end; r += PANEL_ROWS) {
            add_to_panel(cpu_rows(out), r, r + PANEL_ROWS < range.end ? r + PANEL_ROWS : range.end,
                         cpu_floats(bias));
            if (omp_get_thread_num() == 0)
                pace_call(&pace);
        }
    }
}
