// The reader of streams: it finds where a line or a record ends, has it parsed in place, and knows
// where it is. What it tells of a bad record names the line, or the byte where the record begins.

#include "internal.h"

typedef EventNext Step(EventReader *reader, Event *event);

struct EventReader {
    EventSource source;
    Growing ids;     // of the current event
    Step *step;      // takes the first bytes, then lines or records
    size_t searched; // bytes behind the source's `begin` that hold no newline
    int64_t events;  // read so far
    int64_t line;
    size_t back;        // bytes of what was taken last, in front of the source's `begin`
    int64_t lines_back; // and its lines, 0 or 1
    bool took;          // it was an event
    bool stuck;         // nothing can be read behind the error
    Error wrong;        // the last one
    Warnings warnings;
};

// --- errors

// The end of the bad record is unknown: the same sentence comes at every further call.
static EventNext give_up(EventReader *reader) {
    reader->stuck = true;
    return EVENT_WRONG;
}

static bool tell(const EventReader *reader, Error *err) {
    return error_set(err, (ExitCode)reader->wrong.code, "%s", reader->wrong.text);
}

// More bytes, or what to return instead.
static EventNext more(EventReader *reader) {
    EventNext next = event_source_more(&reader->source, &reader->wrong);
    return next == EVENT_WRONG ? give_up(reader) : next;
}

static size_t left(const EventReader *reader) { return reader->source.end - reader->source.begin; }

static const char *here(const EventReader *reader) {
    return reader->source.bytes + reader->source.begin;
}

// What is taken from here on is one line or record.
static void mark(EventReader *reader) {
    reader->back = 0;
    reader->lines_back = 0;
}

// --- text

// The last line may have been cut off in the middle of an id, which nobody would notice.
static void warn_of_open_end(EventReader *reader) {
    warnings_add(&reader->warnings,
                 "%s:%ld: the last line has no end; if the stream was cut off there, its last "
                 "event may be incomplete",
                 reader->source.name, reader->line);
}

static EventNext line_too_long(EventReader *reader) {
    error_data(&reader->wrong,
               "the line has more than %d bytes (64 MiB); a large hyperedge can be sent in several "
               "+h events",
               EVENT_RECORD);
    event_reader_error(reader, &reader->wrong);
    return give_up(reader);
}

// EVENT_READ: a whole line of `bytes` is here; *ends: a newline stands behind it.
static EventNext find_line(EventReader *reader, size_t *bytes, bool *ends) {
    mark(reader);
    for (;;) {
        const char *line = here(reader);
        const char *newline =
            memchr(line + reader->searched, '\n', left(reader) - reader->searched);
        *ends = newline != NULL;
        *bytes = *ends ? (size_t)(newline - line) : left(reader);
        if (*bytes > EVENT_RECORD)
            return line_too_long(reader);
        if (*ends)
            return EVENT_READ;
        reader->searched = *bytes;
        EventNext next = more(reader);
        if (next == EVENT_END && *bytes > 0)
            return EVENT_READ;
        if (next != EVENT_READ)
            return next;
    }
}

static void leave_line(EventReader *reader, size_t bytes, bool ends) {
    reader->source.begin += bytes + ends;
    reader->line += ends;
    reader->back = bytes + ends;
    reader->lines_back = ends;
    reader->searched = 0;
}

static EventParsed take_line(EventReader *reader, Event *event, size_t bytes, bool ends) {
    EventParsed parsed =
        event_parse_line(event, reader->ids.at, here(reader), bytes, &reader->wrong);
    if (parsed == PARSED_WRONG)
        event_reader_error(reader, &reader->wrong);
    if (parsed != PARSED_NOTHING && !ends)
        warn_of_open_end(reader);
    leave_line(reader, bytes, ends);
    return parsed;
}

