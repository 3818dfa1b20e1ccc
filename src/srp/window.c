// The sliding window of phase 2: the last nodes that got or lost a pin. It holds slots; an entry
// whose node does not name its place as its seat stands for a node that is gone. Phase 2 runs once
// for each half of the window that arrives. Then the older half leaves, except for what moved in
// the last pass.
#include "internal.h"

static int64_t hop(const Srp *srp) { return (srp->options.window + 1) / 2; }

static void note_node(Srp *srp, int32_t slot) {
    Placed *item = placed_at(srp, SIDE_NODE, slot);
    if (item->home == SRP_NONE || item->seat != 0)
        return;
    numbers_add(&srp->window, slot);
    item->seat = (uint32_t)srp->window.count;
    srp->arrived++;
}

static void note_hyperedge(Srp *srp, int32_t slot) {
    Placed *item = placed_at(srp, SIDE_HYPEREDGE, slot);
    if (item->home == SRP_NONE || (item->seat & QUEUED_CHANGED) != 0)
        return;
    numbers_add(&srp->changed, slot);
    item->seat |= QUEUED_CHANGED;
}

void window_note(Srp *srp, const LiveChange *change) {
    if (!srp->options.during || srp->options.window == 0)
        return;
    for (int64_t i = 0; i < change->count; i++) {
        if (change->side == SIDE_NODE)
            note_hyperedge(srp, change->other[i]);
        else
            note_node(srp, change->other[i]);
    }
    if (change->side == SIDE_NODE)
        note_node(srp, change->subject);
    else if (change->count > 0)
        note_hyperedge(srp, change->subject);
}

// Closes the gaps that nodes left which are gone.
static void close_nodes(Srp *srp) {
    int32_t *slot = numbers_at(&srp->window);
    int64_t count = 0;
    for (int64_t i = 0; i < srp->window.count; i++) {
        Placed *item = placed_at(srp, SIDE_NODE, slot[i]);
        if (item->seat != (uint32_t)i + 1)
            continue;
        slot[count++] = slot[i];
        item->seat = (uint32_t)count;
    }
    srp->window.count = count;
}

// Leaves out hyperedges that are gone.
static void close_changed(Srp *srp) {
    int32_t *slot = numbers_at(&srp->changed);
    int64_t count = 0;
    for (int64_t i = 0; i < srp->changed.count; i++) {
        Placed *item = placed_at(srp, SIDE_HYPEREDGE, slot[i]);
        if ((item->seat & QUEUED_CHANGED) == 0)
            continue;
        item->seat &= ~(uint32_t)QUEUED_CHANGED; // a slot that was used again is there twice
        slot[count++] = slot[i];
    }
    for (int64_t i = 0; i < count; i++)
        placed_at(srp, SIDE_HYPEREDGE, slot[i])->seat |= QUEUED_CHANGED;
    srp->changed.count = count;
}

static void forget_changed(Srp *srp) {
    for (int64_t i = 0; i < srp->changed.count; i++)
        placed_at(srp, SIDE_HYPEREDGE, numbers_at(&srp->changed)[i])->seat &=
            ~(uint32_t)QUEUED_CHANGED;
    srp->changed.count = 0;
}

void window_close_gaps(Srp *srp) {
    close_nodes(srp);
    close_changed(srp);
}

void window_refine(Srp *srp) {
    window_close_gaps(srp);
    growing_reach(&srp->moved, srp->window.count);
    refine(srp, numbers_at(&srp->window), srp->window.count, numbers_at(&srp->changed),
           srp->changed.count, srp->moved.at);
}

// Of more than two windows the oldest leave in any case.
static void evict(Srp *srp, const uint8_t *moved) {
    int32_t *slot = numbers_at(&srp->window);
    int64_t all = srp->window.count, kept = 0;
    for (int64_t i = 0; i < all; i++) {
        Placed *item = placed_at(srp, SIDE_NODE, slot[i]);
        bool is_young = all - i <= hop(srp), is_old = all - i > 2 * srp->options.window;
        bool stays = is_young || (moved[i] && !is_old);
        slot[kept] = slot[i];
        kept += stays;
        item->seat = stays ? (uint32_t)kept : 0;
    }
    srp->window.count = kept;
}

void window_run_if_due(Srp *srp) {
    if (!srp->options.during || srp->options.window == 0 || srp->arrived < hop(srp))
        return;
    window_refine(srp);
    forget_changed(srp);
    evict(srp, srp->moved.at);
    srp->move_count = 0;
    srp->arrived = 0;
}
