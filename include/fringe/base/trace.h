// When things happened: every span of some epochs, and messages from post to landing, with begin
// and end. Taken once, filled without taking memory; the clock of rank 0 on all ranks.
#ifndef FRINGE_BASE_TRACE_H
#define FRINGE_BASE_TRACE_H

#include "fringe/base/comm.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum TraceKind {
    TRACE_SPAN,    // span: a SpanKind, or SPAN_KINDS for an evaluation
    TRACE_POST,    // a message leaves for `peer`; begin == end
    TRACE_MESSAGE, // one from `peer`: from this rank's post to its landing here
} TraceKind;

typedef struct TraceEvent {
    double begin, end; // seconds on rank 0's clock
    int32_t epoch;
    int32_t peer; // of a message
    int16_t kind, span;
    int16_t layer, direction;
} TraceEvent;

typedef struct Trace {
    TraceEvent *event; // [room] owned
    int64_t count, room, lost;
    double offset; // added to clock_seconds()
    bool open;
    int32_t epoch;
    int16_t layer, direction; // of the spans that follow
} Trace;

// Takes the room and finds the offset of the clocks. Collective.
void trace_init(Trace *trace, const Comm *comm, int64_t room);
void trace_clear(Trace *trace);
// Keeps an event if the trace is open; counts it as lost where there is no room. NULL: nothing.
void trace_add(Trace *trace, TraceEvent event);
// All events on rank 0, by rank: offset [size + 1]; memory_give both. Collective.
TraceEvent *trace_gather(const Trace *trace, const Comm *comm, int64_t **offset);

#endif
