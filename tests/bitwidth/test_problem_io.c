// ranks: 1, once
// If this failed, a problem would not reach the solver as it was posed, or broken bytes could
// crash a run, fill its memory or smuggle in widths that no one chose.
#include "problems.h"

static const Recipe some = {.ranks = 3,
                            .groups = 4,
                            .group_rows = 50,
                            .widths = 3,
                            .bits = {2, 4, 8},
                            .columns = 41,
                            .betas = BETAS_DECADES,
                            .spread = 3,
                            .lambda = 1.0 / 3,
                            .hidden = 0.1};

static uint8_t *random_choice(const Problem *p, uint64_t seed) {
    Draws d = draws_new(seed);
    uint8_t *choice = TEST_ARRAY(uint8_t, p->groups);
    for (int64_t g = 0; g < p->groups; g++)
        choice[g] = (uint8_t)draw_int(&d, 0, p->widths - 1);
    return choice;
}

enum { MARK_BYTES = 24 }; // in front of the struct

// What writing leaves in a file.
static char *text_of(FILE *file, size_t *bytes) {
    *bytes = (size_t)ftell(file);
    char *text = test_memory(*bytes);
    rewind(file);
    assert_int_equal(fread(text, 1, *bytes, file), *bytes);
    fclose(file);
    return text;
}
static char *problem_text(const Problem *p, const uint8_t *choice, size_t *bytes) {
    FILE *file = tmpfile();
    assert_true(problem_write(p, choice, file));
    return text_of(file, bytes);
}

static bool read_problem(const char *text, size_t bytes, Problem *p, uint8_t **choice, Error *err) {
    FILE *file =
        bytes > 0 ? fmemopen((void *)(uintptr_t)text, bytes, "r") : fopen("/dev/null", "r");
    *err = (Error){0};
    bool ok = problem_read(p, choice, file, err);
    fclose(file);
    return ok;
}
static bool read_solution(const char *text, size_t bytes, const Problem *p, Solution *a,
                          Error *err) {
    FILE *file =
        bytes > 0 ? fmemopen((void *)(uintptr_t)text, bytes, "r") : fopen("/dev/null", "r");
    *err = (Error){0};
    bool ok = solution_read(a, p, file, err);
    fclose(file);
    return ok;
}

static void assert_same(const Problem *a, const Problem *b) {
    assert_true(a->layer == b->layer && a->direction == b->direction && a->widths == b->widths);
    assert_memory_equal(a->bits, b->bits, (size_t)a->widths * sizeof *a->bits);
    assert_memory_equal(a->row_bytes, b->row_bytes, (size_t)a->widths * sizeof *a->row_bytes);
    assert_memory_equal(&a->lambda, &b->lambda, sizeof a->lambda);
    assert_memory_equal(&a->hidden, &b->hidden, sizeof a->hidden);
    assert_true(a->rounds == b->rounds && a->links == b->links && a->groups == b->groups);
    assert_memory_equal(a->round_begin, b->round_begin, (size_t)(a->rounds + 1) * sizeof(int));
    for (int c = 0; c < a->links; c++) {
        assert_true(a->link[c].source == b->link[c].source);
        assert_true(a->link[c].target == b->link[c].target);
        assert_memory_equal(&a->link[c].gamma, &b->link[c].gamma, sizeof(double));
        assert_true(a->link[c].begin == b->link[c].begin && a->link[c].end == b->link[c].end);
    }
    assert_memory_equal(a->group, b->group, (size_t)a->groups * sizeof *a->group);
}

TEST(problems_come_back_bit_for_bit) {
    for (uint64_t seed = 0; seed < 300; seed++) {
        Recipe recipe = some;
        recipe.by_sender = seed % 3 == 0;
        recipe.betas = (Betas)(seed % 5);
        recipe.groups = (int64_t)(seed % 50);
        recipe.spread = seed % 7 == 0 ? 60 : 1; // 1e-9 to 1e51
        CLEARED(problem_clear) Problem p = problem_random(&recipe, seed), back = {0};
        p.layer = 2;
        p.direction = (int)(seed % 2);
        uint8_t *choice = random_choice(&p, seed), *choice_back;
        size_t bytes;
        char *text = problem_text(&p, choice, &bytes);
        assert_ok(read_problem(text, bytes, &back, &choice_back, &err));
        assert_same(&p, &back);
        assert_memory_equal(choice, choice_back, (size_t)p.groups);
        memory_free(choice_back);
    }
}

