// The ranks. Wraps one MPI communicator. Only this module starts and stops MPI.
//
// No wait lasts forever. Every wait of fringe goes through comm_wait or a collective below. These
// poll and, well before comm.timeout seconds have passed, send all ranks a heartbeat request. A
// rank that computes or waits inside fringe answers it from any comm call, or from comm_beat, which
// long kernels reach through their Poll. A rank that does not answer within comm.timeout is named
// and the job ends with EXIT_HUNG. The job ends in the same way if all ranks answer but none
// makes progress for many times that long. A rank with long serial work that cannot poll (METIS, a
// large file) runs it through comm_on_helper and so keeps answering.
#pragma once

#include "fringe/base/error.h"

typedef struct Comm {
    struct CommMpi *mpi; // base/mpi.h; NULL: a single rank without MPI
    int rank, size;
    int node_rank, node_size; // among the ranks on this machine
    double timeout;           // seconds without a heartbeat; comm_set_timeout
} Comm;

// Starts MPI (FUNNELED; btl_tcp_flags=1 unless the user set it) and fills *comm with all ranks.
// Without mpirun there is one rank. Collective.
void comm_start(Comm *comm, int *argc, char ***argv);
// Ends MPI after all ranks have arrived. Collective.
void comm_stop(Comm *comm);
void comm_set_timeout(Comm *comm, double seconds); // local
// Gives the same ranks a second data communicator, with message tags of its own. Collective.
void comm_duplicate(Comm *copy, const Comm *comm);
void comm_release(Comm *copy);

// Answers heartbeat requests if at least 5 ms have passed since the last call that did. Call it
// about every millisecond, from the main thread only.
void comm_beat(const Comm *comm);
// Runs work(context) in a helper thread while this thread answers heartbeat requests. work must not
// call MPI.
void comm_on_helper(const Comm *comm, void (*work)(void *context), void *context);

// Waits until done(context) returns true. done progresses the messages itself and never blocks.
// `what` names the wait in the error after a timeout ("messages of layer 1, forward").
void comm_wait_until(const Comm *comm, bool (*done)(void *context), void *context,
                     const char *what);
// From now on every turn of every wait, and comm_beat now and then, call this work, too: messages
// in flight while their owner waits for something else. It never blocks or waits. NULL: none.
void comm_on_wait(void (*work)(void));

// Collectives. All ranks must call them, in the same order.
void comm_barrier(const Comm *comm);
// Barrier that sleeps between polls, for ranks that wait while another rank uses all cores. It
// never times out.
void comm_sleep(const Comm *comm);
// Until root arrives, the others sleep between polls and leave it the cores; they notice if it
// falls silent. For waits of seconds.
void comm_await(const Comm *comm, int root);
void comm_broadcast(const Comm *comm, void *data, size_t bytes, int root); // may exceed 2 GiB
// Every rank gets `bytes` from each rank: all[r] = one of rank r.
void comm_all_gather(const Comm *comm, const void *one, void *all, size_t bytes);
// to[r] of this rank = from[rank] of rank r; `bytes` per pair
void comm_all_to_all(const Comm *comm, const void *from, void *to, size_t bytes);
// All-to-all with different sizes: offsets in bytes, size+1 entries each; sent in ring order, in
// chunks below 2^31 bytes.
void comm_all_to_all_v(const Comm *comm, const void *from, const int64_t *from_offset, void *to,
                       const int64_t *to_offset);
// value[i] = sum over ranks. Every rank adds in rank order and gets the same bits.
void comm_sum_double(const Comm *comm, double *value, int count);
void comm_sum_int64(const Comm *comm, int64_t *value, int count);
double comm_max_double(const Comm *comm, double value);
// Where the pieces of the ranks begin, in bytes, if each gives the size of its own: [size+1], to be
// freed with memory_free.
int64_t *comm_offsets(const Comm *comm, int64_t bytes);
// Gathers pieces of different sizes on rank 0 (offsets in bytes, size+1 entries, known everywhere).
void comm_gather_v(const Comm *comm, const void *piece, void *all, const int64_t *offset);
// Rank 0 sends each rank its piece. The others may know no more offsets than their own.
void comm_scatter_v(const Comm *comm, const void *all, void *piece, const int64_t *offset);

// Makes the ranks agree on an error: if any rank holds one, all get that of the lowest such rank,
// prefixed with "rank R: " if only some ranks held one and rank 0 did not. Returns true if no rank
// holds one. Collective.
bool comm_agree(const Comm *comm, Error *err);

// Rank 0 runs work(context, err) in a helper thread (comm_on_helper) unless it holds an error, and
// the others learn whether it failed: comm_agree. For what one rank does for all, such as reading a
// file on a disk that may be slow; results are broadcast afterwards. Collective.
bool comm_on_root(const Comm *comm, void (*work)(void *context, Error *err), void *context,
                  Error *err);

// The name of the MPI library: "Open MPI v4.1.4". Works without comm_start.
enum { COMM_LIBRARY = 256 };
const char *comm_library(char out[COMM_LIBRARY]);
// Does the MPI library send from the memory of CUDA devices? False, too, where it cannot be asked.
// Works without comm_start.
bool comm_cuda_support(void);

// Ends all ranks at once.
_Noreturn void comm_abort(ExitCode code);

// Fills *comm with a single rank without MPI, for collective code that runs before or without
// MPI_Init (tests).
void comm_self(Comm *comm);
