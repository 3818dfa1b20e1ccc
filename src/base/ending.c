// How a process ends before its time: with its last words, and with all ranks.

#include "fringe/base/terminal.h"
#include "internal.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

// Of the terminal; NULL: it was never started. The thread of stop requests reads it, too.
static bool (*_Atomic settled)(void);

void terminal_settles_when(bool (*is_settled)(void)) { settled = is_settled; }

void terminal_settle(void) {
    static const struct timespec moment = {.tv_nsec = 5000000};
    for (int moments = 0; settled != NULL && !settled() && moments < 100; moments++)
        nanosleep(&moment, NULL);
}

// A writable pipe takes at least PIPE_BUF bytes, and no line is longer.
void terminal_say_now(const char *text) {
    struct pollfd terminal = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&terminal, 1, 500) <= 0)
        return;
    if (screen_is_live())
        (void)!write(STDERR_FILENO, "\n", 1);
    (void)!write(STDERR_FILENO, text, strlen(text));
}

_Noreturn void comm_abort(ExitCode code) {
    helper_leave_abort(code);
    terminal_settle();
    fflush(stdout);
    fflush(stderr);
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (begun && !ended)
        MPI_Abort(MPI_COMM_WORLD, (int)code);
    _exit((int)code);
}

_Noreturn void comm_abort_saying(ExitCode code, const char *format, ...) {
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    terminal_settle();
    if (bytes > 0)
        terminal_say_now(line);
    comm_abort(code);
}

static const char *too_late; // what the alarm says

static void end_late(UNUSED int number) {
    (void)!write(STDERR_FILENO, too_late, strlen(too_late));
    _exit(EXIT_HUNG);
}

void end_after(unsigned seconds, const char *sentence) {
    too_late = sentence;
    signal(SIGALRM, end_late);
    alarm(seconds);
}
