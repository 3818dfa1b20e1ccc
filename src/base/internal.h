// Inside the base room.
#pragma once

#include "fringe/base/mpi.h"

#include <pthread.h>
#include <stdatomic.h>

// Sets the cores that the ranks of this machine may use together; 0 before comm_start.
void threads_set_node_cores(int cores);
// Cores' worth of processor time that the cgroups of this process grant; INT_MAX without a limit.
int threads_rationed(void);

// --- cgroup.c
// The number after `key` in a file ("MemAvailable:"), or the file's first number for key "".
// SIZE_MAX if there is none ("max").
size_t number_in(const char *path, const char *key);
size_t cgroup_number(const char *folder, const char *name, const char *key); // of folder/name
typedef size_t CgroupValue(const char *folder);
// The least of a value over the cgroups that this process is in: of version 2 by `second`, of that
// controller of version 1 by `first`. SIZE_MAX if none has one.
size_t cgroup_least(const char *controller, CgroupValue *second, CgroupValue *first);

// Refuses a file of fewer than `least` bytes with a sentence (mapping.c).
bool file_has_bytes(const char *path, size_t bytes, size_t least, Error *err);

// The character at `at`, whose bytes utf8_length tells (text.c).
unsigned utf8_point(const unsigned char *at, size_t length);
// True if this character controls a terminal or changes the order of others.
bool utf8_is_command(const unsigned char *at, size_t length);
// False with line and column if the text is not JSON (json_scan.c).
bool json_scan(const char *text, size_t bytes, const char *name, Error *err);
// Makes room for `bytes` more in a buffer that doubles; ends the job if there is no memory.
void *json_grown(void *old, size_t used, size_t bytes, size_t *room);
#define JSON_LARGEST_INTEGER 9007199254740992.0 // 2^53: doubles skip integers above it

// More ranks than cores on this machine: waits yield their core early (wait.c), and
// earlier still among tests, which run beside each other.
void comm_wait_crowded(bool crowded, bool among_tests);

// --- the end of a process (ending.c)
// terminal_settle waits for this to be true; the last words lie below the terminal.
void terminal_settles_when(bool (*is_settled)(void));
// Ends all ranks with a last sentence.
_Noreturn void comm_abort_saying(ExitCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// MPI_Init and MPI_Finalize wait for all ranks and cannot be polled, so an alarm limits them:
// EXIT_HUNG with that sentence, unless alarm(0) comes first.
void end_after(unsigned seconds, const char *sentence);

// --- heartbeats (heartbeat.c): one state per process, on a communicator of their own
void heartbeat_start(const Comm *comm);
void heartbeat_stop(void);
// Answers the requests of other ranks and records the answers received.
void heartbeat_answer(void);

// One wait, as heartbeat.c sees it.
typedef struct HeartbeatWatch {
    double since;   // the wait began
    double base;    // the last proof that all ranks are alive: the beginning, then each full round
    double asked;   // when the open round of requests began
    double looked;  // the last call of heartbeat_watch
    bool open;      // a round of requests is open
    int standstill; // successive full rounds in which every rank waited and none made progress
    int64_t finished; // waits that all ranks together had finished at the last full round
} HeartbeatWatch;
HeartbeatWatch heartbeat_watch_begin(void);
// Sends heartbeat requests when due; ends the job if a rank does not answer.
void heartbeat_watch(HeartbeatWatch *watch, double timeout, const char *what);
void heartbeat_watch_end(void);

// --- helper threads (helper.c): they must not call MPI. If a CHECK fails in one, it waits until
// the main thread ends the job
typedef struct Helper {
    void (*work)(void *context);
    void *context;
    int threads; // OpenMP would give a new thread all cores of the machine
    pthread_t thread;
    atomic_bool done;
} Helper;
// Starts work(context) on a thread; *helper must not move until helper_join has returned.
void helper_start(Helper *helper, void (*work)(void *context), void *context);
void helper_join(Helper *helper);
bool helper_is_current(void); // true on a helper thread
// On a helper thread: hands the exit code to the main thread and never returns. Does nothing on the
// main thread.
void helper_leave_abort(ExitCode code);
int helper_abort_requested(void); // the exit code that a helper handed over, or 0

// Room for the requests of one collective: 2 * size of them.
MPI_Request *collective_requests(void);
// Room for COLLECTIVE_VALUES values of 8 bytes of each rank.
enum { COLLECTIVE_VALUES = 64 };
void *collective_values(void);

// Tags of the collectives on comm_mpi; users of the same communicator stay below.
enum { COMM_TAG = 32700 };