TEST(solutions_come_back_and_are_valued_again) {
    for (uint64_t seed = 0; seed < 100; seed++) {
        Recipe recipe = some;
        recipe.groups = (int64_t)(seed % 40);
        CLEARED(problem_clear) Problem p = problem_random(&recipe, seed);
        static const int troubles[] = {0, 6, -71};
        Solution a = {.by = "glpk", .seconds = 0.1, .choice = random_choice(&p, seed)};
        CLEARED(solution_clear) Solution back = {0};
        a.trouble = troubles[seed % 3];
        Value value = problem_value(&p, a.choice);
        a.value.objective = -5; // a lie
        a.bound = value.objective / 3;
        FILE *file = tmpfile();
        assert_true(solution_write(&a, &p, file));
        size_t bytes;
        char *text = text_of(file, &bytes);
        assert_ok(read_solution(text, bytes, &p, &back, &err));
        assert_string_equal(back.by, "glpk");
        assert_memory_equal(a.choice, back.choice, (size_t)p.groups);
        assert_memory_equal(&back.value, &value, sizeof value);
        assert_true(back.bound == a.bound && back.seconds == a.seconds);
        assert_int_equal(back.trouble, a.trouble);
        for (size_t length = 0; length < bytes; length++) {
            Solution cut;
            assert_refused(read_solution(text, length, &p, &cut, &err), EXIT_DATA, " ");
        }
    }
}

TEST(cut_files_are_refused) {
    CLEARED(problem_clear) Problem p = problem_random(&some, 1), back = {0};
    uint8_t *choice = random_choice(&p, 1), *choice_back;
    size_t bytes;
    char *text = problem_text(&p, choice, &bytes);
    for (size_t length = 0; length < bytes; length++) {
        assert_refused(read_problem(text, length, &back, &choice_back, &err), EXIT_DATA, " ");
        assert_true(back.group == NULL && choice_back == NULL);
    }
}

// Mutated bytes are refused with a sentence, or are another problem that keeps all promises.
TEST(mutated_bytes_do_no_harm) {
    static const double words[] = {-1, 0, 1e308, NAN, INFINITY, 1e-320, 1, 1e17};
    CLEARED(problem_clear) Problem p = problem_random(&some, 2);
    Problem back;
    uint8_t *choice = random_choice(&p, 2), *choice_back;
    size_t bytes;
    char *text = problem_text(&p, choice, &bytes), *changed = test_memory(bytes + 64);
    Draws d = draws_new(9);
    int refused = 0;
    for (int i = 0; i < 30000; i++) {
        size_t length = bytes;
        memcpy(changed, text, bytes);
        if (i % 3 == 0) // some bytes
            for (int64_t k = draw_int(&d, 1, 3); k > 0; k--)
                changed[draw_int(&d, 0, (int64_t)bytes - 1)] = (char)draw_int(&d, -128, 127);
        else if (i % 3 == 1) // a number
            memcpy(changed + 8 * draw_int(&d, 0, (int64_t)bytes / 8 - 1),
                   &words[draw_int(&d, 0, 7)], sizeof *words);
        else // some bytes more or less
            length = (size_t)draw_int(&d, (int64_t)bytes - 20, (int64_t)bytes + 20);
        Error said;
        if (read_problem(changed, length, &back, &choice_back, &said)) {
            assert_ok(problem_check(&back, &err));
            Solution a;
            solution_init(&a, &back);
            problem_solve(&back, &a);
            assert_true(isfinite(a.value.objective));
            solution_clear(&a);
            memory_free(choice_back);
            problem_clear(&back);
        } else {
            refused++;
            assert_true(said.code == EXIT_DATA && strlen(said.text) > 20);
        }
    }
    assert_true(refused > 15000 && refused < 28000);
}

// Writes the problem with what was changed in it, and reads that.
static void assert_changed_refused(const Problem *p, const uint8_t *choice, const char *part) {
    size_t bytes;
    char *text = problem_text(p, choice, &bytes);
    Problem back;
    uint8_t *choice_back;
    assert_refused(read_problem(text, bytes, &back, &choice_back, &err), EXIT_DATA, part);
}

