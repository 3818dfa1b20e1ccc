// The last pass of a snapshot: hyperedges leave the parts that have more pins than the bound
// allows. A heap of offers says which hyperedge of these parts would cost the fewest new replicas
// for each of its pins if it moved to a part with room; the cheapest moves first. A node follows
// the last of its hyperedges that leaves its home; all others stay. An offer is made anew when it
// comes up, because moves in between change what it costs.
//
// That ends too early where only hyperedges are left that fit nowhere. Then the parts above the
// bound and as many of the lightest are spread anew, the largest hyperedges first; with all parts
// this is how the bound was found, so that it always ends below it.
#include "internal.h"

typedef struct Offer {
    int64_t loss; // new replicas if it moves
    int32_t pins, slot;
} Offer;

typedef struct Balancing {
    Srp *srp;
    int64_t most; // pins that a part may have
    Offer *offer; // a heap
    int64_t offers;
} Balancing;

// ---- the heap

static bool is_cheaper(const Offer *one, const Offer *other) {
    int64_t mine = one->loss * other->pins, others = other->loss * one->pins;
    return mine != others ? mine < others : one->slot < other->slot;
}

static void swap(Offer *one, Offer *other) {
    Offer kept = *one;
    *one = *other;
    *other = kept;
}

static void push(Balancing *b, Offer offer) {
    int64_t at = b->offers++;
    b->offer[at] = offer;
    for (; at > 0 && is_cheaper(&b->offer[at], &b->offer[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&b->offer[at], &b->offer[(at - 1) / 2]);
}

static Offer pop(Balancing *b) {
    Offer first = b->offer[0];
    b->offer[0] = b->offer[--b->offers];
    for (int64_t at = 0, next; (next = 2 * at + 1) < b->offers; at = next) {
        next += next + 1 < b->offers && is_cheaper(&b->offer[next + 1], &b->offer[next]);
        if (!is_cheaper(&b->offer[next], &b->offer[at]))
            break;
        swap(&b->offer[next], &b->offer[at]);
    }
    return first;
}

// ---- moves

static bool is_present(const Srp *srp, const Placed *node, int32_t part) {
    const Tally *tally = tallies_of(srp, SIDE_NODE, node);
    for (int32_t t = 0; t < node->tallies; t++)
        if (tally[t].part == part)
            return true;
    return false;
}

// Of its nodes those follow that are at home where none of their hyperedges is left.
static void move_with_nodes(Srp *srp, int32_t slot, int32_t to) {
    int32_t from = placed_at(srp, SIDE_HYPEREDGE, slot)->home;
    int32_t count = srp->live.side[SIDE_HYPEREDGE].item[slot].count;
    const int32_t *pin = live_pins(&srp->live, SIDE_HYPEREDGE, slot);
    move_home(srp, SIDE_HYPEREDGE, slot, to);
    for (int32_t i = 0; i < count; i++) {
        const Placed *node = placed_at(srp, SIDE_NODE, pin[i]);
        if (node->home == from && !is_present(srp, node, from))
            move_home(srp, SIDE_NODE, pin[i], to);
    }
}

// ---- offers

static bool is_above(const Balancing *b, int32_t part) { return b->srp->part[part].pins > b->most; }

// srp->have[p]: pins that are at home or present on part p. Returns how many replicas would go from
// the hyperedge's own part.
static int64_t count_pins(Srp *srp, int32_t slot) {
    const int32_t *pin = live_pins(&srp->live, SIDE_HYPEREDGE, slot);
    int32_t count = srp->live.side[SIDE_HYPEREDGE].item[slot].count, saved = 0;
    int32_t own = placed_at(srp, SIDE_HYPEREDGE, slot)->home;
    for (int32_t i = 0; i < count; i++) {
        const Placed *node = placed_at(srp, SIDE_NODE, pin[i]);
        const Tally *tally = tallies_of(srp, SIDE_NODE, node);
        srp->have[node->home]++;
        for (int32_t t = 0; t < node->tallies; t++) {
            srp->have[tally[t].part] += tally[t].part != node->home;
            saved += tally[t].part == own && tally[t].count == 1;
        }
    }
    return saved;
}

// The part with room that has most of the pins, then the one with fewer pins, then the lowest.
static int32_t best_part(const Balancing *b, int32_t own, int64_t pins) {
    const Srp *srp = b->srp;
    int32_t best = SRP_NONE;
    for (int32_t p = 0; p < srp->options.parts; p++) {
        if (p == own || srp->part[p].pins + pins > b->most)
            continue;
        if (best == SRP_NONE || srp->have[p] > srp->have[best] ||
            (srp->have[p] == srp->have[best] && srp->part[p].pins < srp->part[best].pins))
            best = p;
    }
    return best;
}

// Where the hyperedge would go, and what that costs; SRP_NONE: it fits nowhere.
static int32_t make_offer(Balancing *b, int32_t slot, Offer *out) {
    Srp *srp = b->srp;
    int32_t pins = srp->live.side[SIDE_HYPEREDGE].item[slot].count;
    int64_t saved = count_pins(srp, slot);
    int32_t to = best_part(b, placed_at(srp, SIDE_HYPEREDGE, slot)->home, pins);
    *out = (Offer){to == SRP_NONE ? 0 : pins - srp->have[to] - saved, pins, slot};
    memset(srp->have, 0, (size_t)srp->options.parts * sizeof *srp->have);
    return to;
}

static void offer_all(Balancing *b) {
    Offer offer;
    for (int64_t slot = 0; slot < b->srp->slots[SIDE_HYPEREDGE]; slot++) {
        int32_t home = placed_at(b->srp, SIDE_HYPEREDGE, (int32_t)slot)->home;
        if (home != SRP_NONE && is_above(b, home) &&
            make_offer(b, (int32_t)slot, &offer) != SRP_NONE)
            push(b, offer);
    }
}

static void take_offers(Balancing *b) {
    while (b->offers > 0) {
        Offer offer = pop(b);
        if (!is_above(b, placed_at(b->srp, SIDE_HYPEREDGE, offer.slot)->home))
            continue;
        int32_t to = make_offer(b, offer.slot, &offer);
        if (to == SRP_NONE)
            continue;
        if (b->offers > 0 && is_cheaper(&b->offer[0], &offer))
            push(b, offer);
        else
            move_with_nodes(b->srp, offer.slot, to);
    }
}

// ---- spreading anew

// The parts above the bound, then the others, the lightest first. Returns how many are above.
static int order_parts(const Balancing *b, int64_t *order) {
    int parts = b->srp->options.parts, above = 0;
    for (int32_t p = 0; p < parts; p++) {
        order[p] = is_above(b, p) ? p : (b->srp->part[p].pins + 1) * parts + p;
        above += is_above(b, p);
    }
    sort_int64(order, parts);
    for (int i = 0; i < parts; i++)
        order[i] %= parts;
    return above;
}

// The hyperedges of these parts, the largest first, and the lower slot of equal ones: their pins in
// `size`, their slots in `slot`.
static int64_t list_hyperedges(const Srp *srp, const int64_t *order, int parts, int64_t *size,
                               int32_t *slot) {
    int64_t count = 0;
    FREED bool *chosen = ALLOC(bool, srp->options.parts, "parts that are spread");
    for (int i = 0; i < parts; i++)
        chosen[order[i]] = true;
    for (int64_t h = 0; h < srp->slots[SIDE_HYPEREDGE]; h++) {
        int32_t home = placed_at(srp, SIDE_HYPEREDGE, (int32_t)h)->home;
        if (home != SRP_NONE && chosen[home])
            size[count++] = h - ((int64_t)srp->live.side[SIDE_HYPEREDGE].item[h].count << 32);
    }
    sort_int64(size, count);
    for (int64_t i = 0; i < count; i++) {
        slot[i] = (int32_t)(size[i] & INT32_MAX);
        size[i] = (slot[i] - size[i]) >> 32;
    }
    return count;
}

// False if they cannot be spread so evenly; nothing has moved then.
static bool spread_anew(Balancing *b, const int64_t *order, int parts) {
    Srp *srp = b->srp;
    int64_t all = srp->live.side[SIDE_HYPEREDGE].count;
    FREED int64_t *size = ALLOC(int64_t, all, "hyperedges that are spread");
    FREED int32_t *slot = ALLOC(int32_t, all, "hyperedges that are spread");
    FREED int32_t *part = ALLOC(int32_t, all, "hyperedges that are spread");
    int64_t count = list_hyperedges(srp, order, parts, size, slot);
    bool ok = bound_spread(size, count, parts, 0, part) <= b->most;
    for (int64_t i = 0; ok && i < count; i++)
        if (order[part[i]] != placed_at(srp, SIDE_HYPEREDGE, slot[i])->home)
            move_with_nodes(srp, slot[i], (int32_t)order[part[i]]);
    return ok;
}

static void spread_until_kept(Balancing *b) {
    int parts = b->srp->options.parts;
    FREED int64_t *order = ALLOC(int64_t, parts, "parts by their load");
    int above = order_parts(b, order), chosen = above;
    bool ok = above == 0;
    while (!ok) {
        assert(chosen < parts);
        chosen = 2 * chosen < parts ? 2 * chosen : parts;
        ok = spread_anew(b, order, chosen);
    }
}

// ---- all of it

static SrpBound find_bound(const Srp *srp) {
    const LiveSide *side = &srp->live.side[SIDE_HYPEREDGE];
    FREED int64_t *size = ALLOC(int64_t, side->count, "pins of hyperedges");
    int64_t count = 0;
    for (int64_t slot = 0; slot < side->slots; slot++)
        if (side->item[slot].count > 0)
            size[count++] = side->item[slot].count;
    return srp_bound(&srp->options, size, count);
}

static int64_t hyperedges_above(const Balancing *b) {
    int64_t count = 0;
    for (int32_t p = 0; p < b->srp->options.parts; p++)
        count += is_above(b, p) ? b->srp->part[p].hyperedges : 0;
    return count;
}

// What the options promise, if the parts keep it as they are, even where srp_bound would not.
SrpBound balance(Srp *srp) {
    SrpBound bound = find_bound(srp);
    Balancing b = {.srp = srp, .most = (int64_t)bound.promised};
    if (hyperedges_above(&b) == 0)
        bound.most = b.most;
    b.most = bound.most;
    b.offer = ALLOC(Offer, hyperedges_above(&b), "offers to move");
    offer_all(&b);
    take_offers(&b);
    spread_until_kept(&b);
    memory_free(b.offer);
    return bound;
}
