// Activations by themselves (kernels/activations.h), the maximum of sets of rows, and a bias for
// layers whose aggregate is the last thing that happens to a row (transform first), where no dense
// product is left to add it while the row is in the cache.
#include "../activations.h"
#include "cells.h"

enum { PANEL_ROWS = 128 };

typedef struct RowsCall {
    CpuRows out, x;
    unsigned char *which; // [N, stride]
    int word;             // an Activation, or a place
    float slope;
    const float *bias;
} RowsCall;
typedef void EachRow(const RowsCall *call, int64_t r, RowsType type);

CELLS_INLINE void each_row(EachRow *row, const RowsCall *call, Range range, const Poll *poll,
                           RowsType type) {
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static)
    for (int64_t begin = range.begin; begin < range.end; begin += PANEL_ROWS) {
        for (int64_t r = begin; r < least(begin + PANEL_ROWS, range.end); r++)
            row(call, r, type);
        pace_call(&pace);
    }
}

static RowsCall call_of(Rows out, Rows x, int word) {
    assert(out.columns == x.columns && out.stride == x.stride && out.type == x.type);
    return (RowsCall){.out = cpu_rows_of_any(out), .x = cpu_rows_of_any(x), .word = word};
}

CELLS_INLINE void activate_row(const RowsCall *call, int64_t r, RowsType type) {
    Cells u = row_cells(call->x, r, type), out = row_cells(call->out, r, type);
    for (int64_t c = 0; c < call->x.columns; c++)
        cell_set(out, c, activation_of(call->word, call->slope, cell(u, c)));
}

void cpu_activate(Rows out, Range range, Rows u, uint8_t function, float slope, const Poll *poll) {
    RowsCall call = call_of(out, u, function);
    call.slope = slope;
    EACH_TYPE(out.type, each_row, activate_row, &call, range, poll);
}

CELLS_INLINE void activate_back_row(const RowsCall *call, int64_t r, RowsType type) {
    Cells u = row_cells(call->x, r, type), d = row_cells(call->out, r, type);
    for (int64_t c = 0; c < call->x.columns; c++)
        cell_set(d, c, cell(d, c) * activation_slope(call->word, call->slope, cell(u, c)));
}

void cpu_activate_back(Rows d, Range range, Rows u, uint8_t function, float slope,
                       const Poll *poll) {
    RowsCall call = call_of(d, u, function);
    call.slope = slope;
    EACH_TYPE(d.type, each_row, activate_back_row, &call, range, poll);
}

CELLS_INLINE void larger_row(const RowsCall *call, int64_t r, RowsType type) {
    Cells x = row_cells(call->x, r, type), out = row_cells(call->out, r, type);
    unsigned char *which = call->which + r * call->out.stride;
    for (int64_t c = 0; c < call->x.columns; c++)
        if (call->word == 0 || cell(x, c) > cell(out, c)) {
            cell_set(out, c, cell(x, c));
            which[c] = (unsigned char)call->word;
        }
}

void cpu_take_larger(Rows out, DeviceByte *which, Range range, Rows x, uint8_t place,
                     const Poll *poll) {
    RowsCall call = call_of(out, x, place);
    call.which = bytes_of(which);
    EACH_TYPE(out.type, each_row, larger_row, &call, range, poll);
}

CELLS_INLINE void chosen_row(const RowsCall *call, int64_t r, RowsType type) {
    Cells g = row_cells(call->x, r, type), out = row_cells(call->out, r, type);
    const unsigned char *which = call->which + r * call->out.stride;
    for (int64_t c = 0; c < call->x.columns; c++)
        if (which[c] == call->word)
            cell_set(out, c, cell(out, c) + cell(g, c));
}

void cpu_add_chosen(Rows out, Range range, Rows g, const DeviceByte *which, uint8_t place,
                    const Poll *poll) {
    RowsCall call = call_of(out, g, place);
    call.which = bytes_of(which);
    EACH_TYPE(out.type, each_row, chosen_row, &call, range, poll);
}

CELLS_INLINE void bias_row(const RowsCall *call, int64_t r, RowsType type) {
    Cells out = row_cells(call->out, r, type);
    for (int64_t c = 0; c < call->x.columns; c++)
        cell_set(out, c, cell(out, c) + call->bias[c]);
}

void cpu_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *poll) {
    RowsCall call = call_of(out, out, 0);
    call.bias = floats_of(bias);
    EACH_TYPE(out.type, each_row, bias_row, &call, range, poll);
}