static EventNext next_line(EventReader *reader, Event *event) {
    size_t bytes;
    bool ends;
    for (;;) {
        EventNext found = find_line(reader, &bytes, &ends);
        if (found != EVENT_READ)
            return found;
        growing_reach(&reader->ids, (int64_t)bytes / 2 + 1);
        EventParsed parsed = take_line(reader, event, bytes, ends);
        if (parsed != PARSED_NOTHING)
            return parsed == PARSED_EVENT ? EVENT_READ : EVENT_WRONG;
    }
}

// --- binary

static EventNext cut_off(EventReader *reader, size_t due) {
    error_data(&reader->wrong,
               "the stream ends within this record; of its %s%zu bytes %zu are missing",
               left(reader) < sizeof(EventRecord) ? "first " : "", due, due - left(reader));
    event_reader_error(reader, &reader->wrong);
    return give_up(reader);
}

// EVENT_READ: this many bytes of a record are here.
static EventNext reach(EventReader *reader, size_t bytes) {
    while (left(reader) < bytes) {
        EventNext next = more(reader);
        if (next == EVENT_END && left(reader) > 0)
            return cut_off(reader, bytes);
        if (next != EVENT_READ)
            return next;
    }
    return EVENT_READ;
}

// EVENT_READ: a whole record of `bytes` is here.
static EventNext find_record(EventReader *reader, size_t *bytes) {
    EventRecord head;
    mark(reader);
    EventNext next = reach(reader, sizeof head);
    if (next != EVENT_READ)
        return next;
    memcpy(&head, here(reader), sizeof head);
    *bytes = event_record_bytes(&head, &reader->wrong);
    if (*bytes == 0) {
        event_reader_error(reader, &reader->wrong);
        return give_up(reader);
    }
    return reach(reader, *bytes);
}

static EventNext next_record(EventReader *reader, Event *event) {
    size_t bytes;
    EventNext found = find_record(reader, &bytes);
    if (found != EVENT_READ)
        return found;
    growing_reach(&reader->ids, (int64_t)(bytes / sizeof(uint64_t)));
    bool ok = event_parse_record(event, reader->ids.at, here(reader), &reader->wrong);
    if (!ok)
        event_reader_error(reader, &reader->wrong);
    reader->source.begin += bytes;
    reader->back = bytes;
    return ok ? EVENT_READ : EVENT_WRONG;
}

// --- the beginning

static EventNext begin_text(EventReader *reader, size_t length) {
    bool ends = here(reader)[length - 1] == '\n';
    if (!ends)
        warn_of_open_end(reader);
    leave_line(reader, length - ends, ends);
    reader->step = next_line;
    return EVENT_READ;
}

// EVENT_READ: the first event is next.
static EventNext begin(EventReader *reader) {
    size_t length = 0;
    for (;;) {
        switch (event_beginning(here(reader), left(reader), reader->source.ended, &length,
                                &reader->wrong)) {
        case BEGINNING_TEXT:
            return begin_text(reader, length);
        case BEGINNING_BINARY:
            reader->source.begin += length;
            reader->step = next_record;
            return EVENT_READ;
        case BEGINNING_WRONG:
            error_prefix(&reader->wrong, "%s", reader->source.name);
            return give_up(reader);
        case BEGINNING_CUT:
            break;
        }
        EventNext next = more(reader);
        if (next != EVENT_READ && next != EVENT_END)
            return next;
    }
}

static EventNext begin_and_step(EventReader *reader, Event *event) {
    EventNext next = begin(reader);
    return next == EVENT_READ ? reader->step(reader, event) : next;
}

// --- what the public header shows

static EventReader *reader_new(void) {
    EventReader *reader = ALLOC(EventReader, 1, "reader of a stream");
    reader->step = begin_and_step;
    reader->line = 1;
    return reader;
}

// A text has at most an id in two bytes.
static bool init_ids(EventReader *reader, Error *err) {
    return growing_init(&reader->ids, EVENT_RECORD / 2 + 1, sizeof(uint64_t), "ids of an event",
                        err);
}

