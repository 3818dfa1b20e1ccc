// The best choice of a problem. Without hidden time, rounds are independent, so each is solved
// separately. Time that computation covers (`hidden`) couples them: then a search finds the price
// of time at which all rounds together take as long as the covered time.

#include "internal.h"

static const double blur = 1e-7;      // relative to the objective: rounding of costs is smaller
static const double rounding = 1e-13; // rounding errors of sums near 1

// Minimises weights.variance * V + weights.seconds * T. Returns an upper bound on how far the
// optimum is below the minimum found.
static double solve_rounds(const Problem *problem, Weights weights, uint8_t *choice) {
    double gap = 0;
    for (int r = 0; r < problem->rounds; r++) {
        CLEARED(round_clear) Round round = {0};
        round_init(&round, problem, r);
        gap += round_solve(&round, weights, choice);
    }
    return gap;
}

// Repairs the order that rounding errors may break: among groups of one theta with as many rows as
// the first, a larger beta gets at least as many bits. Counts the choices of each width and deals
// them again, widest first. Times stay the same, and V does not grow.
static void put_in_order(const Problem *problem, uint8_t *choice) {
    for (int c = 0; c < problem->links; c++)
        for (int64_t g = problem->link[c].begin, end; g < problem->link[c].end; g = end) {
            const Group *first = &problem->group[g];
            int64_t count[PROBLEM_WIDTHS] = {0};
            for (end = g; end < problem->link[c].end && problem->group[end].theta == first->theta;
                 end++)
                if (problem->group[end].rows == first->rows)
                    count[choice[end]]++;
            int width = problem->widths - 1;
            for (int64_t i = g; i < end; i++) {
                if (problem->group[i].rows != first->rows)
                    continue;
                while (count[width] == 0)
                    width--;
                choice[i] = (uint8_t)width;
                count[width]--;
            }
        }
}

// Keeps `choice` in the solution if it is better.
static void offer(const Problem *problem, Solution *solution, const char *by,
                  const uint8_t *choice) {
    Value value = problem_value(problem, choice);
    if (solution->by[0] != 0 && !value_better(&value, &solution->value))
        return;
    snprintf(solution->by, sizeof solution->by, "%s", by);
    memcpy(solution->choice, choice, (size_t)problem->groups);
    solution->value = value;
}

static bool is_proven(double objective, double bound) {
    return objective - bound <= blur * fabs(objective) + rounding;
}

static void say_proven(Solution *solution, double bound) {
    if (is_proven(solution->value.objective, bound))
        snprintf(solution->by, sizeof solution->by, "exact");
}

// --- hidden time

typedef struct Priced { // a choice that is optimal under some price of time
    uint8_t *choice;
    Value value;
} Priced;

typedef struct Search {
    const Problem *problem;
    Solution *solution;
    Normalizers normalizers;
    Weights weights;
    bool tied;              // lambda is 0: the variance only breaks ties
    Priced longer, shorter; // choices that take more, or less, time than is covered
} Search;

// Solves under one price of time into `priced`. Returns a lower bound of the objective: for s in
// [0, 1], max(T, hidden) >= s T + (1 - s) hidden.
static double solve_at(Search *search, double price, Priced *priced) {
    const Problem *p = search->problem;
    Weights w = search->weights;
    double gap = solve_rounds(p, (Weights){w.variance, price}, priced->choice);
    put_in_order(p, priced->choice);
    priced->value = problem_value(p, priced->choice);
    offer(p, search->solution, "prices", priced->choice);
    return w.variance * (priced->value.variance - search->normalizers.v_ut) +
           price * priced->value.seconds + (w.seconds - price) * p->hidden -
           w.seconds * search->normalizers.t_ut - gap;
}

// Variance saved per second when a round changes from one choice to the other.
static double round_rate(const Problem *p, int round, const uint8_t *from, const uint8_t *to) {
    double gain = 0;
    for (int c = p->round_begin[round]; c < p->round_begin[round + 1]; c++)
        for (int64_t g = p->link[c].begin; g < p->link[c].end; g++)
            gain += p->group[g].beta *
                    (width_variance(p->bits[from[g]]) - width_variance(p->bits[to[g]]));
    double longer = round_seconds(p, round, to) - round_seconds(p, round, from);
    return longer > 0 ? gain / longer : INFINITY;
}

