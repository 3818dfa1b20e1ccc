// fringe-solver: reads one problem with a known choice (its incumbent), searches for a better one
// with GLPK, and writes a solution that is never worse.
//
//   fringe-solver --limit SECONDS [--gap G] < problem > solution
//
// It is a separate program because GLPK calls abort() if it runs out of memory (and is GPL). Each
// round runs GLPK in another child process, which may die, hang or use too much memory: then the
// round keeps its incumbent, and the solution says how the child died. If this process itself is
// delayed, an alarm writes the incumbent.

#include "solver.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Options {
    double limit; // seconds
    double gap;   // of the objective
} Options;

static const double longest_limit = 1e6;
static const double reserve = 0.03; // seconds plus share of the limit, for checks and writing

// --- arguments

static bool read_number(const char *text, double low, double high, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && *out >= low && *out <= high;
}

static bool read_options(Options *options, int argc, char **argv) {
    static const struct option known[] = {
        {"limit", required_argument, NULL, 'l'}, {"gap", required_argument, NULL, 'g'}, {0}};
    *options = (Options){.limit = -1, .gap = 1e-4};
    bool ok = true;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;)
        ok = ok && ((option == 'l' && read_number(optarg, 0, longest_limit, &options->limit)) ||
                    (option == 'g' && read_number(optarg, 0, 1, &options->gap)));
    return ok && options->limit >= 0 && optind == argc;
}

// --- the alarm

static char *answer; // bytes that the alarm writes: a solution with the incumbent
static size_t answer_bytes;

static void at_alarm(UNUSED int number) {
    write_or_exit(STDOUT_FILENO, answer, answer_bytes);
    _exit(EXIT_OK);
}

// Stores the bytes of the present solution for the alarm. If memory is short, those before stay; if
// there are none, there is no alarm, and only the limits below apply.
static void remember(const Problem *problem, const Solution *solution) {
    char *now = NULL, *old = answer;
    size_t bytes = 0;
    FILE *file = open_memstream(&now, &bytes);
    if (file == NULL || !solution_write(solution, problem, file) || fclose(file) != 0)
        return;
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    answer = now;
    answer_bytes = bytes;
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    free(old);
}

static void set_alarm(double seconds) {
    if (answer == NULL)
        return;
    signal(SIGALRM, at_alarm);
    seconds = fmax(seconds, 1e-3);
    struct timeval when = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds)))};
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = when}, NULL);
}

// --- one round in a separate process

_Noreturn static void become_child(const Problem *problem, int round, const uint8_t *choice,
                                   double seconds, double gap, int out) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nowhere = open("/dev/null", O_RDWR); // GLPK prints before it aborts
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
        _exit(EXIT_IO);
    glpk_round(problem, round, choice, seconds, gap, out);
    _exit(EXIT_OK);
}

// Reads choices of `groups` bytes until the child ends or the time is over; the last complete one
// is in `found`. False if there is none. *gone: the child has ended, or is about to.
static bool listen_to(int in, double end, int64_t groups, uint8_t *found, bool *gone) {
    FREED uint8_t *next = ALLOC(uint8_t, groups, "a choice");
    int64_t got = 0;
    bool any = false;
    *gone = false;
    for (;;) {
        double left = end - clock_seconds();
        struct pollfd ready = {.fd = in, .events = POLLIN};
        int events = left > 0 ? poll(&ready, 1, (int)ceil(1e3 * left)) : 0;
        if (events < 0 && errno == EINTR)
            continue;
        ssize_t bytes = events > 0 ? read(in, next + got, (size_t)(groups - got)) : 0;
        *gone = events > 0 && bytes == 0;
        if (bytes <= 0)
            break;
        got += bytes;
        if (got == groups) {
            memcpy(found, next, (size_t)groups);
            any = true;
            got = 0;
        }
    }
    return any;
}

static pid_t wait_for(pid_t pid, int *status, int flags) {
    pid_t ended;
    do
        ended = waitpid(pid, status, flags);
    while (ended < 0 && errno == EINTR);
    return ended;
}

