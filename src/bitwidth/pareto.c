// The Pareto front of a link by dynamic programming over its groups, pruned with the dual bound.
//
// Under the link's price every group has a best width; any other width has the loss
//   r = value - value_best + price * (seconds - seconds_best) >= 0.
// The losses of all groups of a round, plus price * (Z - seconds) of every link, are the distance
// of the objective from the dual bound. So if the loss of a width or of a state exceeds the
// distance of a known choice (the slack), no better choice contains it, whatever the other links
// choose.
//
// Steps: (1) find the base choice and the widths that remain for each group; most groups keep a
// single width; (2) add the undecided groups one by one, in order of decreasing minimum loss. The
// states of a layer are the sums of its groups' options; dominated states are pruned.

#include "internal.h"

#include <float.h>

enum {
    MOST_STATES = 1 << 19, // of a link, divided evenly among its layers
    FEWEST_STATES = 1024,  // of a layer, even if that exceeds its share
    OPTION_BITS = 3        // of a back pointer
};

typedef struct OpenGroup {
    int32_t group;
    bool odd; // has another number of rows than the link's first group
    int options;
    double least_loss;
    Point option[PROBLEM_WIDTHS]; // the widths that remain: difference from the base choice
    uint8_t width[PROBLEM_WIDTHS];
} OpenGroup;

void front_init(ParetoFront *front, const LpHull *hull) {
    int64_t groups = hull->link->end - hull->link->begin;
    *front = (ParetoFront){.hull = hull,
                           .base = ALLOC(uint8_t, groups, "front of a link"),
                           .group = ALLOC(OpenGroup, groups, "front of a link"),
                           .layer = ALLOC(int64_t, groups + 1, "front of a link")};
}

void front_clear(ParetoFront *front) {
    MEMORY_FREE(front->next, front->point, front->back, front->layer, front->group, front->base);
}

// Makes room for `count` elements, of which the first `used` are kept.
static void *with_room(void *old, int64_t used, int64_t count, size_t size) {
    return memory_grown(old, (size_t)used * size, memory_product(count, size), "states of a link");
}

static void make_room(ParetoFront *f, int64_t points, int64_t back_used, int64_t back) {
    if (points > f->point_room) {
        f->point = with_room(f->point, f->points, 2 * points, sizeof *f->point);
        f->next = with_room(f->next, 0, 2 * points, sizeof *f->next);
        f->point_room = 2 * points;
    }
    if (back > f->back_room) {
        f->back = with_room(f->back, back_used, 2 * back, sizeof *f->back);
        f->back_room = 2 * back;
    }
}

// --- step 1: the widths of each group

// Finds the base choice of one group, and the other widths that may be part of a better choice:
// those whose loss is within the slack and that no other width dominates.
static void examine(ParetoFront *f, int32_t group, double price, OpenGroup *u) {
    const LpHull *hull = f->hull;
    const Problem *p = hull->problem;
    const Group *g = &p->group[hull->link->begin + group];
    Point at[PROBLEM_WIDTHS];
    double loss[PROBLEM_WIDTHS];
    int base = 0;
    for (int b = 0; b < p->widths; b++) {
        at[b] =
            (Point){hull_cost(hull, group, b), hull->weight * (g->beta * hull->width_variance[b])};
        loss[b] = at[b].value + price * at[b].cost;
        if (loss[b] < loss[base])
            base = b;
    }
    *u = (OpenGroup){
        .group = group, .odd = g->rows != p->group[hull->link->begin].rows, .least_loss = INFINITY};
    f->base[group] = (uint8_t)base;
    f->base_cost += at[base].cost;
    f->base_value += at[base].value;
    for (int b = 0; b < p->widths; b++) {
        bool useless = loss[b] - loss[base] > f->slack;
        for (int o = 0; o < p->widths && !useless; o++) // dominated? The first of equals stays.
            useless = at[o].cost <= at[b].cost && at[o].value <= at[b].value &&
                      (o < b || at[o].cost < at[b].cost || at[o].value < at[b].value) && o != b;
        if (useless && b != base)
            continue;
        u->option[u->options] = (Point){at[b].cost - at[base].cost, at[b].value - at[base].value};
        u->width[u->options++] = (uint8_t)b;
        if (b != base && loss[b] - loss[base] < u->least_loss)
            u->least_loss = loss[b] - loss[base];
    }
}

// Groups of odd size come last, because sums of equal sizes coincide more often. Otherwise groups
// of large minimum loss come first, because they leave few states.
static int by_loss(const void *left, const void *right) {
    const OpenGroup *a = left, *b = right;
    if (a->odd != b->odd)
        return a->odd ? 1 : -1;
    if (a->least_loss != b->least_loss)
        return a->least_loss > b->least_loss ? -1 : 1;
    return a->group < b->group ? -1 : 1;
}

static void find_open_groups(ParetoFront *f, double price) {
    f->undecided = 0;
    f->base_cost = f->base_value = 0;
    int32_t groups = (int32_t)(f->hull->link->end - f->hull->link->begin);
    for (int32_t g = 0; g < groups; g++) {
        examine(f, g, price, &f->group[f->undecided]);
        if (f->group[f->undecided].options > 1)
            f->undecided++;
    }
    qsort(f->group, (size_t)f->undecided, sizeof *f->group, by_loss);
}

// --- step 2: the states

