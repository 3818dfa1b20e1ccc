// The writer of the terminal. Each job is a piece of text, usually one line, written with one call.

#include "fringe/base/terminal.h"
#include "fringe/base/event_log.h"
#include "fringe/base/memory.h"
#include "fringe/base/writer.h"
#include "internal.h"

#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

enum { ROOM = 1 << 20, PIECE = 1 << 16 };

static TerminalLevel level = TERMINAL_NORMAL;
static Writer *writer; // NULL: outside of start and stop
// The thread of stop requests holds it while it uses the writer, which then cannot be freed.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_settled(void) {
    pthread_mutex_lock(&lock);
    bool settled = writer == NULL || writer_idle(writer);
    pthread_mutex_unlock(&lock);
    return settled;
}

void terminal_start(const Comm *comm) {
    signal(SIGPIPE, SIG_IGN); // a closed pipe becomes a write error instead of ending the process
    fflush(stdout);           // the writer bypasses stdio's buffer
    writer = writer_new(comm, ROOM);
    terminal_settles_when(is_settled);
}

bool terminal_stop(Error *err) {
    bool ok = writer == NULL || writer_wait(writer, err);
    pthread_mutex_lock(&lock);
    writer_free(writer);
    writer = NULL;
    pthread_mutex_unlock(&lock);
    return ok;
}

// Writes the text even if earlier text could not be written.
static void write_text(void *context, const void *payload, size_t bytes, Error *err) {
    int failed = screen_write(context == stdout ? SCREEN_STDOUT : SCREEN_STDERR, payload, bytes);
    if (failed != 0)
        error_set(err, EXIT_IO, "the output could not be written to %s: %s",
                  context == stdout ? "stdout" : "stderr", strerror(failed));
}

// On stdout, in the order of the caller's own printf. A file or pipe goes through stdio, which
// remembers that it could not be written.
static void put_without_writer(const char *text, size_t bytes) {
    if (isatty(fileno(stdout))) {
        fflush(stdout);
        screen_write(SCREEN_STDOUT, text, bytes);
    } else {
        fwrite(text, 1, bytes, stdout);
    }
}

static void put(FILE *stream, const char *text, size_t bytes) {
    if (writer == NULL && stream == stdout)
        put_without_writer(text, bytes);
    else if (writer == NULL)
        screen_write(SCREEN_STDERR, text, bytes);
    for (size_t piece; writer != NULL && bytes > 0; text += piece, bytes -= piece) {
        piece = bytes < PIECE ? bytes : PIECE;
        writer_put(writer, write_text, stream, text, piece, &(Error){0});
    }
}

static void print(FILE *stream, const char *format, va_list arguments) {
    CLEARED(malloc_drop) char *text = NULL;
    int bytes = vasprintf(&text, format, arguments);
    CHECK(bytes >= 0, EXIT_BUG, "the line \"%s\" cannot be printed", format);
    put(stream, text, (size_t)bytes);
}

// An event is one line, and a record of the screen.
static void put_event(const char *format, va_list arguments) {
    CLEARED(malloc_drop) char *text = NULL, *record = NULL;
    int bytes = vasprintf(&text, format, arguments);
    bytes = bytes < 0 ? bytes : asprintf(&record, "%c%c%s", SCREEN_RECORD, EVENT, text);
    CHECK(bytes >= 0, EXIT_BUG, "the event \"%s\" cannot be written", format);
    put(stderr, record, (size_t)bytes);
}

void terminal_set_level(TerminalLevel new) { level = new; }

void sink_put(const Sink *sink, SinkKind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (sink != NULL)
        sink->take(sink->context, kind, format, arguments);
    va_end(arguments);
}

static void take(UNUSED void *context, SinkKind kind, const char *format, va_list arguments) {
    static const TerminalLevel least[] = {
        [SINK_NOTE] = TERMINAL_NORMAL, [SINK_DETAIL] = TERMINAL_VERBOSE};
    if (kind == SINK_EVENT && event_log_is_wanted())
        put_event(format, arguments);
    else if (kind != SINK_EVENT && level >= least[kind])
        print(kind == SINK_OUTPUT ? stdout : stderr, format, arguments);
}

static void take_table(void *context, SinkKind kind, const char *format, va_list arguments) {
    if (kind == SINK_OUTPUT)
        vprintf(format, arguments);
    else
        take(context, kind, format, arguments);
}

const Sink terminal_sink = {take, NULL};
const Sink terminal_tables = {take_table, NULL};

// --- activities

// A record is one line, so the text must not hold another one.
static void put_record(char kind, const char *text) {
    char record[400];
    int bytes = snprintf(record, sizeof record - 1, "%c%c%.*s", SCREEN_RECORD, kind,
                         (int)strcspn(text, "\n"), text);
    bytes = bytes < (int)sizeof record - 2 ? bytes : (int)sizeof record - 2;
    record[bytes] = '\n';
    if (level >= TERMINAL_NORMAL || kind == WORK_BEGUN)
        put(stderr, record, (size_t)bytes + 1);
}

void progress_begin(const char *label, const char *format, ...) {
    char text[384];
    int bytes = snprintf(text, sizeof text, "%s\t", label);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + bytes, sizeof text - (size_t)bytes, format, arguments);
    va_end(arguments);
    screen_tick_by_thread();
    put_record(PROGRESS_BEGIN, text);
}

void progress_update(const char *format, ...) {
    char text[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_record(PROGRESS_UPDATE, text);
}

void progress_end(const char *result) { put_record(PROGRESS_END, result); }

void progress_drop(void) { put_record(PROGRESS_DROP, ""); }

void progress_work_begins(void) { put_record(WORK_BEGUN, ""); }
