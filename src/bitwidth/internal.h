// What the files of this room share. Costs are whole numbers in doubles, so that sums are
// exact in any order and equal times compare equal: bytes where a link has one theta, else seconds
// in steps of 2^-40 of the link's longest, rounded up.
#ifndef FRINGE_BITWIDTH_INTERNAL_H
#define FRINGE_BITWIDTH_INTERNAL_H

#include "fringe/bitwidth.h"

// --- problem.c

// The smaller objective; among equal ones the smaller V, then the smaller T.
bool value_better(const Value *a, const Value *b);

// --- hull.c: the LP relaxation of a link

typedef struct Step { // one group from one width to a wider one
    double rate;      // objective gained per second
    double cost, gain;
    int32_t group; // counted from the link's first
    uint8_t from, to;
} Step;

// The link when its best steps are taken one after the other: k of them give seconds[k], and
// value[k] is what the variance then costs. Between two of them the LP takes part of a step.
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
    uint8_t *lowest;    // [groups of the link] the widest width that costs no more than the first
    double lowest_cost; // of all groups at `lowest`
    Step *scratch;      // for sorting
} LpHull;
void hull_take(LpHull *hull, const Problem *problem, const Link *link);
void hull_clear(LpHull *hull);
void hull_build(LpHull *hull, double weight);
double hull_cost(const LpHull *hull, int64_t group, int width);
double hull_seconds(const LpHull *hull, double cost); // gamma + quantum * cost
// Number of steps that are whole within `seconds`, which is not below seconds[0].
int64_t hull_whole(const LpHull *hull, double seconds);
double hull_value(const LpHull *hull, double seconds); // of the LP
double hull_rate(const LpHull *hull, double seconds);  // what a little more time gains per second
// min over the link's choices of value + price * seconds: never above the truth.
double hull_dual(const LpHull *hull, double price);
// Whole steps within `seconds`, then those that still fit. Writes the link's groups; returns the
// value and the seconds taken.
double hull_fill(const LpHull *hull, double seconds, uint8_t *choice, double *taken);

// --- pareto.c: the Pareto front of a link, as far as it can matter

typedef struct Point { // against the choice that the link's price makes best
    double cost, value;
} Point;

// What a front may leave out.
typedef struct Window {
    double price;       // objective per second of this link: its dual variable
    double slack;       // choices that lose more than this against the dual are of no use
    double least, most; // seconds of the round that come into question
} Window;

typedef struct ParetoFront {
    const LpHull *hull;
    int64_t points;
    Point *point; // [points] by cost ascending, value descending
    double base_cost, base_value;
    double slack;      // what was really kept; less than asked for where states were too many
    uint8_t *base;     // [groups of the link]
    int32_t undecided; // groups with a choice left
    struct Undecided *group;
    int64_t *layer; // [undecided + 1] where the back pointers of a layer begin
    uint32_t *back; // parent << 3 | option
    int64_t back_room, point_room;
    Point *next; // scratch, as long as point
} ParetoFront;
void front_take(ParetoFront *front, const LpHull *hull);
void front_clear(ParetoFront *front);
void front_build(ParetoFront *front, const Window *window);
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
void round_take(Round *round, const Problem *problem, int which);
void round_clear(Round *round);
// The best choice of the round's groups under these weights; returns how much better a choice could
// be at most: 0 if this one is proved to be the best.
double round_solve(Round *round, Weights weights, uint8_t *choice);

// --- relax.c: the LP relaxation of a round

// Seconds of the round where the relaxation is best; sets the prices. weights.seconds > 0 and every
// hull built; *dual is a lower bound of variance and time of the round under these weights.
double round_relax(Round *round, Weights weights, double *dual);
// The round's relaxation if it took `seconds`: the sum of its links' values and the time's cost.
double round_relaxed(const Round *round, Weights weights, double seconds);
// Takes whole steps only, then further ones that fit; returns the cost as round_relaxed does.
double round_fill(Round *round, Weights weights, double seconds, uint8_t *choice);

#endif
