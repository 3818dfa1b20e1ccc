// The operations of a table as programs call them: each is the backend's function between two calls
// by which the StreamTimer in use, if there is one, adds its time to the kind that the list says.
// `record` is the event_record of the backend: a timer knows its own backend's operations by it.
#pragma once

#define TIMED(backend, name, stream, time, ...)                                                    \
    static void timed_##name(OPERATION_PARAMETERS(__VA_ARGS__)) {                                  \
        bool is_timed = operation_begin(backend##_event_record, stream, time);                     \
        backend##_##name(OPERATION_ARGUMENTS(__VA_ARGS__));                                        \
        if (is_timed)                                                                              \
            operation_end();                                                                       \
    }
