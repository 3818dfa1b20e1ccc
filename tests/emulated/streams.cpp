// Streams as queues of commands that run only while the host waits, and events as places in them.
#include "emulated.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

namespace emulated {

struct Command {
    std::function<void()> run; // empty: a wait
    Queue *other;              // for this queue
    uint64_t until;            // to have run so many commands
};

struct Queue {
    std::deque<Command> waiting;
    uint64_t put = 0, ran = 0;
};

struct Moment {
    Queue *queue = nullptr; // nullptr: never recorded
    uint64_t at = 0;
    double seconds = 0;
};

static std::vector<Queue *> queues;
static const uint64_t ALL = UINT64_MAX;

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// ---- running

static bool can_run(const Queue *queue) {
    if (queue->waiting.empty())
        return false;
    const Command &first = queue->waiting.front();
    return first.other == nullptr || first.other->ran >= first.until;
}

static void run_first(Queue *queue) {
    Command command = std::move(queue->waiting.front());
    queue->waiting.pop_front();
    if (command.run) {
        device_begins();
        command.run();
    }
    queue->ran++;
}

static std::minstd_rand &chance() {
    static const char *rank = getenv("OMPI_COMM_WORLD_RANK"); // another one on each rank
    static std::minstd_rand random(rank != nullptr ? (unsigned)atoi(rank) + 2 : 1u);
    return random;
}

// The queues but one, as far as they go without it; or a step of one of them, by chance.
static void run_others(const Queue *queue) {
    const char *order = getenv("FRINGE_EMULATED_STREAMS");
    const char which = order != nullptr ? order[0] : 'o';
    for (Queue *other : queues) {
        if (other == queue || which == 'o')
            continue;
        if (which == 'r') {
            if (chance()() % 2 == 0 && can_run(other))
                run_first(other);
            continue;
        }
        while (can_run(other))
            run_first(other);
    }
}

// Until the queue has run so many commands, or is empty.
static void run_until(Queue *queue, uint64_t count) {
    while (queue->ran < count && !queue->waiting.empty()) {
        run_others(queue);
        if (can_run(queue))
            run_first(queue);
        else if (!queue->waiting.empty())
            run_until(queue->waiting.front().other, queue->waiting.front().until);
    }
}

static void wait_until(Queue *queue, uint64_t count) {
    run_until(queue, count);
    device_ends();
}

void put(cudaStream_t stream, std::function<void()> run) {
    stream->waiting.push_back({std::move(run), nullptr, 0});
    stream->put++;
}

void finish_all() {
    for (Queue *queue : queues)
        wait_until(queue, ALL);
}

// A question changes nothing; but who only asks would ask for ever. So one question in three lets a
// command run.
static void sometimes_run(Queue *queue) {
    static unsigned asked = 0;
    if (++asked % 3 != 0)
        return;
    run_until(queue, queue->ran + 1);
    device_ends();
}

} // namespace emulated

using namespace emulated;

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) {
    *stream = new Queue;
    queues.push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    wait_until(stream, ALL);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    sometimes_run(stream);
    return stream->waiting.empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    if (event->queue == nullptr || event->queue == stream)
        return cudaSuccess;
    stream->waiting.push_back({nullptr, event->queue, event->at});
    stream->put++;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = new Moment;
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (event->queue != nullptr)
        wait_until(event->queue, event->at); // its command names it
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    put(stream, [event] { event->seconds = now(); });
    event->queue = stream;
    event->at = stream->put;
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    if (event->queue == nullptr)
        return cudaSuccess;
    if (event->queue->ran < event->at)
        sometimes_run(event->queue);
    return event->queue->ran >= event->at ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (event->queue != nullptr)
        wait_until(event->queue, event->at);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    *milliseconds = (float)((end->seconds - begin->seconds) * 1e3);
    return cudaSuccess;
}
