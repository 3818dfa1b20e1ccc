// Inside the streaming partitioner: the two sides of a hypergraph, the parts of each one's
// neighbours, and the scores.
//
// Nodes and hyperedges are treated alike wherever possible: an item of one side has a home, and a
// tally of the homes of its neighbours on the other side. The tally of a node says where it is
// present, and that of a hyperedge which homes its pins have.
#pragma once

#include "fringe/srp.h"

typedef struct Tally { // neighbours of an item with a home in `part`
    int32_t part, count;
} Tally;

typedef struct Placed {   // a node or a hyperedge
    int32_t home;         // SRP_NONE: none yet
    uint32_t seat : 28;   // of a node: 1 + its place in the window; 0: it is not there
    uint32_t changed : 1; // in the list `changed`
    uint32_t queued : 1;  // in the list `queue`
    uint32_t moved : 1;   // of a node: in the last pass
    uint32_t counted : 1; // of a hyperedge: in the load of the window
    uint32_t tally;       // place of its tallies in the pool
    int32_t tallies;      // how many parts there are
} Placed;

typedef struct Move { // for the way back
    int32_t side, slot, from;
} Move;

typedef struct SlotList { // a list of slots
    Growing slots;        // of int32_t
    int64_t count;
} SlotList;

struct Srp {
    SrpOptions options;
    const struct Score *score;
    LiveHypergraph live;
    Growing placed[LIVE_SIDES]; // of Placed
    int64_t slots[LIVE_SIDES];  // of placed that are set up
    Pool tally[LIVE_SIDES];
    SrpPart *part; // [parts]
    SrpTotals totals;

    SlotList window; // nodes in the order in which they came; entries with another seat are void
    int64_t arrived; // entries since phase 2 ran last
    // What phase 2 has yet to look at: nodes of the window and hyperedges whose pins are others
    // than before, or which have a pin or hyperedge that has moved.
    SlotList changed[LIVE_SIDES];
    SlotList queue[LIVE_SIDES]; // of refine.c
    Growing moves;              // of Move
    int64_t move_count;
    bool settled;
    SrpTotals before; // the totals when srp_settle was called

    int64_t *have;  // [parts] scratch of a score, zeros between calls
    double *factor; // [parts] scratch of a pass
    int64_t *load;  // [parts] scratch: pins of the window's hyperedges
};

enum { SEAT_MOST = (1 << 28) - 1 };
static inline Placed *placed_at(const Srp *srp, int side, int32_t slot) {
    return (Placed *)srp->placed[side].at + slot;
}
static inline const Tally *tallies_of(const Srp *srp, int side, const Placed *item) {
    return (const Tally *)srp->tally[side].elements.at + item->tally;
}

// The load of a part: its pins, or those of the window's hyperedges alone (`load`, or NULL).
static inline int64_t load_of(const Srp *srp, const int64_t *load, int32_t part) {
    return load != NULL ? load[part] : srp->part[part].pins;
}

// ---- lists.c
bool slot_list_init(SlotList *numbers, const char *what, Error *err);
static inline int32_t *slot_list_at(const SlotList *numbers) { return numbers->slots.at; }
void slot_list_add(SlotList *numbers, int32_t slot);
// Adds an item to srp->changed unless it is there.
void changed_add(Srp *srp, int side, int32_t slot);
void move_home(Srp *srp, int side, int32_t slot, int32_t to); // home_set, and writes it down
void moves_take_back(Srp *srp, int64_t count);                // those after the first `count`

// ---- homes.c: homes, tallies, and the counters that follow from them
void homes_reach(Srp *srp); // sets up the slots that the live hypergraph has made
// A pin is there, or is about to go: the homes of its two ends are counted in the other's tally.
void home_attach(Srp *srp, int32_t node, int32_t hyperedge);
void home_detach(Srp *srp, int32_t node, int32_t hyperedge);
void home_set(Srp *srp, int side, int32_t slot, int32_t home); // SRP_NONE: takes it away
void home_forget(Srp *srp, int side, int32_t slot);            // of an item whose pins are detached
// The part that most of its nodes have as home; the hyperedge's own home if that is one of them,
// then the one with the smaller load (NULL: pins), then the lowest. SRP_NONE: no nodes.
int32_t home_of_most(Srp *srp, int32_t hyperedge, const int64_t *load);

// ---- scores.c: phase 1
typedef struct Score {
    const char *name;
    bool nodes_first; // nodes get a home before hyperedges do
    // The home of an item of that side; `change` is the event that brought it.
    int32_t (*home[LIVE_SIDES])(Srp *srp, int32_t slot, const LiveChange *change);
} Score;
void place(Srp *srp, const LiveChange *change); // gives what is new in the change a home

// ---- refine.c: phase 2
void refine_later(Srp *srp, int side, int32_t slot); // adds it to the queue, unless it is there
// Moves what is in the queues, and what follows from that, until nothing moves, and takes back what
// came after the lowest cost. In a window only its nodes move; the queues hold no others.
void refine(Srp *srp, bool in_window);

// ---- bound.c
// Spreads sizes in descending order, each over the lightest part so far, into `part` (or NULL), up
// to the first of at most `small`. Returns the largest load.
int64_t bound_spread(const int64_t *size, int64_t count, int parts, int64_t small, int32_t *part);

// ---- balance.c
SrpBound balance(Srp *srp); // moves hyperedges until no part is above the bound

// ---- window.c
void window_note(Srp *srp, const LiveChange *change); // its nodes and hyperedges have changed
void window_run_if_due(Srp *srp);
void window_refine(Srp *srp); // the window stays as it is
// Leaves out nodes and hyperedges that are gone, which changes nothing that comes later.
void window_close_gaps(Srp *srp);
