// Phase 1: the home of what arrives. A score is a row of the table at the end: one function for
// nodes and one for hyperedges. A node or hyperedge that is there keeps its home.
#include "internal.h"

static int parts_of(const Srp *srp) { return srp->options.parts; }

// ---- capacities: STREAM, cap(t) = (1 + epsilon) (total + 1) / k + largest. A bound of snapshots
// that is closer to the mean than a tenth is not for arrivals, which would have too little choice.

static const double least_epsilon = 0.1;

static double room(const Srp *srp, int64_t total) {
    double epsilon = fmax(srp->options.epsilon, least_epsilon);
    return (1 + epsilon) * (double)(total + 1) / parts_of(srp) + (double)srp->live.largest;
}

static double room_for_pins(const Srp *srp) {
    return srp->options.capacity > 0 ? (double)srp->options.capacity : room(srp, srp->totals.pins);
}

// ---- the least of a cost over the parts with room for `pins` more, or over all if none has; on
// ties the part with fewer pins, then the lowest

typedef int64_t Cost(const Srp *srp, int64_t pins, int32_t part);

static int32_t cheapest(Srp *srp, int64_t pins, Cost *cost, bool any) {
    double most = room_for_pins(srp);
    int64_t least = 0;
    int32_t best = SRP_NONE;
    for (int32_t p = 0; p < parts_of(srp); p++) {
        if (!any && (double)(srp->part[p].pins + pins) > most)
            continue;
        int64_t mine = cost(srp, pins, p);
        if (best == SRP_NONE || mine < least ||
            (mine == least && srp->part[p].pins < srp->part[best].pins)) {
            best = p;
            least = mine;
        }
    }
    return best;
}

// srp->have[p]: how many neighbours of an item have a neighbour of theirs at home on part p. Of a
// hyperedge: its pins that are present there. Of a node: its hyperedges that have a pin there.
static void count_around(Srp *srp, int side, int32_t slot) {
    const int32_t *neighbour = live_pins(&srp->live, side, slot);
    int32_t count = srp->live.side[side].item[slot].count;
    for (int32_t i = 0; i < count; i++) {
        const Placed *item = placed_at(srp, 1 - side, neighbour[i]);
        const Tally *tally = tallies_of(srp, 1 - side, item);
        for (int32_t t = 0; t < item->tallies; t++)
            srp->have[tally[t].part]++;
        srp->totals.work += item->tallies;
    }
}

static void forget_around(Srp *srp) {
    memset(srp->have, 0, (size_t)parts_of(srp) * sizeof *srp->have);
}

static int32_t cheapest_for_pins(Srp *srp, int32_t hyperedge, Cost *cost) {
    int64_t pins = srp->live.side[SIDE_HYPEREDGE].item[hyperedge].count;
    count_around(srp, SIDE_HYPEREDGE, hyperedge);
    int32_t best = cheapest(srp, pins, cost, false);
    if (best == SRP_NONE) {
        srp->totals.overfull++;
        best = cheapest(srp, pins, cost, true);
    }
    forget_around(srp);
    return best;
}

// ---- marginal: new replicas + pins over the mean, times the pins of all parts

static int64_t marginal_cost(const Srp *srp, int64_t pins, int32_t part) {
    return (pins - srp->have[part]) * srp->totals.pins + parts_of(srp) * srp->part[part].pins;
}

static int32_t marginal(Srp *srp, int32_t hyperedge, UNUSED const LiveChange *change) {
    return cheapest_for_pins(srp, hyperedge, marginal_cost);
}

// ---- thesis: |<H_i> and the pins| + the pins that part i will have [S 3.9], both weights 1

static int64_t thesis_cost(const Srp *srp, int64_t pins, int32_t part) {
    return srp->part[part].present + (pins - srp->have[part]) + srp->part[part].pins + pins;
}

static int32_t thesis(Srp *srp, int32_t hyperedge, UNUSED const LiveChange *change) {
    return cheapest_for_pins(srp, hyperedge, thesis_cost);
}

// ---- nodes: a part where the node is present, with the fewest nodes at home

static int32_t fewest_nodes(const Srp *srp) {
    int32_t best = 0;
    for (int32_t p = 1; p < parts_of(srp); p++)
        if (srp->part[p].nodes < srp->part[best].nodes)
            best = p;
    return best;
}

