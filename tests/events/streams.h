// Streams in tests: one event of every form, and readers that are asked again while they wait.
#pragma once

#include "support.h"

#include "event_writer.h"

#include <float.h>

enum { ID_MOST = 4, FORMS = 12 };

// The text of every_form.
#define EVERY_FORM                                                                                 \
    "+h 17 3 4 5\n"                                                                                \
    "+h 18446744073709551615 w=0.5 0 18446744073709551615\n"                                       \
    "+h 2 w=3.40282347e+38\n"                                                                      \
    "+h 3 w=0 8\n"                                                                                 \
    "+v 9\n"                                                                                       \
    "+v 9 17 2\n"                                                                                  \
    "+p 17 6\n"                                                                                    \
    "-p 17 3\n"                                                                                    \
    "-h 2\n"                                                                                       \
    "-v 9\n"                                                                                       \
    "= after-8.x_Y\n"                                                                              \
    "= 0123456789012345678901234567890123456789012345678901234567890123\n"

static const Event every_form[FORMS] = {
    {EVENT_HYPEREDGE, 17, 3, (const uint64_t[]){3, 4, 5}, false, 1, ""},
    {EVENT_HYPEREDGE, UINT64_MAX, 2, (const uint64_t[]){0, UINT64_MAX}, true, 0.5f, ""},
    {EVENT_HYPEREDGE, 2, 0, NULL, true, FLT_MAX, ""},
    {EVENT_HYPEREDGE, 3, 1, (const uint64_t[]){8}, true, 0, ""},
    {EVENT_NODE, 9, 0, NULL, false, 1, ""},
    {EVENT_NODE, 9, 2, (const uint64_t[]){17, 2}, false, 1, ""},
    {EVENT_PIN, 17, 1, (const uint64_t[]){6}, false, 1, ""},
    {EVENT_NO_PIN, 17, 1, (const uint64_t[]){3}, false, 1, ""},
    {EVENT_NO_HYPEREDGE, 2, 0, NULL, false, 1, ""},
    {EVENT_NO_NODE, 9, 0, NULL, false, 1, ""},
    {EVENT_SNAPSHOT, 0, 0, NULL, false, 1, "after-8.x_Y"},
    {EVENT_SNAPSHOT, 0, 0, NULL, false, 1,
     "0123456789012345678901234567890123456789012345678901234567890123"},
};

// The same to the last bit of the weight.
static inline bool same_event(const Event *a, const Event *b) {
    bool same = a->kind == b->kind && a->id == b->id && a->count == b->count &&
                a->weighted == b->weighted &&
                memcmp(&a->weight, &b->weight, sizeof a->weight) == 0 &&
                strcmp(a->name, b->name) == 0;
    for (int64_t i = 0; same && i < a->count; i++)
        same = a->other[i] == b->other[i];
    return same;
}

static inline EventNext next_ready(EventReader *reader, Event *event, Error *err) {
    EventNext next;
    *err = (Error){0};
    do
        next = event_reader_next(reader, event, err);
    while (next == EVENT_WAITING);
    return next;
}

#define assert_next(reader, wanted) assert_next_at((reader), (wanted), __FILE__, __LINE__)
static inline void assert_next_at(EventReader *reader, const Event *wanted, const char *file,
                                  int line) {
    Event event;
    Error err;
    if (next_ready(reader, &event, &err) != EVENT_READ)
        test_fail_at(file, line, "the next event", err.text);
    if (!same_event(&event, wanted))
        test_fail_at(file, line, "the next event", "is another one");
}

#define assert_end(reader) assert_end_at((reader), __FILE__, __LINE__)
static inline void assert_end_at(EventReader *reader, const char *file, int line) {
    Event event;
    Error err;
    for (int i = 0; i < 2; i++)
        if (next_ready(reader, &event, &err) != EVENT_END)
            test_fail_at(file, line, "the end", err.text);
}

#define assert_wrong(reader, code, part)                                                           \
    assert_wrong_at((reader), (code), (part), __FILE__, __LINE__)
static inline void assert_wrong_at(EventReader *reader, ExitCode code, const char *part,
                                   const char *file, int line) {
    Event event;
    Error err;
    if (next_ready(reader, &event, &err) != EVENT_WRONG)
        test_fail_at(file, line, part, "was not refused");
    assert_error_at(&err, code, (const char *const[]){part, NULL}, file, line);
}

static inline void write_stream(const char *path, bool binary, const Event *events, int64_t count) {
    EventWriter *writer = assert_ok(event_writer_open(path, binary, &err));
    for (int64_t i = 0; i < count; i++)
        assert_ok(event_writer_put(writer, &events[i], &err));
    assert_ok(event_writer_close(writer, &err));
}

static inline EventReader *open_reader(const char *path) {
    EventReader *reader = assert_ok(event_reader_open(path, &err));
    return reader;
}

enum { MANY = 60000 };

// Event i of a stream that is several chunks long.
static inline Event numbered(uint64_t i, uint64_t ids[16]) {
    for (uint64_t k = 0; k < 16; k++)
        ids[k] = i * 1000003 * (k + 1);
    bool weighted = i % 3 == 0;
    return (Event){.kind = EVENT_HYPEREDGE,
                   .id = i,
                   .count = (int64_t)(i % 15) + 1,
                   .other = ids,
                   .weighted = weighted,
                   .weight = weighted ? 0.1f : 1};
}

static inline void write_many(const char *path, bool binary) {
    EventWriter *writer = assert_ok(event_writer_open(path, binary, &err));
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t ids[16];
        Event event = numbered(i, ids);
        assert_ok(event_writer_put(writer, &event, &err));
    }
    assert_ok(event_writer_close(writer, &err));
}

static inline void assert_rest(EventReader *reader, uint64_t from) {
    for (uint64_t i = from; i < MANY; i++) {
        uint64_t ids[16];
        Event event = numbered(i, ids);
        assert_next(reader, &event);
    }
    assert_end(reader);
}

static inline bool same_place(EventPlace a, EventPlace b) {
    return a.events == b.events && a.offset == b.offset && a.line == b.line && a.before == b.before;
}
