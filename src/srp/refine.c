// Phase 2 (ALGORITHMS C.4): passes over nodes and their hyperedges. In a pass
//   a hyperedge moves to the home of most of its pins                               [S 3.13]
//   a node moves to the part with the most of n_i exp(1 - (A_i / mean A)^2), where n_i of its
//   hyperedges are at home on part i and A_i are the pins there                     [S 3.14]
// and both stay where they are on ties. A hyperedge is looked at again only after the home of one
// of its pins has changed, because nothing else can move it. Every move is written down, and after
// the last pass those that came after the lowest cost are taken back.
#include "internal.h"

#include <math.h>
#include <string.h>

typedef struct Refinement {
    Srp *srp;
    const int32_t *node;
    int64_t nodes;
    uint8_t *moved;      // [nodes] in the last pass; or NULL
    const int64_t *load; // [parts] NULL: the pins of the parts
    double lowest;       // cost, and how many moves had been made then
    int64_t best;
} Refinement;

// ---- the cost

// Squared deviations from the mean, of numbers `stride` apart.
static double deviation(const int64_t *value, int parts) {
    enum { STRIDE = sizeof(SrpPart) / sizeof(int64_t) };
    double sum = 0, squares = 0;
    for (int p = 0; p < parts; p++)
        sum += (double)value[p * STRIDE];
    for (int p = 0; p < parts; p++) {
        double off = (double)value[p * STRIDE] - sum / parts;
        squares += off * off;
    }
    return sqrt(squares);
}

double srp_cost(const Srp *srp) {
    int parts = srp->options.parts;
    return 2 * (double)srp->totals.replicas + deviation(&srp->part->pins, parts) +
           deviation(&srp->part->away, parts);
}

static void look_at_cost(Refinement *r) {
    double cost = srp_cost(r->srp);
    if (cost < r->lowest) {
        r->lowest = cost;
        r->best = r->srp->move_count;
    }
}

// ---- moves

void move(Srp *srp, int side, int32_t slot, int32_t to) {
    growing_reach(&srp->moves, srp->move_count + 1);
    ((Move *)srp->moves.at)[srp->move_count++] =
        (Move){side, slot, placed_at(srp, side, slot)->home};
    home_set(srp, side, slot, to);
}

void take_back(Srp *srp, int64_t count) {
    while (srp->move_count > count) {
        Move back = ((const Move *)srp->moves.at)[--srp->move_count];
        home_set(srp, back.side, back.slot, back.from);
    }
}

static void enqueue(Srp *srp, int32_t hyperedge) {
    Placed *item = placed_at(srp, SIDE_HYPEREDGE, hyperedge);
    if ((item->seat & QUEUED_NOW) == 0)
        numbers_add(&srp->queue, hyperedge);
    item->seat |= QUEUED_NOW;
}

static void move_node(Srp *srp, int32_t node, int32_t to) {
    const int32_t *hyperedge = live_pins(&srp->live, SIDE_NODE, node);
    int32_t count = srp->live.side[SIDE_NODE].item[node].count;
    move(srp, SIDE_NODE, node, to);
    for (int32_t i = 0; i < count; i++)
        enqueue(srp, hyperedge[i]);
}

static void move_hyperedge(Refinement *r, int32_t hyperedge, int32_t to) {
    Srp *srp = r->srp;
    int64_t pins = srp->live.side[SIDE_HYPEREDGE].item[hyperedge].count;
    if (r->load != NULL) {
        srp->load[placed_at(srp, SIDE_HYPEREDGE, hyperedge)->home] -= pins;
        srp->load[to] += pins;
    }
    move(srp, SIDE_HYPEREDGE, hyperedge, to);
}

// ---- a pass

// The home of most pins that are in the window.
static int32_t home_of_window(Refinement *r, int32_t hyperedge) {
    Srp *srp = r->srp;
    const int32_t *pin = live_pins(&srp->live, SIDE_HYPEREDGE, hyperedge);
    int32_t count = srp->live.side[SIDE_HYPEREDGE].item[hyperedge].count;
    int32_t best = placed_at(srp, SIDE_HYPEREDGE, hyperedge)->home;
    for (int32_t i = 0; i < count; i++)
        srp->have[placed_at(srp, SIDE_NODE, pin[i])->home] +=
            placed_at(srp, SIDE_NODE, pin[i])->seat != 0;
    for (int32_t p = 0; p < srp->options.parts; p++)
        if (srp->have[p] > srp->have[best])
            best = p;
    for (int32_t p = 0; p < srp->options.parts; p++)
        srp->have[p] = 0;
    srp->totals.work += count;
    return best;
}

