// The LP relaxation of a link. An LP uses only those widths of a group that lie on the lower convex
// hull of (cost, value). Only the sum of costs couples the groups; so the steps of all groups'
// hulls, sorted by their gain per second, are the relaxed front of the link.

#include "internal.h"

static const double quanta = 1099511627776.0; // 2^40: quanta in the longest time of a link

void hull_init(LpHull *hull, const Problem *problem, const Link *link) {
    int64_t groups = link->end - link->begin, steps = groups * (problem->widths - 1);
    *hull = (LpHull){.problem = problem,
                     .link = link,
                     .step = ALLOC(Step, steps, "steps of a link"),
                     .scratch = ALLOC(Step, steps, "steps of a link"),
                     .seconds = ALLOC(double, steps + 1, "steps of a link"),
                     .value = ALLOC(double, steps + 1, "steps of a link"),
                     .lowest = ALLOC(uint8_t, groups, "steps of a link")};
    const Group *group = &problem->group[link->begin];
    double longest = 0;
    for (int64_t g = 0; g < groups; g++) {
        hull->rounded |= group[g].theta != group[0].theta;
        longest +=
            group[g].theta * (double)(group[g].rows * problem->row_bytes[problem->widths - 1]);
    }
    hull->quantum = hull->rounded ? longest / quanta : groups > 0 ? group[0].theta : 0;
    for (int b = 0; b < problem->widths; b++)
        hull->width_variance[b] = width_variance(problem->bits[b]);
}

void hull_clear(LpHull *hull) {
    MEMORY_FREE(hull->lowest, hull->value, hull->seconds, hull->scratch, hull->step);
}

double hull_cost(const LpHull *hull, int64_t group, int width) {
    const Group *g = &hull->problem->group[hull->link->begin + group];
    double bytes = (double)(g->rows * hull->problem->row_bytes[width]);
    return hull->rounded ? ceil(g->theta * bytes / hull->quantum) : bytes;
}

double hull_seconds(const LpHull *hull, double cost) {
    return hull->link->gamma + hull->quantum * cost;
}

// Writes the steps of one group's lower convex hull to `step`; returns their number. Adds the
// widths in ascending order, each as a new corner, and removes the corners that it hides.
static int group_steps(LpHull *hull, int64_t group, Step *step) {
    const Problem *p = hull->problem;
    double beta = p->group[hull->link->begin + group].beta;
    double cost[PROBLEM_WIDTHS], value[PROBLEM_WIDTHS];
    int corner[PROBLEM_WIDTHS], steps = 0;
    for (int b = 0; b < p->widths; b++) {
        cost[b] = hull_cost(hull, group, b);
        value[b] = hull->weight * (beta * hull->width_variance[b]);
    }
    corner[0] = 0;
    for (int b = 1; b < p->widths; b++) {
        if (value[b] >= value[corner[steps]])
            continue; // wider, but not better
        double rate = 0;
        for (;;) { // remove the corners that lie above the hull with the new one
            int last = corner[steps];
            bool free_step = cost[b] == cost[last];
            rate = free_step ? INFINITY
                             : (value[last] - value[b]) / (hull->quantum * (cost[b] - cost[last]));
            if (steps == 0 || rate < step[steps - 1].rate)
                break;
            steps--;
        }
        if (rate == INFINITY) { // it costs the same as the only corner left: replace that one
            corner[0] = b;
            continue;
        }
        int last = corner[steps];
        step[steps] = (Step){rate,           cost[b] - cost[last], value[last] - value[b],
                             (int32_t)group, (uint8_t)last,        (uint8_t)b};
        corner[++steps] = b;
    }
    hull->lowest[group] = (uint8_t)corner[0];
    hull->lowest_cost += cost[corner[0]];
    hull->value[0] += value[corner[0]];
    return steps;
}

// Sorts by rate descending; equal rates keep their order (by group, then by step). A bottom-up
// merge sort.
static void sort_steps(Step **steps, Step **scratch, int64_t count) {
    for (int64_t run = 1; run < count; run *= 2) {
        Step *from = *steps, *to = *scratch;
        for (int64_t begin = 0; begin < count; begin += 2 * run) {
            int64_t middle = begin + run < count ? begin + run : count;
            int64_t end = middle + run < count ? middle + run : count;
            int64_t a = begin, b = middle;
            for (int64_t k = begin; k < end; k++)
                to[k] = a < middle && (b == end || from[a].rate >= from[b].rate) ? from[a++]
                                                                                 : from[b++];
        }
        *steps = to;
        *scratch = from;
    }
}

void hull_build(LpHull *hull, double weight) {
    hull->weight = weight;
    hull->lowest_cost = hull->value[0] = 0;
    hull->steps = 0;
    for (int64_t g = 0; g < hull->link->end - hull->link->begin; g++)
        hull->steps += group_steps(hull, g, &hull->step[hull->steps]);
    sort_steps(&hull->step, &hull->scratch, hull->steps);
    double cost = hull->lowest_cost;
    hull->seconds[0] = hull_seconds(hull, cost);
    for (int64_t k = 0; k < hull->steps; k++) {
        cost += hull->step[k].cost;
        hull->seconds[k + 1] = hull_seconds(hull, cost);
        hull->value[k + 1] = hull->value[k] - hull->step[k].gain;
    }
}

int64_t hull_whole(const LpHull *hull, double seconds) {
    int64_t low = 0, high = hull->steps; // the last k with seconds[k] <= seconds
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (hull->seconds[middle] <= seconds)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

double hull_value(const LpHull *hull, double seconds) {
    if (seconds < hull->seconds[0])
        return INFINITY;
    int64_t k = hull_whole(hull, seconds);
    double rest = k < hull->steps ? hull->step[k].rate * (seconds - hull->seconds[k]) : 0;
    return hull->value[k] - rest;
}

double hull_rate(const LpHull *hull, double seconds) {
    int64_t k = hull_whole(hull, seconds);
    return k < hull->steps ? hull->step[k].rate : 0;
}

double hull_dual(const LpHull *hull, double price) {
    int64_t low = 0, high = hull->steps; // bisect: use the steps that gain more than they cost
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (hull->step[middle].rate > price)
            low = middle + 1;
        else
            high = middle;
    }
    // Rounding up adds at most one quantum to the cost of each group.
    double rounded_up =
        hull->rounded ? hull->quantum * (double)(hull->link->end - hull->link->begin) : 0;
    return hull->value[low] + price * (hull->seconds[low] - rounded_up);
}

double hull_fill(const LpHull *hull, double seconds, uint8_t *choice, double *used) {
    int64_t groups = hull->link->end - hull->link->begin;
    memcpy(choice, hull->lowest, (size_t)groups);
    double cost = hull->lowest_cost, value = hull->value[0];
    for (int64_t k = 0; k < hull->steps; k++) {
        const Step *step = &hull->step[k];
        if (choice[step->group] != step->from || hull_seconds(hull, cost + step->cost) > seconds)
            continue;
        choice[step->group] = step->to;
        cost += step->cost;
        value -= step->gain;
    }
    *used = hull_seconds(hull, cost);
    return value;
}
