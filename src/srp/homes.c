// Homes, and all that is counted from them: the tallies of the neighbours and the counters of the
// parts. Integers only, so that an event and its opposite leave the same numbers.
#include "internal.h"

void homes_reach(Srp *srp) {
    for (int side = 0; side < LIVE_SIDES; side++) {
        growing_reach(&srp->placed[side], srp->live.side[side].slots);
        for (; srp->slots[side] < srp->live.side[side].slots; srp->slots[side]++)
            placed_at(srp, side, (int32_t)srp->slots[side])->home = SRP_NONE;
    }
}

// ---- counters

static void count_replica(Srp *srp, int32_t home, int32_t part, int by) {
    srp->part[part].replicas += by;
    srp->part[home].away += by;
    srp->totals.replicas += by;
}

// A part appears in a tally that has `others` more parts (by = 1), or leaves it (by = -1).
static void count_part(Srp *srp, int side, const Placed *item, int32_t part, int32_t others,
                       int by) {
    if (side == SIDE_HYPEREDGE) {
        srp->totals.connectivity += others > 0 ? by : 0;
        srp->totals.cut += others == 1 ? by : 0;
        return;
    }
    srp->part[part].present += by;
    if (item->home != SRP_NONE && item->home != part)
        count_replica(srp, item->home, part, by);
}

static void count_item(Srp *srp, int side, int32_t slot, int by) {
    const Placed *item = placed_at(srp, side, slot);
    SrpPart *part = &srp->part[item->home];
    if (side == SIDE_HYPEREDGE) {
        int64_t pins = by * (int64_t)srp->live.side[side].item[slot].count;
        part->hyperedges += by;
        part->pins += pins;
        srp->totals.pins += pins;
        return;
    }
    const Tally *tally = tallies_of(srp, side, item);
    part->nodes += by;
    for (int32_t i = 0; i < item->tallies; i++)
        if (tally[i].part != item->home)
            count_replica(srp, item->home, tally[i].part, by);
}

// ---- tallies

static Tally *tally_at(Srp *srp, int side, const Placed *item) {
    return (Tally *)srp->tally[side].elements.at + item->tally;
}

static void tally_add(Srp *srp, int side, int32_t slot, int32_t part) {
    Placed *item = placed_at(srp, side, slot);
    Tally *tally = tally_at(srp, side, item);
    for (int32_t i = 0; i < item->tallies; i++)
        if (tally[i].part == part) {
            tally[i].count++;
            return;
        }
    item->tally = pool_lengthen(&srp->tally[side], item->tally, item->tallies);
    tally_at(srp, side, item)[item->tallies] = (Tally){part, 1};
    count_part(srp, side, item, part, item->tallies++, 1);
}

static void tally_take(Srp *srp, int side, int32_t slot, int32_t part) {
    Placed *item = placed_at(srp, side, slot);
    Tally *tally = tally_at(srp, side, item);
    int32_t i = 0;
    while (tally[i].part != part)
        i++;
    if (--tally[i].count > 0)
        return;
    tally[i] = tally[item->tallies - 1];
    item->tally = pool_shorten(&srp->tally[side], item->tally, item->tallies);
    count_part(srp, side, item, part, --item->tallies, -1);
}

// ---- pins

void home_attach(Srp *srp, int32_t node, int32_t hyperedge) {
    int32_t of_node = placed_at(srp, SIDE_NODE, node)->home;
    int32_t of_hyperedge = placed_at(srp, SIDE_HYPEREDGE, hyperedge)->home;
    if (of_node != SRP_NONE)
        tally_add(srp, SIDE_HYPEREDGE, hyperedge, of_node);
    if (of_hyperedge == SRP_NONE)
        return;
    tally_add(srp, SIDE_NODE, node, of_hyperedge);
    srp->part[of_hyperedge].pins++;
    srp->totals.pins++;
}

void home_detach(Srp *srp, int32_t node, int32_t hyperedge) {
    int32_t of_hyperedge = placed_at(srp, SIDE_HYPEREDGE, hyperedge)->home;
    tally_take(srp, SIDE_HYPEREDGE, hyperedge, placed_at(srp, SIDE_NODE, node)->home);
    tally_take(srp, SIDE_NODE, node, of_hyperedge);
    srp->part[of_hyperedge].pins--;
    srp->totals.pins--;
}

// ---- items

void home_set(Srp *srp, int side, int32_t slot, int32_t home) {
    Placed *item = placed_at(srp, side, slot);
    int32_t before = item->home, count = srp->live.side[side].item[slot].count;
    const int32_t *neighbour = live_pins(&srp->live, side, slot);
    if (before != SRP_NONE)
        count_item(srp, side, slot, -1);
    item->home = home;
    if (home != SRP_NONE)
        count_item(srp, side, slot, 1);
    for (int32_t i = 0; i < count; i++) {
        if (before != SRP_NONE)
            tally_take(srp, 1 - side, neighbour[i], before);
        if (home != SRP_NONE)
            tally_add(srp, 1 - side, neighbour[i], home);
    }
    srp->totals.work += count;
}

void home_forget(Srp *srp, int side, int32_t slot) {
    Placed *item = placed_at(srp, side, slot);
    if (side == SIDE_NODE)
        srp->part[item->home].nodes--;
    else
        srp->part[item->home].hyperedges--;
    *item = (Placed){.home = SRP_NONE};
}

static bool is_lighter(const Srp *srp, const int64_t *load, int32_t part, int32_t best) {
    int64_t mine = load_of(srp, load, part);
    int64_t other = load_of(srp, load, best);
    return mine != other ? mine < other : part < best;
}

int32_t home_of_most(Srp *srp, int32_t hyperedge, const int64_t *load) {
    const Placed *item = placed_at(srp, SIDE_HYPEREDGE, hyperedge);
    const Tally *tally = tallies_of(srp, SIDE_HYPEREDGE, item);
    Tally best = {item->home, 0};
    for (int32_t i = 0; i < item->tallies; i++)
        if (tally[i].part == item->home)
            best = tally[i];
    for (int32_t i = 0; i < item->tallies; i++)
        if (tally[i].count > best.count ||
            (tally[i].count == best.count && best.part != item->home &&
             is_lighter(srp, load, tally[i].part, best.part)))
            best = tally[i];
    srp->totals.work += item->tallies;
    return best.part;
}
