// Heartbeats. The idea: MPI never notices a rank that hangs, so a rank that waits long sends
// requests to all others on a separate communicator. A rank inside fringe answers from its next
// comm call or comm_beat. Messages are three integers and always eager. If one cannot be delivered,
// its receiver is unresponsive and will also miss its reply deadline.
//
//   wait begins      + 0.70 timeout: request      + 0.25 timeout: name silent ranks, end the job
//
// If all ranks answered, the next round begins 0.70 timeout after this one, so a rank that falls
// silent is named after at most 0.99 timeout. Ranks that wait at the same time check in turn (0.01
// timeout apart), so that only one reports. Time in which the waiting rank itself did not run (a
// suspended job, a crowded machine) does not count.

#include "fringe/base/clock.h"
#include "fringe/base/memory.h"
#include "fringe/base/text.h"
#include "internal.h"

enum { TAG_ASK = 1, TAG_ANSWER = 2 };
enum { STANDSTILL_ROUNDS = 10 }; // enough to distinguish a deadlock from a slow network
static const double ask_after = 0.70, judge_after = 0.25, judge_apart = 0.01;
static const double own_pause = 0.05; // longer between two polls: this rank did not run

typedef struct Heartbeat {
    int64_t round;    // of the requesting rank
    int64_t waiting;  // the answering rank is inside a wait
    int64_t finished; // waits that it has finished so far
} Heartbeat;
enum { HEARTBEAT_INTS = sizeof(Heartbeat) / sizeof(int64_t) };

static struct Monitor {
    MPI_Comm control;
    int rank, size; // size 0: not started
    bool waiting;
    int64_t finished;
    // requests
    int64_t round;
    Heartbeat question;
    MPI_Request *question_request; // [size]
    Heartbeat *heard;              // [size] the last answer of each
    // answers
    int owed_count;
    int64_t *owed;               // [size] round of the rank's unanswered request, 0: none
    Heartbeat *answer;           // [size]
    MPI_Request *answer_request; // [size]
    // for the collectives
    MPI_Request *requests; // [2 size]
    int64_t *values;       // [size, COLLECTIVE_VALUES]
} monitor;

static MPI_Request *no_requests(int count) {
    MPI_Request *request = ALLOC(MPI_Request, count, "requests of the communicator");
    for (int i = 0; i < count; i++)
        request[i] = MPI_REQUEST_NULL;
    return request;
}

void heartbeat_start(const Comm *comm) {
    int size = comm->size;
    monitor = (struct Monitor){.rank = comm->rank, .size = size};
    CHECK_MPI(MPI_Comm_dup(comm_mpi(comm), &monitor.control));
    monitor.question_request = no_requests(size);
    monitor.answer_request = no_requests(size);
    monitor.requests = no_requests(2 * size);
    monitor.values = ALLOC(int64_t, size * COLLECTIVE_VALUES, "room for sums over ranks");
    monitor.heard = ALLOC(Heartbeat, size, "heartbeats");
    monitor.answer = ALLOC(Heartbeat, size, "heartbeats");
    monitor.owed = ALLOC(int64_t, size, "heartbeats");
}

void heartbeat_stop(void) {
    heartbeat_answer();
    bool flying = false; // MPI still reads the answer in flight
    for (int r = 0; r < monitor.size; r++) {
        int sent = 1;
        MPI_Test(&monitor.answer_request[r], &sent, MPI_STATUS_IGNORE);
        flying = flying || !sent;
        if (!sent)
            MPI_Request_free(&monitor.answer_request[r]);
        if (monitor.question_request[r] != MPI_REQUEST_NULL)
            MPI_Request_free(&monitor.question_request[r]);
    }
    monitor.size = 0;
    memory_free(monitor.owed);
    if (!flying)
        memory_free(monitor.answer);
    MEMORY_FREE(monitor.heard, monitor.values, monitor.requests, monitor.answer_request,
                monitor.question_request);
    MPI_Comm_free(&monitor.control);
}

MPI_Request *collective_requests(void) { return monitor.requests; }
void *collective_values(void) { return monitor.values; }

// Receives one message of the control communicator, if there is one.
static bool hear(void) {
    int there = 0;
    MPI_Status status;
    CHECK_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, monitor.control, &there, &status));
    if (!there)
        return false;
    Heartbeat beat;
    int from = status.MPI_SOURCE;
    CHECK_MPI(MPI_Recv(&beat, HEARTBEAT_INTS, MPI_INT64_T, from, status.MPI_TAG, monitor.control,
                       MPI_STATUS_IGNORE));
    if (status.MPI_TAG == TAG_ANSWER) {
        monitor.heard[from] = beat;
    } else {
        monitor.owed_count += monitor.owed[from] == 0;
        monitor.owed[from] = beat.round;
    }
    return true;
}