TEST(broken_promises_are_refused) {
    Recipe recipe = some;
    recipe.exactly = true;
    recipe.betas = BETAS_PLAIN;
    CLEARED(problem_clear) Problem p = problem_random(&recipe, 1);
    uint8_t *choice = random_choice(&p, 1);
#define REFUSED(part, lvalue, value)                                                               \
    do {                                                                                           \
        __typeof__(lvalue) there = lvalue;                                                         \
        lvalue = value;                                                                            \
        assert_changed_refused(&p, choice, part);                                                  \
        lvalue = there;                                                                            \
    } while (false)
    REFUSED("1 to 8 widths", p.widths, 9);
    REFUSED("lambda is 2", p.lambda, 2);
    REFUSED("hidden is nan", p.hidden, NAN);
    REFUSED("there are 3 widths", choice[0], 3);
    REFUSED("theta 0", p.group[0].theta, 0);
    REFUSED("beta -1", p.group[0].beta, -1);
    REFUSED("at most 2^53", p.group[0].rows, 900000000000000000);
    REFUSED("descending betas", p.group[1].beta, p.group[0].beta * 2);
    REFUSED("must begin at", p.link[1].begin, 0);
    REFUSED("do not hold", p.round_begin[p.rounds], 1);
}

// Counts beyond what the file holds take no memory.
TEST(absurd_counts_are_refused) {
    static const struct {
        size_t at;
        int64_t count;
        size_t bytes;
    } cases[] = {
        {offsetof(Problem, rounds), 2000000000, 4}, {offsetof(Problem, rounds), -1, 4},
        {offsetof(Problem, links), 1000000, 4},     {offsetof(Problem, links), -1, 4},
        {offsetof(Problem, groups), INT64_MAX, 8},  {offsetof(Problem, groups), -1, 8},
        {offsetof(Problem, groups), 1LL << 62, 8},  {offsetof(Problem, groups), 0, 8},
    };
    CLEARED(problem_clear) Problem p = problem_random(&some, 1);
    uint8_t *choice = random_choice(&p, 1);
    size_t bytes;
    char *text = problem_text(&p, choice, &bytes), *changed = test_memory(bytes);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Problem back;
        uint8_t *choice_back;
        int64_t peak = (int64_t)memory_peak();
        memcpy(changed, text, bytes);
        memcpy(changed + MARK_BYTES + cases[i].at, &cases[i].count, cases[i].bytes);
        assert_refused(read_problem(changed, bytes, &back, &choice_back, &err), EXIT_DATA,
                       "counts do not fit");
        assert_true((int64_t)memory_peak() - peak < 1 << 20);
    }
    text[sizeof "fringe-problem" + 5]++;
    Problem back;
    uint8_t *none;
    assert_refused(read_problem(text, bytes, &back, &none, &err), EXIT_DATA, "of version 2");
}

TEST(solutions_to_other_problems_are_refused) {
    CLEARED(problem_clear) Problem p = problem_random(&some, 1);
    uint8_t *choice = random_choice(&p, 1);
    const Solution good = {.by = "glpk", .choice = choice};
    static const int troubles[] = {65, -256};
    for (int i = 0; i < 9; i++) {
        Solution a = good, back;
        const char *part = "the trouble";
        choice[2] = i == 0 ? 3 : 0;
        if (i == 0)
            part = "there are 3 widths";
        else if (i < 3)
            a.trouble = troubles[i - 1];
        else if (i < 6) {
            snprintf(a.by, sizeof a.by, "%s", i == 3 ? "" : i == 4 ? "\"}glpk" : "GLPK");
            part = "what found it";
        } else if (i < 8) {
            *(i == 6 ? &a.bound : &a.seconds) = i == 6 ? NAN : INFINITY;
            part = "the bound";
        } else {
            part = "is for ";
        }
        FILE *file = tmpfile();
        assert_true(solution_write(&a, &p, file));
        if (i == 8)
            fputc(0, file);
        rewind(file);
        assert_refused(solution_read(&back, &p, file, &err), EXIT_DATA, part);
        assert_true(back.choice == NULL);
        fclose(file);
    }
}
