// Events: a place of a stream, and when it was reached.
#include "emulated.h"

#include <ctime>

using namespace emulated;

struct CUevent_st {
    bool is_recorded, is_destroyed, has_time;
    cudaStream_t stream; // of the last record
    uint64_t place;
    double seconds; // when that place was reached
    int pending;    // records that have not run and name this event
};

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_reached(cudaEvent_t event) {
    return !event->is_recorded || has_run(event->stream, event->place);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    *event = new CUevent_st();
    (*event)->has_time = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

// Its memory goes when nothing names it any more.
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (event == nullptr || event->is_destroyed)
        stop("cudaEventDestroy: there is no such event, or it was destroyed before");
    event->is_destroyed = true;
    if (event->pending == 0)
        delete event;
    return cudaSuccess;
}

static void reach(CUevent_st *event, uint64_t place) {
    event->pending--;
    if (event->place == place)
        event->seconds = now();
    if (event->is_destroyed && event->pending == 0)
        delete event;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (!is_stream(stream) || event == nullptr || event->is_destroyed)
        return failed(cudaErrorInvalidResourceHandle);
    const uint64_t place = last_place(stream) + 1;
    event->is_recorded = true;
    event->stream = stream;
    event->place = place;
    event->pending++;
    put(stream, [event, place] { reach(event, place); });
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    if (!is_stream(stream))
        return failed(cudaErrorInvalidResourceHandle);
    if (event->is_recorded && event->stream != stream)
        put_wait(stream, event->stream, event->place);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    if (event->is_recorded)
        run_sometimes(event->stream, event->place);
    return is_reached(event) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (event->is_recorded)
        run_until(event->stream, event->place);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (!begin->is_recorded || !end->is_recorded || !begin->has_time || !end->has_time)
        return failed(cudaErrorInvalidResourceHandle);
    if (!is_reached(begin) || !is_reached(end))
        return cudaErrorNotReady;
    *milliseconds = (float)((end->seconds - begin->seconds) * 1e3);
    return cudaSuccess;
}
