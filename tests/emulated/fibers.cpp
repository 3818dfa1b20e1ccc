// Fibers: stacks of their own, and the switch from one to another.
//
// A stack lies between two pages that nobody may touch. On x86-64 a switch saves only what a called
// function must keep, which takes no call of the system; elsewhere ucontext does it.
#include "emulated.h"

#include <sys/mman.h>
#include <vector>

#if EMULATED_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__x86_64__) && !defined(EMULATED_UCONTEXT) // which a test of this file may define
#define OWN_SWITCH 1
#else
#define OWN_SWITCH 0
#include <ucontext.h>
#endif

namespace emulated {

static const size_t page = 4096, stack_bytes = (EMULATED_ASAN ? 256 : 64) << 10;

struct Fiber {
    const void *stack; // the lowest address
    size_t bytes;
    void *fake; // AddressSanitizer's
#if OWN_SWITCH
    void *at; // the stack pointer while another fiber runs
#else
    ucontext_t context;
#endif
};

static Fiber host;
Fiber *const host_fiber = &host;
static std::vector<Fiber *> &idle = *new std::vector<Fiber *>; // lives as long as the program
static Fiber *left, *entered;                                  // by the last switch

// ---- the bare switch

#if OWN_SWITCH
extern "C" void emulated_switch(void **save, void *at);
asm(R"(
    .text
    .globl emulated_switch
    .hidden emulated_switch
    .type emulated_switch, @function
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
    .size emulated_switch, .-emulated_switch
)");

static void bare_switch(Fiber *from, Fiber *to) { emulated_switch(&from->at, to->at); }

// The first switch pops six registers and returns to `begin`, as if somebody had called it. Stacks
// begin at different places of their pages, or they would fight for the same lines of the cache.
static void prepare(Fiber *fiber, void (*begin)()) {
    static size_t made = 0;
    void **top = (void **)((char *)fiber->stack + fiber->bytes - made++ % 16 * 256);
    *--top = nullptr; // nobody called
    *--top = (void *)begin;
    for (int i = 0; i < 6; i++)
        *--top = nullptr;
    fiber->at = top;
}
#else
static void bare_switch(Fiber *from, Fiber *to) { swapcontext(&from->context, &to->context); }

static void prepare(Fiber *fiber, void (*begin)()) {
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = (void *)fiber->stack;
    fiber->context.uc_stack.ss_size = fiber->bytes;
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, begin, 0);
}
#endif

// ---- what AddressSanitizer must know

static void before_switch(Fiber *from, Fiber *to) {
    left = from;
    entered = to;
#if EMULATED_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->stack, to->bytes);
#endif
}

static void after_switch(Fiber *self) {
#if EMULATED_ASAN
    // It tells where the stack lies that was left; nobody else knows it of the host's.
    __sanitizer_finish_switch_fiber(self->fake, &left->stack, &left->bytes);
#else
    (void)self;
#endif
}

void fiber_switch(Fiber *from, Fiber *to) {
    before_switch(from, to);
    bare_switch(from, to);
    after_switch(from);
}

// ---- making

static void begin() {
    Fiber *self = entered;
    after_switch(self);
    run_threads(self);
}

static Fiber *fiber_new() {
    char *all = (char *)mmap(nullptr, stack_bytes + 2 * page, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, stack_bytes, PROT_READ | PROT_WRITE) != 0)
        stop("there is no memory for the stack of a thread");
    Fiber *fiber = new Fiber();
    fiber->stack = all + page;
    fiber->bytes = stack_bytes;
    prepare(fiber, begin);
    return fiber;
}

Fiber *fiber_take() {
    if (idle.empty())
        return fiber_new();
    Fiber *fiber = idle.back();
    idle.pop_back();
    return fiber;
}

void fiber_keep(Fiber *fiber) { idle.push_back(fiber); }

} // namespace emulated
