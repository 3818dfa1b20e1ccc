// ranks: 1, once
// If this failed, a problem would not reach the solver as it was posed, or a broken text could
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
    uint8_t *choice = ALLOC(uint8_t, p->groups, "test");
    for (int64_t g = 0; g < p->groups; g++)
        choice[g] = (uint8_t)draw_int(&d, 0, p->widths - 1);
    return choice;
}

// What writing leaves in a file, as a string.
static char *text_of(FILE *file, size_t *bytes) {
    *bytes = (size_t)ftell(file);
    char *text = memory_alloc(*bytes + 1, "test");
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
        Problem p = problem_random(&recipe, seed), back;
        p.layer = 2;
        p.direction = (int)(seed % 2);
        uint8_t *choice = random_choice(&p, seed), *choice_back;
        size_t bytes;
        char *text = problem_text(&p, choice, &bytes);
        assert_ok(read_problem(text, bytes, &back, &choice_back, &err));
        assert_same(&p, &back);
        assert_memory_equal(choice, choice_back, (size_t)p.groups);
        memory_free(text);
        memory_free(choice_back);
        memory_free(choice);
        problem_clear(&back);
        problem_clear(&p);
    }
}

TEST(solutions_come_back_and_are_valued_again) {
    for (uint64_t seed = 0; seed < 100; seed++) {
        Recipe recipe = some;
        recipe.groups = (int64_t)(seed % 40);
        Problem p = problem_random(&recipe, seed);
        static const int troubles[] = {0, 6, -71};
        Solution a = {.by = "glpk", .seconds = 0.1, .choice = random_choice(&p, seed)}, back;
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
        for (size_t length = 0; length + 1 < bytes;
             length++) { // without its last line break it is whole
            Solution cut;
            assert_refused(read_solution(text, length, &p, &cut, &err), EXIT_DATA, " ");
        }
        memory_free(text);
        solution_clear(&back);
        solution_clear(&a);
        problem_clear(&p);
    }
}

TEST(cut_texts_are_refused) {
    Problem p = problem_random(&some, 1), back;
    uint8_t *choice = random_choice(&p, 1), *choice_back;
    size_t bytes;
    char *text = problem_text(&p, choice, &bytes);
    for (size_t length = 0; length + 1 < bytes; length++) {
        assert_refused(read_problem(text, length, &back, &choice_back, &err), EXIT_DATA, " ");
        assert_true(back.group == NULL && choice_back == NULL);
    }
    memory_free(text);
    memory_free(choice);
    problem_clear(&p);
}

// A mutated text is refused with a sentence, or is another problem that keeps all promises.
TEST(mutated_texts_do_no_harm) {
    static const char letters[] = "0123456789.-+eE \n\0xnaif\xff";
    static const char *const words[] = {"-1",    "99999999999", "1e308",  "nan",  "inf", "0x10",
                                        "1e999", "-0",          "1e-320", "link", "end", ""};
    Problem p = problem_random(&some, 2), back;
    uint8_t *choice = random_choice(&p, 2), *choice_back;
    size_t bytes;
    char *text = problem_text(&p, choice, &bytes), *changed = memory_alloc(bytes + 64, "test");
    Draws d = draws_new(9);
    size_t before = memory_in_use();
    int refused = 0;
    for (int i = 0; i < 30000; i++) {
        size_t length = bytes;
        memcpy(changed, text, bytes);
        if (i % 2 == 0) { // some bytes
            for (int64_t k = draw_int(&d, 1, 3); k > 0; k--)
                changed[draw_int(&d, 0, (int64_t)bytes - 1)] = letters[draw_int(&d, 0, 23)];
        } else { // a word in the place of some bytes
            const char *word = words[draw_int(&d, 0, 11)];
            size_t at = (size_t)draw_int(&d, 0, (int64_t)bytes - 8), put = strlen(word);
            size_t end = at;
            while (end < bytes && text[end] != ' ' && text[end] != '\n')
                end++;
            memcpy(changed + at, word, put);
            memcpy(changed + at + put, text + end, bytes - end);
            length = at + put + bytes - end;
        }
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
        assert_int_equal(memory_in_use(), before);
    }
    assert_true(refused > 15000);
    memory_free(changed);
    memory_free(text);
    memory_free(choice);
    problem_clear(&p);
}

