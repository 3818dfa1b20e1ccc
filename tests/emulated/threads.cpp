// The threads of a block as fibers: they run one at a time, in the order that is asked for, until
// they end or wait for others.
//
// A fiber has a stack of its own between two pages that nobody may touch. A thread that ends leaves
// its fiber to the next, so only threads that wait for each other need many.
#include "emulated.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/mman.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

void stop(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "emulated device: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, " (block %u, thread %u)\n", blockIdx.x, threadIdx.x);
    va_end(arguments);
    fflush(stderr);
    abort();
}

// ---- switching stacks: saves what a called function must keep, and where it goes on.

#if defined(__x86_64__)
extern "C" void emulated_switch(void **from, void *to);
asm(R"(
    .text
    .globl emulated_switch
    .hidden emulated_switch
emulated_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");
#elif defined(__aarch64__)
extern "C" void emulated_switch(void **from, void *to);
asm(R"(
    .text
    .globl emulated_switch
    .hidden emulated_switch
emulated_switch:
    sub sp, sp, #160
    stp x19, x20, [sp]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
)");
#else
#error "the emulated device switches stacks on x86-64 and aarch64 only"
#endif

constexpr size_t STACK = 64 << 10, PAGE = 4096;

struct Fiber {
    char *stack; // [STACK]
    void *at;    // where it goes on
    void *fake;  // of AddressSanitizer
};

enum State { NEW, READY, AT_MEETING, AT_BARRIER, ENDED };

struct Thread {
    State state;
    Fiber *fiber;
    Meeting kind;
    unsigned mask;
    uint64_t value, seen[32];
};

static struct {
    std::vector<Thread> thread;
    std::vector<Fiber *> idle;
    const std::function<void()> *kernel;
    unsigned current; // thread
    void *scheduler, *scheduler_fake;
    const void *host_stack;
    size_t host_bytes;
} run;

// ---- the switches that AddressSanitizer must know of

static void switch_to_fiber(Fiber *fiber) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&run.scheduler_fake, fiber->stack, STACK);
#endif
    emulated_switch(&run.scheduler, fiber->at);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(run.scheduler_fake, nullptr, nullptr);
#endif
}

static void switch_to_scheduler(Fiber *fiber) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fiber->fake, run.host_stack, run.host_bytes);
#endif
    emulated_switch(&fiber->at, run.scheduler);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber->fake, &run.host_stack, &run.host_bytes);
#endif
}

// What every fiber runs: thread after thread, whichever the scheduler has made the current one.
static void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &run.host_stack, &run.host_bytes);
#endif
    for (;;) {
        Fiber *fiber = run.thread[run.current].fiber;
        (*run.kernel)();
        run.thread[run.current].state = ENDED;
        switch_to_scheduler(fiber);
    }
}

static Fiber *fiber_new() {
    char *all = (char *)mmap(nullptr, STACK + 2 * PAGE, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || mprotect(all + PAGE, STACK, PROT_READ | PROT_WRITE) != 0)
        stop("there is no memory for a stack");
    Fiber *fiber = new Fiber{all + PAGE, nullptr, nullptr};
    void **top = (void **)(fiber->stack + STACK);
#if defined(__x86_64__)
    top -= 2; // the return address lies at 16 n + 8, as after a call
    *top = (void *)fiber_main;
    top -= 6;
    memset(top, 0, 6 * sizeof *top);
#else
    top -= 20;
    memset(top, 0, 20 * sizeof *top);
    top[11] = (void *)fiber_main; // x30
#endif
    fiber->at = top;
    return fiber;
}

static Fiber *fiber_take() {
    if (run.idle.empty())
        return fiber_new();
    Fiber *fiber = run.idle.back();
    run.idle.pop_back();
    return fiber;
}

// ---- meetings

unsigned lane() { return threadIdx.x % 32; }

static Thread &self() { return run.thread[run.current]; }

static void wait_for_others() {
    unsigned me = run.current;
    switch_to_scheduler(self().fiber);
    run.current = me;
}

// All lanes of the mask are at the same call.
static bool have_met(unsigned first, Meeting kind, unsigned mask) {
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1))
            continue;
        if (first + l >= run.thread.size())
            stop("the mask 0x%08x names lane %u, which the block does not have", mask, l);
        const Thread &other = run.thread[first + l];
        if (other.state == ENDED)
            stop("lane %u of the mask 0x%08x has ended", l, mask);
        if (other.state == AT_MEETING && (other.kind != kind || other.mask != mask) &&
            (other.mask >> lane() & 1))
            stop("lane %u of the mask 0x%08x is at another call, with the mask 0x%08x", l, mask,
                 other.mask);
        if (other.state != AT_MEETING)
            return false;
    }
    return true;
}

