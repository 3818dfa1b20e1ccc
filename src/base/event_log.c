#include "fringe/base/event_log.h"
#include "fringe/base/json.h"
#include "fringe/base/terminal.h"
#include "fringe/base/text.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static struct {
    int file; // descriptor; 0: none
    bool is_elsewhere, reader_is_gone;
} event_log;

static bool cannot(const char *to, Error *err) {
    return error_set(err, EXIT_CANNOT_WRITE, "--events %s: cannot write: %s", SHOWN(to),
                     strerror(errno));
}

static bool open_descriptor(const char *to, Error *err) {
    long number = strtol(to, NULL, 10);
    int flags = number < 3 || number > 1 << 20 ? -1 : fcntl((int)number, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return error_usage(err,
                           "--events %s: expected a descriptor above 2 that is open for writing, "
                           "or the path of a file",
                           to);
    event_log.file = (int)number;
    return fcntl(event_log.file, F_SETFD, FD_CLOEXEC) == 0 || cannot(to, err);
}

bool event_log_open(const char *to, Error *err) {
    signal(SIGPIPE, SIG_IGN); // a reader that goes away is an error of write
    if (to[0] != 0 && to[strspn(to, "0123456789")] == 0)
        return open_descriptor(to, err);
    event_log.file = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return event_log.file > 0 || cannot(to, err);
}

void event_log_hand_on(void) {
    if (event_log.file > 0)
        fcntl(event_log.file, F_SETFD, 0);
}

void event_log_is_elsewhere(void) { event_log.is_elsewhere = true; }

bool event_log_is_wanted(void) { return event_log.file > 0 || event_log.is_elsewhere; }

// A process that can save takes the signal as a request to stop; the supervisor hands it on.
static void leave(void) {
    event_log.reader_is_gone = true;
    kill(getpid(), SIGUSR1);
}

static void put(const char *text, size_t bytes) {
    while (bytes > 0 && !event_log.reader_is_gone) {
        ssize_t written = write(event_log.file, text, bytes);
        struct pollfd ready = {.fd = event_log.file, .events = POLLOUT};
        if (written < 0 && errno == EAGAIN)
            poll(&ready, 1, -1);
        else if (written < 0 && errno != EINTR)
            leave();
        text += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
}

// Closes the object that was begun.
static void put_object(JsonWriter *writer) {
    json_end_object(writer);
    writer->text[writer->bytes] = '\n'; // replaces the terminating 0
    put(writer->text, writer->bytes + 1);
    json_writer_clear(writer);
}

// `text`: the first `bytes` of it; `label` may be NULL.
static void say(const char *event, const char *label, const char *text, size_t bytes) {
    JsonWriter writer;
    char copy[1024];
    snprintf(copy, sizeof copy, "%.*s", (int)bytes, text);
    json_writer_begin(&writer, false);
    json_put_string(&writer, "event", event);
    if (label != NULL)
        json_put_string(&writer, "label", label);
    json_put_string(&writer, "text", copy);
    put_object(&writer);
}

// "label<tab>text"
static void say_activity(const char *text, size_t bytes) {
    char label[32];
    const char *tab = memchr(text, '\t', bytes);
    size_t length = tab != NULL ? (size_t)(tab - text) : bytes, behind = length + (tab != NULL);
    snprintf(label, sizeof label, "%.*s", (int)length, text);
    say("stage", label, text + behind, bytes - behind);
}

// The text behind the first word of the line, if it begins with that word.
static bool begins(const char *line, size_t bytes, const char *word, size_t *behind) {
    size_t length = strlen(word);
    if (bytes < length || memcmp(line, word, length) != 0)
        return false;
    for (*behind = length; *behind < bytes && line[*behind] == ' ';)
        ++*behind;
    return true;
}

bool event_log_saw(const char *line, size_t bytes) {
    size_t behind;
    if (event_log.file <= 0 || bytes < 2)
        return false;
    if (line[0] == SCREEN_RECORD && line[1] == EVENT) {
        put(line + 2, bytes - 2);
        put("\n", 1);
        return true;
    }
    if (line[0] == SCREEN_RECORD && line[1] == PROGRESS_BEGIN)
        say_activity(line + 2, bytes - 2);
    else if (begins(line, bytes, "warning", &behind))
        say("warning", NULL, line + behind, bytes - behind);
    else if (begins(line, bytes, "fringe:", &behind))
        say("error", NULL, line + behind, bytes - behind);
    return false;
}

void event_log_end(ExitCode code) {
    JsonWriter writer;
    if (event_log.file <= 0)
        return;
    json_writer_begin(&writer, false);
    JSON_PUT(&writer, PAIR("event", "end"), PAIR("code", code));
    put_object(&writer);
}
