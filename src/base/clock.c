// Monotonic seconds, and the sum of seconds per kind of work.

#include "fringe/base/clock.h"

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
    if (spans != NULL)
        spans->opened = clock_seconds();
}

void span_end(Spans *spans, SpanKind kind) {
    if (spans != NULL)
        spans->seconds[kind] += clock_seconds() - spans->opened;
}

void spans_reset(Spans *spans) {
    if (spans != NULL)
        memset(spans, 0, sizeof *spans);
}
