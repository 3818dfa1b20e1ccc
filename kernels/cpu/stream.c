// Streams of the CPU backend: operations run during their call, so both streams are always empty
// and an event is the time of its record.
#include "cpu.h"

struct Event {
    double time;
};

Event *cpu_event_new(void) { return ALLOC(Event, 1, "events"); }

void cpu_event_free(Event *event) { memory_free(event); }

void cpu_event_record(Event *event, Stream stream) {
    (void)stream;
    event->time = clock_seconds();
}

bool cpu_event_reached(const Event *event) {
    (void)event;
    return true;
}

void cpu_event_wait(Event *event, const Poll *poll) { (void)event, (void)poll; }

double cpu_event_time(const Event *event) { return event->time; }

void cpu_stream_wait(Stream stream, const Event *event) { (void)stream, (void)event; }

void cpu_finish(const Poll *poll) { (void)poll; }
