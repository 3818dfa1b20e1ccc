// Bits over time: rules that choose the bits of the next sums from what past gradients were. Levels
// of a symmetric grid, s = 2^(bits - 1) - 1, are proportional to
//
//   dq      sqrt(c_t / mean of all c), c_t = a^(T-1-t) G_t^2, a = min(1, (F_t / F_0)^(1/t))
//   rms     G_t / G_0
//   adaqs   rho_0 / rho_t, rho = |mean| / standard deviation of the gradient
//
// with factor s_0, that of the bits that the user gave: those which the run shall be as good as.
// G_t^2 is the mean over ranks of the squared length of their gradients (of what a memory leaves of
// them, where there is one that both ends hold), F_t the loss of epoch t,
// from 0 to T - 1. dq: Yan et al.: DQ-SGD, AAAI 2022, equations 16, 17 and 24, with the mean of c
// in place of a constant; gradients to come count as long as the last one. rms and adaqs are after
// its baselines, whose formulas the paper does not print.

#include "internal.h"

enum { BITS_LEAST = 2, BITS_MOST = GRADIENT_BITS_MOST };

static double levels_of(int64_t bits) { return ldexp(1, (int)bits - 1) - 1; }

static int bits_of(double levels) {
    double bits = ceil(1 + log2(1 + levels));
    return bits < BITS_LEAST || isnan(bits) ? BITS_LEAST : bits > BITS_MOST ? BITS_MOST : (int)bits;
}

static double dq_levels(const GradBits *b, int64_t t) {
    double a = t == 0 ? 1 : pow(b->loss / b->first_loss, 1 / (double)t), mean = 0;
    if (!(a < 1))
        a = 1;
    for (int64_t s = 0; s < b->epochs; s++) {
        double square = b->square[s < t ? s : t];
        mean += pow(a, (double)(b->epochs - 1 - s)) * square / (double)b->epochs;
    }
    return sqrt(pow(a, (double)(b->epochs - 1 - t)) * b->square[t] / mean);
}

static double rms_levels(const GradBits *b, int64_t t) { return sqrt(b->square[t] / b->square[0]); }

static double adaqs_levels(const GradBits *b, UNUSED int64_t t) {
    return b->first_ratio / b->ratio;
}

static const BitsRule rules[] = {
    {"fixed", NULL}, {"dq", dq_levels}, {"rms", rms_levels}, {"adaqs", adaqs_levels}};
const Family bits_rule_family = FAMILY("gradients.bits_rule", NULL, rules);

// |mean| / standard deviation of all values of all ranks.
static double ratio_of(double sum, double square, double values) {
    double mean = sum / values, variance = square / values - mean * mean;
    return variance > 0 ? fabs(mean) / sqrt(variance) : 0;
}

void grad_bits_after(GradBits *b, int64_t epoch, double loss, double sum, double square,
                     double values, int ranks) {
    if (b->rule->levels == NULL || epoch >= b->epochs)
        return;
    b->square[epoch] = square / ranks;
    b->loss = loss;
    b->ratio = ratio_of(sum, square, values * ranks);
    if (epoch == 0) {
        b->first_loss = loss;
        b->first_ratio = b->ratio;
    }
    if ((epoch + 1) % b->period == 0)
        b->bits = bits_of(levels_of(b->first_bits) * b->rule->levels(b, epoch));
}
