// A thread that writes, so that who computes waits neither for a disk nor for a terminal. The idea:
// a queue of fixed size stands between the two. Whoever has something to write copies it into the
// queue and goes on; the thread does one job after the other, in the order in which they were put.
// Only who finds the queue full, or must know that all is written, waits, and answers for its rank
// meanwhile (comm_beat). The thread never calls MPI and takes no signals.
#ifndef FRINGE_BASE_WRITER_H
#define FRINGE_BASE_WRITER_H

#include "fringe/base/comm.h"

typedef struct Writer Writer;

// One job, done on the writer's thread. `payload` is the copy that was put. Where an earlier job
// failed, *err holds its error: what belongs to a file that is not whole any more is left undone,
// and what the job owns is given back.
typedef void WriterJob(void *context, const void *payload, size_t bytes, Error *err);

// Starts the thread. All memory is taken here: a queue of `room` bytes, with 32 of them and at most
// 32 more for each job beside its payload. `comm` is borrowed.
Writer *writer_new(const Comm *comm, size_t room);
// Waits until all jobs are done, and ends the thread; NULL is fine.
void writer_free(Writer *writer);

// Puts a job at the end of the queue; the payload, at most half of the queue, is copied. Waits
// while the queue is full. False with the error of the first job that failed; this job is put all
// the same.
bool writer_put(Writer *writer, WriterJob *work, void *context, const void *payload, size_t bytes,
                Error *err);
// Waits until all jobs are done; false as above.
bool writer_wait(Writer *writer, Error *err);
bool writer_idle(Writer *writer); // are all jobs done? Any thread.

#endif
