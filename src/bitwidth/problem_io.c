// Problems and solutions as bytes, for fringe-solver, which is of the same build and on the same
// host:
//
//   problem    mark, Problem, round_begin, link, group, the incumbent's choice
//   solution   mark, Solution, choice
//
// Pointers of the two structs are written as NULL. A reader needs a file that it can seek in,
// because it compares the counts with the file's size before it takes memory for them.

#include "internal.h"

enum { LAST_SIGNAL = 64, LAST_EXIT = 255 };

typedef struct Mark { // the first bytes
    char text[20];
    int version;
} Mark;
static const Mark problem_mark = {"fringe-problem", 2}, solution_mark = {"fringe-solution", 2};

static bool put(FILE *file, const void *from, int64_t count, size_t size) {
    return fwrite(from, size, (size_t)count, file) == (size_t)count;
}

bool problem_write(const Problem *p, const uint8_t *incumbent, FILE *file) {
    Problem head = *p;
    head.round_begin = NULL;
    head.link = NULL;
    head.group = NULL;
    return put(file, &problem_mark, 1, sizeof problem_mark) && put(file, &head, 1, sizeof head) &&
           put(file, p->round_begin, p->rounds + 1, sizeof *p->round_begin) &&
           put(file, p->link, p->links, sizeof *p->link) &&
           put(file, p->group, p->groups, sizeof *p->group) &&
           put(file, incumbent, p->groups, sizeof *incumbent) && fflush(file) == 0;
}

bool solution_write(const Solution *solution, const Problem *problem, FILE *file) {
    Solution head = *solution;
    head.choice = NULL;
    return put(file, &solution_mark, 1, sizeof solution_mark) && put(file, &head, 1, sizeof head) &&
           put(file, solution->choice, problem->groups, sizeof *solution->choice) &&
           fflush(file) == 0;
}

// --- reading

static bool get(FILE *file, void *to, int64_t count, size_t size) {
    return fread(to, size, (size_t)count, file) == (size_t)count;
}

// Reads the mark and the struct behind it. *left: the bytes of the file behind both.
static bool read_head(FILE *file, const Mark *mark, void *head, size_t bytes, int64_t *left,
                      Error *err) {
    Mark found;
    long begin = ftell(file), end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (begin < 0 || end < 0 || fseek(file, begin, SEEK_SET) != 0)
        return error_set(err, EXIT_IO, "one cannot seek in the file of the %s", mark->text);
    if (!get(file, &found, 1, sizeof found) || memcmp(&found, mark, sizeof found) != 0)
        return error_data(err, "this is no %s of version %d", mark->text, mark->version);
    if (!get(file, head, 1, bytes))
        return error_data(err, "the %s ends early", mark->text);
    *left = end - begin - (int64_t)(sizeof found + bytes);
    return true;
}

// True if arrays of these counts take exactly the bytes that are left.
static bool counts_fit(const Problem *head, int64_t left) {
    return head->rounds >= 0 && head->links >= 0 && head->groups >= 0 && head->groups <= left &&
           left == (int64_t)sizeof(int) * ((int64_t)head->rounds + 1) +
                       (int64_t)sizeof(Link) * head->links +
                       (int64_t)(sizeof(Group) + 1) * head->groups;
}

static bool check_choice(const Problem *p, const uint8_t *choice, Error *err) {
    for (int64_t g = 0; g < p->groups; g++)
        if (choice[g] >= p->widths)
            return error_data(err, "group %ld has width %d; there are %d widths", g, choice[g],
                              p->widths);
    return true;
}

bool problem_read(Problem *problem, uint8_t **incumbent, FILE *file, Error *err) {
    Problem head;
    int64_t left;
    *problem = (Problem){0};
    *incumbent = NULL;
    if (!read_head(file, &problem_mark, &head, sizeof head, &left, err))
        return false;
    if (!counts_fit(&head, left))
        return error_data(err, "the problem's counts do not fit the %ld bytes behind it", left);
    problem_init(problem, head.rounds, head.links, head.groups);
    head.round_begin = problem->round_begin;
    head.link = problem->link;
    head.group = problem->group;
    *problem = head;
    *incumbent = ALLOC(uint8_t, head.groups, "incumbent of a problem");
    bool whole = get(file, head.round_begin, head.rounds + 1, sizeof *head.round_begin) &&
                 get(file, head.link, head.links, sizeof *head.link) &&
                 get(file, head.group, head.groups, sizeof *head.group) &&
                 get(file, *incumbent, head.groups, 1);
    if (!whole)
        error_set(err, EXIT_IO, "the problem cannot be read");
    if (whole && problem_check(problem, err) && check_choice(problem, *incumbent, err))
        return true;
    memory_free(*incumbent);
    *incumbent = NULL;
    problem_clear(problem);
    return false;
}

static bool check_solution(const Solution *solution, Error *err) {
    size_t letters = strspn(solution->by, "abcdefghijklmnopqrstuvwxyz-");
    if (letters == 0 || solution->by[letters] != 0)
        return error_data(err, "the solution does not say what found it");
    if (!isfinite(solution->bound) || !isfinite(solution->seconds))
        return error_data(err, "the solution has the bound %g after %g seconds", solution->bound,
                          solution->seconds);
    return (solution->trouble >= -LAST_EXIT && solution->trouble <= LAST_SIGNAL) ||
           error_data(err, "the solution has the trouble %d", solution->trouble);
}

bool solution_read(Solution *solution, const Problem *problem, FILE *file, Error *err) {
    Solution head;
    int64_t left;
    *solution = (Solution){0};
    if (!read_head(file, &solution_mark, &head, sizeof head, &left, err))
        return false;
    head.by[sizeof head.by - 1] = 0;
    if (left != problem->groups)
        return error_data(err, "the solution is for %ld groups; the problem has %ld", left,
                          problem->groups);
    solution_init(solution, problem);
    head.choice = solution->choice;
    *solution = head;
    bool whole = get(file, head.choice, left, 1);
    if (!whole)
        error_set(err, EXIT_IO, "the solution cannot be read");
    if (!whole || !check_choice(problem, head.choice, err) || !check_solution(solution, err)) {
        solution_clear(solution);
        return false;
    }
    solution->value = problem_value(problem, solution->choice);
    solution->bound = fmin(fmax(solution->bound, 0), solution->value.objective);
    return true;
}
