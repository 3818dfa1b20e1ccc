// The sliding window of phase 2: the last nodes that got or lost a pin, the one that did so last at
// the end. It holds slots; an entry whose node names another place as its seat is one that the node
// had before, or of a node that is gone. Phase 2 runs once for each half of the window that
// arrives, over what has changed since. Then the older half leaves, except for what moved in the
// last pass.
#include "internal.h"

static int64_t hop(const Srp *srp) { return (srp->options.window + 1) / 2; }

// A node that is in the window takes a new seat.
static void enter(Srp *srp, int32_t node) {
    Placed *item = placed_at(srp, SIDE_NODE, node);
    if (item->home == SRP_NONE)
        return;
    slot_list_add(&srp->window, node);
    item->seat = (uint32_t)srp->window.count & SEAT_MOST;
    srp->arrived++;
}

static void note(Srp *srp, int side, int32_t slot) {
    if (side == SIDE_NODE)
        enter(srp, slot);
    changed_add(srp, side, slot);
}

void window_note(Srp *srp, const LiveChange *change) {
    bool has_pins = change->side == SIDE_NODE || change->count > 0;
    if (!srp->options.during || srp->options.window == 0)
        return;
    for (int64_t i = 0; i < change->count; i++)
        note(srp, 1 - change->side, change->other[i]);
    if (has_pins)
        note(srp, change->side, change->subject);
}

// ---- gaps

static void close_window(Srp *srp) {
    int32_t *slot = slot_list_at(&srp->window);
    int64_t count = 0;
    for (int64_t i = 0; i < srp->window.count; i++) {
        Placed *item = placed_at(srp, SIDE_NODE, slot[i]);
        if (item->seat != (uint32_t)i + 1)
            continue;
        slot[count++] = slot[i];
        item->seat = (uint32_t)count & SEAT_MOST;
    }
    srp->window.count = count;
}

// A slot that was given away again may be in the list twice.
static void close_changed(Srp *srp, int side) {
    int32_t *slot = slot_list_at(&srp->changed[side]);
    int64_t count = 0;
    for (int64_t i = 0; i < srp->changed[side].count; i++) {
        Placed *item = placed_at(srp, side, slot[i]);
        if (!item->changed)
            continue;
        item->changed = false;
        slot[count++] = slot[i];
    }
    for (int64_t i = 0; i < count; i++)
        placed_at(srp, side, slot[i])->changed = true;
    srp->changed[side].count = count;
}

void window_close_gaps(Srp *srp) {
    close_window(srp);
    close_changed(srp, SIDE_NODE);
    close_changed(srp, SIDE_HYPEREDGE);
}

// ---- a run

static void queue_changed(Srp *srp, int side) {
    for (int64_t i = 0; i < srp->changed[side].count; i++) {
        int32_t slot = slot_list_at(&srp->changed[side])[i];
        if (side == SIDE_HYPEREDGE || placed_at(srp, side, slot)->seat != 0)
            refine_later(srp, side, slot);
    }
}

static void forget_changed(Srp *srp, int side) {
    for (int64_t i = 0; i < srp->changed[side].count; i++)
        placed_at(srp, side, slot_list_at(&srp->changed[side])[i])->changed = false;
    srp->changed[side].count = 0;
}

void window_refine(Srp *srp) {
    window_close_gaps(srp);
    for (int side = 0; side < LIVE_SIDES; side++) {
        queue_changed(srp, side);
        if (!srp->settled) // what the run leaves undone is noted anew
            forget_changed(srp, side);
    }
    refine(srp, true);
}

// Of more than two windows the oldest leave in any case.
static void evict(Srp *srp) {
    int32_t *slot = slot_list_at(&srp->window);
    int64_t all = srp->window.count, kept = 0;
    for (int64_t i = 0; i < all; i++) {
        Placed *item = placed_at(srp, SIDE_NODE, slot[i]);
        bool is_young = all - i <= hop(srp), is_old = all - i > 2 * srp->options.window;
        bool stays = is_young || (item->moved && !is_old);
        item->moved = false;
        slot[kept] = slot[i];
        kept += stays;
        item->seat = stays ? (uint32_t)kept & SEAT_MOST : 0;
    }
    srp->window.count = kept;
}

void window_run_if_due(Srp *srp) {
    if (srp->arrived < hop(srp) || srp->arrived == 0)
        return;
    window_refine(srp);
    evict(srp);
    srp->move_count = 0;
    srp->arrived = 0;
}
