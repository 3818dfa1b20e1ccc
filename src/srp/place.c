// The steps of an arrival: its pins are counted where both ends have homes, then its new hyperedges
// and nodes get theirs.
#include "internal.h"

static int32_t end_of(const LiveChange *change, int side, int64_t i) {
    return change->side == side ? change->subject : change->other[i];
}

static void give_home(Srp *srp, int side, int32_t slot, const LiveChange *change) {
    if (placed_at(srp, side, slot)->home == SRP_NONE)
        home_set(srp, side, slot, srp->score->home[side](srp, slot, change));
}

static void give_homes(Srp *srp, int side, const LiveChange *change) {
    if (change->side == side)
        give_home(srp, side, change->subject, change);
    else
        for (int64_t i = 0; i < change->count; i++)
            give_home(srp, side, change->other[i], change);
}

// Where nodes come first, a hyperedge follows most of its pins.
static void follow(Srp *srp, const LiveChange *change) {
    for (int64_t i = 0; i < change->count; i++) {
        int32_t hyperedge = end_of(change, SIDE_HYPEREDGE, i);
        int32_t home = srp->score->home[SIDE_HYPEREDGE](srp, hyperedge, change);
        if (home != placed_at(srp, SIDE_HYPEREDGE, hyperedge)->home)
            home_set(srp, SIDE_HYPEREDGE, hyperedge, home);
        if (change->side == SIDE_HYPEREDGE)
            break; // the same one again
    }
}

void place(Srp *srp, const LiveChange *change) {
    homes_reach(srp);
    for (int64_t i = 0; i < change->count; i++)
        home_attach(srp, end_of(change, SIDE_NODE, i), end_of(change, SIDE_HYPEREDGE, i));
    int first = srp->score->nodes_first ? SIDE_NODE : SIDE_HYPEREDGE;
    give_homes(srp, first, change);
    give_homes(srp, 1 - first, change);
    if (srp->score->nodes_first)
        follow(srp, change);
}
