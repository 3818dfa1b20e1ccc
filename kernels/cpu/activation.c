// Activations by themselves (kernels/activations.h), and the maximum of sets of rows.
#include "../activations.h"
#include "cpu.h"
#include <omp.h>

enum { PANEL_ROWS = 128 };

typedef struct RowsCall {
    CpuRows out, x;
    unsigned char *which; // [N, stride]
    int word;             // an Activation, or a place
    float slope;
} RowsCall;
typedef void EachRow(const RowsCall *call, int64_t r);

static void each_row(EachRow *row, const RowsCall *call, Range range, const Poll *poll) {
#pragma omp parallel
    {
        Pace pace = pace_start(poll);
#pragma omp for schedule(static)
        for (int64_t begin = range.begin; begin < range.end; begin += PANEL_ROWS) {
            int64_t end = begin + PANEL_ROWS < range.end ? begin + PANEL_ROWS : range.end;
            for (int64_t r = begin; r < end; r++)
                row(call, r);
            if (omp_get_thread_num() == 0)
                pace_call(&pace);
        }
    }
}

static RowsCall call_of(Rows out, Rows x, int word) {
    assert(out.columns == x.columns && out.stride == x.stride);
    return (RowsCall){.out = cpu_rows(out), .x = cpu_rows(x), .word = word};
}

static void activate_row(const RowsCall *call, int64_t r) {
    const float *u = call->x.at + r * call->x.stride;
    float *out = call->out.at + r * call->out.stride;
    for (int64_t c = 0; c < call->x.columns; c++)
        out[c] = activation_of(call->word, call->slope, u[c]);
}

void cpu_activate(Rows out, Range range, Rows u, uint8_t function, float slope, const Poll *poll) {
    RowsCall call = call_of(out, u, function);
    call.slope = slope;
    each_row(activate_row, &call, range, poll);
}

static void activate_back_row(const RowsCall *call, int64_t r) {
    const float *u = call->x.at + r * call->x.stride;
    float *d = call->out.at + r * call->out.stride;
    for (int64_t c = 0; c < call->x.columns; c++)
        d[c] = d[c] * activation_slope(call->word, call->slope, u[c]);
}

void cpu_activate_back(Rows d, Range range, Rows u, uint8_t function, float slope,
                       const Poll *poll) {
    RowsCall call = call_of(d, u, function);
    call.slope = slope;
    each_row(activate_back_row, &call, range, poll);
}

static void larger_row(const RowsCall *call, int64_t r) {
    const float *x = call->x.at + r * call->x.stride;
    float *out = call->out.at + r * call->out.stride;
    unsigned char *which = call->which + r * call->out.stride;
    for (int64_t c = 0; c < call->x.columns; c++)
        if (call->word == 0 || x[c] > out[c]) {
            out[c] = x[c];
            which[c] = (unsigned char)call->word;
        }
}

void cpu_take_larger(Rows out, DeviceByte *which, Range range, Rows x, uint8_t place,
                     const Poll *poll) {
    RowsCall call = call_of(out, x, place);
    call.which = cpu_bytes(which);
    each_row(larger_row, &call, range, poll);
}

static void chosen_row(const RowsCall *call, int64_t r) {
    const float *g = call->x.at + r * call->x.stride;
    float *out = call->out.at + r * call->out.stride;
    const unsigned char *which = call->which + r * call->out.stride;
    for (int64_t c = 0; c < call->x.columns; c++)
        if (which[c] == call->word)
            out[c] = out[c] + g[c];
}

void cpu_add_chosen(Rows out, Range range, Rows g, const DeviceByte *which, uint8_t place,
                    const Poll *poll) {
    RowsCall call = call_of(out, g, place);
    call.which = cpu_bytes(which);
    each_row(chosen_row, &call, range, poll);
}
