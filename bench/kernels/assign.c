// Widths for messages: the five problems of a three-layer net (three forward, two backward) on 8
// ranks with 100 groups in each of 56 links, solved exactly on one core, against 100 ms for all
// five. Betas are plain, by a Pareto law, and spread over 12 decades; links have one theta, or one
// for each receiver (all that a sender sends is one link then). fringe-solver, where it is built,
// starts from the exact solution with a limit of 1 s a problem.
//
//   assign [--strict] [--rounds=9]
//
// smoke: --rounds=1
#include "bench.h"
#include "fringe/bitwidth.h"
#include <time.h>
#include <unistd.h>

enum { RANKS = 8, GROUPS = 100, PROBLEMS = 5, ROWS = 100 };
static const int64_t columns[PROBLEMS] = {602, 256, 256, 256, 41};

typedef enum Betas { PLAIN, PARETO, DECADES, BETAS } Betas;
static const char *const betas_name[BETAS] = {"plain beta", "Pareto beta", "12 decades of beta"};

typedef struct Draws {
    RandomKey random;
    int64_t next;
} Draws;

static double draw(Draws *d) {
    int64_t k = d->next++;
    return random_uniform32(d->random, k >> 8, 0, k & 255);
}

static double draw_beta(Draws *d, Betas betas) {
    double u = draw(d);
    return betas == PLAIN ? 0.1 + u : betas == PARETO ? 1 / u : pow(10, 12 * u - 6);
}

static int descending(const void *a, const void *b) {
    double x = ((const Group *)a)->beta, y = ((const Group *)b)->beta;
    return x > y ? -1 : x < y;
}

static Problem problem_new(int which, Betas betas, bool by_sender) {
    Draws d = {random_key(1, RANDOM_GENERATE, (uint32_t)which, 0, 0), 0};
    int rounds = by_sender ? 1 : RANKS - 1, pairs = by_sender ? RANKS - 1 : 1;
    Problem p;
    problem_init(&p, rounds, rounds * RANKS, (int64_t)RANKS * (RANKS - 1) * GROUPS);
    p.layer = which;
    p.lambda = 0.5;
    p.widths = 3;
    for (int b = 0; b < 3; b++) {
        p.bits[b] = 2 << b;
        p.row_bytes[b] = (columns[which] * p.bits[b] + 7) / 8;
    }
    int64_t at = 0;
    for (int c = 0; c < p.links; c++) {
        p.round_begin[c / RANKS + 1] = c + 1;
        p.link[c] = (Link){.source = c % RANKS, .target = -1, .gamma = 1e-4, .begin = at};
        if (!by_sender)
            p.link[c].target = (c % RANKS + c / RANKS + 1) % RANKS;
        for (int k = 0; k < pairs; k++, at += GROUPS) {
            double theta = 8e-9 * (0.8 + 0.4 * draw(&d)); // 1 Gbit/s, more or less
            for (int64_t g = at; g < at + GROUPS; g++) {
                int64_t rows = g < at + GROUPS - 1 ? ROWS : 1 + (int64_t)(draw(&d) * (ROWS - 1));
                p.group[g] = (Group){draw_beta(&d, betas), theta, rows};
            }
            qsort(p.group + at, GROUPS, sizeof *p.group, descending);
        }
        p.link[c].end = at;
    }
    return p;
}

typedef struct Five {
    Problem problem[PROBLEMS];
    Solution solution[PROBLEMS];
} Five;

// Seconds of the core for all five.
static double solve(Five *five) {
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < PROBLEMS; i++)
        problem_solve(&five->problem[i], &five->solution[i]);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

// The solution is what its widths give, between the bound and every single width.
static void check(const Problem *p, const Solution *a) {
    need(problem_check(p, &err));
    Value value = problem_value(p, a->choice);
    CHECK(memcmp(&value, &a->value, sizeof value) == 0 && a->bound <= value.objective &&
              problem_bound(p) <= value.objective,
          EXIT_BUG, "a solution is not what its widths give");
    FREED uint8_t *choice = ALLOC(uint8_t, p->groups, "choice of one width");
    for (int b = 0; b < p->widths; b++) {
        problem_uniform(p, b, choice);
        CHECK(value.objective <= problem_value(p, choice).objective, EXIT_BUG,
              "%d bits everywhere are better than the solution", p->bits[b]);
    }
}

