// The order in which the blocks of a grid and the threads of a block run.
//
// Blocks run one after the other, and of a block one thread at a time: until it ends, or waits for
// others at a call. Each thread runs on a fiber. A thread that ends leaves its fiber to the next
// that has not begun, without a switch, so a kernel whose threads never wait takes one fiber.
//
//   forward      warp after warp, each as far as it goes; lanes, warps and blocks ascend
//   backward     the same with all descending
//   shuffled     the same with lanes, warps and blocks in a random order, another one each time
//   interleaved  every lane of a warp once, then the next warp's; the even ones before the odd ones
#include "emulated.h"

#include <cstdlib>

#if !EMULATED_ASAN
#include <sys/mman.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulated {

enum Order { FORWARD, BACKWARD, SHUFFLED, INTERLEAVED, ORDERS };
static const char *const order_names[ORDERS] = {"forward", "backward", "shuffled", "interleaved"};

Block block;
bool kernel_runs;

static struct {
    Thread *thread;
    const void *arguments;
    unsigned begun; // blocks
    Order order;
    uint64_t draws; // random numbers so far, of all launches
    unsigned factor, offset;
} grid;

static const unsigned all_places = 0xffffffffu;

// ---- orders

static unsigned draw(unsigned below) {
    return below == 0 ? 0 : (unsigned)(scramble(grid.draws++) % below);
}

