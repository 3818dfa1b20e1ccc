// Streams of the CPU backend: operations run during their call, so both streams are always empty
// and an event is the time of its record.
#include "cpu.h"

struct DeviceEvent {
    double time;
};

DeviceEvent *cpu_event_new(void) { return ALLOC(DeviceEvent, 1, "events"); }

void cpu_event_free(DeviceEvent *event) { memory_free(event); }

void cpu_event_record(DeviceEvent *event, UNUSED DeviceStream stream) {
    event->time = clock_seconds();
}

bool cpu_event_reached(UNUSED const DeviceEvent *event) { return true; }

void cpu_event_wait(DeviceEvent *event, const Poll *poll) { (void)event, (void)poll; }

double cpu_event_time(const DeviceEvent *event) { return event->time; }

void cpu_stream_wait(DeviceStream stream, const DeviceEvent *event) { (void)stream, (void)event; }

void cpu_finish(const Poll *poll) { (void)poll; }