const uint64_t *meet(Meeting kind, unsigned mask, uint64_t value) {
    Thread &me = self();
    if (!(mask >> lane() & 1))
        stop("lane %u is not in its own mask 0x%08x", lane(), mask);
    me.state = AT_MEETING;
    me.kind = kind;
    me.mask = mask;
    me.value = value;
    const unsigned first = run.current / 32 * 32;
    if (!have_met(first, kind, mask)) {
        wait_for_others();
        return self().seen;
    }
    for (unsigned l = 0; l < 32; l++)
        if (mask >> l & 1) {
            for (unsigned from = 0; from < 32; from++)
                if (mask >> from & 1)
                    run.thread[first + l].seen[from] = run.thread[first + from].value;
            run.thread[first + l].state = READY;
        }
    return me.seen;
}

void meet_block() {
    self().state = AT_BARRIER;
    for (const Thread &other : run.thread)
        if (other.state != AT_BARRIER) {
            if (other.state == ENDED)
                stop("a thread waits at __syncthreads, another has ended");
            wait_for_others();
            return;
        }
    for (Thread &other : run.thread)
        other.state = READY;
}

// ---- shared memory: against a page that nobody may touch, and full of what no kernel wants

constexpr size_t SHARED_MOST = 48 << 10;
static char *shared_at;

void *shared_memory() {
    if (shared_at == nullptr)
        stop("the launch gave no shared memory");
    return shared_at;
}

static void poison_shared(size_t bytes) {
    static char *all = nullptr;
    if (all == nullptr) {
        all = (char *)mmap(nullptr, SHARED_MOST + PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(all + SHARED_MOST, PAGE, PROT_NONE);
    }
    size_t room = (bytes + 15) / 16 * 16;
    shared_at = bytes > 0 ? all + SHARED_MOST - room : nullptr;
    if (bytes > 0)
        memset(shared_at, 0xff, room);
}

// ---- a block, a grid

static std::vector<unsigned> ordered(unsigned count, uint64_t salt) {
    const char *name = getenv("FRINGE_EMULATED_ORDER");
    std::vector<unsigned> order(count);
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    switch (name != nullptr ? name[0] : 'f') {
    case 'b':
        std::reverse(order.begin(), order.end());
        break;
    case 's': {
        std::minstd_rand random((unsigned)(salt * 7919 + 1));
        std::shuffle(order.begin(), order.end(), random);
        break;
    }
    case 'i': // the odd ones first
        std::stable_partition(order.begin(), order.end(), [](unsigned i) { return i % 2 == 1; });
        break;
    default:
        break;
    }
    return order;
}

static void run_thread(unsigned number) {
    Thread &thread = run.thread[number];
    if (thread.state == NEW)
        thread.fiber = fiber_take();
    thread.state = READY;
    run.current = number;
    threadIdx.x = number;
    switch_to_fiber(thread.fiber);
    if (thread.state == ENDED)
        run.idle.push_back(thread.fiber);
}

static void run_block(const std::vector<unsigned> &order) {
    size_t ended = 0;
    while (ended < order.size()) {
        bool moved = false;
        for (unsigned number : order) {
            Thread &thread = run.thread[number];
            if (thread.state != NEW && thread.state != READY)
                continue;
            run_thread(number);
            ended += thread.state == ENDED;
            moved = true;
        }
        if (!moved)
            stop("the threads of a block wait for each other for good");
    }
}

void run_grid(dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()> &kernel) {
    static uint64_t launches = 0;
    run.kernel = &kernel;
    gridDim = grid;
    blockDim = block;
    const std::vector<unsigned> blocks = ordered(grid.x, ++launches);
    const std::vector<unsigned> threads = ordered(block.x, launches);
    for (unsigned number : blocks) {
        blockIdx = dim3(number, 0, 0);
        threadIdx = dim3(0, 0, 0);
        run.thread.assign(block.x, Thread{NEW, nullptr, Meeting::SYNC, 0, 0, {}});
        poison_shared(shared_bytes);
        run_block(threads);
    }
}

} // namespace emulated
