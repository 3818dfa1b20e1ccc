// The writer's queue is a ring of bytes. A job is contiguous: if it does not fit before the end of
// the ring, a mark sends the thread back to the beginning.
//
//   begin of the ring                                                        end of the ring
//   | newest job | free ...... | oldest job | job | job | mark | too short for the newest job |
//                ^ next         ^ first
//
// Waking the thread costs more than a short job, and takes a core from the computation if ranks use
// all of them. So the first job wakes the thread, which then lets more jobs gather for a moment,
// unless a caller waits.

#include "fringe/base/writer.h"
#include "fringe/base/memory.h"
#include "internal.h"

#include <signal.h>
#include <time.h>

enum { GATHER_NS = 50000000, ANSWER_NS = 1000000 };

typedef struct Job {
    WriterJob *work; // NULL: the mark
    void *context;
    size_t bytes, taken; // payload; payload and head
    char payload[];
} Job;

struct Writer {
    const Comm *comm; // borrowed
    Helper helper;
    pthread_mutex_t lock; // protects all that follows; only the thread touches queued jobs
    pthread_cond_t put, done;
    bool ending;
    bool awaited;       // a caller waits for a job
    Error err;          // of the first job that failed
    int64_t jobs;       // queued, not done yet
    size_t first, next; // bytes from the beginning of the ring
    size_t room;
    char *ring; // owned
};

// --- the thread

static Job *job_at(const Writer *w, size_t at) { return (Job *)(void *)(w->ring + at); }

static Job *oldest(Writer *w) {
    if (w->first == w->room || job_at(w, w->first)->work == NULL)
        w->first = 0;
    return job_at(w, w->first);
}

// The caller holds the lock; it is released while the job runs.
static void do_oldest(Writer *w) {
    Job *job = oldest(w);
    Error err = w->err;
    pthread_mutex_unlock(&w->lock);
    job->work(job->context, job->payload, job->bytes, &err);
    pthread_mutex_lock(&w->lock);
    w->err = err;
    w->first += job->taken;
    w->jobs--;
    pthread_cond_signal(&w->done);
}

// Waits for a signal for at most this time. The caller holds the lock.
static void wait_for(Writer *w, pthread_cond_t *signal, long nanoseconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(signal, &w->lock, &until);
}

// Does the jobs that were put while the thread slept or let jobs gather.
static void do_jobs(Writer *w) {
    if (!w->awaited && !w->ending)
        wait_for(w, &w->put, GATHER_NS);
    while (w->jobs > 0)
        do_oldest(w);
    w->awaited = false;
}

static void work(void *context) {
    Writer *w = context;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL); // signals go to the main thread
    pthread_mutex_lock(&w->lock);
    while (w->jobs > 0 || !w->ending)
        if (w->jobs > 0)
            do_jobs(w);
        else
            pthread_cond_wait(&w->put, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

Writer *writer_new(const Comm *comm, size_t room) {
    Writer *w = ALLOC(Writer, 1, "writer");
    pthread_condattr_t clock;
    *w = (Writer){.comm = comm, .room = room / sizeof(Job) * sizeof(Job)};
    w->ring = ALLOC(char, w->room, "queue of the writer");
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->put, &clock);
    pthread_cond_init(&w->done, &clock);
    pthread_condattr_destroy(&clock);
    helper_start(&w->helper, work, w);
    return w;
}

// --- the callers

// Waits a moment for a job and answers heartbeat requests. The caller holds the lock.
static void wait_a_moment(Writer *w) {
    w->awaited = true;
    pthread_cond_signal(&w->put);
    wait_for(w, &w->done, ANSWER_NS);
    pthread_mutex_unlock(&w->lock);
    comm_beat(w->comm);
    pthread_mutex_lock(&w->lock);
}

// Sets `next` to a place for a job of this size; false if there is none yet.
static bool find_place(Writer *w, size_t taken) {
    if (w->jobs == 0)
        w->first = w->next = 0;
    bool ahead = w->next > w->first || w->jobs == 0; // free: from `next` to the end of the ring
    if (w->next + taken <= (ahead ? w->room : w->first))
        return true;
    if (!ahead || taken > w->first)
        return false;
    if (w->next < w->room)
        job_at(w, w->next)->work = NULL;
    w->next = 0;
    return true;
}

// True if no job has failed, else false with the first error.
static bool state(const Writer *w, Error *err) {
    if (w->err.code != 0 && err->code == 0)
        *err = w->err;
    return w->err.code == 0;
}

bool writer_put(Writer *w, WriterJob *job, void *context, const void *payload, size_t bytes,
                Error *err) {
    size_t taken = (sizeof(Job) + bytes + sizeof(Job) - 1) / sizeof(Job) * sizeof(Job);
    assert(taken <= w->room / 2);
    pthread_mutex_lock(&w->lock);
    while (!find_place(w, taken))
        wait_a_moment(w);
    Job *new = job_at(w, w->next);
    *new = (Job){.work = job, .context = context, .bytes = bytes, .taken = taken};
    memcpy(new->payload, payload, bytes);
    w->next += taken;
    if (w->jobs++ == 0)
        pthread_cond_signal(&w->put);
    bool ok = state(w, err);
    pthread_mutex_unlock(&w->lock);
    return ok;
}

bool writer_idle(Writer *w) {
    pthread_mutex_lock(&w->lock);
    bool idle = w->jobs == 0;
    pthread_mutex_unlock(&w->lock);
    return idle;
}

bool writer_wait(Writer *w, Error *err) {
    pthread_mutex_lock(&w->lock);
    while (w->jobs > 0)
        wait_a_moment(w);
    bool ok = state(w, err);
    pthread_mutex_unlock(&w->lock);
    return ok;
}

void writer_free(Writer *w) {
    if (w == NULL)
        return;
    writer_wait(w, &(Error){0});
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_signal(&w->put);
    pthread_mutex_unlock(&w->lock);
    helper_join(&w->helper);
    pthread_cond_destroy(&w->done);
    pthread_cond_destroy(&w->put);
    pthread_mutex_destroy(&w->lock);
    MEMORY_FREE(w->ring, w);
}
