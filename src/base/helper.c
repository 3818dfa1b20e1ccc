// Helper threads. The idea: they may block and compute, but only the main thread calls MPI and ends
// the job. It checks for their requests whenever it answers heartbeats.

#include "internal.h"

#include <omp.h>
#include <unistd.h>

static _Thread_local bool on_helper_thread;
static atomic_int wanted_code; // exit code of the abort that a helper has requested; 0: none

bool helper_is_current(void) { return on_helper_thread; }

void helper_leave_abort(ExitCode code) {
    if (!on_helper_thread)
        return;
    atomic_store(&wanted_code, (int)code);
    for (;;)
        pause();
}

int helper_abort_requested(void) { return atomic_load(&wanted_code); }

static void *run(void *pointer) {
    Helper *helper = pointer;
    on_helper_thread = true;
    omp_set_num_threads(helper->threads);
    helper->work(helper->context);
    atomic_store(&helper->done, true);
    return NULL;
}

void helper_start(Helper *helper, void (*work)(void *context), void *context) {
    *helper = (Helper){.work = work, .context = context, .threads = omp_get_max_threads()};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)64 << 20);
    int status = pthread_create(&helper->thread, &attributes, run, helper);
    pthread_attr_destroy(&attributes);
    CHECK(status == 0, EXIT_MEMORY, "cannot start a thread: %s", strerror(status));
}

void helper_join(Helper *helper) { pthread_join(helper->thread, NULL); }
