// Monotonic seconds, and the sum of seconds per kind of work.

#include "fringe/base/clock.h"
#include "fringe/base/trace.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

const char *const span_names[SPAN_KINDS] = {
    [SPAN_AGGREGATE_OWN] = "aggregate_own",
    [SPAN_AGGREGATE_HALO] = "aggregate_halo",
    [SPAN_DENSE] = "dense",
    [SPAN_POINTWISE] = "pointwise",
    [SPAN_PACK] = "pack",
    [SPAN_UNPACK] = "unpack",
    [SPAN_WAIT] = "wait",
    [SPAN_REDUCE] = "reduce",
};

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void span_begin(Spans *spans) {
    if (spans == NULL)
        return;
    assert(spans->opened == 0);
    spans->opened = clock_seconds();
}

void span_end(Spans *spans, SpanKind kind) {
    if (spans == NULL)
        return;
    assert(spans->opened != 0);
    double now = clock_seconds();
    spans->seconds[kind] += now - spans->opened;
    trace_add(spans->trace,
              (TraceEvent){
                  .begin = spans->opened, .end = now, .kind = TRACE_SPAN, .span = (int16_t)kind});
    spans->opened = 0;
}

void spans_reset(Spans *spans) {
    if (spans != NULL)
        memset(spans->seconds, 0, sizeof spans->seconds);
}

void spans_place(Spans *spans, int layer, int direction) {
    if (spans == NULL || spans->trace == NULL)
        return;
    spans->trace->layer = (int16_t)layer;
    spans->trace->direction = (int16_t)direction;
}