// Counts beyond what the text can hold take no memory.
TEST(absurd_counts_are_refused) {
#define HEAD "fringe-problem 1\nlayer 0 direction 0\nlambda 0.5 hidden 0\nwidths 1\n8 64\n"
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "expected fringe-problem, found ''"},
        {"fringe-problem 2\n", "version 2"},
        {"fringe-problem 1\nlayer 0 direction 0\nlambda 2 hidden 0\nwidths 9\n", "1 to 8 widths"},
        {HEAD "rounds 2000000000 links 0 groups 0\nend\n", "as many rounds as the text holds"},
        {HEAD "rounds 1 links 1000000 groups 0\nend\n", "as many links as the text holds"},
        {HEAD "rounds 0 links 0 groups 9000000000000000000\nend\n", "as many groups"},
        {HEAD "rounds 0 links 0 groups 99999999999999999999999\nend\n", "as many groups"},
        {HEAD "rounds 0 links 0 groups -1\nend\n", "as many groups"},
        {HEAD "rounds 1 links 0 groups 0\nround 1\nlink 0 1 0 0\nend\n", "links that the problem"},
        {HEAD "rounds 1 links 2 groups 0\nround 1\nlink 0 1 0 0\nend\n            ", "2 links"},
        {HEAD "rounds 0 links 0 groups 0\nend\nend\n", "nothing after the end"},
        {HEAD "rounds 1 links 1 groups 1\nround 1\nlink 0 1 0 1\n1 1 1 1\nend\n",
         "index of a width"},
        {HEAD "rounds 1 links 1 groups 1\nround 1\nlink 0 1 0 1\n1 0 1 0\nend\n", "theta 0"},
        {HEAD "rounds 1 links 1 groups 1\nround 1\nlink 0 1 0 1\n-1 1 1 0\nend\n", "beta -1"},
        {HEAD "rounds 1 links 1 groups 1\nround 1\nlink 0 1 0 1\n1 1 900000000000000000 0\nend\n",
         "at most 2^53"},
        {HEAD "rounds 1 links 1 groups 2\nround 1\nlink 0 1 0 2\n1 1 1 0\n2 1 1 0\nend\n",
         "descending betas"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Problem p;
        uint8_t *choice;
        int64_t peak = (int64_t)memory_peak();
        assert_refused(read_problem(cases[i].text, strlen(cases[i].text), &p, &choice, &err),
                       EXIT_DATA, cases[i].part);
        assert_true((int64_t)memory_peak() - peak < 1 << 20);
    }
}

TEST(solutions_to_other_problems_are_refused) {
#define ODD "fringe-solution 1\nby glpk seconds 0 bound 0\n"
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"fringe-solution 1\nby glpk seconds 0 bound 0\ngroups 4\n0000\nend\n", "as many groups"},
        {"fringe-solution 1\nby glpk seconds 0 bound 0\ngroups 3\n0003\nend\n", "index of a width"},
        {"fringe-solution 1\nby glpk seconds 0 bound 0\ngroups 3\n003\nend\n", "index of a width"},
        {"fringe-solution 1\nby glpk seconds 0 bound 0\ngroups 3\n00\nend\n", "index of a width"},
        {"fringe-solution 1\nby glpk seconds 0 bound nan\ngroups 3\n000\nend\n", "a bound"},
        {"fringe-solution 1\nby \"}glpk seconds 0 bound 0\ngroups 3\n000\nend\n", "a name"},
        {"fringe-solution 1\nby aaaaaaaaaaaaaaaa seconds 0 bound 0\ngroups 3\n000\nend\n",
         "a name"},
        {"fringe-solution 1\nby glpk seconds 0 bound 0\ngroups 3\n000\nend\nend\n",
         "nothing after"},
        {ODD "trouble\ngroups 3\n000\nend\n", "signal or exit"},
        {ODD "trouble signal 0\ngroups 3\n000\nend\n", "a number of it"},
        {ODD "trouble signal 65\ngroups 3\n000\nend\n", "a number of it"},
        {ODD "trouble exit 256\ngroups 3\n000\nend\n", "a number of it"},
        {ODD "trouble exit -1\ngroups 3\n000\nend\n", "a number of it"},
        {ODD "trouble signal 6 6\ngroups 3\n000\nend\n", "expected groups, found '6'"},
        {ODD "trouble signal 6\ntrouble signal 6\ngroups 3\n000\nend\n", "expected groups"},
    };
    Recipe recipe = some;
    recipe.by_sender = recipe.exactly = true;
    recipe.ranks = 3;
    recipe.groups = 1;
    Problem p = problem_random(&recipe, 1);
    p.groups = 3; // of the 6 that are there
    p.links = 1;
    p.round_begin[1] = 1;
    p.link[0].end = 3;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Solution a;
        assert_refused(read_solution(cases[i].text, strlen(cases[i].text), &p, &a, &err), EXIT_DATA,
                       cases[i].part);
        assert_true(a.choice == NULL);
    }
    problem_clear(&p);
}
