// Threads beside the main one. The idea: they may block and compute, and leave MPI and the end of
// the job to the main thread, which looks after them whenever it answers for its rank.

#include "internal.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Thread_local bool on_the_side;
static atomic_int wanted_code; // of the end that a side has asked for; 0: none

bool side_is_this(void) { return on_the_side; }

void side_leave_abort(ExitCode code) {
    if (!on_the_side)
        return;
    atomic_store(&wanted_code, (int)code);
    for (;;)
        pause();
}

int side_asked_to_abort(void) { return atomic_load(&wanted_code); }

static void *run(void *pointer) {
    const Side *side = pointer;
    on_the_side = true;
    omp_set_num_threads(side->threads);
    side->work(side->context);
    return NULL;
}

void side_start(Side *side, void (*work)(void *context), void *context) {
    *side = (Side){.work = work, .context = context, .threads = omp_get_max_threads()};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)64 << 20);
    int status = pthread_create(&side->thread, &attributes, run, side);
    pthread_attr_destroy(&attributes);
    CHECK(status == 0, EXIT_MEMORY, "cannot start a thread: %s", strerror(status));
}

void side_join(Side *side) { pthread_join(side->thread, NULL); }

// --- one piece of work

typedef struct Aside {
    void (*work)(void *context);
    void *context;
    atomic_bool done;
} Aside;

static void run_aside(void *context) {
    Aside *aside = context;
    aside->work(aside->context);
    atomic_store(&aside->done, true);
}

void comm_aside(const Comm *comm, void (*work)(void *context), void *context) {
    static const struct timespec moment = {.tv_nsec = 1000000};
    if (comm->size == 1) { // nobody asks
        work(context);
        return;
    }
    Aside aside = {.work = work, .context = context};
    Side side;
    side_start(&side, run_aside, &aside);
    while (!atomic_load(&aside.done)) {
        comm_beat(comm);
        nanosleep(&moment, NULL);
    }
    side_join(&side);
}
