// The writer of streams: events as lines, or as records of the binary twin, through a buffer.

#include "internal.h"

#include <string.h>

enum { BUFFER = 1 << 20, PIECE = 128 }; // bytes; a piece of a line is shorter

struct EventWriter {
    FileWriter file;
    bool binary;
    bool failed; // some bytes are missing, so that the rest is of no use
    size_t used; // of the buffer
    char *buffer;
};

// --- the buffer

static bool flush(EventWriter *writer, Error *err) {
    writer->failed =
        writer->failed || !file_writer_put(&writer->file, writer->buffer, writer->used, err);
    writer->used = 0;
    return !writer->failed || error_set(err, EXIT_IO, "%s: is not whole", writer->file.path);
}

static bool room_for(EventWriter *writer, size_t bytes, Error *err) {
    return writer->used + bytes <= BUFFER || flush(writer, err);
}

static bool put(EventWriter *writer, const void *data, size_t bytes, Error *err) {
    for (const char *at = data; bytes > 0;) {
        if (!room_for(writer, 1, err))
            return false;
        size_t piece = bytes < BUFFER - writer->used ? bytes : BUFFER - writer->used;
        memcpy(writer->buffer + writer->used, at, piece);
        writer->used += piece;
        at += piece;
        bytes -= piece;
    }
    return true;
}

// --- text

// A blank and the digits.
static bool put_id(EventWriter *writer, uint64_t id, Error *err) {
    char digits[21], *first = digits + sizeof digits;
    if (!room_for(writer, PIECE, err))
        return false;
    do
        *--first = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    *--first = ' ';
    size_t length = (size_t)(digits + sizeof digits - first);
    memcpy(writer->buffer + writer->used, first, length);
    writer->used += length;
    return true;
}

static bool put_word(EventWriter *writer, const char *before, const char *word, Error *err) {
    return put(writer, before, strlen(before), err) && put(writer, word, strlen(word), err);
}

// Nine digits name every float.
static bool put_weight(EventWriter *writer, float weight, Error *err) {
    char text[32];
    snprintf(text, sizeof text, "%.9g", (double)weight);
    return put_word(writer, " w=", text, err);
}

static bool put_ids(EventWriter *writer, const Event *event, Error *err) {
    bool ok = put_id(writer, event->id, err) &&
              (!event->weighted || put_weight(writer, event->weight, err));
    for (int64_t i = 0; ok && i < event->count; i++)
        ok = put_id(writer, event->other[i], err);
    return ok;
}

static bool put_line(EventWriter *writer, const Event *event, Error *err) {
    return put_word(writer, "", event_forms[event->kind].sign, err) &&
           (event->kind == EVENT_SNAPSHOT ? put_word(writer, " ", event->name, err)
                                          : put_ids(writer, event, err)) &&
           put(writer, "\n", 1, err);
}

// --- binary

static bool put_name(EventWriter *writer, const char *name, Error *err) {
    char words[EVENT_NAME] = {0};
    size_t length = strlen(name), count = (length + 7) / 8;
    EventRecord head = {.op = EVENT_SNAPSHOT, .count = (uint32_t)count, .id = length};
    memcpy(words, name, length);
    return put(writer, &head, sizeof head, err) &&
           put(writer, words, count * sizeof(uint64_t), err);
}

static bool put_record(EventWriter *writer, const Event *event, Error *err) {
    EventRecord head = {.op = (uint8_t)event->kind,
                        .flags = event->weighted ? EVENT_HAS_WEIGHT : 0,
                        .count = (uint32_t)event->count,
                        .id = event->id};
    if (event->kind == EVENT_SNAPSHOT)
        return put_name(writer, event->name, err);
    return put(writer, &head, sizeof head, err) &&
           put(writer, &event->weight, event->weighted ? sizeof event->weight : 0, err) &&
           put(writer, event->other, (size_t)event->count * sizeof(uint64_t), err);
}

// --- what the public header shows

static bool put_head(EventWriter *writer, Error *err) {
    uint32_t version = EVENT_VERSION;
    if (!writer->binary)
        return put_word(writer, EVENT_TEXT_BEGIN, "\n", err);
    return put(writer, EVENT_MAGIC, EVENT_MAGIC_BYTES, err) &&
           put(writer, &version, sizeof version, err);
}

EventWriter *event_writer_open(const char *path, bool binary, Error *err) {
    EventWriter *writer = ALLOC(EventWriter, 1, "writer of a stream");
    writer->binary = binary;
    writer->buffer = ALLOC(char, BUFFER, "buffer of a stream");
    if (file_writer_open(&writer->file, path, err) && put_head(writer, err))
        return writer;
    memory_free(writer->buffer);
    memory_free(writer);
    return NULL;
}

static int64_t written(const EventWriter *writer) {
    return writer->file.bytes + (int64_t)writer->used;
}

bool event_writer_put(EventWriter *writer, const Event *event, Error *err) {
    int64_t before = written(writer);
    assert(event->kind >= EVENT_HYPEREDGE && event->kind <= EVENT_SNAPSHOT);
    assert(event->kind != EVENT_SNAPSHOT || event_name_is_valid(event->name));
    assert(event->count >= event_forms[event->kind].least &&
           event->count <= event_forms[event->kind].most);
    bool ok = writer->binary ? put_record(writer, event, err) : put_line(writer, event, err);
    assert(!ok || written(writer) - before <= EVENT_RECORD + !writer->binary); // and a newline
    return ok;
}

bool event_writer_close(EventWriter *writer, Error *err) {
    bool ok = flush(writer, err);
    ok = file_writer_close(&writer->file, false, err) && ok;
    memory_free(writer->buffer);
    memory_free(writer);
    return ok;
}
