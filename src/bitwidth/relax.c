// The LP relaxation of a round: F(Z) = sum over links of V_c(Z) + mu Z is convex in the round's
// time Z, because each V_c is decreasing and convex (its hull). The minimum is where the sum of the
// links' rates drops to mu. The rates there are the dual variables: one price of time per link.

#include "internal.h"

static double rates(const Round *round, double seconds) {
    double sum = 0;
    for (int c = 0; c < round->links; c++)
        sum += hull_rate(&round->hull[c], seconds);
    return sum;
}

// Sets the prices if the minimum is the shortest possible time: each link's price is its rate, and
// the slowest link, which allows no shorter time, also gets the rest of mu.
static double price_at_the_start(Round *round, double mu, double seconds) {
    int slowest = 0;
    double sum = 0;
    for (int c = 0; c < round->links; c++) {
        sum += round->price[c] = hull_rate(&round->hull[c], seconds);
        if (round->hull[c].seconds[0] > round->hull[slowest].seconds[0])
            slowest = c;
    }
    round->price[slowest] += mu - sum;
    return seconds;
}

double round_relax(Round *round, Weights weights, double *dual) {
    double mu = weights.seconds, low = 0, high = 0;
    for (int c = 0; c < round->links; c++) {
        const LpHull *hull = &round->hull[c];
        low = fmax(low, hull->seconds[0]);
        high = fmax(high, hull->seconds[hull->steps]);
    }
    double best = high;
    if (rates(round, low) <= mu) {
        best = price_at_the_start(round, mu, low);
    } else {
        for (;;) { // bisects with rates(low) > mu >= rates(high) until low and high are neighbours
            double middle = low + (high - low) / 2;
            if (middle <= low || middle >= high)
                break;
            if (rates(round, middle) > mu)
                low = middle;
            else
                high = middle;
        }
        best = high;
        double above = rates(round, low), below = rates(round, high);
        double share = (mu - below) / (above - below); // rates jump at a corner; mu lies between
        for (int c = 0; c < round->links; c++) {
            double a = hull_rate(&round->hull[c], low), b = hull_rate(&round->hull[c], high);
            round->price[c] = b + share * (a - b);
        }
    }
    *dual = 0;
    for (int c = 0; c < round->links; c++)
        *dual += hull_dual(&round->hull[c], round->price[c]);
    return best;
}

double round_relaxed(const Round *round, Weights weights, double seconds) {
    double sum = weights.seconds * seconds;
    for (int c = 0; c < round->links; c++)
        sum += hull_value(&round->hull[c], seconds);
    return sum;
}

double round_fill(Round *round, Weights weights, double seconds, uint8_t *choice) {
    double sum = 0, slowest = 0, used;
    for (int c = 0; c < round->links; c++) {
        const LpHull *hull = &round->hull[c];
        sum += hull_fill(hull, seconds, choice + hull->link->begin, &used);
        slowest = fmax(slowest, used);
    }
    return sum + weights.seconds * slowest;
}
