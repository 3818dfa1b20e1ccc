// If this failed, fringe-solver would be started for what is proven best already, or not for what
// is not; or a solver that is slow, broken or not there would cost widths, time without end, or go
// unsaid.
#include "bitwidth/problems.h"

#include "assigner/internal.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

typedef struct Asked {
    Config config;
    Assigner assigner;
    ChannelAssignment assigned;
} Asked;

// All that a rank sends at links of different speeds: fronts of more points than are kept.
static Recipe open_recipe(void) {
    return (Recipe){.ranks = 3,
                    .by_sender = true,
                    .groups = 400,
                    .exactly = true,
                    .group_rows = 100,
                    .sizes_differ = true,
                    .widths = 3,
                    .bits = {2, 4, 8},
                    .columns = 256,
                    .betas = BETAS_DECADES,
                    .spread = 0.3,
                    .lambda = 0.5};
}

static void pose(Asked *asked, const Recipe *recipe, const char *solver) {
    *asked = (Asked){0};
    assert_ok(config_load(&asked->config, NULL, NULL, 0, &err));
    snprintf(asked->config.quantization.solver, CONFIG_WORD, "%s", solver);
    asked->config.quantization.solver_limit = 0.05;
    asked->assigner = (Assigner){.config = &asked->config, .comm = &test_comm};
    asked->assigned.problem = problem_random(recipe, 1);
    solution_init(&asked->assigned.solution, &asked->assigned.problem);
    problem_solve(&asked->assigned.problem, &asked->assigned.solution);
}

static void withdraw(Asked *asked) {
    solver_stop(&asked->assigned.solver);
    solution_clear(&asked->assigned.solution);
    problem_clear(&asked->assigned.problem);
}

// A program that fringe takes for its solver.
static void play_solver(const char *name, const char *script) {
    const char *text = test_text("#!/bin/sh\n%s\n", script);
    const char *path = test_path(name);
    test_write_text(path, text);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("FRINGE_SOLVER", path, 1);
}

TEST(what_is_proven_is_not_asked) {
    play_solver("idle", "exec sleep 1");
    for (int i = 0; i < 4;
         i++) { // proven by bytes, proven though costs are rounded, open, switched off
        Asked asked;
        Recipe recipe = i == 0 ? ring_recipe() : open_recipe();
        if (i == 1) {
            recipe.groups = 50;
            recipe.sizes_differ = false;
        }
        pose(&asked, &recipe, i == 3 ? "exact" : "glpk");
        const Solution *solution = &asked.assigned.solution;
        double gap = solution->value.objective - solution->bound;
        assert_true(problem_is_open(&asked.assigned.problem));
        assert_int_equal(gap > 1e-6 * solution->value.objective, i >= 2);
        assert_int_equal(strcmp(solution->by, "exact") == 0, i < 2);
        assigned_start_solver(&asked.assigner, &asked.assigned);
        assert_int_equal(asked.assigned.solver.pid > 0, i == 2);
        assert_string_equal(asked.assigner.assignment.warning, "");
        withdraw(&asked);
    }
}

// What fringe does with it: the widths stay, a warning says why, and it is waited for but not long.
static void try_solver(const char *path, const char *want) {
    Asked asked;
    Recipe recipe = open_recipe();
    char warning[256] = "";
    setenv("FRINGE_SOLVER", path, 1);
    pose(&asked, &recipe, "glpk");
    ChannelAssignment *assigned = &asked.assigned;
    uint8_t *before = TEST_ARRAY(uint8_t, assigned->problem.groups);
    memcpy(before, assigned->solution.choice, (size_t)assigned->problem.groups);
    assigned_start_solver(&asked.assigner, assigned);
    assert_true(assigned->solver.pid > 0);
    double begin = clock_seconds();
    pid_t pid = assigned->solver.pid;
    solver_finish(&assigned->solver, &assigned->problem, &assigned->solution, &test_comm, warning);
    assert_true(clock_seconds() - begin <
                30); // a limit of 0.05 s and 2 s of grace; a crowded machine
    assert_true(assigned->solver.pid == 0 && kill(pid, 0) != 0);
    if (strstr(warning, want) == NULL || strstr(warning, "; the exact solution is used") == NULL)
        fail_msg("%s: the warning is '%s', expected '%s'", path, warning, want);
    assert_memory_equal(before, assigned->solution.choice, (size_t)assigned->problem.groups);
    withdraw(&asked);
}

TEST(solvers_that_are_no_help_cost_nothing) {
    try_solver("/bin/false", "fringe-solver exited with status 1");
    try_solver("/nothing/here", "fringe-solver is not installed");
    play_solver("sleeps", "exec sleep 60");
    try_solver(getenv("FRINGE_SOLVER"), "fringe-solver exceeded its time limit");
    play_solver("rubbish", "echo rubbish");
    try_solver(getenv("FRINGE_SOLVER"), "fringe-solver's solution is not valid (");
    play_solver("dies", "kill -9 $$");
    try_solver(getenv("FRINGE_SOLVER"), "fringe-solver was killed by signal 9");
}

// nice() says -1 for a failure, and for the niceness that a process of -20 gets.
TEST(a_process_that_goes_first_asks_too) {
    int before = getpriority(PRIO_PROCESS, 0);
    if (setpriority(PRIO_PROCESS, 0, -20) != 0)
        skip();
    try_solver("/bin/false", "fringe-solver exited with status 1");
    setpriority(PRIO_PROCESS, 0, before);
}

// Its solution is waited for, and taken where it is better: here the best of one width was known.
TEST(a_better_solution_is_taken) {
    const char *solver = test_text("%s/fringe-solver", getenv("FRINGE_BUILD"));
    if (getenv("FRINGE_BUILD") == NULL || !file_exists(solver))
        skip();
    Asked asked;
    Recipe recipe = open_recipe();
    char warning[256] = "";
    const char *late =
        test_text("sleep 0.5; f=$(mktemp); \"%s\" \"$@\" >$f; "
                  "printf '\\006' | dd of=$f bs=1 seek=%zu conv=notrunc 2>/dev/null; cat $f; rm $f",
                  solver, 24 + offsetof(Solution, trouble)); // behind the mark
    play_solver("late", late);
    recipe.groups = 5;
    pose(&asked, &recipe, "glpk");
    ChannelAssignment *assigned = &asked.assigned;
    asked.config.quantization.solver_limit = 5;
    problem_uniform(&assigned->problem, 1, assigned->solution.choice);
    assigned->solution.value = problem_value(&assigned->problem, assigned->solution.choice);
    double known = assigned->solution.value.objective, begin = clock_seconds();
    assigned_start_solver(&asked.assigner, assigned);
    solver_finish(&assigned->solver, &assigned->problem, &assigned->solution, &test_comm, warning);
    assert_true(clock_seconds() - begin >= 0.5);
    assert_true(assigned->solution.value.objective < known);
    assert_string_equal(assigned->solution.by, "glpk");
    assert_non_null(strstr(warning, "GLPK was killed by signal 6"));
    withdraw(&asked);
}
