// What the pieces of base tell each other and no other room sees.
#ifndef FRINGE_BASE_INTERNAL_H
#define FRINGE_BASE_INTERNAL_H

#include "fringe/base/mpi.h"

#include <pthread.h>

// The cores that the ranks of this machine may use together; 0 until comm_start has asked them.
void threads_set_node_cores(int cores);
// Cores' worth of time that a container grants; INT_MAX without a ration.
int threads_rationed(void);

// A file of at least `least` bytes, mapped to be read (mapping.c); NULL with an error. Where it
// becomes shorter meanwhile, reading it ends the process with a sentence and EXIT_IO.
void *file_map(const char *path, size_t least, size_t *bytes, Error *err);
void file_unmap(void *mapping, size_t bytes); // NULL is fine

// Bytes of the well-formed UTF-8 letter at `at`, or 0 (text.c).
size_t utf8_length(const unsigned char *at, size_t left);
unsigned utf8_point(const unsigned char *at, size_t length);
// Does a terminal obey this letter, or write others in another place than they stand?
bool utf8_is_command(const unsigned char *at, size_t length);
// Refuses what is not JSON, with line and column (json_scan.c).
bool json_scan(const char *text, size_t bytes, const char *name, Error *err);
#define JSON_LARGEST_INTEGER 9007199254740992.0 // 2^53: above it doubles have holes

// --- signs of life (heartbeat.c): one state per process, on a communicator of their own
void life_start(const Comm *comm);
void life_stop(void);
// Answers whoever asked, notes who answered.
void life_answer(void);

// One wait, as heartbeat.c sees it.
typedef struct LifeWatch {
    double since;     // the wait began
    double base;      // the last proof that all ranks live: the beginning, then each full round
    double asked;     // when the open round was asked
    double looked;    // the last call of life_watch
    bool open;        // a round of questions is under way
    int standstill;   // full rounds in a row in which every rank waited and none got anything
    int64_t finished; // waits that all ranks together had finished at the last full round
} LifeWatch;
LifeWatch life_watch_begin(void);
// Asks for signs of life when it is time; ends the job if a rank gives none.
void life_watch(LifeWatch *watch, double timeout, const char *what);
void life_watch_end(void);

// --- threads beside the main one (side.c): MPI is not theirs, and where a CHECK fails in one, it
// waits until the main thread ends the job
typedef struct Side {
    void (*work)(void *context);
    void *context;
    int threads; // OpenMP would give a new thread those of the whole machine
    pthread_t thread;
} Side;
// Starts work(context) on a thread; *side stays where it is until side_join has returned.
void side_start(Side *side, void (*work)(void *context), void *context);
void side_join(Side *side);
bool side_is_this(void); // does the caller run on such a thread?
// Hands the exit code to the main thread and never returns; does nothing on the main thread itself.
void side_leave_abort(ExitCode code);
int side_asked_to_abort(void); // the exit code that a thread handed over, or 0

// Room for the requests of one collective: 2 * size of them.
MPI_Request *life_requests(void);
// Room for LIFE_VALUES values of 8 bytes of each rank.
enum { LIFE_VALUES = 64 };
void *life_values(void);

// Tags of the collectives on comm_mpi; users of the same communicator stay below.
enum { COMM_TAG = 32700 };

#endif
