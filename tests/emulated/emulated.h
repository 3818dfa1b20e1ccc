// What the files of the emulated device share.
#pragma once

#include "cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#define EMULATED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATED_ASAN 1
#endif
#endif
#ifndef EMULATED_ASAN
#define EMULATED_ASAN 0
#endif

namespace emulated {

// ---- device.cpp
// Prints the sentence, and in a kernel the block and the thread, and ends the program.
[[noreturn]] void stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
cudaError_t failed(cudaError_t status); // cudaGetLastError will tell it
// The place in `names` of the forced name or that of the environment, 0 if there is neither.
int choice(const char *forced, const char *variable, const char *const *names, int count);
extern const char *forced_order, *forced_streams; // of emulated_set_order and _streams
uint64_t scramble(uint64_t number);               // random numbers by a counter

// ---- fibers.cpp
struct Fiber;
extern Fiber *const host_fiber; // the host's own stack
Fiber *fiber_take();            // one that nobody uses, which goes on in run_threads
void fiber_keep(Fiber *fiber);  // nobody uses it
void fiber_switch(Fiber *from, Fiber *to);

// ---- blocks.cpp
enum { LANES_OF_WARP = 32, WARPS_OF_BLOCK = 32, THREADS_OF_BLOCK = 1024 };

// Lanes that are at a call, and those that are yet to come.
struct Meeting {
    Call call;
    unsigned mask, arrived;
    Where where;
};
struct Warp {
    unsigned exists, ended, at_barrier; // sets of lanes
    unsigned ready;                     // set of places in the order of lanes: those that can go on
    uint8_t lane[LANES_OF_WARP], place[LANES_OF_WARP]; // the order of lanes, and its inverse
    Meeting meeting[LANES_OF_WARP];                    // the first `meetings` are open
    int meetings;
    uint8_t from[LANES_OF_WARP];
    uint64_t value[LANES_OF_WARP], result[LANES_OF_WARP];
    Fiber *fiber[LANES_OF_WARP]; // nullptr: not begun
};
struct Block {
    int threads, warps;
    int waiting, ended;            // threads at the barrier, and at their end
    Where barrier;                 // of the first that waits
    uint8_t order[WARPS_OF_BLOCK]; // of warps
    int turn;                      // which one's turn it is
    unsigned ahead;                // places of its lanes that this round has not passed
    Warp warp[WARPS_OF_BLOCK];
};
extern Block block;      // the one that runs
extern bool kernel_runs; // on a fiber
Warp &this_warp();
void block_goes_on();   // all threads of the block, from the first of the order on
void wait_for_others(); // lets the others go on until the caller is ready and it is its turn
[[noreturn]] void run_threads(Fiber *self);

// ---- meetings.cpp
void thread_ends();                  // nobody may be waiting for it
[[noreturn]] void nobody_is_ready(); // and not all have ended

// ---- memory.cpp
void device_begins(); // work may touch blocks of the device
void device_ends();   // nobody may
bool is_of_device(const void *at);
// Ends the program unless the bytes lie in one living block of the device.
void check_block(const void *at, size_t bytes, const char *what);
size_t whole_memory();

// ---- streams.cpp
bool is_stream(cudaStream_t stream);      // a living one
uint64_t last_place(cudaStream_t stream); // of the last command that was put on it
bool has_run(cudaStream_t stream, uint64_t place);
void run_until(cudaStream_t stream, uint64_t place);
void run_sometimes(cudaStream_t stream, uint64_t place); // a step, every few calls
void put_wait(cudaStream_t stream, cudaStream_t other, uint64_t place);
void finish_all();

} // namespace emulated
