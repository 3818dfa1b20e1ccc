// Shared by the files of this module. Costs are whole numbers in doubles, so that sums are exact in
// any order and equal times compare equal. If a link has one theta, costs are in bytes; otherwise
// they are multiples (quanta) of 2^-40 of the link's longest time, rounded up.
#pragma once

#include "fringe/bitwidth.h"

// --- problem.c

// True if `a` has the smaller objective; if equal, the smaller V, then the smaller T.
bool value_better(const Value *a, const Value *b);

// --- hull.c: the LP relaxation of a link

typedef struct Step { // one group from one width to a wider one
    double rate;      // objective gained per second
    double cost, gain;
    int32_t group; // counted from the link's first
    uint8_t from, to;
} Step;

// The LP relaxation of a link applies steps in order of their rate. After k steps the link needs
// seconds[k], and its variance costs value[k]. Between two times, the LP applies a part of a step.
typedef struct LpHull {
    const Problem *problem;
    const Link *link;
    double weight;  // of the variance
    double quantum; // seconds per unit of cost
    bool rounded;   // costs are rounded up to whole quanta
    double width_variance[PROBLEM_WIDTHS];
    int64_t steps;
    Step *step;         // [steps] by rate descending
    double *seconds;    // [steps + 1] ascending
    double *value;      // [steps + 1] descending
    uint8_t *lowest;    // [groups of the link] widest width of those that cost as little as width 0
    double lowest_cost; // of all groups at `lowest`
    Step *scratch;      // for sorting
} LpHull;
void hull_init(LpHull *hull, const Problem *problem, const Link *link);
void hull_clear(LpHull *hull);
void hull_build(LpHull *hull, double weight);
double hull_cost(const LpHull *hull, int64_t group, int width);
double hull_seconds(const LpHull *hull, double cost); // gamma + quantum * cost
// The number of whole steps that fit into `seconds`, which is at least seconds[0].
int64_t hull_whole(const LpHull *hull, double seconds);
double hull_value(const LpHull *hull, double seconds); // of the LP
double hull_rate(const LpHull *hull, double seconds);  // gain per additional second
// A lower bound of value + price * seconds over the link's choices.
double hull_dual(const LpHull *hull, double price);
// Applies every whole step, in order, that still fits into `seconds`. Writes the choices of the
// link's groups; returns their value, and their seconds in *used.
double hull_fill(const LpHull *hull, double seconds, uint8_t *choice, double *used);

// --- pareto.c: the part of a link's Pareto front that a better solution of the round can use

typedef struct Point { // difference from the base choice, the best one under the link's price
    double cost, value;
} Point;

// The choices that a front must contain.
typedef struct CostInterval {
    double price;       // objective per second of this link: its dual variable
    double slack;       // choices whose loss against the dual is larger are left out
    double least, most; // range of the seconds that the best choice of the round can take
} CostInterval;

typedef struct ParetoFront {
    const LpHull *hull;
    int64_t points;
    Point *point; // [points] by cost ascending, value descending
    double base_cost, base_value;
    double slack;  // the one applied; smaller than CostInterval.slack if there were too many states
    uint8_t *base; // [groups of the link]
    int32_t undecided; // groups that keep more than one width
    struct OpenGroup *group;
    int64_t *layer; // [undecided + 1] where the back pointers of each layer (group) begin
    uint32_t *back; // parent << 3 | option
    int64_t back_room, point_room;
    Point *next; // scratch, as long as point
} ParetoFront;
void front_init(ParetoFront *front, const LpHull *hull);
void front_clear(ParetoFront *front);
void front_build(ParetoFront *front, const CostInterval *interval);
double front_seconds(const ParetoFront *front, int64_t point);
double front_value(const ParetoFront *front, int64_t point);
void front_choice(const ParetoFront *front, int64_t point, uint8_t *choice); // of the link's groups

// --- round_exact.c

typedef struct Round {
    const Problem *problem;
    int links;
    LpHull *hull;       // [links]
    ParetoFront *front; // [links]
    double *price;      // [links] dual variables; they sum to weights.seconds
    int64_t *at;        // [links] scratch: a point or a step of each link
} Round;
void round_init(Round *round, const Problem *problem, int which);
void round_clear(Round *round);
// Writes the best choice of the round's groups under these weights. Returns an upper bound on how
// much better another choice can be: 0 if this one is proven optimal.
double round_solve(Round *round, Weights weights, uint8_t *choice);

// --- relax.c: the LP relaxation of a round

// Returns the round's seconds at the relaxation's optimum, and sets the prices. *dual is a lower
// bound of the round's cost (variance and time) under these weights. weights.seconds must be above
// 0, and every hull built.
double round_relax(Round *round, Weights weights, double *dual);
// The relaxation's cost if the round takes `seconds`: the values of its links, and the time's cost.
double round_relaxed(const Round *round, Weights weights, double seconds);
// Chooses whole steps that fit into `seconds` (hull_fill); returns their cost, as round_relaxed
// does.
double round_fill(Round *round, Weights weights, double seconds, uint8_t *choice);
