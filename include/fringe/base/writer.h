// A thread that writes, so that the computing thread waits neither for a disk nor for a terminal. A
// queue of fixed size stands between the two. The caller copies a job into the queue and goes on;
// the thread does the jobs one by one, in the order in which they were put. A caller waits only if
// the queue is full or if it must know that everything is written, and answers heartbeats while it
// waits (comm_beat). The thread never calls MPI and handles no signals.
#pragma once

#include "fringe/base/comm.h"

typedef struct Writer Writer;

// One job, done on the writer's thread. `payload` is the copy that was put. If an earlier job
// failed, *err holds its error: the job then skips writes to a file that is no longer whole, and
// frees what it owns.
typedef void WriterJob(void *context, const void *payload, size_t bytes, Error *err);

// Starts the thread and allocates all its memory: a queue of `room` bytes. A job uses 32 to 64
// bytes more than its payload. `comm` is borrowed.
Writer *writer_new(const Comm *comm, size_t room);
// Waits until all jobs are done, then ends the thread; NULL is allowed.
void writer_free(Writer *writer);

// Puts a job at the end of the queue and copies its payload (at most half of the queue). Waits
// while the queue is full. False with the error of the first job that failed; this job is put
// nevertheless.
bool writer_put(Writer *writer, WriterJob *work, void *context, const void *payload, size_t bytes,
                Error *err);
// Waits until all jobs are done; false as above.
bool writer_wait(Writer *writer, Error *err);
bool writer_idle(Writer *writer); // true if all jobs are done; callable from any thread
