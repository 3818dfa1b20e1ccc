// out[r] += bias: for layers whose aggregate is the last thing that happens to a row (transform
// first), where no dense product is left to add the bias while the row is in the cache.
#include "cells.h"

enum { PANEL_ROWS = 512 }; // rows between polls

CELLS_INLINE void add_to_panel(CpuRows out, int64_t begin, int64_t end, const float *bias,
                               RowsType type) {
    for (int64_t r = begin; r < end; r++) {
        Cells row = row_cells(out, r, type);
        for (int64_t c = 0; c < out.columns; c++)
            cell_set(row, c, cell(row, c) + bias[c]);
    }
}

void cpu_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *poll) {
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static)
    for (int64_t r = range.begin; r < range.end; r += PANEL_ROWS) {
        int64_t end = r + PANEL_ROWS < range.end ? r + PANEL_ROWS : range.end;
        EACH_TYPE(out.type, add_to_panel, cpu_rows_of_any(out), r, end, cpu_floats(bias));
        pace_call(&pace);
    }
}
