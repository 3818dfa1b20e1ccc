// Phase 2 (ALGORITHMS C.4): passes over nodes and their hyperedges. In a pass
//   a hyperedge moves to the home of most of its pins                               [S 3.13]
//   a node moves to the part with the most of n_i exp(1 - (A_i / mean A)^2), where n_i of its
//   hyperedges are at home on part i and A_i are the pins there                     [S 3.14]
// and both stay where they are on ties. A hyperedge is looked at again only after one of its pins
// has moved, because nothing else can move it. A node of a window is looked at again only after one
// of its hyperedges has moved: that other parts grow alone is left to the next arrivals. Every move
// is written down, and after the last pass those that came after the lowest cost are taken back.
#include "internal.h"

// A run of the window does not keep an event waiting: it ends after so many visits of neighbours
// for each node of the window, and does not move what has more neighbours than a fourth of all of
// them.
enum { WORK_PER_NODE = 32 };

typedef struct Refinement {
    Srp *srp;
    bool in_window;      // only nodes of the window move
    int64_t most_work;   // INT64_MAX outside of a window
    const int64_t *load; // [parts] NULL: the pins of the parts
    double lowest;       // cost, and how many moves had been made then
    int64_t best;
    int64_t last; // moves before the last pass over nodes
} Refinement;

// ---- the cost

// The 2-norm of the deviations from the mean, of one member of every SrpPart.
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

void refine_later(Srp *srp, int side, int32_t slot) {
    Placed *item = placed_at(srp, side, slot);
    if (item->queued)
        return;
    item->queued = true;
    slot_list_add(&srp->queue[side], slot);
}

