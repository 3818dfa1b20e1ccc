// A lower bound that needs no search (ALGORITHMS A.7): any prices of the lanes' times that are at
// least 0 and sum to the price of the round's time give one; the relaxation's own are the best.

#include "private.h"

#include <math.h>

// At most weights.variance * V + weights.seconds * T of any choice.
static double rounds_bound(const Problem *problem, Weights weights) {
    double sum = 0;
    for (int r = 0; r < problem->rounds; r++) {
        Round round;
        double dual = 0;
        round_take(&round, problem, r);
        for (int c = 0; c < round.lanes; c++)
            hull_build(&round.hull[c], weights.variance);
        if (weights.seconds > 0 && round.lanes > 0)
            round_relax(&round, weights, &dual);
        else
            for (int c = 0; c < round.lanes; c++)
                dual += round.hull[c].value[round.hull[c].steps];
        sum += dual - 1e-13 * fabs(dual); // what sums of doubles may add
        round_clear(&round);
    }
    return sum;
}

// max(T, hidden) >= s T + (1 - s) hidden for s in [0, 1]: the bound at price = s * weights.seconds.
static double bound_at(const Problem *problem, const Ends *ends, Weights weights, double price) {
    return rounds_bound(problem, (Weights){weights.variance, price}) -
           weights.variance * ends->v_ut + (weights.seconds - price) * problem->hidden -
           weights.seconds * ends->t_ut;
}

double problem_bound(const Problem *problem) {
    Ends ends = problem_ends(problem);
    Weights weights = problem_weights(problem, &ends);
    double best = fmax(0, bound_at(problem, &ends, weights, weights.seconds));
    if (problem->hidden == 0 || weights.seconds == 0)
        return best;
    double low = 0, high = weights.seconds; // the bound is concave in the price
    for (int i = 0; i < 40; i++) {
        double third = (high - low) / 3;
        double a = bound_at(problem, &ends, weights, low + third);
        double b = bound_at(problem, &ends, weights, high - third);
        best = fmax(best, fmax(a, b));
        if (a < b)
            low += third;
        else
            high -= third;
    }
    return best;
}