typedef struct Limits { // of one layer
    double price;       // per unit of cost
    double most;        // states of a higher cost end after the interval
    double least;       // states up to this cost end before the interval, whatever follows
} Limits;

// Adds one group: each of its options gives a list `state + option`, ascending by cost; merges
// these lists by cost and keeps the states that nothing prunes. Returns the number of states.
static int64_t merge(const ParetoFront *f, const OpenGroup *u, const Limits *limits,
                     uint32_t *back) {
    int64_t head[PROBLEM_WIDTHS] = {0}, count = 0;
    Point first[PROBLEM_WIDTHS];
    for (int k = 0; k < u->options; k++)
        first[k] =
            (Point){f->point[0].cost + u->option[k].cost, f->point[0].value + u->option[k].value};
    double lowest = INFINITY;
    for (;;) {
        int k = 0; // the list whose first state costs least
        for (int j = 1; j < u->options; j++)
            if (first[j].cost < first[k].cost ||
                (first[j].cost == first[k].cost && first[j].value < first[k].value))
                k = j;
        Point state = first[k];
        if (state.cost > limits->most) // also when all lists are at their end
            return count;
        uint32_t parent = (uint32_t)head[k] << OPTION_BITS | (uint32_t)k;
        head[k]++; // advance this list
        first[k] = head[k] < f->points ? (Point){f->point[head[k]].cost + u->option[k].cost,
                                                 f->point[head[k]].value + u->option[k].value}
                                       : (Point){INFINITY, INFINITY};
        if (state.value >= lowest || state.value + limits->price * state.cost > f->slack)
            continue; // dominated, or its loss exceeds the slack
        lowest = state.value;
        if (count > 0 && state.cost <= limits->least)
            count = 0; // below the interval only the value counts: drop the earlier states
        f->next[count] = state;
        back[count++] = parent;
    }
}

// Halves f->slack and drops the states whose loss exceeds it, until at most `most` are left. The
// front stays complete up to f->slack.
static int64_t thin(ParetoFront *f, int64_t count, uint32_t *back, double price, int64_t most) {
    double least = INFINITY;
    for (int64_t i = 0; i < count; i++)
        least = fmin(least, f->next[i].value + price * f->next[i].cost);
    while (count > most && f->slack > least) {
        f->slack = least + (f->slack - least) / 2;
        if (f->slack - least < DBL_MIN)
            f->slack = least;
        int64_t kept = 0;
        for (int64_t i = 0; i < count; i++)
            if (f->next[i].value + price * f->next[i].cost <= f->slack) {
                f->next[kept] = f->next[i];
                back[kept++] = back[i];
            }
        count = kept;
    }
    return count < most ? count : most;
}

static void add_group(ParetoFront *f, int32_t which, const Limits *limits) {
    const OpenGroup *u = &f->group[which];
    int64_t begin = f->layer[which];
    make_room(f, f->points * u->options, begin, begin + f->points * u->options);
    uint32_t *back = f->back + begin;
    int64_t most = MOST_STATES / f->undecided;
    most = most < FEWEST_STATES ? FEWEST_STATES : most;
    int64_t count = merge(f, u, limits, back);
    if (count > most)
        count = thin(f, count, back, limits->price, most);
    Point *other = f->point;
    f->point = f->next;
    f->next = other;
    f->points = count;
    f->layer[which + 1] = begin + count;
}

void front_build(ParetoFront *f, const CostInterval *interval) {
    const LpHull *hull = f->hull;
    double price = interval->price * hull->quantum;
    f->slack = interval->slack;
    find_open_groups(f, price);
    // Convert the interval from seconds to costs, a little wider: callers compare seconds again.
    double gamma = hull->link->gamma, wide = 4 * DBL_EPSILON;
    double most = (interval->most * (1 + wide) - gamma) / hull->quantum - f->base_cost + 0.5;
    double least = (interval->least * (1 - wide) - gamma) / hull->quantum - f->base_cost - 0.5;
    double fewest = 0, largest = 0; // least and most cost that the remaining groups add
    for (int32_t i = 0; i < f->undecided; i++) {
        fewest += f->group[i].option[0].cost;
        largest += f->group[i].option[f->group[i].options - 1].cost;
    }
    f->points = 0;
    make_room(f, 1, 0, 1);
    f->point[0] = (Point){0, 0}; // the base choice
    f->points = 1;
    f->layer[0] = 0;
    for (int32_t i = 0; i < f->undecided && f->points > 0; i++) {
        fewest -= f->group[i].option[0].cost;
        largest -= f->group[i].option[f->group[i].options - 1].cost;
        add_group(f, i, &(Limits){price, most - fewest, least - largest});
    }
}

double front_seconds(const ParetoFront *f, int64_t point) {
    return hull_seconds(f->hull, f->base_cost + f->point[point].cost);
}

double front_value(const ParetoFront *f, int64_t point) {
    return f->base_value + f->point[point].value;
}

// Follows the back pointers from the last group to the first.
void front_choice(const ParetoFront *f, int64_t point, uint8_t *choice) {
    memcpy(choice, f->base, (size_t)(f->hull->link->end - f->hull->link->begin));
    for (int32_t i = f->undecided - 1; i >= 0; i--) {
        uint32_t back = f->back[f->layer[i] + point];
        choice[f->group[i].group] = f->group[i].width[back & ((1U << OPTION_BITS) - 1)];
        point = back >> OPTION_BITS;
    }
}