static void move_and_follow(Refinement *r, int side, int32_t slot, int32_t to) {
    LiveHypergraph *live = &r->srp->live;
    const int32_t *neighbour = live_pins(live, side, slot);
    int32_t count = live->side[side].item[slot].count;
    if (side == SIDE_HYPEREDGE && r->load != NULL) {
        r->srp->load[placed_at(r->srp, side, slot)->home] -= count;
        r->srp->load[to] += count;
    }
    move_home(r->srp, side, slot, to);
    bool only_window = r->in_window && side == SIDE_HYPEREDGE;
    for (int32_t i = 0; i < count; i++)
        if (!only_window || placed_at(r->srp, SIDE_NODE, neighbour[i])->seat != 0)
            refine_later(r->srp, 1 - side, neighbour[i]);
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

static bool is_over(const Refinement *r) { return r->srp->totals.work > r->most_work; }

static bool may_move(const Refinement *r, int side, int32_t slot) {
    int64_t most = r->in_window ? WORK_PER_NODE / 4 * r->srp->options.window : INT64_MAX;
    return r->srp->live.side[side].item[slot].count <= most;
}

// The first `count` of the queue are done.
static void shorten(SlotList *queue, int64_t count) {
    queue->count -= count;
    memmove(slot_list_at(queue), slot_list_at(queue) + count,
            (size_t)queue->count * sizeof *slot_list_at(queue));
}

static void pass_over_hyperedges(Refinement *r) {
    Srp *srp = r->srp;
    SlotList *queue = &srp->queue[SIDE_HYPEREDGE];
    int64_t i = 0;
    for (; i < queue->count && !is_over(r); i++) {
        int32_t slot = slot_list_at(queue)[i];
        Placed *item = placed_at(srp, SIDE_HYPEREDGE, slot);
        item->queued = false;
        int32_t to = srp->options.window_votes && r->in_window ? home_of_window(r, slot)
                                                               : home_of_most(srp, slot, r->load);
        if (to != item->home && may_move(r, SIDE_HYPEREDGE, slot))
            move_and_follow(r, SIDE_HYPEREDGE, slot, to);
    }
    shorten(queue, i);
}

static void find_factors(Refinement *r) {
    Srp *srp = r->srp;
    int parts = srp->options.parts;
    double sum = 0;
    for (int p = 0; p < parts; p++)
        sum += (double)load_of(srp, r->load, p);
    for (int p = 0; p < parts; p++) {
        double load = (double)load_of(srp, r->load, p) * parts / sum;
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

// Nodes that moved in the pass before are no longer the last ones.
static void forget_moved(Refinement *r, int64_t begin) {
    const Move *moves = r->srp->moves.at;
    for (int64_t i = begin; i < r->srp->move_count; i++)
        if (moves[i].side == SIDE_NODE)
            placed_at(r->srp, SIDE_NODE, moves[i].slot)->moved = false;
}

// Outside of a window a pass goes by slots, and over all nodes, because the loads of parts change
// what they prefer: then it is a pass of batch label propagation.
static void order_queue(Srp *srp, int side) {
    srp->queue[side].count = 0;
    for (int64_t slot = 0; slot < srp->slots[side]; slot++) {
        Placed *item = placed_at(srp, side, (int32_t)slot);
        item->queued = item->queued || (side == SIDE_NODE && item->home != SRP_NONE);
        if (item->queued)
            slot_list_add(&srp->queue[side], (int32_t)slot);
    }
}

static void pass_over_nodes(Refinement *r) {
    Srp *srp = r->srp;
    SlotList *queue = &srp->queue[SIDE_NODE];
    find_factors(r);
    forget_moved(r, r->last);
    r->last = srp->move_count;
    int64_t i = 0;
    for (; i < queue->count && !is_over(r); i++) {
        int32_t slot = slot_list_at(queue)[i];
        Placed *item = placed_at(srp, SIDE_NODE, slot);
        int32_t to = best_for_node(srp, item);
        srp->totals.work += item->tallies;
        item->queued = false;
        if (to == item->home || !may_move(r, SIDE_NODE, slot))
            continue;
        item->moved = true;
        move_and_follow(r, SIDE_NODE, slot, to);
    }
    shorten(queue, i);
}

// ---- the load of the window alone

// counted: first to be set, then to be removed again.
static void count_hyperedges(Refinement *r, int32_t node, bool counted) {
    Srp *srp = r->srp;
    const int32_t *hyperedge = live_pins(&srp->live, SIDE_NODE, node);
    int32_t count = srp->live.side[SIDE_NODE].item[node].count;
    for (int32_t k = 0; k < count; k++) {
        Placed *item = placed_at(srp, SIDE_HYPEREDGE, hyperedge[k]);
        if (counted && !item->counted)
            srp->load[item->home] += srp->live.side[SIDE_HYPEREDGE].item[hyperedge[k]].count;
        item->counted = counted;
    }
}

static void count_window_load(Refinement *r) {
    Srp *srp = r->srp;
    memset(srp->load, 0, (size_t)srp->options.parts * sizeof *srp->load);
    for (int64_t i = 0; i < srp->window.count; i++)
        count_hyperedges(r, slot_list_at(&srp->window)[i], true);
    for (int64_t i = 0; i < srp->window.count; i++)
        count_hyperedges(r, slot_list_at(&srp->window)[i], false);
    r->load = srp->load;
}

// ---- all of it

// What is left in the queues when passes or work run out waits for the next run.
static void leave(Refinement *r, int side) {
    Srp *srp = r->srp;
    SlotList *queue = &srp->queue[side];
    for (int64_t i = 0; i < queue->count; i++) {
        placed_at(srp, side, slot_list_at(queue)[i])->queued = false;
        if (r->in_window && !srp->settled)
            changed_add(srp, side, slot_list_at(queue)[i]);
    }
    queue->count = 0;
}

static void end(Refinement *r) {
    Srp *srp = r->srp;
    bool undone = r->best < srp->move_count;
    if (undone || !r->in_window || srp->settled)
        forget_moved(r, r->last);
    moves_take_back(srp, r->best);
    srp->totals.runs++;
    srp->totals.undone += undone;
    leave(r, SIDE_NODE);
    leave(r, SIDE_HYPEREDGE);
}

void refine(Srp *srp, bool in_window) {
    Refinement r = {.srp = srp,
                    .in_window = in_window,
                    .most_work = in_window ? srp->totals.work + WORK_PER_NODE * srp->options.window
                                           : INT64_MAX,
                    .lowest = srp_cost(srp),
                    .best = srp->move_count,
                    .last = srp->move_count};
    if (srp->options.window_balance && in_window)
        count_window_load(&r);
    for (int pass = 0; pass < srp->options.iterations; pass++) {
        if (srp->queue[SIDE_NODE].count + srp->queue[SIDE_HYPEREDGE].count == 0 || is_over(&r))
            break;
        if (!in_window)
            order_queue(srp, SIDE_HYPEREDGE);
        pass_over_hyperedges(&r);
        look_at_cost(&r);
        if (!in_window)
            order_queue(srp, SIDE_NODE);
        pass_over_nodes(&r);
        look_at_cost(&r);
    }
    end(&r);
}
