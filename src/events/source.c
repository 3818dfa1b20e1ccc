// Where the bytes of a stream come from: a file, a FIFO, standard input or memory. The idea: the
// parsers see one piece of memory; reading appends to it, and what has been used leaves at its
// front, a mebibyte at once, so that bytes are rarely moved.
//
//   | used: gone at the next move | history | used | begin ... come, not used ... end | free |
//
// Nothing ever waits longer than poll(2) is told to, so a caller can look at signals and clocks.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, PATIENCE = 200 }; // bytes of a read; milliseconds

static void set_name(EventSource *source, const char *name) {
    source->name = ALLOC(char, strlen(name) + 1, "name of a stream");
    memcpy(source->name, name, strlen(name) + 1);
}

// --- opening

static bool refuse(Error *err, const char *path, const char *kind) {
    return error_data(err, "%s: is a %s; a stream is a file, a FIFO or, as '-', standard input",
                      path, kind);
}

static bool can_be_stream(mode_t mode, const char *path, Error *err) {
    if (S_ISREG(mode) || S_ISFIFO(mode))
        return true;
    return refuse(err, path, S_ISDIR(mode) ? "folder" : S_ISSOCK(mode) ? "socket" : "device");
}

bool event_source_fits(const char *path, bool *regular, Error *err) {
    struct stat status;
    if (file_is_denied(path, err))
        return false;
    if (stat(path, &status) != 0)
        return error_cannot(err, EXIT_NO_INPUT, "open", path);
    *regular = S_ISREG(status.st_mode);
    return can_be_stream(status.st_mode, path, err);
}

// A descriptor, or -1. With O_NONBLOCK a FIFO does not wait for its writer.
static int open_path(const char *path, Error *err) {
    bool regular;
    if (!event_source_fits(path, &regular, err))
        return -1;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        error_cannot(err, EXIT_NO_INPUT, "open", path);
    return descriptor;
}

// Standard input may be anything that bytes come from. One that somebody has read from already is
// not read again.
static bool look_at(EventSource *source, Error *err) {
    struct stat status;
    if (fstat(source->descriptor, &status) != 0)
        return error_cannot(err, EXIT_NO_INPUT, "look at", source->name);
    if (S_ISDIR(status.st_mode))
        return refuse(err, source->name, "folder");
    source->regular = S_ISREG(status.st_mode) && lseek(source->descriptor, 0, SEEK_CUR) == 0;
    return true;
}

bool event_source_open(EventSource *source, const char *path, Error *err) {
    bool standard = strcmp(path, "-") == 0;
    int descriptor = standard ? STDIN_FILENO : open_path(path, err);
    *source = (EventSource){.descriptor = descriptor};
    if (descriptor < 0)
        return false;
    set_name(source, standard ? "standard input" : path);
    bool ok = look_at(source, err) &&
              growing_init(&source->buffer, SOURCE_HISTORY + EVENT_RECORD + 2 * CHUNK, 1,
                           "buffer of a stream", err);
    source->bytes = source->buffer.at;
    if (!ok)
        event_source_close(source);
    return ok;
}

void event_source_memory(EventSource *source, const void *bytes, size_t count, const char *name) {
    *source = (EventSource){.descriptor = -1, .ended = true, .end = count};
    source->bytes = count > 0 ? bytes : "";
    set_name(source, name);
}

void event_source_close(EventSource *source) {
    if (source->descriptor > STDIN_FILENO)
        close(source->descriptor);
    growing_clear(&source->buffer);
    memory_free(source->name);
    *source = (EventSource){.descriptor = -1};
}

// --- reading

// True if a read will not wait. A FIFO that no writer has opened yet says nothing, and one whose
// writers are gone says POLLHUP, so that an end is an end.
static bool wait_a_moment(const EventSource *source) {
    struct pollfd asked = {.fd = source->descriptor, .events = POLLIN};
    if (source->regular)
        return true;
    return poll(&asked, 1, PATIENCE) > 0; // a signal: the caller may want to look at it
}

// Removes what was used if it is at least a chunk.
static void make_room(EventSource *source) {
    size_t gone = source->begin > SOURCE_HISTORY ? source->begin - SOURCE_HISTORY : 0;
    char *bytes = source->buffer.at;
    if (gone < CHUNK)
        return;
    memmove(bytes, bytes + gone, source->end - gone);
    source->base += (int64_t)gone;
    source->begin -= gone;
    source->end -= gone;
}

static EventNext read_chunk(EventSource *source, Error *err) {
    ssize_t got;
    do
        got = read(source->descriptor, (char *)source->buffer.at + source->end, CHUNK);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return EVENT_WAITING; // another reader of the FIFO was faster
    if (got < 0) {
        error_cannot(err, EXIT_IO, "read", source->name);
        return EVENT_WRONG;
    }
    source->end += (size_t)got;
    source->ended = got == 0;
    return source->ended ? EVENT_END : EVENT_READ;
}

EventNext event_source_more(EventSource *source, Error *err) {
    if (source->ended)
        return EVENT_END;
    if (!wait_a_moment(source))
        return EVENT_WAITING;
    make_room(source);
    growing_reach(&source->buffer, (int64_t)source->end + CHUNK);
    return read_chunk(source, err);
}

// --- places

static int64_t size_of(const EventSource *source) {
    struct stat status;
    return fstat(source->descriptor, &status) == 0 ? (int64_t)status.st_size : -1;
}

bool event_source_go(EventSource *source, int64_t offset, Error *err) {
    assert(source->regular);
    size_t history = offset < SOURCE_HISTORY ? (size_t)offset : SOURCE_HISTORY;
    if (offset > size_of(source))
        return error_data(
            err, "%s is not the stream that was read before: it has %ld bytes, and %ld were read",
            source->name, size_of(source), offset);
    source->base = offset - (int64_t)history;
    source->begin = source->end = 0;
    source->ended = false;
    if (lseek(source->descriptor, source->base, SEEK_SET) < 0)
        return error_cannot(err, EXIT_IO, "read", source->name);
    while (source->end < history)
        if (event_source_more(source, err) != EVENT_READ)
            return error_set(err, EXIT_IO, "%s: ends before byte %ld", source->name, offset);
    source->begin = history;
    return true;
}

uint64_t event_source_history(const EventSource *source, size_t back) {
    size_t at = source->begin - back, count = at < SOURCE_HISTORY ? at : SOURCE_HISTORY;
    return hash_bytes(source->bytes + at - count, count);
}
