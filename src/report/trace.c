// trace.json: Chrome trace events, for Perfetto. Each rank is a process with two threads, one for
// its work and one for its messages. An arrow leads from the post of a message to its arrival.

#include "internal.h"

enum { DOING, MESSAGES, NAME_SIZE = 64 };

static double micro(double seconds, double zero) { return 1e6 * (seconds - zero); }

static void put_common(JsonWriter *w, const char *phase, const char *name, int rank, int thread,
                       double at) {
    JSON_PUT(w, PAIR("ph", phase), PAIR("name", name), PAIR("pid", rank), PAIR("tid", thread),
             PAIR("ts", at));
}

static void put_names(JsonWriter *w, int rank) {
    static const char *const threads[] = {[DOING] = "work", [MESSAGES] = "messages"};
    char name[NAME_SIZE];
    for (int thread = -1; thread <= MESSAGES; thread++) {
        snprintf(name, sizeof name, "rank %d", rank);
        JSON_PUT_OBJECT(w, NULL) {
            put_common(w, "M", thread < 0 ? "process_name" : "thread_name", rank,
                       thread < 0 ? 0 : thread, 0);
            JSON_PUT_OBJECT(w, "args")
                json_put_string(w, "name", thread < 0 ? name : threads[thread]);
        }
    }
}

static void put_args(JsonWriter *w, const TraceEvent *event) {
    JSON_PUT_OBJECT(w, "args") {
        json_put_int(w, "epoch", event->epoch);
        if (event->layer >= 0)
            JSON_PUT(w, PAIR("layer", event->layer),
                     PAIR("direction", direction_name(event->direction)));
    }
}

static void put_slice(JsonWriter *w, const TraceEvent *event, int rank, double zero) {
    char name[NAME_SIZE];
    if (event->kind == TRACE_SPAN)
        snprintf(name, sizeof name, "%s",
                 event->span == TIMER_KINDS ? "evaluation" : timer_names[event->span]);
    else
        snprintf(name, sizeof name, "%s %d", event->kind == TRACE_POST ? "post to" : "from",
                 event->peer);
    JSON_PUT_OBJECT(w, NULL) {
        put_common(w, "X", name, rank, event->kind == TRACE_SPAN ? DOING : MESSAGES,
                   micro(event->begin, zero));
        json_put_double(w, "dur", micro(event->end, event->begin));
        put_args(w, event);
    }
}

// Both ends of an arrow carry the same name and id.
static void put_arrow_end(JsonWriter *w, const TraceEvent *event, int rank, double zero) {
    bool sent = event->kind == TRACE_POST;
    char id[NAME_SIZE];
    snprintf(id, sizeof id, "%d.%d.%d.%d.%d", event->epoch, event->layer, event->direction,
             sent ? rank : event->peer, sent ? event->peer : rank);
    JSON_PUT_OBJECT(w, NULL) {
        put_common(w, sent ? "s" : "f", "message", rank, MESSAGES,
                   micro(sent ? event->begin : event->end, zero));
        JSON_PUT(w, PAIR("cat", "message"), PAIR("id", id));
        if (!sent)
            json_put_string(w, "bp", "e");
    }
}

typedef struct Traced {
    TraceEvent *event; // owned
    int64_t *offset;   // [ranks + 1], owned
} Traced;

static void put_trace(JsonWriter *w, const Traced *t, int ranks) {
    double zero = t->offset[ranks] > 0 ? t->event[0].begin : 0;
    JSON_PUT_OBJECT(w, NULL) {
        json_put_string(w, "displayTimeUnit", "ms");
        JSON_PUT_ARRAY(w, "traceEvents")
            for (int rank = 0; rank < ranks; rank++) {
                put_names(w, rank);
                for (int64_t i = t->offset[rank]; i < t->offset[rank + 1]; i++) {
                    put_slice(w, &t->event[i], rank, zero);
                    if (t->event[i].kind != TRACE_SPAN)
                        put_arrow_end(w, &t->event[i], rank, zero);
                }
            }
    }
}

static void store(void *context, const void *payload, size_t bytes, Error *err) {
    const Report *report = context;
    Traced traced;
    JsonWriter w;
    memcpy(&traced, payload, bytes);
    json_writer_init(&w, false);
    put_trace(&w, &traced, report->comm->size);
    json_writer_store(&w, PATH_IN(report->folder, "trace.json"), err);
    MEMORY_FREE(traced.offset, traced.event);
}

bool report_trace(Report *report, TraceEvent *event, int64_t *offset, Error *err) {
    Traced traced = {event, offset};
    return writer_put(report->writer, store, report, &traced, sizeof traced, err);
}
