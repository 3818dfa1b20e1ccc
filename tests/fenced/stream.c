// Streams of the fenced backend: two queues of commands, which run as late as the backend's header
// allows.
//
// Places of a queue are counted from 0 and never again: a command's place is the number of commands
// before it, and an event is a place. A command that waits names a place of the other queue that
// was given out before its own. So running one stream up to a place may need the other one, but
// never more of itself.
//
// While a command runs nothing else does. A Poll that it calls may put commands, which are
// appended, and look at events; it may not wait, because what it waits for could stand behind the
// command that called it. That is asserted.
//
// FRINGE_FENCED_ORDER says in which of the two legal orders a wait runs what is there: "oldest"
// (the default) runs only what the awaited event needs; "newest" first runs the other stream as far
// as it gets. Results are the same.
#include "fenced.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 256, ARGUMENTS = 384 };

typedef struct Command {
    FencedRun *run; // NULL: waits until the other stream has done `until`
    int64_t until;
    _Alignas(16) unsigned char arguments[ARGUMENTS];
} Command;

typedef struct Queue {
    int64_t done, put; // places: the next one that runs, and the next one that is given out
    Command command[LENGTH];
} Queue;

struct DeviceEvent {
    bool recorded;
    DeviceStream stream;
    int64_t place; // reached when its stream has done so many
    double time;
};

static Queue queues[STREAMS];
static bool running;

static DeviceStream other(DeviceStream stream) {
    return stream == STREAM_COMPUTE ? STREAM_MESSAGE : STREAM_COMPUTE;
}

static bool newest_first(void) {
    const char *order = getenv("FRINGE_FENCED_ORDER");
    bool newest = order != NULL && strcmp(order, "newest") == 0;
    CHECK(newest || order == NULL || strcmp(order, "oldest") == 0, EXIT_CONFIG,
          "FRINGE_FENCED_ORDER is '%s'; take oldest or newest", order);
    return newest;
}

// ---- running

static void run_to(DeviceStream stream, int64_t place, const Poll *poll);

static void run_next(DeviceStream stream, const Poll *poll) {
    Queue *queue = &queues[stream];
    const Command *command = &queue->command[queue->done % LENGTH];
    assert(!running && "a Poll must not wait for a stream");
    if (command->run == NULL) {
        run_to(other(stream), command->until, poll);
    } else {
        running = true;
        command->run(command->arguments, poll);
        running = false;
    }
    queue->done++;
}

static void run_to(DeviceStream stream, int64_t place, const Poll *poll) {
    while (queues[stream].done < place)
        run_next(stream, poll);
}

// Until the stream is empty or waits for what has not run.
static void run_far(DeviceStream stream, const Poll *poll) {
    Queue *queue = &queues[stream];
    while (queue->done < queue->put) {
        const Command *next = &queue->command[queue->done % LENGTH];
        if (next->run == NULL && queues[other(stream)].done < next->until)
            return;
        run_next(stream, poll);
    }
}

// ---- putting

static Command *next_command(DeviceStream stream) {
    Queue *queue = &queues[stream];
    assert(stream == STREAM_COMPUTE || stream == STREAM_MESSAGE);
    if (queue->put - queue->done == LENGTH)
        run_next(stream, NULL);
    return &queue->command[queue->put++ % LENGTH];
}

void fenced_put(DeviceStream stream, FencedRun *run, const void *arguments, size_t bytes) {
    assert(bytes <= ARGUMENTS);
    Command *command = next_command(stream);
    command->run = run;
    memcpy(command->arguments, arguments, bytes);
}

// ---- events

DeviceEvent *fenced_event_new(void) { return ALLOC(DeviceEvent, 1, "events"); }

void fenced_event_free(DeviceEvent *event) {
    if (event == NULL)
        return;
    fenced_finish(NULL); // commands that mark it name it
    memory_free(event);
}

typedef struct Mark {
    DeviceEvent *event;
    int64_t place;
} Mark;

// An event that was recorded again meanwhile keeps the later time.
static void run_mark(const void *arguments, const Poll *poll) {
    const Mark *mark = arguments;
    (void)poll;
    if (mark->event->place == mark->place)
        mark->event->time = clock_seconds();
}

void fenced_event_record(DeviceEvent *event, DeviceStream stream) {
    int64_t place = queues[stream].put + 1;
    FENCED_PUT(stream, run_mark, Mark, event, place);
    event->recorded = true;
    event->stream = stream;
    event->place = place;
}

bool fenced_event_reached(const DeviceEvent *event) {
    return !event->recorded || queues[event->stream].done >= event->place;
}

void fenced_event_wait(DeviceEvent *event, const Poll *poll) {
    if (fenced_event_reached(event))
        return;
    if (newest_first())
        run_far(other(event->stream), poll);
    run_to(event->stream, event->place, poll);
}

double fenced_event_time(const DeviceEvent *event) {
    assert(fenced_event_reached(event));
    return event->time;
}

void fenced_stream_wait(DeviceStream stream, const DeviceEvent *event) {
    if (!event->recorded || event->stream == stream)
        return;
    Command *command = next_command(stream);
    command->run = NULL;
    command->until = event->place;
}

// A Poll of a command may put more.
void fenced_finish(const Poll *poll) {
    const DeviceStream first = newest_first() ? STREAM_MESSAGE : STREAM_COMPUTE;
    while (queues[0].done < queues[0].put || queues[1].done < queues[1].put) {
        run_to(first, queues[first].put, poll);
        run_to(other(first), queues[other(first)].put, poll);
    }
}
