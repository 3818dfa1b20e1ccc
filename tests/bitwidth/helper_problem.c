// Poses problems to fringe-solver and judges its solutions, for the script beside it.
//
//   helper_problem ring|senders RANKS GROUPS ROWS decades|plain SEED exact|0|1|2 [LAMBDA [HIDDEN]]
//       writes a problem with a link for each pair of a ring, or for all that a rank sends (then
//       thetas differ inside it), with that incumbent: the exact solution or one width for all
//   helper_problem judge PROBLEM SOLUTION
//       prints: by objective incumbent exact (objectives) trouble
#include "problems.h"

static int pose(bool by_sender, int argc, char **argv) {
    Recipe recipe = {.ranks = atoi(argv[0]),
                     .by_sender = by_sender,
                     .groups = atoi(argv[1]),
                     .exactly = true,
                     .group_rows = atoi(argv[2]),
                     .widths = 3,
                     .bits = {2, 4, 8},
                     .columns = 256,
                     .betas = strcmp(argv[3], "plain") == 0 ? BETAS_PLAIN : BETAS_DECADES,
                     .spread = 0.3,
                     .lambda = argc > 6 ? atof(argv[6]) : 0.5,
                     .hidden = argc > 7 ? atof(argv[7]) : 0};
    CLEARED(problem_clear) Problem p = problem_random(&recipe, (uint64_t)atoi(argv[4]));
    CLEARED(solution_clear) Solution a = {0};
    solution_init(&a, &p);
    if (strcmp(argv[5], "exact") == 0)
        problem_solve(&p, &a);
    else
        problem_uniform(&p, atoi(argv[5]), a.choice);
    bool ok = problem_write(&p, a.choice, stdout);
    return ok ? EXIT_OK : EXIT_IO;
}

static int judge(char **argv) {
    CLEARED(problem_clear) Problem p = {0};
    FREED uint8_t *incumbent = NULL;
    Error err = {0};
    FILE *posed = fopen(argv[0], "r"), *given = fopen(argv[1], "r");
    CLEARED(solution_clear) Solution solution = {0}, exact = {0};
    if (posed == NULL || given == NULL || !problem_read(&p, &incumbent, posed, &err) ||
        !solution_read(&solution, &p, given, &err)) {
        fprintf(stderr, "helper_problem: %s\n", err.text);
        return EXIT_DATA;
    }
    solution_init(&exact, &p);
    problem_solve(&p, &exact);
    printf("%s %.17g %.17g %.17g %d\n", solution.by, solution.value.objective,
           problem_value(&p, incumbent).objective, exact.value.objective, solution.trouble);
    fclose(given);
    fclose(posed);
    return EXIT_OK;
}

int main(int argc, char **argv) {
    if (argc >= 8 && (strcmp(argv[1], "ring") == 0 || strcmp(argv[1], "senders") == 0))
        return pose(strcmp(argv[1], "senders") == 0, argc - 2, argv + 2);
    if (argc == 4 && strcmp(argv[1], "judge") == 0)
        return judge(argv + 2);
    return EXIT_USAGE;
}