EventReader *event_reader_open(const char *path, Error *err) {
    EventReader *reader = reader_new();
    if (event_source_open(&reader->source, path, err) && init_ids(reader, err))
        return reader;
    event_reader_close(reader);
    return NULL;
}

bool event_stream_fits(const char *path, Error *err) {
    bool regular;
    if (strcmp(path, "-") == 0)
        return true;
    if (!event_source_fits(path, &regular, err))
        return false;
    EventReader *reader = regular ? event_reader_open(path, err) : NULL;
    if (reader != NULL && begin(reader) != EVENT_READ)
        tell(reader, err);
    event_reader_close(reader);
    return err->code == 0;
}

EventReader *event_reader_memory(const void *bytes, size_t count, const char *name) {
    EventReader *reader = reader_new();
    Error err = {0};
    event_source_memory(&reader->source, bytes, count, name);
    CHECK(init_ids(reader, &err), EXIT_MEMORY, "%s", err.text);
    return reader;
}

void event_reader_close(EventReader *reader) {
    if (reader == NULL)
        return;
    event_source_close(&reader->source);
    growing_clear(&reader->ids);
    memory_free(reader);
}

EventNext event_reader_next(EventReader *reader, Event *event, Error *err) {
    if (!reader->stuck)
        reader->wrong.code = 0;
    EventNext next = reader->stuck ? EVENT_WRONG : reader->step(reader, event);
    reader->took = next == EVENT_READ;
    reader->events += reader->took;
    if (next == EVENT_WRONG)
        tell(reader, err);
    return next;
}

EventPlace event_reader_place(const EventReader *reader) {
    return (EventPlace){reader->events, event_source_offset(&reader->source), reader->line,
                        event_source_history(&reader->source, 0)};
}

EventPlace event_reader_place_before(const EventReader *reader) {
    return (EventPlace){
        reader->events - reader->took, event_source_offset(&reader->source) - (int64_t)reader->back,
        reader->line - reader->lines_back, event_source_history(&reader->source, reader->back)};
}

bool event_reader_error(const EventReader *reader, Error *err) {
    const char *name = reader->source.name;
    int64_t line = reader->line - reader->lines_back;
    int64_t byte = event_source_offset(&reader->source) - (int64_t)reader->back;
    if (reader->step == next_line)
        return error_prefix(err, "%s:%ld", name, line);
    return error_prefix(err, "%s: byte %ld", name, byte);
}

bool event_reader_at_end(const EventReader *reader) {
    return reader->source.ended && (left(reader) == 0 || reader->stuck);
}

bool event_reader_can_seek(const EventReader *reader) { return reader->source.regular; }

// True if a line that was taken as the last one, without an end, has more characters by now.
static bool goes_on_in_line(EventReader *reader) {
    if (reader->step != next_line || here(reader)[-1] == '\n')
        return false;
    if (left(reader) == 0)
        event_source_more(&reader->source, &reader->wrong);
    return left(reader) > 0 && *here(reader) != '\n' && *here(reader) != '\r';
}

bool event_reader_seek(EventReader *reader, const EventPlace *place, Error *err) {
    EventSource *source = &reader->source;
    assert(source->regular && source->begin == 0 && reader->step == begin_and_step);
    if (place->offset == 0)
        return true;
    if (begin(reader) != EVENT_READ)
        return tell(reader, err);
    bool behind = place->offset >= event_source_offset(source);
    if (behind && !event_source_go(source, place->offset, err))
        return false;
    if (!behind || event_source_history(source, 0) != place->before)
        return error_data(
            err, "%s is not the stream that was read before: the bytes before byte %ld differ",
            source->name, place->offset);
    reader->events = place->events;
    reader->line = place->line;
    mark(reader);
    return !goes_on_in_line(reader) ||
           error_data(err,
                      "%s:%ld: the line had no end when it was read, and goes on now; its event "
                      "was taken without the rest, so the stream must be read from its beginning",
                      source->name, reader->line);
}

const Warnings *event_reader_warnings(const EventReader *reader) { return &reader->warnings; }
