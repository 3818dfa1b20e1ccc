// Timing of operations, at events of their stream.

#include "internal.h"

enum { PAIRS = 256 }; // that may wait for their stream; one more waits for the oldest

typedef struct Pair {
    DeviceEvent *begin, *end; // owned
    TimerKind kind;
    int layer, direction;
} Pair;

struct StreamTimer {
    const Backend *backend; // borrowed
    Timers *timers;         // borrowed
    DeviceStream stream;    // of the pair that is open
    bool open;
    int first, count; // pairs that are closed and not yet added
    Pair pair[PAIRS];
};

static StreamTimer *in_use; // borrowed

StreamTimer *stream_timer_new(const Backend *backend, Timers *timers) {
    StreamTimer *t = ALLOC(StreamTimer, 1, "timers");
    *t = (StreamTimer){.backend = backend, .timers = timers};
    for (int i = 0; i < PAIRS; i++) {
        t->pair[i].begin = backend->event_new();
        t->pair[i].end = backend->event_new();
    }
    return t;
}

void stream_timer_free(StreamTimer *t) {
    if (t == NULL)
        return;
    if (in_use == t)
        in_use = NULL;
    for (int i = PAIRS - 1; i >= 0; i--) {
        t->backend->event_free(t->pair[i].end);
        t->backend->event_free(t->pair[i].begin);
    }
    memory_free(t);
}

void stream_timer_use(StreamTimer *timer) { in_use = timer; }

Timers *timers_in_use(void) { return in_use != NULL ? in_use->timers : NULL; }

static void add_oldest(StreamTimer *t) {
    const Pair *pair = &t->pair[t->first];
    timers_add(t->timers, pair->kind, t->backend->event_time(pair->begin),
               t->backend->event_time(pair->end), pair->layer, pair->direction);
    t->first = (t->first + 1) % PAIRS;
    t->count--;
}

static void add_reached(StreamTimer *t) {
    while (t->count > 0 && t->backend->event_reached(t->pair[t->first].end))
        add_oldest(t);
}

bool operation_begin(EventRecord *record, DeviceStream stream, TimerKind kind) {
    StreamTimer *t = in_use;
    if (t == NULL || t->open || t->timers->opened != 0 || t->backend->event_record != record)
        return false;
    if (t->count == PAIRS) {
        t->backend->event_wait(t->pair[t->first].end, NULL);
        add_reached(t);
    }
    t->open = true;
    t->stream = stream;
    Pair *pair = &t->pair[(t->first + t->count) % PAIRS];
    pair->kind = kind;
    if (t->backend->range_begin != NULL)
        t->backend->range_begin(timer_names[kind]);
    t->backend->event_record(pair->begin, stream);
    return true;
}

void operation_end(void) {
    StreamTimer *t = in_use;
    assert(t != NULL && t->open);
    t->open = false;
    Pair *pair = &t->pair[(t->first + t->count) % PAIRS];
    t->backend->event_record(pair->end, t->stream);
    if (t->backend->range_end != NULL)
        t->backend->range_end();
    pair->layer = t->timers->layer;
    pair->direction = t->timers->direction;
    t->count++;
    add_reached(t);
}

void stream_timer_finish(StreamTimer *t) {
    if (t == NULL)
        return;
    assert(!t->open);
    t->backend->finish(NULL);
    add_reached(t);
    assert(t->count == 0);
}
