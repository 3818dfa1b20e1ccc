// Runs fringe-solver as a child process. It reads the problem on stdin and writes its solution to
// an unnamed temporary file. If it fails in any way, the exact solution stays in use.

#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NICE = 19 };                    // the lowest priority: training goes first
static const double grace_seconds = 2; // beyond its limit

_Noreturn static void become_solver(const char *path, double limit, int question, int solution) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%.3f", limit);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    errno = 0; // -1 may be the new niceness
    if ((nice(NICE) == -1 && errno != 0) || dup2(question, STDIN_FILENO) < 0 ||
        dup2(solution, STDOUT_FILENO) < 0)
        _exit(127);
    execlp(path, path, "--limit", seconds, (char *)NULL);
    _exit(127);
}

bool solver_start(SolverRun *run, const Problem *problem, const uint8_t *incumbent, double limit) {
    char path[PATH_BYTES];
    *run = (SolverRun){.deadline = clock_seconds() + limit + grace_seconds};
    path_of_program(path, sizeof path, "fringe-solver", "FRINGE_SOLVER");
    FILE *question = tmpfile();
    run->solution = tmpfile();
    if (question != NULL && run->solution != NULL && problem_write(problem, incumbent, question) &&
        fflush(question) == 0 && lseek(fileno(question), 0, SEEK_SET) == 0) {
        pid_t pid = fork();
        if (pid == 0)
            become_solver(path, limit, fileno(question), fileno(run->solution));
        run->pid = pid > 0 ? pid : 0;
    }
    if (question != NULL)
        fclose(question);
    if (run->pid == 0)
        solver_stop(run);
    return run->pid > 0;
}

void solver_stop(SolverRun *run) {
    if (run->pid > 0) {
        kill(run->pid, SIGKILL);
        while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (run->solution != NULL)
        fclose(run->solution);
    *run = (SolverRun){0};
}

// Returns the exit status of the solver, or -1 if it must be stopped. Answers heartbeats while it
// waits.
static int wait_for(SolverRun *run, const Comm *comm) {
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(run->pid, &status, WNOHANG)) == 0 && clock_seconds() < run->deadline) {
        comm_beat(comm);
        usleep(1000);
    }
    if (ended != run->pid)
        return -1;
    run->pid = 0;
    return status;
}

// trouble: see Solution.
static void say_trouble(char warning[256], const char *who, int trouble, const char *then) {
    snprintf(warning, 256, "%s %s %d; %s", who,
             trouble > 0 ? "was killed by signal" : "exited with status", abs(trouble), then);
}

static void use_solution(const SolverRun *run, const Problem *problem, Solution *solution,
                         char warning[256]) {
    CLEARED(solution_clear) Solution found = {0};
    Error err = {0};
    if (lseek(fileno(run->solution), 0, SEEK_SET) != 0 ||
        !solution_read(&found, problem, run->solution, &err)) {
        snprintf(warning, 256,
                 "fringe-solver's solution is not valid (%.150s); the exact solution is used",
                 err.text);
        return;
    }
    if (found.trouble != 0)
        say_trouble(warning, "GLPK", found.trouble,
                    "the exact solution is used unless it found a better one");
    if (value_gains(&found.value, &solution->value)) {
        memcpy(solution->choice, found.choice, (size_t)problem->groups);
        solution->value = found.value;
        snprintf(solution->by, sizeof solution->by, "%s", found.by);
    }
    solution->seconds += found.seconds;
}

void solver_finish(SolverRun *run, const Problem *problem, Solution *solution, const Comm *comm,
                   char warning[256]) {
    if (run->pid == 0)
        return;
    int status = wait_for(run, comm);
    if (status == -1)
        snprintf(warning, 256, "fringe-solver exceeded its time limit; the exact solution is used");
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        snprintf(warning, 256, "fringe-solver is not installed; the exact solution is used");
    else if (status != 0)
        say_trouble(warning, "fringe-solver",
                    WIFEXITED(status) ? -WEXITSTATUS(status) : WTERMSIG(status),
                    "the exact solution is used");
    else
        use_solution(run, problem, solution, warning);
    solver_stop(run);
}
