// If this failed, bits over time would not follow their rule, would spend more than the fixed bits
// that they stand for, or would leave the range that the codec knows.
#include "../support.h"
#include "gradsync/internal.h"

enum { EPOCHS = 200, PERIOD = 10, RANKS = 4, VALUES = 1000 };

static GradBits bits_of_rule(const char *name, int64_t first) {
    return (GradBits){.rule = family_find(&bits_rule_family, name, NULL, &(Error){0}),
                      .epochs = EPOCHS,
                      .period = PERIOD,
                      .first_bits = first,
                      .bits = first,
                      .square = TEST_ARRAY(double, EPOCHS)};
}

// A run whose gradients and loss change by these factors an epoch. Returns the mean bits.
static double run(GradBits *b, double gradient, double loss, int64_t *least, int64_t *most) {
    double sum = 0;
    *least = *most = b->bits;
    for (int64_t t = 0; t < EPOCHS; t++) {
        sum += (double)b->bits / EPOCHS;
        *least = b->bits < *least ? b->bits : *least;
        *most = b->bits > *most ? b->bits : *most;
        double square = RANKS * pow(gradient, 2 * (double)t);
        grad_bits_after(b, t, 2 * pow(loss, (double)t), 0.5, square, VALUES, RANKS);
    }
    return sum;
}

TEST(fixed_bits_stay) {
    int64_t least, most;
    GradBits b = bits_of_rule("fixed", 5);
    run(&b, 0.9, 0.9, &least, &most);
    assert_true(least == 5 && most == 5);
}

// The same gradients all along and a loss that stays: every epoch is worth the same.
TEST(dq_of_a_steady_run_is_fixed) {
    for (int64_t first = 3; first <= 8; first++) {
        int64_t least, most;
        GradBits b = bits_of_rule("dq", first);
        run(&b, 1, 1, &least, &most);
        assert_true(least == first && most == first);
    }
}

// Small gradients are worth few bits; a loss that falls fast makes early noise harmless, so that
// late epochs get more.
TEST(dq_falls_and_grows) {
    int64_t least, most;
    GradBits falls = bits_of_rule("dq", 6), grows = bits_of_rule("dq", 6);
    double mean = run(&falls, 0.97, 1, &least, &most);
    assert_true(falls.bits == least && least < 6 && mean < 6);
    mean = run(&grows, 1, 0.95, &least, &most);
    assert_true(grows.bits == most && most == 8 && least < 6 && mean < 6);
}

// By hand: T = 4, period 1, G^2 = 4, 1, ..., a = 1: after epoch 1 the mean of c is (4 + 1 + 1 + 1)
// / 4.
TEST(dq_is_its_formula) {
    GradBits b = bits_of_rule("dq", 6);
    b.epochs = 4;
    b.period = 1;
    grad_bits_after(&b, 0, 1, 0, 4 * RANKS, VALUES, RANKS);
    assert_int_equal(b.bits, 6);
    grad_bits_after(&b, 1, 1, 0, 1 * RANKS, VALUES, RANKS);
    double levels = 31 * sqrt(1 / (7.0 / 4)); // 23.4
    assert_int_equal(b.bits, (int)ceil(1 + log2(1 + levels)));
    grad_bits_after(&b, 2, 1, 0, 0.0001 * RANKS, VALUES, RANKS);
    assert_int_equal(b.bits, 2); // the least
    grad_bits_after(&b, 3, 1, 0, 1e9 * RANKS, VALUES, RANKS);
    assert_int_equal(b.bits, 7); // all of the sum is in one of four epochs: twice the levels
}

TEST(baselines_follow_length_and_mean) {
    int64_t least, most;
    GradBits rms = bits_of_rule("rms", 8), adaqs = bits_of_rule("adaqs", 4);
    run(&rms, 0.98, 1, &least, &most);
    double length = pow(0.98, EPOCHS - 1);
    assert_int_equal(rms.bits, (int)fmax(2, ceil(1 + log2(1 + 127 * length))));
    run(&adaqs, 0.98, 1, &least, &most); // the mean stays while the deviation falls: fewer levels
    assert_true(adaqs.bits < 4);
}
