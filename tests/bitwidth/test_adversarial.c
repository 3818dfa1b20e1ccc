// If this failed, some odd measurement (no groups, equal links, ranges twelve decades apart, links
// of absurd speed) would stop a training run, or give widths worse than the same bits for all rows.
#include "problems.h"

static int64_t pick(Draws *d, const int64_t *from, int count) {
    return from[draw_int(d, 0, count - 1)];
}

static Recipe hostile_recipe(uint64_t seed) {
    static const int64_t sizes[] = {0, 1, 2, 5, 12, 40}, rows[] = {1, 2, 100, 1 << 20};
    static const int64_t columns[] = {1, 2, 7, 41, 256, 602, 100000};
    Draws d = draws_new(seed);
    Recipe r = {.ranks = (int)draw_int(&d, 1, 5),
                .by_sender = draw_chance(&d, 0.3),
                .groups = pick(&d, sizes, 6),
                .exactly = draw_chance(&d, 0.5),
                .group_rows = pick(&d, rows, 4),
                .sizes_differ = draw_chance(&d, 0.3),
                .columns = pick(&d, columns, 7),
                .betas = (Betas)draw_int(&d, BETAS_PLAIN, BETAS_ZERO),
                .zero = draw_chance(&d, 0.3) ? draw(&d) : 0,
                .spread = draw_chance(&d, 0.2)   ? 60 * draw(&d)
                          : draw_chance(&d, 0.5) ? 1
                                                 : 0,
                .lambda = draw_chance(&d, 0.1)   ? 0
                          : draw_chance(&d, 0.1) ? 1
                          : draw_chance(&d, 0.2) ? pow(10, -12 * draw(&d))
                                                 : draw(&d)};
    for (int bits = 1; bits <= 8; bits++)
        if (draw_chance(&d, 0.5) || (bits == 8 && r.widths == 0))
            r.bits[r.widths++] = bits;
    return r;
}

// Sends some numbers to the ends of what is allowed.
static void spoil(Problem *p, uint64_t seed) {
    Draws d = draws_new(seed + 31);
    double most = 0;
    for (int c = 0; c < p->links; c++) {
        Link *link = &p->link[c];
        if (draw_chance(&d, 0.1))
            link->gamma = draw_chance(&d, 0.5) ? 1e60 : 0;
        bool odd = draw_chance(&d, 0.05), slow = draw_chance(&d, 0.5);
        double scale = draw_chance(&d, 0.1) ? pow(10, 180 * draw(&d) - 90) : 1;
        for (int64_t g = link->begin; g < link->end; g++) {
            if (odd)
                p->group[g].theta = slow ? 1e60 : 1e-60;
            p->group[g].beta *= scale;
            most = fmax(most, p->group[g].theta);
        }
    }
    // A theta that became its neighbour's would put betas out of order: sort link by link.
    for (int c = 0; c < p->links; c++)
        qsort(p->group + p->link[c].begin, (size_t)(p->link[c].end - p->link[c].begin),
              sizeof *p->group, descending);
    if (draw_chance(&d, 0.2)) {
        uint8_t *choice = TEST_ARRAY(uint8_t, p->groups);
        p->hidden = fmin(1e60, problem_value(p, choice).seconds * (0.5 + draw(&d)));
    }
}

static void try_problem(uint64_t seed) {
    Recipe recipe = hostile_recipe(seed);
    CLEARED(problem_clear) Problem p = problem_random(&recipe, seed);
    if (seed % 2 == 0)
        spoil(&p, seed);
    assert_ok(problem_check(&p, &err));
    CLEARED(solution_clear) Solution a = solved(&p);
    Value again = problem_value(&p, a.choice);
    assert_memory_equal(&again, &a.value, sizeof again);
    assert_true(isfinite(again.objective) && isfinite(again.variance) && isfinite(again.seconds));
    assert_true(a.bound >= 0 && a.bound <= again.objective);
    assert_true(problem_bound(&p) <= again.objective + 1e-9);
    uint8_t *choice = TEST_ARRAY(uint8_t, p.groups);
    for (int b = 0; b < p.widths; b++) {
        problem_uniform(&p, b, choice);
        Value uniform = problem_value(&p, choice);
        assert_true(again.objective <= uniform.objective);
        assert_true(a.bound <= uniform.objective + 1e-9);
        if (again.objective == uniform.objective)
            assert_true(again.variance <= uniform.variance);
    }
    Draws d = draws_new(seed + 7);
    for (int i = 0; i < 5; i++) {
        for (int64_t g = 0; g < p.groups; g++)
            choice[g] = (uint8_t)draw_int(&d, 0, p.widths - 1);
        assert_true(problem_value(&p, choice).objective >= a.bound - 1e-9);
    }
}

TEST(ten_thousand_problems) {
    for (uint64_t seed = 0; seed < UNDER_SANITIZERS(500, 10000); seed++)
        try_problem(seed);
}

// A1 .. A2: nothing to choose, nothing to send, nobody to send to.
TEST(empty_problems_have_solutions) {
    Problem p;
    for (int rounds = 0; rounds < 3; rounds++)
        for (int links = 0; links < 2 * rounds + 1; links++) {
            problem_init(&p, rounds, links, 0);
            p.widths = 1;
            p.bits[0] = 8;
            p.row_bytes[0] = 16;
            p.lambda = 0.5;
            for (int r = 0; r < rounds; r++) // the first round may have none
                p.round_begin[r + 1] = r == rounds - 1 ? links : links / 2;
            for (int c = 0; c < links; c++)
                p.link[c] = (Link){.source = 0, .target = 1, .gamma = c};
            assert_ok(problem_check(&p, &err));
            Solution a;
            solution_init(&a, &p);
            problem_solve(&p, &a);
            assert_true(a.value.objective == 0 && a.bound == 0 && problem_bound(&p) == 0);
            solution_clear(&a);
            problem_clear(&p);
        }
}
