// If this failed, a round would be solved no better than by rounding, or a slower link would be
// given more to carry.
#include "problems.h"

#include "bitwidth/internal.h"

static Recipe ring(uint64_t seed) {
    Recipe recipe = ring_recipe();
    recipe.betas = (Betas)(seed % 3);
    recipe.lambda = 0.1 + 0.1 * (double)(seed % 8);
    return recipe;
}

static Weights weights_of(const Problem *p) {
    Normalizers normalizers = problem_normalizers(p);
    return problem_weights(p, &normalizers);
}

// What a choice costs a round, by definition.
static double cost_of(const Problem *p, int round, Weights weights, const uint8_t *choice) {
    double variance = 0, slowest = 0;
    for (int c = p->round_begin[round]; c < p->round_begin[round + 1]; c++) {
        double seconds = p->link[c].gamma;
        for (int64_t g = p->link[c].begin; g < p->link[c].end; g++) {
            double levels = pow(2, p->bits[choice[g]]) - 1;
            variance += p->group[g].beta / (levels * levels);
            seconds += p->group[g].theta * (double)(p->group[g].rows * p->row_bytes[choice[g]]);
        }
        slowest = fmax(slowest, seconds);
    }
    return weights.variance * variance + weights.seconds * slowest;
}

// A9: bound <= exact <= the relaxation's steps that are whole, rounded down. The latter must be
// worse at times, or the exact search would be for nothing.
TEST(rounding_is_never_better) {
    int worse = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        Recipe recipe = ring(seed);
        CLEARED(problem_clear) Problem p = problem_random(&recipe, seed);
        Weights weights = weights_of(&p);
        uint8_t *exact = TEST_ARRAY(uint8_t, p.groups), *rounded = TEST_ARRAY(uint8_t, p.groups);
        for (int r = 0; r < p.rounds; r++) {
            CLEARED(round_clear) Round round = {0};
            double dual;
            round_init(&round, &p, r);
            assert_true(round_solve(&round, weights, exact) == 0); // proved to be the best
            double seconds = round_relax(&round, weights, &dual);
            double said = round_fill(&round, weights, seconds, rounded);
            double best = cost_of(&p, r, weights, exact), cost = cost_of(&p, r, weights, rounded);
            assert_near(said, cost, 1e-12 * cost); // sums of a hundred doubles
            assert_true(dual <= best * (1 + 1e-12));
            assert_true(best <= cost * (1 + 1e-12));
            worse += best < cost * (1 - 1e-9);
        }
    }
    assert_true(worse > 0);
}

static double link_bytes(const Problem *p, const Link *link, const uint8_t *choice) {
    double bytes = 0;
    for (int64_t g = link->begin; g < link->end; g++)
        bytes += (double)(p->group[g].rows * p->row_bytes[choice[g]]);
    return bytes;
}

static void solve_round(const Problem *p, int which, Weights weights, uint8_t *choice) {
    CLEARED(round_clear) Round round = {0};
    round_init(&round, p, which);
    assert_true(round_solve(&round, weights, choice) == 0);
}

// A10: with the normalisers held fixed, a link whose theta doubles carries no more than before.
TEST(slower_links_carry_no_more) {
    int less = 0, same = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        Recipe recipe = ring(seed);
        CLEARED(problem_clear) Problem p = problem_random(&recipe, seed);
        Weights weights = weights_of(&p);
        uint8_t *choice = TEST_ARRAY(uint8_t, p.groups);
        for (int r = 0; r < p.rounds; r++)
            for (int c = p.round_begin[r]; c < p.round_begin[r + 1]; c++) {
                const Link *link = &p.link[c];
                solve_round(&p, r, weights, choice);
                double before = link_bytes(&p, link, choice);
                for (int64_t g = link->begin; g < link->end; g++)
                    p.group[g].theta *= 2;
                solve_round(&p, r, weights, choice);
                double after = link_bytes(&p, link, choice);
                for (int64_t g = link->begin; g < link->end; g++)
                    p.group[g].theta /= 2;
                assert_true(after <= before);
                less += after < before;
                same += after == before;
            }
    }
    assert_true(less > 100 && same > 100);
}