static void pass_over_hyperedges(Refinement *r) {
    Srp *srp = r->srp;
    const int32_t *queue = numbers_at(&srp->queue);
    for (int64_t i = 0; i < srp->queue.count; i++) {
        Placed *item = placed_at(srp, SIDE_HYPEREDGE, queue[i]);
        item->seat &= ~(uint32_t)QUEUED_NOW;
        int32_t to = srp->options.window_votes && r->moved != NULL
                         ? home_of_window(r, queue[i])
                         : home_of_most(srp, SIDE_HYPEREDGE, queue[i], r->load);
        if (to != item->home)
            move_hyperedge(r, queue[i], to);
    }
    srp->queue.count = 0;
}

static void find_factors(Refinement *r) {
    Srp *srp = r->srp;
    int parts = srp->options.parts;
    double sum = 0;
    for (int p = 0; p < parts; p++)
        sum += (double)(r->load != NULL ? r->load[p] : srp->part[p].pins);
    for (int p = 0; p < parts; p++) {
        double load = (double)(r->load != NULL ? r->load[p] : srp->part[p].pins) * parts / sum;
        srp->factor[p] = exp(1 - load * load);
    }
}

// A node without hyperedges stays where it is.
static int32_t best_for_node(const Srp *srp, const Placed *item) {
    const Tally *tally = tallies_of(srp, SIDE_NODE, item);
    double highest = 0;
    int32_t best = item->home;
    for (int32_t i = 0; i < item->tallies; i++)
        if (tally[i].part == item->home)
            highest = tally[i].count * srp->factor[item->home];
    for (int32_t i = 0; i < item->tallies; i++) {
        double mine = tally[i].count * srp->factor[tally[i].part];
        bool wins_tie = mine == highest && best != item->home && tally[i].part < best;
        if (mine > highest || wins_tie) {
            highest = mine;
            best = tally[i].part;
        }
    }
    return best;
}

static int64_t pass_over_nodes(Refinement *r) {
    Srp *srp = r->srp;
    int64_t moves = 0;
    find_factors(r);
    for (int64_t i = 0; i < r->nodes; i++) {
        const Placed *item = placed_at(srp, SIDE_NODE, r->node[i]);
        int32_t to = best_for_node(srp, item);
        srp->totals.work += item->tallies;
        if (r->moved != NULL)
            r->moved[i] = to != item->home;
        moves += to != item->home;
        if (to != item->home)
            move_node(srp, r->node[i], to);
    }
    return moves;
}

// ---- the load of the window alone

static void count_window_load(Refinement *r) {
    Srp *srp = r->srp;
    memset(srp->load, 0, (size_t)srp->options.parts * sizeof *srp->load);
    for (int mark = QUEUED_LOAD; mark >= 0; mark -= QUEUED_LOAD) // count, then remove the marks
        for (int64_t i = 0; i < r->nodes; i++) {
            const int32_t *hyperedge = live_pins(&srp->live, SIDE_NODE, r->node[i]);
            int32_t count = srp->live.side[SIDE_NODE].item[r->node[i]].count;
            for (int32_t k = 0; k < count; k++) {
                Placed *item = placed_at(srp, SIDE_HYPEREDGE, hyperedge[k]);
                if (mark != 0 && (item->seat & QUEUED_LOAD) == 0)
                    srp->load[item->home] +=
                        srp->live.side[SIDE_HYPEREDGE].item[hyperedge[k]].count;
                item->seat = (item->seat & ~(uint32_t)QUEUED_LOAD) | (uint32_t)mark;
            }
        }
    r->load = srp->load;
}

// ---- all of it

static void end(Refinement *r) {
    Srp *srp = r->srp;
    const int32_t *queue = numbers_at(&srp->queue);
    for (int64_t i = 0; i < srp->queue.count; i++)
        placed_at(srp, SIDE_HYPEREDGE, queue[i])->seat &= ~(uint32_t)QUEUED_NOW;
    srp->queue.count = 0;
    srp->totals.runs++;
    srp->totals.undone += r->best < srp->move_count;
    if (r->best < srp->move_count && r->moved != NULL)
        memset(r->moved, 0, (size_t)r->nodes);
    take_back(srp, r->best);
}

void refine(Srp *srp, const int32_t *node, int64_t nodes, const int32_t *first, int64_t firsts,
            uint8_t *moved) {
    if (srp->totals.pins == 0)
        return;
    Refinement r = {srp, node, nodes, moved, NULL, srp_cost(srp), srp->move_count};
    if (srp->options.window_balance && moved != NULL)
        count_window_load(&r);
    for (int64_t i = 0; i < firsts; i++)
        enqueue(srp, first[i]);
    int64_t moves = 1;
    for (int pass = 0; pass < srp->options.iterations && moves > 0; pass++) {
        pass_over_hyperedges(&r);
        look_at_cost(&r);
        moves = pass_over_nodes(&r);
        look_at_cost(&r);
    }
    end(&r);
}