static int32_t where_present(Srp *srp, int32_t node, UNUSED const LiveChange *change) {
    const Placed *item = placed_at(srp, SIDE_NODE, node);
    const Tally *tally = tallies_of(srp, SIDE_NODE, item);
    int32_t best = item->tallies > 0 ? tally[0].part : fewest_nodes(srp);
    for (int32_t i = 1; i < item->tallies; i++) {
        int64_t mine = srp->part[tally[i].part].nodes, other = srp->part[best].nodes;
        if (mine < other || (mine == other && tally[i].part < best))
            best = tally[i].part;
    }
    return best;
}

// ---- random: a baseline

static int32_t draw(const Srp *srp, int side, uint64_t id) {
    uint32_t word[4];
    RandomKey key = random_key(srp->options.seed, RANDOM_STREAM, 0, side, 0);
    random_block(word, key, (int64_t)(id & 0xffffffffffff), (int)(id >> 48), 0);
    return (int32_t)(((uint64_t)word[0] * (uint64_t)parts_of(srp)) >> 32);
}

static int32_t random_node(Srp *srp, int32_t node, UNUSED const LiveChange *change) {
    return draw(srp, SIDE_NODE, srp->live.side[SIDE_NODE].item[node].id);
}

static int32_t random_hyperedge(Srp *srp, int32_t hyperedge, UNUSED const LiveChange *change) {
    return draw(srp, SIDE_HYPEREDGE, srp->live.side[SIDE_HYPEREDGE].item[hyperedge].id);
}

// ---- aweto [R]: nodes at random, a hyperedge to the part with the fewest pins

static int64_t no_cost(UNUSED const Srp *srp, UNUSED int64_t pins, UNUSED int32_t part) {
    return 0;
}

static int32_t lightest(Srp *srp, UNUSED int32_t hyperedge, UNUSED const LiveChange *change) {
    return cheapest(srp, 0, no_cost, true);
}

// ---- balance-big [S]: a node of more than 100 hyperedges and these go to the part with the fewest
// pins, everything else by the score of the thesis

enum { BIG = 100 };

static bool is_big(const LiveChange *change) {
    return change != NULL && change->side == SIDE_NODE && change->count > BIG;
}

static int32_t balance_hyperedge(Srp *srp, int32_t hyperedge, const LiveChange *change) {
    return is_big(change) ? lightest(srp, hyperedge, change) : thesis(srp, hyperedge, change);
}

static int32_t balance_node(Srp *srp, int32_t node, const LiveChange *change) {
    return is_big(change) ? lightest(srp, node, change) : where_present(srp, node, change);
}

// ---- fennel: a node goes where most of its hyperedges have a pin, less 1.5 alpha sqrt(nodes
// there) with alpha = sqrt(k) m / n^1.5, m hyperedges and n nodes so far; a hyperedge to most of
// its pins

static double fennel_alpha(const Srp *srp) {
    double n = (double)srp->live.side[SIDE_NODE].count;
    return sqrt(parts_of(srp)) * (double)srp->live.side[SIDE_HYPEREDGE].count / (n * sqrt(n));
}

static int32_t fennel_best(const Srp *srp, bool any) {
    double most = room(srp, srp->live.side[SIDE_NODE].count), alpha = 1.5 * fennel_alpha(srp);
    double highest = 0;
    int32_t best = SRP_NONE;
    for (int32_t p = 0; p < parts_of(srp); p++) {
        const SrpPart *part = &srp->part[p];
        if (!any && (double)(part->nodes + 1) > most)
            continue;
        double mine = (double)srp->have[p] - alpha * sqrt((double)part->nodes);
        if (best == SRP_NONE || mine > highest ||
            (mine == highest && part->pins < srp->part[best].pins)) {
            best = p;
            highest = mine;
        }
    }
    return best;
}

static int32_t fennel_node(Srp *srp, int32_t node, UNUSED const LiveChange *change) {
    count_around(srp, SIDE_NODE, node);
    int32_t best = fennel_best(srp, false);
    if (best == SRP_NONE) {
        srp->totals.overfull++;
        best = fennel_best(srp, true);
    }
    forget_around(srp);
    return best;
}

static int32_t fennel_hyperedge(Srp *srp, int32_t hyperedge, UNUSED const LiveChange *change) {
    return home_of_most(srp, hyperedge, NULL);
}

static const Score scores[] = {
    {"marginal", false, {where_present, marginal}},
    {"thesis", false, {where_present, thesis}},
    {"fennel", true, {fennel_node, fennel_hyperedge}},
    {"random", false, {random_node, random_hyperedge}},
    {"balance-big", false, {balance_node, balance_hyperedge}},
    {"aweto", false, {random_node, lightest}},
};
const Family srp_score_family = FAMILY("stream.score", NULL, scores);