// The largest distance from the relaxation, and from what is proved, in parts of the objective.
static void say_gaps(const Five *five, const char *what) {
    double relaxed = 0, proved = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        double objective = five->solution[i].value.objective;
        relaxed = fmax(relaxed, 1 - problem_bound(&five->problem[i]) / objective);
        proved = fmax(proved, 1 - five->solution[i].bound / objective);
    }
    bench_value(relaxed, "", "%s, gap to the LP", what);
    bench_value(proved, "", "%s, gap not closed", what);
}

// --- fringe-solver, beside this program

static bool solver_path(char path[1024]) {
    ssize_t length = readlink("/proc/self/exe", path, 900);
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    strcpy(slash == NULL ? path : slash + 1, "fringe-solver");
    return file_exists(path);
}

// Seconds that it takes for one problem; ends the bench if its solution is worse than the exact
// one.
static double run_solver(const char *solver, const Problem *p, const Solution *exact) {
    const char *folder = bench_folder(), *path = bench_print("%s/problem", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && problem_write(p, exact->choice, file) && fclose(file) == 0, EXIT_IO,
          "%s cannot be written", path);
    const char *solution_path = bench_print("%s/solution", folder);
    const char *command = bench_print("'%s' --limit %g <%s >%s", solver,
                                      1e-3 * (double)bench_sized(1000, 20), path, solution_path);
    double begin = clock_seconds();
    CHECK(system(command) == 0, EXIT_BUG, "fringe-solver failed");
    double seconds = clock_seconds() - begin;
    Solution solution;
    file = fopen(solution_path, "r");
    CHECK(file != NULL, EXIT_BUG, "fringe-solver wrote no solution");
    need(solution_read(&solution, p, file, &err));
    fclose(file);
    CHECK(solution.value.objective <= exact->value.objective, EXIT_BUG,
          "fringe-solver's solution is worse than its start");
    solution_clear(&solution);
    file_remove(folder, &(Error){0});
    return seconds;
}

static void measure_solver(const Five *five, const char *what) {
    char solver[1024];
    if (!solver_path(solver)) {
        printf("fringe-solver is not built: left out\n");
        return;
    }
    double longest = 0;
    for (int i = 0; i < PROBLEMS; i++)
        longest = fmax(longest, run_solver(solver, &five->problem[i], &five->solution[i]));
    // with starting the program and reading its bytes
    bench_at_most(longest, "s", 1, "its limit", 1, "%s, fringe-solver", what);
}

static void measure(Betas betas, bool by_sender, int rounds) {
    Five five;
    const char *what = bench_print("%s, %s", by_sender ? "senders" : "ring", betas_name[betas]);
    for (int i = 0; i < PROBLEMS; i++) {
        five.problem[i] = problem_new(i, betas, by_sender);
        solution_init(&five.solution[i], &five.problem[i]);
    }
    solve(&five);
    for (int i = 0; i < PROBLEMS; i++)
        check(&five.problem[i], &five.solution[i]);
    double *seconds = ALLOC(double, rounds, "times of a bench");
    for (int i = 0; i < rounds; i++)
        seconds[i] = solve(&five);
    bench_at_most(1e3 * bench_median(seconds, rounds), "ms", by_sender ? 0 : 1,
                  "what five may take", 100, "%s, five problems", what);
    memory_free(seconds);
    say_gaps(&five, what);
    if (!by_sender && betas != PARETO)
        measure_solver(&five, what);
    for (int i = 0; i < PROBLEMS; i++) {
        solution_clear(&five.solution[i]);
        problem_clear(&five.problem[i]);
    }
}

BENCH(assign) {
    int rounds = (int)bench_option("--rounds", 9);
    printf("5 problems, %d ranks, 56 links of %d groups, widths 2, 4 and 8\n", RANKS, GROUPS);
    for (int by_sender = 0; by_sender < 2; by_sender++)
        for (Betas betas = PLAIN; betas < BETAS; betas++)
            measure(betas, by_sender == 1, rounds);
}
