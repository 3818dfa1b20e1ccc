// Calls at which threads meet: barriers of a block, and shuffles, votes and barriers of lanes.
//
// Lanes are held to the letter: exactly the lanes of the mask come to the same call with the same
// mask, and none of them has ended. A lane may wait for another that first has meetings without it.
#include "emulated.h"

namespace emulated {

static const char *name_of(Call call) {
    static const char *const names[] = {"__syncwarp",       "__shfl_sync",     "__shfl_up_sync",
                                        "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync",
                                        "__any_sync",       "__all_sync"};
    return names[(int)call];
}

// ---- lanes

static void check_mask(const Warp &warp, const Meeting &here, int from) {
    const char *name = name_of(here.call);
    const unsigned mask = here.mask, missing = mask & ~warp.exists, ended = mask & warp.ended;
    if (!(mask >> lane() & 1))
        stop("%s:%d: %s: lane %d is not in its own mask 0x%08x", here.where.file, here.where.line,
             name, lane(), mask);
    if (missing != 0)
        stop("%s:%d: %s: the mask 0x%08x names lane %d, which the block does not have",
             here.where.file, here.where.line, name, mask, __builtin_ctz(missing));
    if (ended != 0)
        stop("%s:%d: %s: lane %d of the mask 0x%08x has ended", here.where.file, here.where.line,
             name, __builtin_ctz(ended), mask);
    if (!(mask >> from & 1))
        stop("%s:%d: %s: lane %d reads lane %d, which is not in the mask 0x%08x", here.where.file,
             here.where.line, name, lane(), from, mask);
    if ((mask & warp.at_barrier) != 0)
        stop("%s:%d: %s: lane %d of the mask 0x%08x waits at the __syncthreads of %s:%d",
             here.where.file, here.where.line, name, __builtin_ctz(mask & warp.at_barrier), mask,
             block.barrier.file, block.barrier.line);
}

// The open meeting that the caller came to; a new one if it is the first.
static Meeting *meeting_of(Warp &warp, const Meeting &here) {
    for (int i = 0; i < warp.meetings; i++) {
        Meeting *other = &warp.meeting[i];
        if (other->mask == here.mask && other->call == here.call)
            return other;
        const bool it_waits_for_me = other->mask >> lane() & 1;
        if (it_waits_for_me && (other->arrived & here.mask) != 0)
            stop("%s:%d: lane %d is at %s with the mask 0x%08x, but lane %d waits for it at the %s "
                 "of %s:%d with the mask 0x%08x",
                 here.where.file, here.where.line, lane(), name_of(here.call), here.mask,
                 __builtin_ctz(other->arrived & here.mask), name_of(other->call), other->where.file,
                 other->where.line, other->mask);
    }
    Meeting *made = &warp.meeting[warp.meetings++];
    *made = here;
    return made;
}

// All have come: each gets its result and can go on.
static void complete(Warp &warp, Meeting *meeting) {
    const unsigned mask = meeting->mask;
    unsigned bits = 0;
    for (unsigned left = mask; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        bits |= (unsigned)(warp.value[l] != 0) << l;
    }
    const bool shuffles = meeting->call >= Call::SHFL && meeting->call <= Call::SHFL_XOR;
    for (unsigned left = mask; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        warp.result[l] = shuffles ? warp.value[warp.from[l]] : bits;
        warp.ready |= 1u << warp.place[l];
    }
    *meeting = warp.meeting[--warp.meetings];
}

uint64_t meet(Call call, unsigned mask, uint64_t value, int from, Where where) {
    Warp &warp = this_warp();
    const int me = lane();
    const bool shuffles = call >= Call::SHFL && call <= Call::SHFL_XOR;
    const Meeting here = {call, mask, 0, where};
    check_mask(warp, here, shuffles ? from : me);
    Meeting *meeting = meeting_of(warp, here);
    meeting->arrived |= 1u << me;
    warp.value[me] = value;
    warp.from[me] = (uint8_t)from;
    if (meeting->arrived == mask)
        complete(warp, meeting);
    wait_for_others();
    return warp.result[me];
}

// ---- the block

static bool is_same_line(Where a, Where b) {
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

void meet_block(Where where) {
    if (block.ended > 0)
        stop("%s:%d: __syncthreads: %d threads of the block have ended", where.file, where.line,
             block.ended);
    if (block.waiting++ == 0)
        block.barrier = where;
    if (!is_same_line(where, block.barrier))
        stop("%s:%d: __syncthreads: others wait at the one of %s:%d", where.file, where.line,
             block.barrier.file, block.barrier.line);
    this_warp().at_barrier |= 1u << lane();
    if (block.waiting == block.threads) {
        block.waiting = 0;
        for (int w = 0; w < block.warps; w++)
            block.warp[w].at_barrier = 0;
        block_goes_on();
    }
    wait_for_others();
}

// ---- ends

void thread_ends() {
    Warp &warp = this_warp();
    warp.ended |= 1u << lane();
    block.ended++;
    if (block.waiting > 0)
        stop("the thread ends, but %d others wait for it at the __syncthreads of %s:%d",
             block.waiting, block.barrier.file, block.barrier.line);
    for (int i = 0; i < warp.meetings; i++)
        if (warp.meeting[i].mask >> lane() & 1)
            stop("lane %d ends, but lane %d waits for it at the %s of %s:%d with the mask 0x%08x",
                 lane(), __builtin_ctz(warp.meeting[i].arrived), name_of(warp.meeting[i].call),
                 warp.meeting[i].where.file, warp.meeting[i].where.line, warp.meeting[i].mask);
}

void nobody_is_ready() {
    for (int w = 0; w < block.warps; w++)
        if (block.warp[w].meetings > 0) {
            const Meeting &m = block.warp[w].meeting[0];
            const unsigned lacks = m.mask & ~m.arrived;
            threadIdx.x = (unsigned)(w * LANES_OF_WARP + __builtin_ctz(m.arrived));
            stop("the threads of the block wait for each other for good: %d at __syncthreads, and "
                 "this one for lane %d at the %s of %s:%d with the mask 0x%08x",
                 block.waiting, lacks != 0 ? __builtin_ctz(lacks) : 0, name_of(m.call),
                 m.where.file, m.where.line, m.mask);
        }
    stop("%d of %d threads wait at the __syncthreads of %s:%d for good", block.waiting,
         block.threads, block.barrier.file, block.barrier.line);
}

} // namespace emulated
