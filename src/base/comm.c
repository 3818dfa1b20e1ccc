// The ranks: starting, stopping and waiting. The idea: fringe waits for messages in one place,
// comm_wait, which polls, answers heartbeat requests and watches the other ranks (heartbeat.c).

#include "fringe/base/clock.h"
#include "fringe/base/memory.h"
#include "fringe/base/mpi.h"
#include "fringe/base/terminal.h"
#include "fringe/base/text.h"
#include "fringe/base/threads.h"
#include "internal.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int world_rank = -1; // in MPI_COMM_WORLD; -1: MPI is not running. Any thread may read it.
static bool oversubscribed; // more ranks than cores on this machine
static const double default_timeout = 60.0;

// --- start and stop

// Counts the cores that the ranks of a machine may use together: mpirun binds each of one or two
// ranks to a core.
static int node_cores(MPI_Comm node) {
    cpu_set_t mask, all;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0)
        return threads_on_node();
    CHECK_MPI(MPI_Allreduce(&mask, &all, sizeof mask, MPI_BYTE, MPI_BOR, node));
    return CPU_COUNT(&all);
}

static void find_node(Comm *comm) {
    MPI_Comm node;
    CHECK_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    CHECK_MPI(MPI_Comm_rank(node, &comm->node_rank));
    CHECK_MPI(MPI_Comm_size(node, &comm->node_size));
    int cores = node_cores(node);
    threads_set_node_cores(cores);
    oversubscribed = comm->node_size > cores || comm->node_size > threads_rationed();
    CHECK_MPI(MPI_Comm_free(&node));
}

// MPI_Init cannot be polled, so an alarm limits it.
enum { start_seconds = 600 };
static void late_start(int number) {
    (void)number;
    static const char text[] = "fringe: the ranks did not connect within 600 seconds; a host "
                               "hangs, or a firewall blocks a connection\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(EXIT_HUNG);
}

static void end_all(ExitCode code, const char *sentence) {
    if (world_rank >= 0)
        terminal_say_last("fringe: rank %d: %s\n", world_rank, SHOWN(sentence));
    else
        terminal_say_last("fringe: %s\n", SHOWN(sentence));
    comm_abort(code);
}

void comm_start(Comm *comm, int *argc, char ***argv) {
    check_ends_with(end_all);
    // ob1's put protocol can make an exchange between two hosts half-duplex; 1 selects the send
    // pipeline.
    setenv("OMPI_MCA_btl_tcp_flags", "1", 0);
    int level = 0;
    signal(SIGALRM, late_start);
    alarm(start_seconds);
    CHECK_MPI(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level));
    CHECK(level >= MPI_THREAD_FUNNELED, EXIT_UNAVAILABLE,
          "this MPI offers no thread level above %d; fringe needs MPI_THREAD_FUNNELED", level);
    CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    *comm = (Comm){.timeout = default_timeout};
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &comm->rank));
    CHECK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &comm->size));
    world_rank = comm->rank;
    comm->mpi = ALLOC(struct CommMpi, 1, "communicator");
    CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm->mpi->data));
    find_node(comm);
    alarm(0);
    heartbeat_start(comm);
}

// MPI_Finalize waits for all ranks and cannot be polled, so an alarm limits it.
static void end_of_patience(int number) {
    (void)number;
    static const char text[] =
        "fringe: the ranks did not end together; a rank is stopped or hung\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(EXIT_HUNG);
}

void comm_stop(Comm *comm) {
    if (comm->mpi == NULL)
        return;
    comm_barrier(comm);
    if (comm->timeout > 0 && comm->size > 1) {
        signal(SIGALRM, end_of_patience);
        alarm((unsigned)comm->timeout + 1);
    }
    heartbeat_stop();
    comm_release(comm);
    MPI_Finalize();
    alarm(0);
    world_rank = -1;
}

void comm_self(Comm *comm) {
    *comm = (Comm){.size = 1, .node_size = 1, .timeout = default_timeout};
}

void comm_set_timeout(Comm *comm, double seconds) { comm->timeout = seconds; }

void comm_duplicate(Comm *copy, const Comm *comm) {
    *copy = *comm;
    if (comm->mpi == NULL)
        return;
    MPI_Request request;
    copy->mpi = ALLOC(struct CommMpi, 1, "communicator");
    CHECK_MPI(MPI_Comm_idup(comm_mpi(comm), &copy->mpi->data, &request));
    comm_wait(comm, &request, 1, "a second communicator");
}

void comm_release(Comm *copy) {
    if (copy->mpi == NULL)
        return;
    CHECK_MPI(MPI_Comm_free(&copy->mpi->data));
    memory_free(copy->mpi);
    copy->mpi = NULL;
}

_Noreturn void comm_abort(ExitCode code) {
    helper_leave_abort(code);
    terminal_settle();
    fflush(stdout);
    fflush(stderr);
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (begun && !ended)
        MPI_Abort(MPI_COMM_WORLD, (int)code);
    _exit((int)code);
}

// --- waiting

// Yields the core to others: early if there are more ranks than cores, later otherwise. What has
// lasted for 20,000 turns, ten milliseconds or more, is no message that is about to arrive.
static void rest(int64_t turns) {
    static const struct timespec moment = {.tv_nsec = 20000};
    if (turns > (oversubscribed ? 100 : 20000))
        nanosleep(&moment, NULL);
    else if (oversubscribed || turns > 2000)
        sched_yield();
}

static void (*beside)(void); // NULL: nothing

void comm_wait_beside(void (*work)(void)) { beside = work; }

// Called while the main thread waits: answers heartbeat requests, does the work of
// comm_wait_beside, and ends the job if a helper thread has requested that.
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

const char *comm_library(char out[COMM_LIBRARY]) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int bytes = 0;
    MPI_Get_library_version(text, &bytes);
    text[strcspn(text, ",\n")] = 0;
    snprintf(out, COMM_LIBRARY, "%s", text);
    return out;
}

bool comm_cuda_support(void) {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() != 0;
#else
    return false;
#endif
}