static void make_order(uint8_t *order, int count) {
    const int even = (count + 1) / 2;
    for (int i = 0; i < count; i++) {
        int number = i;
        if (grid.order == BACKWARD)
            number = count - 1 - i;
        if (grid.order == INTERLEAVED)
            number = i < even ? 2 * i : 2 * (i - even) + 1;
        order[i] = (uint8_t)number;
    }
    if (grid.order != SHUFFLED)
        return;
    for (int i = count - 1; i > 0; i--) {
        const unsigned other = draw((unsigned)i + 1);
        const uint8_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static unsigned common_divisor(unsigned a, unsigned b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

// Shuffled blocks: number i is (factor i + offset) mod count, where factor and count share nothing.
static void make_block_order(unsigned count) {
    grid.offset = draw(count);
    do
        grid.factor = 1 + draw(count);
    while (common_divisor(grid.factor, count) != 1);
}

static unsigned block_number(unsigned i, unsigned count) {
    const unsigned even = (unsigned)(((uint64_t)count + 1) / 2);
    switch (grid.order) {
    case BACKWARD:
        return count - 1 - i;
    case SHUFFLED:
        return (unsigned)(((uint64_t)grid.factor * i + grid.offset) % count);
    case INTERLEAVED:
        return i < even ? 2 * i : 2 * (i - even) + 1;
    default:
        return i;
    }
}

// ---- shared memory: exactly as large as the launch says, and full of what no kernel wants. It
// ends where AddressSanitizer watches, or else at a page that nobody may touch.

static struct {
    char *at;
    size_t bytes;
} shared;

void *shared_memory() {
    if (shared.at == nullptr)
        stop("SHARED is used, but the launch gave no shared memory");
    return shared.at;
}

#if EMULATED_ASAN
static void shared_open(size_t bytes) {
    shared = {bytes > 0 ? (char *)malloc(bytes) : nullptr, bytes};
}
static void shared_check() {}
static void shared_close() { free(shared.at); }
#else
static const unsigned char behind = 0xa5; // up to the next multiple of 16, where the page begins

static void shared_open(size_t bytes) {
    static const size_t most = 256 << 10, page = 4096;
    static char *all = nullptr;
    if (all == nullptr) {
        all = (char *)mmap(nullptr, most + page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED || mprotect(all + most, page, PROT_NONE) != 0)
            stop("there is no memory for the shared memory of a block");
    }
    const size_t room = (bytes + 15) / 16 * 16;
    shared = {bytes > 0 ? all + most - room : nullptr, bytes};
    if (bytes > 0)
        memset(shared.at + bytes, behind, room - bytes);
}
static void shared_check() {
    for (size_t i = shared.bytes; i % 16 != 0; i++)
        if ((unsigned char)shared.at[i] != behind)
            stop("a thread of the block wrote behind its %zu bytes of shared memory", shared.bytes);
}
static void shared_close() {}
#endif

// ---- a block

Warp &this_warp() { return block.warp[threadIdx.x / LANES_OF_WARP]; }

void block_goes_on() {
    for (int w = 0; w < block.warps; w++)
        block.warp[w].ready = block.warp[w].exists; // as many places as lanes
    block.turn = 0;
    block.ahead = all_places;
}

static void begin_warp(Warp &warp, int lanes) {
    warp.exists = lanes == LANES_OF_WARP ? all_places : (1u << lanes) - 1;
    warp.ended = warp.at_barrier = 0;
    warp.meetings = 0;
    memset(warp.fiber, 0, sizeof warp.fiber);
    if (grid.order != SHUFFLED && grid.begun > 1)
        return; // as in the last block
    make_order(warp.lane, lanes);
    for (int i = 0; i < lanes; i++)
        warp.place[warp.lane[i]] = (uint8_t)i;
}

// False: all blocks have run.
static bool next_block() {
    if (grid.begun > 0)
        shared_check();
    if (grid.begun == gridDim.x)
        return false;
    blockIdx.x = block_number(grid.begun++, gridDim.x);
    block.threads = (int)blockDim.x;
    block.warps = (block.threads + LANES_OF_WARP - 1) / LANES_OF_WARP;
    block.waiting = block.ended = 0;
    make_order(block.order, block.warps);
    for (int w = 0; w < block.warps; w++) {
        const int left = block.threads - w * LANES_OF_WARP;
        begin_warp(block.warp[w], left < LANES_OF_WARP ? left : LANES_OF_WARP);
    }
    block_goes_on();
    if (shared.bytes > 0)
        memset(shared.at, 0xff, shared.bytes);
    return true;
}

// ---- whose turn it is

static void take_turn(int number, Warp &warp, int place) {
    warp.ready &= ~(1u << place);
    block.ahead = all_places << place << 1;
    threadIdx.x = (unsigned)(number * LANES_OF_WARP + warp.lane[place]);
}

// The next thread that can go on becomes the one of threadIdx. False: there is none.
static bool next_thread() {
    for (int tried = 0; tried <= block.warps; tried++) {
        const int number = block.order[block.turn];
        Warp &warp = block.warp[number];
        unsigned left = warp.ready & block.ahead;
        if (left == 0 && grid.order != INTERLEAVED)
            left = warp.ready; // another round of this warp
        if (left != 0) {
            take_turn(number, warp, __builtin_ctz(left));
            return true;
        }
        block.turn = (block.turn + 1) % block.warps;
        block.ahead = all_places;
    }
    return false;
}

// The fiber of the thread of threadIdx; `other` becomes it if there is none.
static Fiber *&this_fiber() { return this_warp().fiber[threadIdx.x % LANES_OF_WARP]; }

void wait_for_others() {
    Fiber *self = this_fiber();
    if (!next_thread())
        nobody_is_ready();
    Fiber *&next = this_fiber();
    if (next == nullptr)
        next = fiber_take();
    if (next != self)
        fiber_switch(self, next);
}

// Goes to whatever comes after a thread that has ended; comes back with a thread that begins.
static void go_on(Fiber *self) {
    Fiber *next = host_fiber;
    if (next_thread() || (block.ended == block.threads && next_block() && next_thread())) {
        if (this_fiber() == nullptr) {
            this_fiber() = self;
            return;
        }
        next = this_fiber();
    } else if (block.ended < block.threads)
        nobody_is_ready();
    fiber_keep(self);
    fiber_switch(self, next);
}

void run_threads(Fiber *self) {
    for (;;) {
        grid.thread(grid.arguments);
        thread_ends();
        go_on(self);
    }
}

// ---- a grid

void run_grid(const cudaLaunchConfig_t &config, Thread *thread, const void *arguments) {
    grid.thread = thread;
    grid.arguments = arguments;
    grid.begun = 0;
    grid.order = (Order)choice(forced_order, "FRINGE_EMULATED_ORDER", order_names, ORDERS);
    gridDim = config.gridDim;
    blockDim = config.blockDim;
    make_block_order(gridDim.x);
    shared_open(config.dynamicSmemBytes);
    kernel_runs = true;
    next_block();
    next_thread();
    Fiber *fiber = this_fiber() = fiber_take();
    fiber_switch(host_fiber, fiber);
    kernel_runs = false;
    shared_close();
}

} // namespace emulated
