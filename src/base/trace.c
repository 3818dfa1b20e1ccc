// Events of all ranks on one clock. Ranks on the same running kernel share a monotonic clock. Other
// offsets are measured as in network time protocols: the shortest round trip was most likely
// symmetric, so the other clock's reading belongs to its middle.

#include "fringe/base/trace.h"
#include "fringe/base/clock.h"
#include "fringe/base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { ROUND_TRIPS = 32 };

// True if this rank runs on the same kernel as rank 0. Collective.
static bool same_clock(const Comm *comm) {
    char own[64] = "", first[64];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL && fgets(own, sizeof own, file) == NULL)
        own[0] = 0;
    if (file != NULL)
        fclose(file);
    memcpy(first, own, sizeof first);
    comm_broadcast(comm, first, sizeof first, 0);
    return own[0] != 0 && memcmp(own, first, sizeof own) == 0;
}

// Rank 0's clock minus this rank's. Collective.
static double offset_to_first(const Comm *comm) {
    double best = 1e30, offset = 0, *all = TAKE(double, comm->size, "clocks");
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
    memory_give(all);
    return same_clock(comm) ? 0 : offset;
}

void trace_init(Trace *trace, const Comm *comm, int64_t room) {
    *trace = (Trace){.room = room, .layer = -1, .direction = -1};
    trace->event = TAKE(TraceEvent, room, "trace");
    trace->offset = offset_to_first(comm);
}

void trace_clear(Trace *trace) {
    memory_give(trace->event);
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
    if (event.kind == TRACE_SPAN) {
        event.layer = trace->layer;
        event.direction = trace->direction;
    }
    trace->event[trace->count++] = event;
}

TraceEvent *trace_gather(const Trace *trace, const Comm *comm, int64_t **offset) {
    int64_t *count = TAKE(int64_t, comm->size, "trace"), bytes = (int64_t)sizeof(TraceEvent);
    int64_t *at = TAKE(int64_t, comm->size + 1, "trace");
    comm_all_gather(comm, &trace->count, count, sizeof *count);
    for (int r = 0; r < comm->size; r++)
        at[r + 1] = at[r] + count[r] * bytes;
    TraceEvent *all = memory_take(comm->rank == 0 ? (size_t)at[comm->size] : 0, "trace");
    comm_gather_v(comm, trace->event, all, at);
    for (int r = 0; r <= comm->size; r++)
        at[r] /= bytes;
    memory_give(count);
    *offset = at;
    return all;
}

// ---- spans

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
