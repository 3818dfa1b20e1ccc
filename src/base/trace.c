// Events of all ranks on one clock. Ranks on the same running kernel share a monotonic clock. Other
// offsets are measured as in network time protocols: the shortest round trip was most likely
// symmetric, so the other clock was read at its middle.

#include "fringe/base/trace.h"
#include "fringe/base/clock.h"
#include "fringe/base/file.h"

enum { ROUND_TRIPS = 32 };

// True if this rank runs on the same kernel as rank 0. Collective.
static bool same_clock(const Comm *comm) {
    char own[64] = "", first[64];
    CLEARED(stream_drop) FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL && fgets(own, sizeof own, file) == NULL)
        own[0] = 0;
    memcpy(first, own, sizeof first);
    comm_broadcast(comm, first, sizeof first, 0);
    return own[0] != 0 && memcmp(own, first, sizeof own) == 0;
}

// Rank 0's clock minus this rank's. Collective.
static double offset_to_first(const Comm *comm) {
    FREED double *all = ALLOC(double, comm->size, "clocks");
    double best = 1e30, offset = 0;
    for (int trip = 0; trip < ROUND_TRIPS; trip++) {
        double sent = clock_seconds();
        comm_all_gather(comm, &sent, all,
                        sizeof sent); // rank 0 continues when it has received this
        double turned = clock_seconds();
        comm_all_gather(comm, &turned, all, sizeof turned);
        double landed = clock_seconds();
        if (landed - sent < best) {
            best = landed - sent;
            offset = all[0] - (sent + landed) / 2;
        }
    }
    return same_clock(comm) ? 0 : offset;
}

void trace_alloc(Trace *trace, MemoryForecast *forecast, int64_t room) {
    *trace = (Trace){.room = room};
    trace->event = memory_or_forecast(forecast, memory_product(room, sizeof(TraceEvent)), "trace");
}

void trace_init(Trace *trace, const Comm *comm, int64_t room) {
    trace_alloc(trace, NULL, room);
    trace->offset = offset_to_first(comm);
}

void trace_clear(Trace *trace) {
    memory_free(trace->event);
    *trace = (Trace){0};
}

void trace_add(Trace *trace, TraceEvent event) {
    if (trace == NULL || !trace->open)
        return;
    if (trace->count == trace->room) {
        trace->lost++;
        return;
    }
    event.begin += trace->offset;
    event.end += trace->offset;
    event.epoch = trace->epoch;
    trace->event[trace->count++] = event;
}

TraceEvent *trace_gather(const Trace *trace, const Comm *comm, int64_t **offset) {
    int64_t bytes = (int64_t)sizeof(TraceEvent), *at = comm_offsets(comm, trace->count * bytes);
    TraceEvent *all = memory_alloc(comm->rank == 0 ? (size_t)at[comm->size] : 0, "trace");
    comm_gather_v(comm, trace->event, all, at);
    for (int r = 0; r <= comm->size; r++)
        at[r] /= bytes;
    *offset = at;
    return all;
}

// ---- timers

const char *const timer_names[TIMER_KINDS] = {
    [TIMER_AGGREGATE_OWN] = "aggregate_own",
    [TIMER_AGGREGATE_HALO] = "aggregate_halo",
    [TIMER_DENSE] = "dense",
    [TIMER_POINTWISE] = "pointwise",
    [TIMER_PACK] = "pack",
    [TIMER_UNPACK] = "unpack",
    [TIMER_WAIT] = "wait",
    [TIMER_REDUCE] = "reduce",
};

void timer_begin(Timers *timers) {
    if (timers == NULL)
        return;
    assert(timers->opened == 0);
    timers->opened = clock_seconds();
}

void timer_end(Timers *timers, TimerKind kind) {
    if (timers == NULL)
        return;
    assert(timers->opened != 0);
    timers_add(timers, kind, timers->opened, clock_seconds(), timers->layer, timers->direction);
    timers->opened = 0;
}

void timers_add(Timers *timers, TimerKind kind, double begin, double end, int layer,
                int direction) {
    timers->seconds[kind] += end - begin;
    trace_add(timers->trace, (TraceEvent){.begin = begin,
                                          .end = end,
                                          .kind = TRACE_SPAN,
                                          .span = (int16_t)kind,
                                          .layer = (int16_t)layer,
                                          .direction = (int16_t)direction});
}

void timers_reset(Timers *timers) {
    if (timers != NULL)
        memset(timers->seconds, 0, sizeof timers->seconds);
}

void timers_place(Timers *timers, int layer, int direction) {
    if (timers == NULL)
        return;
    timers->layer = layer;
    timers->direction = direction;
}