// Changes the shorter choice into the longer one, round by round in order of decreasing rate, and
// offers every choice on the way.
static void mix(Search *search) {
    const Problem *p = search->problem;
    uint8_t *from = search->shorter.choice, *to = search->longer.choice;
    FREED bool *changed = ALLOC(bool, p->rounds, "rounds of a problem");
    for (int step = 0; step < p->rounds; step++) {
        int best = -1;
        double best_rate = -INFINITY;
        for (int r = 0; r < p->rounds; r++) {
            double rate = changed[r] ? -INFINITY : round_rate(p, r, from, to);
            if (rate > best_rate) {
                best = r;
                best_rate = rate;
            }
        }
        if (best < 0)
            break;
        changed[best] = true;
        for (int c = p->round_begin[best]; c < p->round_begin[best + 1]; c++)
            for (int64_t g = p->link[c].begin; g < p->link[c].end; g++)
                from[g] = to[g];
        offer(p, search->solution, "prices", from);
    }
}

static void swap(Priced *a, Priced *b) {
    Priced c = *a;
    *a = *b;
    *b = c;
}

// `shorter` becomes the solution at the highest useful price of time. If the variance only breaks
// ties, this is a price at which the rounds fit into the covered time, if one exists.
static double solve_at_highest(Search *search) {
    double price = search->weights.seconds, bound = solve_at(search, price, &search->shorter);
    for (int i = 0;
         i < 60 && search->tied && search->shorter.value.seconds > search->problem->hidden; i++) {
        price *= 4;
        solve_at(search, price, &search->shorter);
    }
    return bound;
}

// The chord between the two choices gives the next price, until a solution lies on the chord
// (Eisner and Severance 1976). Returns the best lower bound found.
static double search_price(Search *search) {
    double hidden = search->problem->hidden, v = search->weights.variance;
    double bound = solve_at_highest(search);
    if (search->shorter.value.seconds >= hidden)
        return bound; // the best choice takes longer than the covered time: max(T, hidden) is T
    solve_at(search, 0, &search->longer);
    Priced middle = {.choice = ALLOC(uint8_t, search->problem->groups, "choice under a price")};
    for (int i = 0; i < 40 && search->longer.value.seconds > hidden; i++) {
        Value a = search->longer.value, b = search->shorter.value;
        double price = v * (b.variance - a.variance) / (a.seconds - b.seconds);
        bound = fmax(bound, solve_at(search, price, &middle));
        double chord = v * b.variance + price * b.seconds;
        double found = v * middle.value.variance + price * middle.value.seconds;
        if (!(found < chord - 1e-12 * fabs(chord)))
            break;
        swap(&middle, middle.value.seconds > hidden ? &search->longer : &search->shorter);
    }
    memory_free(middle.choice);
    mix(search);
    return bound;
}

static double solve_hidden(const Problem *problem, Solution *solution) {
    Search search = {.problem = problem, .solution = solution};
    search.weights = problem_weights(problem, &search.normalizers);
    double dv = search.normalizers.v_nad - search.normalizers.v_ut;
    search.tied = search.weights.variance == 0 && dv > 0;
    if (search.tied) // lambda = 0: prefer the least variance among choices of equal time
        search.weights.variance = 1 / dv;
    search.longer.choice = ALLOC(uint8_t, problem->groups, "choice under a price");
    search.shorter.choice = ALLOC(uint8_t, problem->groups, "choice under a price");
    double bound = search_price(&search);
    MEMORY_FREE(search.shorter.choice, search.longer.choice);
    if (search.tied)
        return 0; // the bound holds for the time only: the least variance is not proven
    say_proven(solution, bound);
    return bound;
}

static double solve_sum(const Problem *problem, Solution *solution) {
    FREED uint8_t *choice = ALLOC(uint8_t, problem->groups, "choice of a problem");
    double gap = solve_rounds(problem, problem_weights(problem, &(Normalizers){0}), choice);
    put_in_order(problem, choice);
    offer(problem, solution, "fronts", choice);
    say_proven(solution, solution->value.objective - gap);
    return solution->value.objective - gap;
}

void problem_solve(const Problem *problem, Solution *solution) {
    double start = clock_seconds();
    solution->by[0] = 0;
    double bound =
        problem->hidden > 0 ? solve_hidden(problem, solution) : solve_sum(problem, solution);
    FREED uint8_t *choice = ALLOC(uint8_t, problem->groups, "choice of one width");
    for (int b = 0; b < problem->widths; b++) {
        problem_uniform(problem, b, choice);
        offer(problem, solution, "uniform", choice);
    }
    solution->bound = fmin(fmax(bound, 0), solution->value.objective);
    solution->seconds = clock_seconds() - start;
}

bool solution_is_open(const Solution *solution, const Problem *problem) {
    return problem_is_open(problem) && !is_proven(solution->value.objective, solution->bound);
}
