// A backend in a library of its own, which is loaded when a training names it. The library resolves
// nothing from the program: it gets what it needs of the program as functions.
#pragma once

#include "fringe/backend.h"

typedef void EventRecord(DeviceEvent *event, DeviceStream stream); // Backend.event_record

// What the program does for a plug-in.
typedef struct PluginHost {
    void *(*memory_alloc)(size_t bytes, const char *what); // memory.h
    void (*memory_free)(void *pointer);
    double (*clock_seconds)(void); // clock.h
    bool (*error_set)(Error *err, ExitCode code, const char *format, ...)
        __attribute__((format(printf, 3, 4))); // error.h
    void (*check_failed)(const char *file, int line, ExitCode code, const char *format, ...)
        __attribute__((noreturn, format(printf, 4, 5)));
    bool (*operation_begin)(EventRecord *record, DeviceStream stream, TimerKind kind);
    void (*operation_end)(void); // both: internal.h
} PluginHost;

// The one symbol of a plug-in: `const Plugin fringe_plugin`. `abi` and `name` stay the first
// members for good, so that they can be read whatever the rest is.
typedef struct Plugin {
    const char *abi;  // FRINGE_ABI of its build: a hash of the headers that both sides read
    const char *name; // of the backend
    const Backend *(*open)(const PluginHost *host);
} Plugin;

// Loads the plug-in and copies its table to *into. False with EXIT_UNAVAILABLE and a sentence if it
// is missing, cannot be loaded, has another ABI, or is another backend than `name`.
bool plugin_load(Backend *into, const char *path, const char *name, Error *err);

// Why there is no plug-in `file` beside a program, and what to do. `built_in`: the folder of the
// build that was to make it; "" where that found no CUDA compiler, "OFF" where it was told to do
// without.
enum { PLUGIN_SENTENCE = 3000 };
const char *plugin_missing(char out[PLUGIN_SENTENCE], const char *built_in, const char *file);
