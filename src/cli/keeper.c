// The keeper: it starts mpirun, hands on what mpirun and the ranks print, asks the ranks to stop
// when it is asked to, and explains how they ended.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct Keeper {
    bool saves;                     // the command finishes an epoch and saves
    volatile sig_atomic_t child;    // mpirun
    volatile sig_atomic_t asked;    // 1 after the ranks got a stop request
    volatile sig_atomic_t ended_by; // the signal that was to end it at once
} keeper;

// Sends the request before the message, because the terminal may be blocked.
static void ask_to_stop(int number) {
    bool first = !keeper.asked;
    keeper.asked = 1;
    kill(keeper.child, SIGUSR1); // mpirun forwards it to all ranks; TERM would give them one second
    if (first)
        terminal_say_now(
            number == SIGINT
                ? "\nfringe: stopping; the current epoch is finished and saved first; Ctrl-C "
                  "again ends at once\n"
                : "fringe: stopping; the current epoch is finished and saved first\n");
}

// Repeats the request, because mpirun loses signals that arrive before its ranks have started.
static void ask_again(int number) {
    (void)number;
    int kept = errno;
    if (keeper.asked)
        kill(keeper.child, SIGUSR1);
    errno = kept;
}

static void ask_again_regularly(void) {
    struct sigaction action = {.sa_handler = ask_again, .sa_flags = SA_RESTART};
    struct itimerval often = {.it_interval = {.tv_usec = 200000}, .it_value = {.tv_usec = 200000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void on_signal(int number) {
    int kept = errno;
    if (!keeper.saves) {
        keeper.ended_by = number;
        kill(keeper.child, number);
    } else if (stop_insists(number)) {
        keeper.ended_by = number;
        kill(keeper.child, SIGKILL); // its ranks die with it
    } else {
        ask_to_stop(number);
    }
    errno = kept;
}

// Signals that the caller ignores stay ignored: nohup, and background jobs of a script.
static void listen_to_signals(void) {
    static const int numbers[] = {SIGUSR1, SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigfillset(&action.sa_mask); // one signal at a time
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

// Runs in its own process group, so that the terminal's Ctrl-C reaches only the keeper.
_Noreturn static void become(char *const *command, const Forward *forward, sigset_t *before) {
    setpgid(0, 0);
    forward_in_child(forward);
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGTERM); // mpirun then ends its ranks
    signal(SIGUSR1, SIG_IGN);         // until mpirun handles it, and after it has stopped doing so
    sigprocmask(SIG_SETMASK, before, NULL);
    execvp(command[0], command);
    _exit(127);
}

// mpirun hung after its ranks had ended, so their exit codes are unknown.
static ExitCode explain_hung(void) {
    terminal_say("fringe: mpirun did not end after its ranks and was killed; --resume auto "
                 "continues from the last checkpoint, if there is one\n");
    return keeper.asked ? EXIT_STOPPED : EXIT_HUNG;
}

// The ranks have explained fringe's own exit codes; all others come from mpirun or the system.
static ExitCode explain(int status, bool hung) {
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (keeper.ended_by != 0 && code != EXIT_STOPPED) {
        terminal_say("fringe: ended at once by signal %d (%s)%s\n", (int)keeper.ended_by,
                     strsignal((int)keeper.ended_by),
                     keeper.saves ? "; --resume auto continues from the last checkpoint" : "");
        return (ExitCode)(128 + keeper.ended_by);
    }
    if (hung)
        return explain_hung();
    if (keeper.asked && code == 128 + SIGUSR1) { // a rank on another host was not listening yet
        terminal_say("fringe: stopped during set-up; there was nothing to save\n");
        return EXIT_STOPPED;
    }
    if (code == 127)
        terminal_say("fringe: mpirun could not be started; install OpenMPI (openmpi-bin) or "
                     "drop --ranks\n");
    else if (code > 128)
        terminal_say("fringe: a rank or mpirun was killed by signal %d (%s)%s%s\n", code - 128,
                     strsignal(code - 128),
                     code == 128 + SIGKILL ? "; out of memory? see dmesg, or use more ranks" : "",
                     keeper.saves
                         ? "; --resume auto continues from the last checkpoint, if there is one"
                         : "");
    else if (code != 0 && (code < EXIT_USAGE || code > EXIT_MISMATCH))
        terminal_say("fringe: mpirun exited with status %d; fringe doctor looks for the cause\n",
                     code);
    return (ExitCode)(code == 127 ? EXIT_UNAVAILABLE : code);
}

ExitCode keeper_run(char *const *command, int ranks, bool saves) {
    Forward forward;
    Error err = {0};
    CHECK(forward_open(&forward), EXIT_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); // no signal is lost between fork and handler
    keeper.saves = saves;
    pid_t pid = fork();
    CHECK(pid >= 0, EXIT_UNAVAILABLE, "cannot start a process: %s", strerror(errno));
    if (pid == 0)
        become(command, &forward, &before);
    keeper.child = pid;
    stage_begin("start", "%d ranks", ranks);
    listen_to_signals();
    if (keeper.saves)
        ask_again_regularly();
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status = forward_until_end(&forward, pid);
    ExitCode code = explain(status, forward.hung);
    if (!forward_check(&forward, &err) && code == EXIT_OK) {
        print_error(&err);
        code = (ExitCode)err.code;
    }
    return code;
}
