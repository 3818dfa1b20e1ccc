// If this failed, widths would not follow what they are chosen by: the weight of the variance, a
// group's beta, time that costs nothing; or the same problem would be solved in two ways.
#include "problems.h"

// A10
TEST(more_weight_of_the_variance_buys_bits) {
    for (uint64_t seed = 0; seed < 12; seed++) {
        Recipe recipe = ring_recipe();
        recipe.betas = (Betas)(seed % 3);
        CLEARED(problem_clear) Problem p = problem_random(&recipe, seed);
        Value before = {0};
        CLEARED(solution_clear) Solution a = {0};
        solution_init(&a, &p);
        for (int i = 0; i <= 20; i++) {
            p.lambda = i / 20.0;
            problem_solve(&p, &a);
            if (i > 0) {
                assert_true(a.value.variance <= before.variance * (1 + 1e-12));
                assert_true(a.value.seconds >= before.seconds * (1 - 1e-12));
            }
            before = a.value;
        }
        for (int64_t g = 0; g < p.groups; g++)
            assert_int_equal(a.choice[g], 2); // lambda = 1, every beta > 0
    }
}

// lambda = 0: as fast as the smallest widths, and free bits are taken.
TEST(free_bits_are_taken) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        Recipe recipe = ring_recipe();
        recipe.lambda = 0;
        recipe.by_sender = seed % 2 == 1;
        CLEARED(problem_clear) Problem p = problem_random(&recipe, seed);
        uint8_t *choice = TEST_ARRAY(uint8_t, p.groups);
        Value smallest = problem_value(&p, choice);
        CLEARED(solution_clear) Solution a = solved(&p);
        assert_true(a.value.seconds <= smallest.seconds);
        assert_true(a.value.objective == 0);
        assert_true(a.value.variance < 0.9 * smallest.variance); // links differ by half a decade
    }
}

// A11
TEST(larger_beta_never_gets_fewer_bits) {
    for (uint64_t seed = 0; seed < 60; seed++) {
        Recipe recipe = ring_recipe();
        recipe.betas = seed % 4 == 3 ? BETAS_CLOSE : (Betas)(seed % 4);
        recipe.lambda = seed % 5 == 0 ? 0 : 0.1 * (double)(seed % 10);
        CLEARED(problem_clear) Problem p = problem_random(&recipe, seed);
        CLEARED(solution_clear) Solution a = solved(&p);
        for (int c = 0; c < p.links; c++)
            for (int64_t g = p.link[c].begin; g < p.link[c].end; g++)
                for (int64_t h = g + 1; h < p.link[c].end; h++)
                    if (p.group[g].rows == p.group[h].rows && p.group[g].beta > p.group[h].beta)
                        assert_true(a.choice[g] >= a.choice[h]);
    }
}

// The same problem gives the same bytes, whatever was solved before.
TEST(solutions_are_repeated) {
    Recipe recipe = ring_recipe();
    recipe.by_sender = true;
    CLEARED(problem_clear)
    Problem p = problem_random(&recipe, 3), other = problem_random(&recipe, 4);
    CLEARED(solution_clear) Solution a = solved(&p), c = solved(&other), b = solved(&p);
    assert_memory_equal(a.choice, b.choice, (size_t)p.groups);
    assert_memory_equal(&a.value, &b.value, sizeof a.value);
    assert_true(a.bound == b.bound);
}
