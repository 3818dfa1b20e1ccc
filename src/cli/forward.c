// The supervisor draws the output of mpirun and the ranks, because mpirun silently drops output
// that it cannot write. A stopped terminal blocks only the supervisor; mpirun buffers what it
// cannot forward.

#include "internal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int stream[2] = {STDOUT_FILENO, STDERR_FILENO}; // SCREEN_STDOUT, SCREEN_STDERR

bool forward_open(Forward *forward) {
    *forward = (Forward){.from = {-1, -1}, .into = {-1, -1}};
    for (int i = 0; i < 2; i++) {
        int end[2];
        if (pipe2(end, O_CLOEXEC) != 0)
            return false;
        forward->from[i] = end[0];
        forward->into[i] = end[1];
    }
    signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of write, not the end of the process
    return true;
}

void forward_in_child(const Forward *forward) {
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < 2; i++)
        dup2(forward->into[i], stream[i]);
}

// Forwards what has arrived; false when both pipes are closed.
static bool hand_on(Forward *forward, int milliseconds) {
    static char piece[1 << 16];
    struct pollfd ready[2];
    for (int i = 0; i < 2; i++)
        ready[i] = (struct pollfd){.fd = forward->from[i], .events = POLLIN};
    if (poll(ready, 2, milliseconds) <= 0)
        return true;
    for (int i = 1; i >= 0; i--) { // warnings before the result
        if (ready[i].revents == 0)
            continue;
        ssize_t got = read(forward->from[i], piece, sizeof piece);
        if (got > 0) {
            if (forward->lost[i] == 0)
                forward->lost[i] = screen_write(i, piece, (size_t)got);
            forward->heard = clock_seconds();
        } else if (got == 0) {
            close(forward->from[i]);
            forward->from[i] = -1; // poll ignores it
        }
    }
    return forward->from[0] >= 0 || forward->from[1] >= 0;
}

// A process that mpirun left behind may still hold the other end: it gets one second more.
int forward_until_end(Forward *forward, int child, void (*look)(void)) {
    int status = 0;
    bool open = true, ended = false;
    HangWatch watch = {0};
    for (int i = 0; i < 2; i++)
        close(forward->into[i]);
    for (double end = 0; !ended || (open && clock_seconds() < end);) {
        open = open && hand_on(forward, 100);
        screen_tick();
        look();
        if (!open)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        if (!ended && !forward->hung && mpirun_hangs(&watch, child, forward->heard)) {
            forward->hung = true;
            kill(child, SIGKILL);
        }
        if (ended || waitpid(child, &status, WNOHANG) != child)
            continue;
        ended = true;
        end = clock_seconds() + 1;
    }
    screen_clear();
    return status;
}

bool forward_check(const Forward *forward, Error *err) {
    static const char *const names[2] = {"stdout", "stderr"};
    for (int i = 0; i < 2; i++)
        if (forward->lost[i] != 0)
            error_set(err, EXIT_IO, "the output could not be written to %s: %s", names[i],
                      strerror(forward->lost[i]));
    return err->code == 0;
}
