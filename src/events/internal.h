// What the files of this module share: the forms of events, the parsers of the text and of its
// binary twin, which know only memory, and the source that brings the bytes there.
#pragma once

#include "fringe/events.h"

// ---- forms

typedef struct EventForm {
    const char *sign;    // the first word of a line
    const char *form;    // the line as a user writes it
    int64_t least, most; // ids behind the first one
} EventForm;

extern const EventForm event_forms[EVENT_SNAPSHOT + 1]; // at the kind

// False with EXIT_DATA if ids are missing or too many, or the weight is none.
bool event_is_whole(const Event *event, Error *err);
bool event_name_error(const char *name, Error *err); // fills *err; returns false

// ---- the first bytes

#define EVENT_TEXT_BEGIN "fringe-stream 1"
#define EVENT_MAGIC "FRNGSTRM"
enum { EVENT_MAGIC_BYTES = 8, EVENT_HEAD = 12, EVENT_VERSION = 1 };

typedef enum EventBeginning {
    BEGINNING_CUT, // more bytes are needed to tell
    BEGINNING_TEXT,
    BEGINNING_BINARY,
    BEGINNING_WRONG // *err says what the bytes are instead
} EventBeginning;

// Tells from its first bytes what a stream is; `all`: there are no more. *length is where its first
// event begins.
EventBeginning event_beginning(const char *bytes, size_t count, bool all, size_t *length,
                               Error *err);

// ---- one event in memory. Errors do not say where it stands.

typedef enum EventParsed { PARSED_EVENT, PARSED_NOTHING, PARSED_WRONG } EventParsed;

// Parses a line without its newline; `ids` has room for half its bytes and one more. A line may
// hold nothing but blanks and a comment.
EventParsed event_parse_line(Event *event, uint64_t *ids, const char *line, size_t bytes,
                             Error *err);

// A record, little-endian:
//
//   0    1      2    4        8      16            20
//   | op | flags | 0 | count  | id   | weight: f32 | count x u64
//                                      ^ only if flags is EVENT_HAS_WEIGHT
//
// Of EVENT_SNAPSHOT: id is the length of its name, and count words hold the name and zeros.
typedef struct EventRecord {
    uint8_t op; // an EventKind
    uint8_t flags;
    uint16_t zero;
    uint32_t count;
    uint64_t id;
} EventRecord;
_Static_assert(sizeof(EventRecord) == 16, "the head of a record is read as it is");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are read as they are");

enum { EVENT_HAS_WEIGHT = 1 };

// Bytes of the record that begins with this head; 0 with EXIT_DATA if its layout is unknown or it
// is longer than EVENT_RECORD.
size_t event_record_bytes(const EventRecord *head, Error *err);
// Parses a record of that many bytes; `ids` has room for its count.
bool event_parse_record(Event *event, uint64_t *ids, const char *record, Error *err);

// ---- the source of the bytes

enum { SOURCE_HISTORY = 4096 }; // bytes before `begin` that stay in memory, for EventPlace

typedef struct EventSource {
    char *name;     // in messages; owned
    int descriptor; // -1: the bytes are somebody's memory
    bool regular;   // a file that can be read again
    bool ended;     // nothing comes any more
    Growing buffer;
    const char *bytes; // of the buffer, or borrowed
    size_t begin, end; // bytes [begin, end) have come and have not been used
    int64_t base;      // offset in the stream of bytes[0]
} EventSource;

// True for a file, *regular, and a FIFO; EXIT_NO_INPUT or EXIT_DATA.
bool event_source_fits(const char *path, bool *regular, Error *err);
bool event_source_open(EventSource *source, const char *path, Error *err);
void event_source_memory(EventSource *source, const void *bytes, size_t count, const char *name);
void event_source_close(EventSource *source);
// Waits up to a fifth of a second for more bytes: EVENT_READ, EVENT_WAITING, EVENT_END, or
// EVENT_WRONG with EXIT_IO. `bytes`, `begin` and `end` may change.
EventNext event_source_more(EventSource *source, Error *err);
// Goes to `offset`, with the history before it, of a regular file. EXIT_DATA if it is shorter.
bool event_source_go(EventSource *source, int64_t offset, Error *err);
// The hash of the history before `begin`, or before the `back` bytes in front of it, if they were
// used since event_source_more.
uint64_t event_source_history(const EventSource *source, size_t back);
static inline int64_t event_source_offset(const EventSource *source) {
    return source->base + (int64_t)source->begin;
}
