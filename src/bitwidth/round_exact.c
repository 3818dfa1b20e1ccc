// Solves one round exactly (ALGORITHMS A.7) in three steps:
//  1. round the LP relaxation to a first choice, the known one;
//  2. build the fronts of the links within the interval: a better choice than the known one lies
//  there;
//  3. sweep over all times of these fronts for the best choice.

#include "internal.h"

void round_init(Round *round, const Problem *problem, int which) {
    int begin = problem->round_begin[which], links = problem->round_begin[which + 1] - begin;
    *round = (Round){.problem = problem,
                     .links = links,
                     .hull = ALLOC(LpHull, links, "links of a round"),
                     .front = ALLOC(ParetoFront, links, "links of a round"),
                     .price = ALLOC(double, links, "links of a round"),
                     .at = ALLOC(int64_t, links, "links of a round")};
    for (int c = 0; c < links; c++) {
        hull_init(&round->hull[c], problem, &problem->link[begin + c]);
        front_init(&round->front[c], &round->hull[c]);
    }
}

void round_clear(Round *round) {
    for (int c = round->links - 1; c >= 0; c--) {
        front_clear(&round->front[c]);
        hull_clear(&round->hull[c]);
    }
    MEMORY_FREE(round->at, round->price, round->front, round->hull);
}

// --- only one of the two terms counts

// Time costs nothing: the largest width, or the smallest if beta is 0.
static void choose_widest(const Round *round, uint8_t *choice) {
    const Problem *p = round->problem;
    for (int c = 0; c < round->links; c++)
        for (int64_t g = round->hull[c].link->begin; g < round->hull[c].link->end; g++)
            choice[g] = (uint8_t)(p->group[g].beta > 0 ? p->widths - 1 : 0);
}

// Finds the least variance of a link within `seconds`; the fastest choice must fit into them.
static void fill_exactly(Round *round, int c, double seconds, uint8_t *choice) {
    const LpHull *hull = &round->hull[c];
    ParetoFront *front = &round->front[c];
    double used, known = hull_fill(hull, seconds, choice, &used);
    if (seconds < hull->seconds[0] || hull->seconds[hull->steps] <= seconds)
        return;
    double slack = known - hull_value(hull, seconds) + 1e-13 * hull->value[0];
    front_build(front, &(CostInterval){hull_rate(hull, seconds), slack, seconds, seconds});
    for (int64_t i = front->points - 1; i >= 0; i--)
        if (front_seconds(front, i) <= seconds) {
            if (front_value(front, i) < known)
                front_choice(front, i, choice);
            return;
        }
}

// Variance costs nothing: the shortest time, and within it the least variance.
static void choose_fastest(Round *round, uint8_t *choice) {
    double seconds = 0;
    for (int c = 0; c < round->links; c++) {
        LpHull *hull = &round->hull[c];
        hull_build(hull, 1);
        for (int64_t g = 0; g < hull->link->end - hull->link->begin; g++)
            choice[hull->link->begin + g] = hull->lowest[g];
        seconds = fmax(seconds, link_seconds(round->problem, hull->link, choice));
    }
    for (int c = 0; c < round->links; c++) {
        const LpHull *hull =
            &round->hull[c]; // a sum in another order may differ by less than a quantum
        fill_exactly(round, c, hull->rounded ? seconds - hull->quantum : seconds,
                     choice + hull->link->begin);
    }
}

// --- both terms count

// Step 1: tries the relaxation's best time and the hulls' corners around it; writes the best
// choice.
static double round_known(Round *round, Weights weights, double relaxed, uint8_t *choice) {
    double best = INFINITY, best_seconds = relaxed;
    for (int i = -1; i < 2 * round->links; i++) {
        double seconds = relaxed, sum = 0, slowest = 0;
        if (i >= 0) {
            const LpHull *hull = &round->hull[i / 2];
            int64_t k = hull_whole(hull, relaxed) + i % 2;
            seconds = k <= hull->steps ? fmax(hull->seconds[k], 0) : relaxed;
        }
        for (int c = 0; c < round->links; c++) {
            const LpHull *hull = &round->hull[c];
            int64_t k = hull_whole(hull, seconds);
            sum += hull->value[k];
            slowest = fmax(slowest, hull->seconds[k]);
        }
        if (sum + weights.seconds * slowest < best) {
            best = sum + weights.seconds * slowest;
            best_seconds = slowest;
        }
    }
    return round_fill(round, weights, best_seconds, choice);
}

