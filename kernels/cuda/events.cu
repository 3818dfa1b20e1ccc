// Events, and the time at which a stream reached them.
//
// The one idea: CUDA knows the time between two events only. So an event's time is measured from a
// base: an event that was recorded, reached and then dated by the host's clock. Elapsed times are
// floats, which after an hour are exact to a quarter of a millisecond only; so a new base is made
// whenever both streams are empty and the last one is older than some seconds. The base before it
// stays for events that were recorded earlier.
#include "device.h"

#include <sched.h>

struct DeviceEvent {
    cudaEvent_t event;
    int64_t base; // number of the base when it was recorded; 0: never recorded
};

enum { BASES = 2 };
static const double base_seconds = 10; // between two bases, at least

static struct Base {
    cudaEvent_t event;
    double time; // of the host's clock
} bases[BASES];
static int64_t base_count;

// Both streams are empty.
static void make_base(void) {
    Base *base = &bases[base_count++ % BASES];
    CUDA_CALL(cudaEventRecord(base->event, cuda_stream(STREAM_COMPUTE)));
    CUDA_CALL(cudaEventSynchronize(base->event));
    base->time = cuda_host->clock_seconds();
}

void cuda_clock_start(void) {
    for (Base &base : bases)
        CUDA_CALL(cudaEventCreate(&base.event));
    make_base();
}

DeviceEvent *cuda_event_new(void) {
    DeviceEvent *event = (DeviceEvent *)cuda_host->memory_alloc(sizeof *event, "events");
    CUDA_CALL(cudaEventCreateWithFlags(&event->event, cudaEventBlockingSync));
    return event;
}

void cuda_event_free(DeviceEvent *event) {
    if (event == NULL)
        return;
    CUDA_CALL(cudaEventDestroy(event->event));
    cuda_host->memory_free(event);
}

void cuda_event_record(DeviceEvent *event, DeviceStream stream) {
    CUDA_CALL(cudaEventRecord(event->event, cuda_stream(stream)));
    event->base = base_count;
}

// What a query answers.
static bool is_over(cudaError_t status) {
    if (status != cudaErrorNotReady)
        CUDA_CALL(status);
    return status == cudaSuccess;
}

bool cuda_event_reached(const DeviceEvent *event) {
    return event->base == 0 || is_over(cudaEventQuery(event->event));
}

void cuda_event_wait(DeviceEvent *event, const Poll *poll) {
    if (event->base == 0)
        return;
    if (poll == NULL) {
        CUDA_CALL(cudaEventSynchronize(event->event));
        return;
    }
    poll_call(poll);
    while (!cuda_event_reached(event)) {
        poll_call(poll);
        sched_yield();
    }
}

double cuda_event_time(const DeviceEvent *event) {
    if (event->base == 0)
        return 0;
    // the base of its record, or the oldest that is left
    int64_t number = event->base + BASES > base_count ? event->base : base_count - BASES + 1;
    const Base *base = &bases[(number - 1) % BASES];
    float milliseconds = 0;
    CUDA_CALL(cudaEventElapsedTime(&milliseconds, base->event, event->event));
    return base->time + (double)milliseconds * 1e-3;
}

void cuda_stream_wait(DeviceStream stream, const DeviceEvent *event) {
    if (event->base != 0)
        CUDA_CALL(cudaStreamWaitEvent(cuda_stream(stream), event->event, 0));
}

static void wait_for_stream(DeviceStream stream, const Poll *poll) {
    if (poll == NULL) {
        CUDA_CALL(cudaStreamSynchronize(cuda_stream(stream)));
        return;
    }
    while (!is_over(cudaStreamQuery(cuda_stream(stream)))) {
        poll_call(poll);
        sched_yield();
    }
}

void cuda_finish(const Poll *poll) {
    // a stream may wait for the other, but work that was called before this needs no more than both
    wait_for_stream(STREAM_COMPUTE, poll);
    wait_for_stream(STREAM_MESSAGE, poll);
    wait_for_stream(STREAM_COMPUTE, poll); // what a Poll put on it meanwhile
    if (cuda_host->clock_seconds() - bases[(base_count - 1) % BASES].time > base_seconds)
        make_base();
}
