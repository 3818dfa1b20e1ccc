// The ranks. Wraps one MPI communicator; the only room that starts and stops MPI.
//
// No wait lasts forever. Every wait of fringe goes through comm_wait or a collective below, which
// poll and, well before comm.timeout seconds, ask all ranks for a sign of life: who is computing or
// waiting inside fringe answers (from any comm call, or from comm_beat, which long kernels reach
// through their Poll); who does not within comm.timeout is named and the job ends with EXIT_SILENT;
// so does a job in which all answer and nothing has moved for many times as long. A rank with long
// serial work that cannot poll (METIS, a large file) runs it through comm_aside and so keeps
// answering.
#ifndef FRINGE_BASE_COMM_H
#define FRINGE_BASE_COMM_H

#include "fringe/base/error.h"
#include <stdint.h>

typedef struct Comm {
    struct CommMpi *mpi; // base/mpi.h; NULL: a rank of its own, without MPI
    int rank, size;
    int node_rank, node_size; // among the ranks of this machine
    double timeout;           // seconds without a sign of life; comm_set_timeout
} Comm;

// Starts MPI (FUNNELED; btl_tcp_flags=1 unless the user set it) and fills *comm with all ranks.
// Without mpirun it is one rank. Collective.
void comm_start(Comm *comm, int *argc, char ***argv);
// Ends MPI in good order. Collective.
void comm_stop(Comm *comm);
void comm_set_timeout(Comm *comm, double seconds); // local
// A second set of message tags on the same ranks (own data communicator). Collective.
void comm_duplicate(Comm *copy, const Comm *comm);
void comm_release(Comm *copy);

// Answers requests for signs of life if 5 ms have passed since it last did; call about every
// millisecond. Main thread only.
void comm_beat(const Comm *comm);
// Runs work(context) on a second thread while this one answers for the rank. work must not call
// MPI.
void comm_aside(const Comm *comm, void (*work)(void *context), void *context);

// Waits until done(context) says so; done moves the messages along itself and never blocks. `what`
// is said when time runs out ("messages of layer 1, forward").
void comm_wait_until(const Comm *comm, bool (*done)(void *context), void *context,
                     const char *what);

// Collectives. All ranks must call them, in the same order.
void comm_barrier(const Comm *comm);
// A barrier for ranks that leave the cores to another one meanwhile: it looks every few
// milliseconds and has no limit (a rank that works alone takes its time).
void comm_sleep(const Comm *comm);
void comm_broadcast(const Comm *comm, void *data, size_t bytes, int root); // > 2 GiB is fine
// every rank gets `bytes` from each: all[r] = one of rank r
void comm_all_gather(const Comm *comm, const void *one, void *all, size_t bytes);
// to[r] of this rank = from[rank] of rank r; `bytes` per pair
void comm_all_to_all(const Comm *comm, const void *from, void *to, size_t bytes);
// Different sizes: offsets in bytes, size+1 entries each; ring order, pieces below 2^31.
void comm_all_to_all_v(const Comm *comm, const void *from, const int64_t *from_offset, void *to,
                       const int64_t *to_offset);
// value[i] = sum over ranks, in rank order on every rank: the same bits everywhere.
void comm_sum_double(const Comm *comm, double *value, int count);
void comm_sum_int64(const Comm *comm, int64_t *value, int count);
double comm_max_double(const Comm *comm, double value);
// Gathers pieces of different sizes on rank 0 (offsets in bytes, size+1 entries, known everywhere).
void comm_gather_v(const Comm *comm, const void *piece, void *all, const int64_t *offset);

// Makes the ranks agree on an error: if any rank holds one, all hold that of the lowest such rank,
// with "rank R: " before it where only some had it. Returns true if nobody holds one. Collective.
bool comm_agree(const Comm *comm, Error *err);

// Which MPI this is: "Open MPI v4.1.4". Works without comm_start.
enum { COMM_LIBRARY = 256 };
const char *comm_library(char out[COMM_LIBRARY]);

// Ends all ranks at once.
_Noreturn void comm_abort(ExitCode code);

// For collective code that must run alone, before or without MPI_Init (tests): a rank of its own.
void comm_self(Comm *comm);

#endif