// Step 2: the end of the interval on one side of the relaxation's best time. Beyond it every choice
// costs more than `known`.
static double interval_end(const Round *round, Weights weights, double inside, double outside,
                           double known) {
    if (round_relaxed(round, weights, outside) <= known)
        return outside;
    for (int i = 0; i < 24; i++) { // a interval that is a little too wide does no harm
        double middle = inside + (outside - inside) / 2;
        if (round_relaxed(round, weights, middle) <= known)
            inside = middle;
        else
            outside = middle;
    }
    return outside;
}

// Step 3: tries all times of the fronts in ascending order; at each time every link uses its last
// point within it. Returns the least cost and its time in *seconds, or infinity if a front is
// empty.
static double sweep(Round *round, Weights weights, double *seconds) {
    double now = 0, best = INFINITY;
    for (int c = 0; c < round->links; c++) {
        round->at[c] = 0;
        if (round->front[c].points == 0)
            return INFINITY;
        now = fmax(now, front_seconds(&round->front[c], 0));
    }
    for (;;) {
        double sum = weights.seconds * now, next = INFINITY;
        for (int c = 0; c < round->links; c++) {
            const ParetoFront *f = &round->front[c];
            int64_t at = round->at[c];
            while (at + 1 < f->points && front_seconds(f, at + 1) <= now)
                at++;
            round->at[c] = at;
            sum += front_value(f, at);
            if (at + 1 < f->points)
                next = fmin(next, front_seconds(f, at + 1));
        }
        if (sum < best) {
            best = sum;
            *seconds = now;
        }
        if (next == INFINITY)
            return best;
        now = next;
    }
}

// Writes the choice of each link's last point within `seconds`.
static void choose_points(const Round *round, double seconds, uint8_t *choice) {
    for (int c = 0; c < round->links; c++) {
        const ParetoFront *f = &round->front[c];
        int64_t at = 0;
        while (at + 1 < f->points && front_seconds(f, at + 1) <= seconds)
            at++;
        front_choice(f, at, choice + f->hull->link->begin);
    }
}

// How much better a choice could be because costs are rounded up.
static double rounding_gap(const Round *round) {
    double sum = 0;
    for (int c = 0; c < round->links; c++) {
        const LpHull *hull = &round->hull[c];
        if (hull->rounded)
            sum += round->price[c] * hull->quantum * (double)(hull->link->end - hull->link->begin);
    }
    return sum;
}

double round_solve(Round *round, Weights weights, uint8_t *choice) {
    if (round->links == 0)
        return 0;
    if (weights.seconds == 0) {
        choose_widest(round, choice);
        return 0;
    }
    if (weights.variance == 0) {
        choose_fastest(round, choice);
        return 0;
    }
    double shortest = 0, longest = 0, dual;
    for (int c = 0; c < round->links; c++) {
        LpHull *hull = &round->hull[c];
        hull_build(hull, weights.variance);
        shortest = fmax(shortest, hull->seconds[0]);
        longest = fmax(longest, hull->seconds[hull->steps]);
    }
    double relaxed = round_relax(round, weights, &dual);
    double known = round_known(round, weights, relaxed, choice);
    double unsure = 1e-13 * (known + fabs(dual)); // rounding errors of sums
    CostInterval interval = {.slack = fmax(known - dual, 0) + unsure};
    interval.least = interval_end(round, weights, relaxed, shortest, known + unsure);
    interval.most = interval_end(round, weights, relaxed, longest, known + unsure);
    double kept = interval.slack;
    for (int c = 0; c < round->links; c++) {
        interval.price = round->price[c];
        front_build(&round->front[c], &interval);
        kept = fmin(kept, round->front[c].slack);
    }
    double seconds = 0, found = sweep(round, weights, &seconds);
    if (found < known) {
        choose_points(round, seconds, choice);
        known = found;
    }
    return (kept < interval.slack ? fmax(known - (dual + kept), 0) : 0) + rounding_gap(round);
}
