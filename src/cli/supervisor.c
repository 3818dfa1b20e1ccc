// The supervisor: it starts mpirun, hands on what mpirun and the ranks print, asks the ranks to
// stop when it is asked to, and explains how they ended.
//
// A stop may be sent to every process at once, or to any of them. TERM and INT would end mpirun and
// with it the ranks, so it is started with both blocked: they stay pending, and the supervisor
// looks for them. Ranks take them as requests, too (stop.c). Each way leads to the same: the ranks
// finish their epoch. HUP still ends mpirun and the ranks; the kernel sends it when the supervisor
// dies.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// Seconds after a request in the set-up until mpirun and the ranks are killed. Ranks that have
// started leave at once; an mpirun that still starts others may take minutes to notice.
static const double kill_after = 6;

static struct Supervisor {
    bool saves;                  // the command finishes an epoch and saves
    double late_since;           // clock of the first look after a request in the set-up; 0: none
    volatile sig_atomic_t child; // mpirun
    volatile sig_atomic_t asked; // the first signal by which the ranks were asked to stop; 0: none
    volatile sig_atomic_t said;  // 1 after the terminal was told so
    volatile sig_atomic_t ended_by; // the signal that was to end it at once
    unsigned long long listens;     // bits of the signals that are requests; signal 1 is bit 0
} supervisor;

// Once, and only if there is an epoch to finish. That the ranks have begun may be heard after the
// request; the next look then says it.
static void say_what_was_asked(void) {
    if (!supervisor.asked || supervisor.said || !screen_work_has_begun())
        return;
    supervisor.said = 1;
    terminal_say_now(supervisor.asked == SIGINT
                         ? "\nfringe: stopping; the current epoch is finished and saved first; "
                           "Ctrl-C again ends at once\n"
                         : "fringe: stopping; the current epoch is finished and saved first\n");
}

// Sends the request before the message, because the terminal may be blocked.
static void ask_to_stop(int number) {
    if (!supervisor.asked)
        supervisor.asked = number;
    kill(supervisor.child, SIGUSR1); // mpirun forwards it to all ranks
    say_what_was_asked();
}

// The requests among the signals that are pending for mpirun. A signal handler calls this, so it
// neither allocates nor takes a lock.
static unsigned long long pending_for_mpirun(void) {
    char path[48], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)supervisor.child);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    text[bytes > 0 ? bytes : 0] = 0;
    const char *set = strstr(text, "\nShdPnd:");
    return set != NULL ? strtoull(set + strlen("\nShdPnd:"), NULL, 16) & supervisor.listens : 0;
}

// Repeats the request, because mpirun loses signals that arrive before its ranks have started. Also
// while the terminal is blocked.
static void look_for_requests(UNUSED int number) {
    int kept = errno;
    if (supervisor.asked || pending_for_mpirun() != 0)
        ask_to_stop(SIGTERM);
    errno = kept;
}