// Answers a rank's request, unless the previous answer is still in flight.
static void answer(int to) {
    int sent = 1;
    CHECK_MPI(MPI_Test(&monitor.answer_request[to], &sent, MPI_STATUS_IGNORE));
    if (!sent)
        return;
    monitor.answer[to] = (Heartbeat){monitor.owed[to], monitor.waiting, monitor.finished};
    CHECK_MPI(MPI_Isend(&monitor.answer[to], HEARTBEAT_INTS, MPI_INT64_T, to, TAG_ANSWER,
                        monitor.control, &monitor.answer_request[to]));
    monitor.owed[to] = 0;
    monitor.owed_count--;
}

void heartbeat_answer(void) {
    if (monitor.size < 2)
        return;
    while (hear())
        ;
    for (int r = 0; r < monitor.size && monitor.owed_count > 0; r++)
        if (monitor.owed[r] != 0)
            answer(r);
}

// Sends a request to every other rank. If a request of the last round is still in flight, that
// round continues.
static void ask(void) {
    int sent = 0;
    CHECK_MPI(MPI_Testall(monitor.size, monitor.question_request, &sent, MPI_STATUSES_IGNORE));
    if (!sent)
        return;
    monitor.question = (Heartbeat){.round = ++monitor.round};
    for (int r = 0; r < monitor.size; r++)
        if (r != monitor.rank)
            CHECK_MPI(MPI_Isend(&monitor.question, HEARTBEAT_INTS, MPI_INT64_T, r, TAG_ASK,
                                monitor.control, &monitor.question_request[r]));
}

static bool is_silent(int r) {
    return r != monitor.rank && monitor.heard[r].round != monitor.round;
}

static bool all_answered(void) {
    for (int r = 0; r < monitor.size; r++)
        if (is_silent(r))
            return false;
    return true;
}

// Names the ranks that did not answer and ends the job.
static _Noreturn void name_silent(double seconds, const char *what) {
    char names[256] = "";
    int count = 0;
    for (int r = 0; r < monitor.size; r++) {
        if (is_silent(r) && strlen(names) + 16 < sizeof names)
            text_add(names, sizeof names, ", ", "%d", r);
        count += is_silent(r);
    }
    comm_abort_saying(
        EXIT_HUNG,
        "fringe: rank %d: waited %.2f s for %s; rank%s %s of %d %s not answer: stopped, hung or "
        "unreachable\n",
        monitor.rank, seconds, what, count == 1 ? "" : "s", names, monitor.size,
        count == 1 ? "does" : "do");
}

// After a full round: ends the job if for many rounds all ranks have waited and none has finished a
// wait.
static void look_for_standstill(HeartbeatWatch *watch, double seconds, const char *what) {
    bool all_wait = true;
    int64_t finished = monitor.finished;
    for (int r = 0; r < monitor.size; r++) {
        if (r == monitor.rank)
            continue;
        all_wait = all_wait && monitor.heard[r].waiting != 0;
        finished += monitor.heard[r].finished;
    }
    watch->standstill = all_wait && finished == watch->finished ? watch->standstill + 1 : 0;
    watch->finished = finished;
    if (watch->standstill < STANDSTILL_ROUNDS)
        return;
    comm_abort_saying(EXIT_HUNG,
                      "fringe: rank %d: waited %.1f s for %s; every rank waits and none receives a "
                      "message: the ranks are not at the same step\n",
                      monitor.rank, seconds, what);
}

HeartbeatWatch heartbeat_watch_begin(void) {
    double now = clock_seconds();
    monitor.waiting = true;
    return (HeartbeatWatch){.since = now, .base = now, .looked = now};
}

void heartbeat_watch_end(void) {
    monitor.waiting = false;
    monitor.finished++;
}

void heartbeat_watch(HeartbeatWatch *watch, double timeout, const char *what) {
    if (monitor.size < 2 || !(timeout > 0))
        return;
    double now = clock_seconds();
    double absent = now - watch->looked - own_pause * timeout;
    watch->looked = now;
    if (absent > 0) {
        watch->base += absent;
        watch->asked += absent;
    }
    if (!watch->open) {
        if (now - watch->base < ask_after * timeout)
            return;
        ask();
        watch->open = true;
        watch->asked = now;
        return;
    }
    if (all_answered()) {
        watch->open = false;
        watch->base = watch->asked;
        look_for_standstill(watch, now - watch->since, what);
        return;
    }
    int turn = monitor.rank < 4 ? monitor.rank : 4;
    if (now - watch->asked > (judge_after + judge_apart * turn) * timeout)
        name_silent(now - watch->since, what);
}
