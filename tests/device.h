// The device that tests and benches work on.
#ifndef FRINGE_TESTS_DEVICE_H
#define FRINGE_TESTS_DEVICE_H

#include "fringe/backend.h"

static inline const Backend *device(void) { return backend_find("cpu", &(Error){0}); }

// The floats of rows, [count, stride], for hosts that read and write the device's memory.
static inline float *floats(Rows rows) { return (float *)rows.at; }

// A host array as the device sees it, where both are one memory.
static inline void *on_device(const void *host) { return (void *)host; }

#endif