static void look_regularly(void) {
    struct sigaction action = {.sa_handler = look_for_requests, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    struct itimerval often = {.it_interval = {.tv_usec = 200000}, .it_value = {.tv_usec = 200000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void on_signal(int number) {
    int kept = errno;
    if (!supervisor.saves) {
        supervisor.ended_by = number;
        kill(supervisor.child, number);
    } else if (stop_is_final(number)) {
        supervisor.ended_by = number;
        kill(supervisor.child, SIGKILL); // its ranks die with it
    } else {
        ask_to_stop(number);
    }
    errno = kept;
}

static void listen_to_signals(void) {
    static const int numbers[] = {SIGUSR1, SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask); // one signal at a time
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!signal_is_ignored(numbers[i])) {
            supervisor.listens |= 1ULL << (numbers[i] - 1);
            sigaction(numbers[i], &action, NULL);
        }
}

// Ends a start-up that a request finds unfinished, whatever mpirun does and prints.
static void end_late_start(void) {
    double now = clock_seconds();
    bool late = supervisor.asked && !screen_work_has_begun();
    screen_keep_own_lines(late);
    if (late && supervisor.late_since == 0)
        supervisor.late_since = now;
    if (late && now > supervisor.late_since + kill_after)
        mpirun_kill(supervisor.child);
}

// Runs in its own process group, so that the terminal's Ctrl-C reaches only the supervisor.
_Noreturn static void become(char *const *command, const Forward *forward, sigset_t *before) {
    setpgid(0, 0);
    forward_in_child(forward);
    int nothing = config_give_input_back() ? -1 : open("/dev/null", O_RDONLY);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    signal(SIGHUP, SIG_DFL);         // until mpirun handles it
    prctl(PR_SET_PDEATHSIG, SIGHUP); // mpirun then ends its ranks
    signal(SIGUSR1, SIG_IGN);        // until mpirun handles it, and after it has stopped doing so
    if (supervisor.saves) {          // mpirun unblocks them for its ranks
        sigaddset(before, SIGTERM);
        sigaddset(before, SIGINT);
    }
    sigprocmask(SIG_SETMASK, before, NULL);
    execvp(command[0], command);
    _exit(127);
}

// True if a request found the ranks in their set-up. Those that do not yet listen die by it, and
// mpirun has codes of its own. A rank that has failed has explained fringe's own code.
static bool is_stopped_in_setup(int code, bool hung) {
    bool by_request = code == EXIT_IN_SETUP || code == 128 + SIGTERM || code == 128 + SIGINT;
    bool own = code == EXIT_OK || (code >= EXIT_USAGE && code <= EXIT_MISMATCH);
    return supervisor.saves && !screen_work_has_begun() &&
           (by_request || (supervisor.asked && (hung || !own)));
}

// mpirun hung after its ranks had ended, so their exit codes are unknown.
static ExitCode explain_hung(void) {
    terminal_say("fringe: mpirun did not end after its ranks and was killed; --resume auto "
                 "continues from the last checkpoint, if there is one\n");
    return supervisor.asked ? EXIT_STOPPED : EXIT_HUNG;
}

// The ranks have explained fringe's own exit codes; all others come from mpirun or the system.
static ExitCode explain(int status, bool hung) {
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (supervisor.ended_by != 0 && code != EXIT_STOPPED) {
        terminal_say("fringe: ended at once by signal %d (%s)%s\n", (int)supervisor.ended_by,
                     strsignal((int)supervisor.ended_by),
                     supervisor.saves ? "; --resume auto continues from the last checkpoint" : "");
        return (ExitCode)(128 + supervisor.ended_by);
    }
    if (is_stopped_in_setup(code, hung)) {
        terminal_say(STOPPED_IN_SETUP);
        return EXIT_STOPPED;
    }
    if (hung)
        return explain_hung();
    if (code == 127)
        terminal_say("fringe: mpirun could not be started; install OpenMPI (openmpi-bin) or "
                     "drop --ranks\n");
    else if (code > 128)
        terminal_say("fringe: a rank or mpirun was killed by signal %d (%s)%s%s\n", code - 128,
                     strsignal(code - 128),
                     code == 128 + SIGKILL ? "; out of memory? see dmesg, or use more ranks" : "",
                     supervisor.saves
                         ? "; --resume auto continues from the last checkpoint, if there is one"
                         : "");
    else if (code != 0 && (code < EXIT_USAGE || code > EXIT_MISMATCH))
        terminal_say("fringe: mpirun exited with status %d; fringe doctor looks for the cause\n",
                     code);
    return (ExitCode)(code == 127 ? EXIT_UNAVAILABLE : code);
}

ExitCode supervisor_run(char *const *command, int ranks, bool saves) {
    Forward forward;
    Error err = {0};
    CHECK(forward_open(&forward), EXIT_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); // no signal is lost between fork and handler
    supervisor.saves = saves;
    pid_t pid = fork();
    CHECK(pid >= 0, EXIT_UNAVAILABLE, "cannot start a process: %s", strerror(errno));
    if (pid == 0)
        become(command, &forward, &before);
    supervisor.child = pid;
    progress_begin("start", "%d ranks", ranks);
    listen_to_signals();
    if (supervisor.saves)
        look_regularly();
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status = forward_until_end(&forward, pid, end_late_start);
    ExitCode code = explain(status, forward.hung);
    if (!forward_check(&forward, &err) && code == EXIT_OK) {
        print_error(&err);
        code = (ExitCode)err.code;
    }
    return code;
}
