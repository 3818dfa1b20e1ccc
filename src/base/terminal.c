// The writer of the terminal. Each job is a piece of text, usually one line, written with one call.

#include "fringe/base/terminal.h"
#include "fringe/base/memory.h"
#include "fringe/base/writer.h"
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 20, PIECE = 1 << 16 };

static Writer *writer; // NULL: outside of start and stop
// The thread of stop requests holds it while it uses the writer, which then cannot be freed.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void terminal_start(const Comm *comm) {
    signal(SIGPIPE, SIG_IGN); // a closed pipe becomes a write error instead of ending the process
    fflush(stdout);           // the writer bypasses stdio's buffer
    writer = writer_new(comm, ROOM);
}

bool terminal_stop(Error *err) {
    bool ok = writer == NULL || writer_wait(writer, err);
    pthread_mutex_lock(&lock);
    writer_free(writer);
    writer = NULL;
    pthread_mutex_unlock(&lock);
    return ok;
}

static bool is_settled(void) {
    pthread_mutex_lock(&lock);
    bool settled = writer == NULL || writer_idle(writer);
    pthread_mutex_unlock(&lock);
    return settled;
}

void terminal_settle(void) {
    static const struct timespec moment = {.tv_nsec = 5000000};
    for (int moments = 0; !is_settled() && moments < 100; moments++)
        nanosleep(&moment, NULL);
}

// Other programs may have made the terminal nonblocking (O_NONBLOCK), so wait here.
static bool wait_for(int descriptor) {
    struct pollfd terminal = {.fd = descriptor, .events = POLLOUT};
    return errno == EINTR || (errno == EAGAIN && poll(&terminal, 1, -1) > 0);
}

// Writes the text even if earlier text could not be written.
static void write_text(void *context, const void *payload, size_t bytes, Error *err) {
    int descriptor = fileno(context);
    const char *text = payload;
    while (bytes > 0) {
        ssize_t put = write(descriptor, text, bytes);
        if (put < 0 && !wait_for(descriptor)) {
            error_set(err, EXIT_IO, "the output could not be written to %s: %s",
                      context == stdout ? "stdout" : "stderr", strerror(errno));
            return;
        }
        text += put > 0 ? put : 0;
        bytes -= put > 0 ? (size_t)put : 0;
    }
}

static void put(FILE *stream, const char *text, size_t bytes) {
    if (writer == NULL)
        fwrite(text, 1, bytes, stream);
    for (size_t piece; writer != NULL && bytes > 0; text += piece, bytes -= piece) {
        piece = bytes < PIECE ? bytes : PIECE;
        writer_put(writer, write_text, stream, text, piece, &(Error){0});
    }
}

static void print(FILE *stream, const char *format, va_list arguments) {
    char line[4096], *text = line;
    va_list again;
    va_copy(again, arguments);
    int bytes = vsnprintf(line, sizeof line, format, arguments);
    CHECK(bytes >= 0, EXIT_BUG, "the line \"%s\" cannot be printed", format);
    if ((size_t)bytes >= sizeof line) {
        text = ALLOC(char, bytes + 1, "text to print");
        vsnprintf(text, (size_t)bytes + 1, format, again);
    }
    va_end(again);
    put(stream, text, (size_t)bytes);
    if (text != line)
        memory_free(text);
}

void terminal_say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(stderr, format, arguments);
    va_end(arguments);
}

void terminal_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(stdout, format, arguments);
    va_end(arguments);
}

// A writable pipe takes at least PIPE_BUF bytes, and no line is longer.
void terminal_say_now(const char *text) {
    struct pollfd terminal = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&terminal, 1, 500) > 0)
        (void)!write(STDERR_FILENO, text, strlen(text));
}

void terminal_say_last(const char *format, ...) {
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    terminal_settle();
    if (bytes > 0)
        terminal_say_now(line);
}
