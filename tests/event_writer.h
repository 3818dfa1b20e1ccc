// Writes streams of events for tests and benches: as text, or as its binary twin.
#pragma once

#include "events/internal.h"

#include <inttypes.h>

typedef struct EventWriter {
    FILE *file;
    bool binary;
} EventWriter;

static inline EventWriter *event_writer_open(const char *path, bool binary, Error *err) {
    uint32_t version = EVENT_VERSION;
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        error_set(err, EXIT_CANNOT_WRITE, "%s: cannot create it", path);
        return NULL;
    }
    EventWriter *writer = ALLOC(EventWriter, 1, "writer of a stream");
    *writer = (EventWriter){file, binary};
    fputs(binary ? EVENT_MAGIC : EVENT_TEXT_BEGIN "\n", file);
    if (binary)
        fwrite(&version, sizeof version, 1, file);
    return writer;
}

static inline void event_put_line(FILE *file, const Event *event) {
    fputs(event_forms[event->kind].sign, file);
    if (event->kind == EVENT_SNAPSHOT)
        fprintf(file, " %s", event->name);
    else
        fprintf(file, " %" PRIu64, event->id);
    if (event->weighted) // nine digits name every float
        fprintf(file, " w=%.9g", (double)event->weight);
    for (int64_t i = 0; i < event->count; i++)
        fprintf(file, " %" PRIu64, event->other[i]);
    fputc('\n', file);
}

static inline void event_put_record(FILE *file, const Event *event) {
    bool named = event->kind == EVENT_SNAPSHOT;
    char name[EVENT_NAME] = {0};
    size_t words = named ? (strlen(event->name) + 7) / 8 : (size_t)event->count;
    EventRecord head = {.op = (uint8_t)event->kind,
                        .flags = event->weighted ? EVENT_HAS_WEIGHT : 0,
                        .count = (uint32_t)words,
                        .id = named ? strlen(event->name) : event->id};
    memcpy(name, event->name, named ? strlen(event->name) : 0);
    fwrite(&head, sizeof head, 1, file);
    if (event->weighted)
        fwrite(&event->weight, sizeof event->weight, 1, file);
    fwrite(named ? (const void *)name : event->other, sizeof(uint64_t), words, file);
}

static inline bool event_writer_put(EventWriter *writer, const Event *event, Error *err) {
    (writer->binary ? event_put_record : event_put_line)(writer->file, event);
    return !ferror(writer->file) || error_set(err, EXIT_IO, "the stream cannot be written");
}

static inline bool event_writer_close(EventWriter *writer, Error *err) {
    bool whole = fclose(writer->file) == 0;
    memory_free(writer);
    return whole || error_set(err, EXIT_IO, "the stream cannot be written");
}