// Returns the trouble of a child that ended too early (Solution); 0: it ended normally, or is
// killed here.
static int end_child(pid_t pid, bool gone) {
    int status;
    if (wait_for(pid, &status, gone ? 0 : WNOHANG) != pid) {
        kill(pid, SIGKILL);
        wait_for(pid, &status, 0);
        return 0;
    }
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static bool search_round(const Problem *problem, int round, Solution *solution, double seconds,
                         double gap, int64_t groups, uint8_t *found) {
    int ends[2], trouble = -EXIT_UNAVAILABLE; // if no process can be started
    double end = clock_seconds() + seconds;
    bool any = false, gone = false;
    pid_t pid = -1;
    if (pipe(ends) == 0) {
        pid = fork();
        if (pid == 0) {
            close(ends[0]);
            become_child(problem, round, solution->choice, 0.8 * seconds, gap, ends[1]);
        }
        close(ends[1]);
        any = pid > 0 && listen_to(ends[0], end, groups, found, &gone);
        if (pid > 0)
            trouble = end_child(pid, gone);
        close(ends[0]); // not earlier: a child that writes to a closed pipe exits with an error
    }
    if (trouble != 0) {
        solution->trouble = trouble;
        remember(problem, solution);
    }
    return any;
}

// Puts the widths found for a round into the solution if that makes it better.
static void take_round(const Problem *problem, Solution *solution, int64_t begin, int64_t groups,
                       const uint8_t *found) {
    FREED uint8_t *choice = ALLOC(uint8_t, problem->groups, "a choice");
    memcpy(choice, solution->choice, (size_t)problem->groups);
    for (int64_t g = 0; g < groups; g++)
        if (found[g] < problem->widths)
            choice[begin + g] = found[g];
    Value value = problem_value(problem, choice);
    if (value_gains(&value, &solution->value)) {
        memcpy(solution->choice, choice, (size_t)problem->groups);
        solution->value = value;
        snprintf(solution->by, sizeof solution->by, "glpk");
        remember(problem, solution);
    }
}

static void improve(const Problem *problem, Solution *solution, double end, double gap) {
    FREED uint8_t *found = ALLOC(uint8_t, problem->groups, "a choice");
    for (int r = 0; r < problem->rounds; r++) {
        int first = problem->round_begin[r], last = problem->round_begin[r + 1];
        int64_t begin = first < last ? problem->link[first].begin : 0;
        int64_t groups = first < last ? problem->link[last - 1].end - begin : 0;
        double seconds = (end - clock_seconds()) / (problem->rounds - r);
        if (seconds <= 0)
            break;
        if (groups > 0 && search_round(problem, r, solution, seconds, gap, groups, found))
            take_round(problem, solution, begin, groups, found);
    }
}

int main(int argc, char **argv) {
    double start = clock_seconds();
    Options options;
    if (!read_options(&options, argc, argv)) {
        fprintf(stderr, "usage: fringe-solver --limit SECONDS [--gap G] < problem > solution\n");
        return EXIT_USAGE;
    }
    Problem problem;
    uint8_t *incumbent;
    Error err = {0};
    if (!problem_read(&problem, &incumbent, stdin, &err)) {
        fprintf(stderr, "fringe-solver: %s\n", err.text);
        return err.code;
    }
    Solution solution = {.by = "incumbent", .choice = incumbent};
    solution.value = problem_value(&problem, incumbent);
    double end = start + options.limit;
    remember(&problem, &solution);
    set_alarm(end - clock_seconds());
    signal(SIGPIPE, SIG_IGN);
    solution.bound = fmin(problem_bound(&problem), solution.value.objective);
    if (problem_is_open(&problem))
        improve(&problem, &solution, end - reserve * (1 + options.limit), options.gap);
    solution.bound = fmin(solution.bound, solution.value.objective);
    solution.seconds = clock_seconds() - start;
    signal(SIGALRM, SIG_IGN); // the solution is written here
    bool written = solution_write(&solution, &problem, stdout);
    solution_clear(&solution);
    problem_clear(&problem);
    if (!written)
        fprintf(stderr, "fringe-solver: the solution cannot be written\n");
    return written ? EXIT_OK : EXIT_IO;
}
