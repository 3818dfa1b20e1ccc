// Waiting. The idea: fringe waits for messages in one place, comm_wait, which polls, answers
// heartbeat requests and watches the other ranks (heartbeat.c).

#include "fringe/base/clock.h"
#include "internal.h"

#include <sched.h>
#include <time.h>

enum { ALONE = 20000, CROWDED = 100, AMONG_TESTS = 10 }; // turns until a wait sleeps
enum { MOMENT = 20000, DOUBLINGS = 6 }; // nanoseconds of a sleep; how often it doubles

static int patience = ALONE;

void comm_wait_crowded(bool crowded, bool among_tests) {
    patience = among_tests ? AMONG_TESTS : crowded ? CROWDED : ALONE;
}

// Yields the core to others: early if there are more ranks than cores, later otherwise. What has
// lasted for 20,000 turns, ten milliseconds or more, is no message that is about to arrive.
//
// Among tests, where the ranks of several jobs wait on a core or two, every fourth sleep is twice
// as long as those before, up to a millisecond: a wait is prolonged by a quarter, and costs a
// tenth.
static void rest(int64_t turns) {
    struct timespec moment = {.tv_nsec = MOMENT};
    if (patience == AMONG_TESTS && turns > patience)
        moment.tv_nsec <<= turns - patience < 4 * DOUBLINGS ? (turns - patience) / 4 : DOUBLINGS;
    if (turns > patience)
        nanosleep(&moment, NULL);
    else if (patience < ALONE || turns > 2000)
        sched_yield();
}

static void (*beside)(void); // NULL: nothing

void comm_on_wait(void (*work)(void)) { beside = work; }

// Called while the main thread waits: answers heartbeat requests, does the work of
// comm_on_wait, and ends the job if a helper thread has requested that.
static void answer(void) {
    int code = helper_abort_requested();
    if (code != 0)
        comm_abort((ExitCode)code);
    heartbeat_answer();
    if (beside != NULL)
        beside();
}

void comm_wait_until(const Comm *comm, bool (*done)(void *context), void *context,
                     const char *what) {
    HeartbeatWatch watch = heartbeat_watch_begin();
    for (int64_t turns = 0; !done(context); turns++) {
        answer();
        heartbeat_watch(&watch, comm->timeout, what);
        rest(turns);
    }
    heartbeat_watch_end();
}

typedef struct Requests {
    MPI_Request *at;
    int count;
} Requests;

static bool all_done(void *context) {
    const Requests *requests = context;
    int done = requests->count == 0;
    if (!done)
        CHECK_MPI(MPI_Testall(requests->count, requests->at, &done, MPI_STATUSES_IGNORE));
    return done != 0;
}

void comm_wait(const Comm *comm, MPI_Request *requests, int count, const char *what) {
    comm_wait_until(comm, all_done, &(Requests){requests, count}, what);
}

void comm_sleep(const Comm *comm) {
    static const struct timespec moment = {.tv_nsec = 5000000};
    MPI_Request request;
    int done = 0;
    CHECK_MPI(MPI_Ibarrier(comm_mpi(comm), &request));
    while (!done) {
        answer();
        CHECK_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (!done)
            nanosleep(&moment, NULL);
    }
}

// Answering costs as much as progressing messages and is needed far less often.
void comm_beat(const Comm *comm) {
    static const double pause_seconds = 5e-3;
    static double next;
    (void)comm; // heartbeats belong to the process, not to a communicator
    if (helper_is_current())
        return; // the main thread answers
    double now = clock_seconds();
    if (now < next)
        return;
    next = now + pause_seconds;
    answer();
}

void comm_on_helper(const Comm *comm, void (*work)(void *context), void *context) {
    static const struct timespec moment = {.tv_nsec = 1000000};
    if (comm->size == 1) { // no other rank sends requests
        work(context);
        return;
    }
    Helper helper;
    helper_start(&helper, work, context);
    while (!atomic_load(&helper.done)) {
        comm_beat(comm);
        nanosleep(&moment, NULL);
    }
    helper_join(&helper);
}
