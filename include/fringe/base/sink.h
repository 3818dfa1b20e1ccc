// A sink: where a module says what a user should read. Only the command line prints: it hands a
// sink down with what it asks for, and the module puts its lines there. Any thread of rank 0.
#pragma once

#include <stdarg.h>

typedef enum SinkKind {
    SINK_OUTPUT, // what the command was asked for
    SINK_SAY,    // always: warnings, and what the user has to know
    SINK_NOTE,   // unless --quiet
    SINK_DETAIL, // with --verbose
    SINK_EVENT   // with --events: an object of JSON, for programs (event_log.h)
} SinkKind;

typedef struct Sink {
    void (*take)(void *context, SinkKind kind, const char *format, va_list arguments);
    void *context; // borrowed
} Sink;

// printf into a sink; lines end with "\n". NULL: nobody reads it.
void sink_put(const Sink *sink, SinkKind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define sink_print(sink, ...) sink_put((sink), SINK_OUTPUT, __VA_ARGS__)
#define sink_say(sink, ...) sink_put((sink), SINK_SAY, __VA_ARGS__)
#define sink_note(sink, ...) sink_put((sink), SINK_NOTE, __VA_ARGS__)
#define sink_detail(sink, ...) sink_put((sink), SINK_DETAIL, __VA_ARGS__)
#define sink_event(sink, ...) sink_put((sink), SINK_EVENT, __VA_ARGS__)
// One sentence of a warning, without label and newline.
#define sink_warn(sink, sentence, ...)                                                             \
    sink_put((sink), SINK_SAY, "warning    " sentence "\n", ##__VA_ARGS__)
