// Where the time of an epoch goes. A Timers adds up the seconds of named kinds of work. A Trace
// records events with begin and end: every span of some epochs, and messages from post to receipt.
// Its memory is allocated once, and all ranks use the clock of rank 0.
#pragma once

#include "fringe/base/comm.h"
#include "fringe/base/memory.h"

// Kinds of work in an epoch.
typedef enum TimerKind {
    TIMER_AGGREGATE_OWN,  // own part of the sparse aggregate
    TIMER_AGGREGATE_HALO, // halo part
    TIMER_DENSE,          // dense products
    TIMER_POINTWISE,      // bias, norm, activation, dropout, loss, optimizer
    TIMER_PACK,           // rows to bytes
    TIMER_UNPACK,         // bytes to rows
    TIMER_WAIT,           // waiting for messages that no computation hides
    TIMER_REDUCE,         // weight gradients and metrics between ranks
    TIMER_KINDS
} TimerKind;

typedef enum TraceKind {
    TRACE_SPAN,    // span: a TimerKind, or TIMER_KINDS for an evaluation
    TRACE_POST,    // a message is sent to `peer`; begin == end
    TRACE_MESSAGE, // a message from `peer`: from this rank's post to its receipt
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
} Trace;

typedef struct Timers {
    double seconds[TIMER_KINDS];
    double opened;        // clock_seconds() of timer_begin; 0: none is open
    int layer, direction; // of the work that follows; -1: none
    Trace *trace;         // keeps every span; borrowed, may be NULL
} Timers;

extern const char *const timer_names[TIMER_KINDS];

// Around work of the host, one pair at a time, by one thread. NULL: nothing is recorded. Work on a
// stream is timed by a StreamTimer (backend.h).
void timer_begin(Timers *timers);
void timer_end(Timers *timers, TimerKind kind);
// Adds work from `begin` to `end` (clock_seconds()).
void timers_add(Timers *timers, TimerKind kind, double begin, double end, int layer, int direction);
void timers_reset(Timers *timers); // the seconds
// Sets the layer and direction of the work that follows; -1: none.
void timers_place(Timers *timers, int layer, int direction);

// Allocates memory for `room` events, or only plans it if `plan` is not NULL. trace_init allocates
// it and measures the clock offset. Collective.
void trace_alloc(Trace *trace, MemoryForecast *forecast, int64_t room);
void trace_init(Trace *trace, const Comm *comm, int64_t room);
void trace_clear(Trace *trace);
// Records an event if the trace is open; counts it as lost if there is no room. NULL: does nothing.
void trace_add(Trace *trace, TraceEvent event);
// Gathers all events on rank 0, by rank: offset [size + 1]. Free both with memory_free. Collective.
TraceEvent *trace_gather(const Trace *trace, const Comm *comm, int64_t **offset);
