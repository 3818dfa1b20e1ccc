// Stopping on request. INT, TERM, HUP and USR1 mean: finish this epoch, save, exit with 75. All
// threads block them and one thread waits for them, so that they interrupt no computation and no
// file access. During set-up there is nothing to save and the process exits at once: every file of
// the set-up is written under a temporary name and then renamed. A rank under a supervisor takes
// the same signals, in case they are sent to every process; the supervisor then says what happened.

#include "internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_bool asked, working;
static const char *_Atomic finishes; // what is finished first

// True on rank 0, from variables that are set before MPI starts.
static bool is_first(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]) != NULL)
            return strcmp(getenv(names[i]), "0") == 0;
    return true;
}

_Noreturn static void leave_setup(void) {
    if (launch_is_supervised())
        _exit(EXIT_IN_SETUP);
    terminal_settle();
    if (is_first())
        terminal_say_now(STOPPED_IN_SETUP);
    _exit(EXIT_STOPPED);
}

// timeout(1) sends its signal to the process and to its group; others may, too.
bool stop_is_final(int number) {
    static double first; // clock
    if (number != SIGINT && number != SIGTERM)
        return false;
    double now = clock_seconds();
    if (first == 0)
        first = now;
    return now - first >= 1;
}

_Noreturn static void end_at_once(int number) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(number);
    _exit(128 + number);
}

// mpirun sends TERM to the ranks that are left when one has died. A supervisor's mpirun does so for
// no other reason, and nothing can be saved then.
static bool is_end_of_job(const siginfo_t *signal) {
    return launch_is_supervised() && signal->si_signo == SIGTERM && signal->si_pid == getppid();
}

// Promises no more than that, because a user's mpirun also sends TERM when another rank has died.
static void say_what_was_asked(int number) {
    char text[160];
    bool key = number == SIGINT;
    snprintf(text, sizeof text, "%sfringe: stop requested; %s saved first%s\n", key ? "\n" : "",
             atomic_load(&finishes), key ? "; Ctrl-C again ends at once" : "");
    terminal_say_now(text);
}

static void *listen(void *context) {
    const sigset_t *signals = context;
    siginfo_t signal;
    for (;;) {
        int number = sigwaitinfo(signals, &signal);
        if (number < 0)
            continue;
        if (is_end_of_job(&signal) || stop_is_final(number))
            end_at_once(number);
        bool first = !atomic_exchange(&asked, true);
        if (!atomic_load(&working))
            leave_setup();
        if (first && is_first() && !launch_is_supervised())
            say_what_was_asked(number);
    }
    return NULL;
}

bool signal_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void add_requests(sigset_t *signals) {
    static const int numbers[] = {SIGUSR1, SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < FAMILY_COUNT(numbers); i++)
        if (numbers[i] == SIGUSR1 || !signal_is_ignored(numbers[i]))
            sigaddset(signals, numbers[i]);
}

void stop_listen(void) {
    static sigset_t signals;
    pthread_t thread;
    sigemptyset(&signals);
    add_requests(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    int status = pthread_create(&thread, NULL, listen, &signals);
    CHECK(status == 0, EXIT_MEMORY, "cannot start a thread: %s", strerror(status));
    pthread_detach(thread);
    partition_stops_when(stop_asked);
}

void stop_waits_for(const char *what) {
    atomic_store(&finishes, what);
    if (!atomic_exchange(&working, true) && launch_is_supervised() && is_first())
        progress_work_begins();
}

bool stop_asked(void) { return atomic_load(&asked); }
