// Streams: queues of work that runs only while the host waits.
//
// Places of a queue are counted from 1 and never again: a place is how many commands were put up to
// it. A command that waits names a place of another queue that was given out before its own, so
// queues never wait for each other in a circle.
//
//   oldest  a step is one of what the awaited place needs
//   newest  the other streams go as far as they can first
//   random  any stream that can go on; copies are often put off
#include "emulated.h"

#include <cstdlib>
#include <deque>
#include <vector>

using namespace emulated;

namespace emulated {

struct Command {
    Work *work; // nullptr: waits until the other stream has run `until`
    CUstream_st *other;
    uint64_t until;
};

} // namespace emulated

struct CUstream_st {
    std::deque<Command> waiting;
    uint64_t put = 0, ran = 0;
    bool is_dead = false;
};

namespace emulated {

enum StreamOrder { OLDEST, NEWEST, RANDOM, STREAM_ORDERS };
static const char *const names[STREAM_ORDERS] = {"oldest", "newest", "random"};

// Made and never deleted, so that whoever ends the program last finds them. Dead ones stay, for
// events name them.
static CUstream_st &default_stream = *new CUstream_st;
static std::vector<CUstream_st *> &streams = *new std::vector<CUstream_st *>{&default_stream};
static bool work_runs;

static CUstream_st *of(cudaStream_t stream) { return stream == nullptr ? &default_stream : stream; }

bool is_stream(cudaStream_t stream) {
    for (CUstream_st *known : streams)
        if (known == of(stream))
            return !known->is_dead;
    return false;
}

uint64_t last_place(cudaStream_t stream) { return of(stream)->put; }
bool has_run(cudaStream_t stream, uint64_t place) { return of(stream)->ran >= place; }

// ---- putting

static void put_command(CUstream_st *stream, const Command &command) {
    if (work_runs)
        stop("work of a stream calls the runtime");
    if (!is_stream(stream))
        stop("work is put on a stream that does not exist");
    stream->waiting.push_back(command);
    stream->put++;
}

void put_work(cudaStream_t stream, Work *work) { put_command(of(stream), {work, nullptr, 0}); }

void put_wait(cudaStream_t stream, cudaStream_t other, uint64_t place) {
    put_command(of(stream), {nullptr, of(other), place});
}

// ---- running

static bool can_run(const CUstream_st *stream) {
    if (stream->waiting.empty())
        return false;
    const Command &first = stream->waiting.front();
    return first.work != nullptr || first.other->ran >= first.until;
}

static void run_first(CUstream_st *stream) {
    Work *work = stream->waiting.front().work;
    stream->waiting.pop_front();
    if (work != nullptr) {
        work_runs = true;
        work->run();
        work_runs = false;
        delete work;
    }
    stream->ran++;
}

// A command that the stream's next one needs, or that one.
static void run_needed(CUstream_st *stream) {
    while (!can_run(stream))
        stream = stream->waiting.front().other;
    run_first(stream);
}

static bool run_other(const CUstream_st *but) {
    for (CUstream_st *other : streams)
        if (other != but && can_run(other)) {
            run_first(other);
            return true;
        }
    return false;
}

// Begins anew when the seed is another one.
static uint64_t chance() {
    static uint64_t drawn, last;
    const char *text = getenv("FRINGE_EMULATED_SEED");
    const uint64_t seed = text != nullptr ? strtoull(text, nullptr, 10) : 0;
    if (seed != last)
        drawn = 0;
    last = seed;
    return scramble(drawn++ + (seed << 32));
}

static bool run_any() {
    std::vector<CUstream_st *> ready;
    for (CUstream_st *stream : streams)
        if (can_run(stream))
            ready.push_back(stream);
    if (ready.empty())
        return false;
    CUstream_st *drawn = ready[chance() % ready.size()];
    const Work *first = drawn->waiting.front().work;
    if (first != nullptr && first->is_copy && chance() % 4 != 0)
        drawn = ready[chance() % ready.size()];
    run_first(drawn);
    return true;
}

static void step(CUstream_st *awaited) {
    const int order = choice(forced_streams, "FRINGE_EMULATED_STREAMS", names, STREAM_ORDERS);
    if (!(order == NEWEST && run_other(awaited)) && !(order == RANDOM && run_any()))
        run_needed(awaited);
}

void run_until(cudaStream_t awaited, uint64_t place) {
    CUstream_st *stream = of(awaited);
    if (work_runs)
        stop("work of a stream waits for a stream");
    if (stream->ran >= place)
        return;
    device_begins();
    while (stream->ran < place)
        step(stream);
    device_ends();
}

// A question changes nothing, but who only asks would ask for ever.
void run_sometimes(cudaStream_t awaited, uint64_t place) {
    enum { CALLS = 3 };
    static unsigned asked;
    if (of(awaited)->ran >= place || ++asked % CALLS != 0)
        return;
    device_begins();
    step(of(awaited));
    device_ends();
}

void finish_all() {
    for (CUstream_st *stream : streams)
        run_until(stream, stream->put);
}

} // namespace emulated

// ---- the runtime's functions

static cudaError_t check(cudaStream_t stream) {
    return is_stream(stream) ? cudaSuccess : failed(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
    if (flags != cudaStreamNonBlocking) // the others would wait for the default stream
        return failed(cudaErrorNotSupported);
    streams.push_back(*stream = new CUstream_st);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (stream == nullptr || !is_stream(stream))
        return failed(cudaErrorInvalidResourceHandle);
    run_until(stream, stream->put);
    stream->is_dead = true;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (check(stream) != cudaSuccess)
        return cudaErrorInvalidResourceHandle;
    run_until(stream, last_place(stream));
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    if (check(stream) != cudaSuccess)
        return cudaErrorInvalidResourceHandle;
    run_sometimes(stream, last_place(stream));
    return has_run(stream, last_place(stream)) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize() {
    finish_all();
    return cudaSuccess;
}
