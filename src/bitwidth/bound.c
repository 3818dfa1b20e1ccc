// A lower bound without search (ALGORITHMS A.7). Prices of the links' times that are at least 0 and
// sum to the price of the round's time give a bound; the LP relaxation gives the best prices.

#include "internal.h"

typedef struct Relaxation {
    const Problem *problem;
    Normalizers normalizers;
    Weights weights;
    Round *round; // [rounds] with their hulls, which do not depend on the price of time
} Relaxation;

static void relaxation_init(Relaxation *x, const Problem *problem) {
    *x = (Relaxation){.problem = problem,
                      .round = ALLOC(Round, problem->rounds, "relaxation of a problem")};
    x->weights = problem_weights(problem, &x->normalizers);
    for (int r = 0; r < problem->rounds; r++) {
        round_init(&x->round[r], problem, r);
        for (int c = 0; c < x->round[r].links; c++)
            hull_build(&x->round[r].hull[c], x->weights.variance);
    }
}

static void relaxation_clear(Relaxation *x) {
    for (int r = x->problem->rounds - 1; r >= 0; r--)
        round_clear(&x->round[r]);
    memory_free(x->round);
}

// A lower bound of weights.variance * V + weights.seconds * T over all choices.
static double round_bound(Round *round, Weights weights) {
    double dual = 0;
    if (weights.seconds > 0 && round->links > 0)
        round_relax(round, weights, &dual);
    else
        for (int c = 0; c < round->links; c++)
            dual += round->hull[c].value[round->hull[c].steps];
    return dual - 1e-13 * fabs(dual); // rounding errors of sums
}

// max(T, hidden) >= s T + (1 - s) hidden for s in [0, 1]: the bound at price = s * weights.seconds.
static double bound_at(Relaxation *x, double price) {
    double sum = 0;
    for (int r = 0; r < x->problem->rounds; r++)
        sum += round_bound(&x->round[r], (Weights){x->weights.variance, price});
    return sum - x->weights.variance * x->normalizers.v_ut +
           (x->weights.seconds - price) * x->problem->hidden -
           x->weights.seconds * x->normalizers.t_ut;
}

// Maximises the bound over all prices; it is concave in the price.
static double bound_at_best(Relaxation *x, double best) {
    double low = 0, high = x->weights.seconds;
    for (int i = 0; i < 40; i++) {
        double third = (high - low) / 3;
        double a = bound_at(x, low + third), b = bound_at(x, high - third);
        best = fmax(best, fmax(a, b));
        if (a < b)
            low += third;
        else
            high -= third;
    }
    return best;
}

double problem_bound(const Problem *problem) {
    CLEARED(relaxation_clear) Relaxation x;
    relaxation_init(&x, problem);
    double best = fmax(0, bound_at(&x, x.weights.seconds));
    if (problem->hidden > 0 && x.weights.seconds > 0)
        best = bound_at_best(&x, best);
    return best;
}
