// Time. Monotonic seconds, and where they went: a Spans adds up the seconds of named kinds of work.
#ifndef FRINGE_BASE_CLOCK_H
#define FRINGE_BASE_CLOCK_H

// Seconds on a monotonic clock.
double clock_seconds(void);

// What a moment of an epoch was spent on.
typedef enum SpanKind {
    SPAN_AGGREGATE_OWN,  // own part of the sparse aggregate
    SPAN_AGGREGATE_HALO, // halo part
    SPAN_DENSE,          // dense products
    SPAN_POINTWISE,      // bias, norm, activation, dropout, loss, optimizer
    SPAN_PACK,           // rows to bytes
    SPAN_UNPACK,         // bytes to rows
    SPAN_WAIT,           // waiting for messages: what no computation covered
    SPAN_REDUCE,         // weight gradients and metrics between ranks
    SPAN_KINDS
} SpanKind;

struct Trace;
typedef struct Spans {
    double seconds[SPAN_KINDS];
    double opened;       // clock_seconds() of span_begin; 0: none is open
    struct Trace *trace; // keeps every span (trace.h); borrowed, may be NULL
} Spans;

extern const char *const span_names[SPAN_KINDS];

// A span is opened and closed by the same thread, one at a time. NULL: nothing is recorded.
void span_begin(Spans *spans);
void span_end(Spans *spans, SpanKind kind);
void spans_reset(Spans *spans); // the seconds
// Which layer and direction the spans that follow belong to; -1: none.
void spans_place(Spans *spans, int layer, int direction);

#endif
