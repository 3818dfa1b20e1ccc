// The last word on the homes, for a snapshot: the stream goes on from the homes before, so every
// move is taken back afterwards.
#include "internal.h"

// Every hyperedge is placed again, in the order of its slots, now that all of its pins are known;
// then every node.
static void place_again(Srp *srp) {
    int first = srp->score->nodes_first ? SIDE_NODE : SIDE_HYPEREDGE;
    for (int turn = 0; turn < LIVE_SIDES; turn++) {
        int side = turn == 0 ? first : 1 - first;
        for (int64_t slot = 0; slot < srp->slots[side]; slot++) {
            if (placed_at(srp, side, (int32_t)slot)->home == SRP_NONE)
                continue;
            move_home(srp, side, (int32_t)slot, SRP_NONE);
            move_home(srp, side, (int32_t)slot, srp->score->home[side](srp, (int32_t)slot, NULL));
        }
    }
}

static void refine_all(Srp *srp) {
    for (int side = 0; side < LIVE_SIDES; side++)
        for (int64_t slot = 0; slot < srp->slots[side]; slot++)
            if (placed_at(srp, side, (int32_t)slot)->home != SRP_NONE)
                refine_later(srp, side, (int32_t)slot);
    refine(srp, false);
}

SrpBound srp_settle(Srp *srp) {
    assert(!srp->settled);
    srp->settled = true;
    srp->before = srp->totals;
    for (int pass = 1; pass < srp->options.passes; pass++)
        place_again(srp);
    if (srp->options.after)
        refine_all(srp);
    else if (srp->options.during && srp->window.count > 0)
        window_refine(srp);
    return balance(srp);
}

void srp_unsettle(Srp *srp) {
    assert(srp->settled);
    moves_take_back(srp, 0);
    srp->settled = false;
    assert(srp->totals.replicas == srp->before.replicas && srp->totals.cut == srp->before.cut);
    srp->totals = srp->before;
}
