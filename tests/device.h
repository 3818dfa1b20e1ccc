// The device that tests and benches work on: the CPU's, or the one that FRINGE_TEST_BACKEND names.
// A test whose first line says "also on fenced" reaches its memory by uploads and downloads alone,
// and runs on both; the others need a device whose memory is the host's.
#ifndef FRINGE_TESTS_DEVICE_H
#define FRINGE_TESTS_DEVICE_H

#include "fringe/backend.h"

#include <stdlib.h>

static inline const char *device_name(void) {
    const char *name = getenv("FRINGE_TEST_BACKEND");
    return name != NULL ? name : "cpu";
}

static inline const Backend *device(void) { return backend_find(device_name(), &(Error){0}); }

// Host arrays to and from blocks of the device; done on return. Neither takes memory.
static inline void to_device(void *to, const void *host, size_t bytes) {
    device()->upload(to, host, bytes);
    device()->finish(NULL);
}
static inline void from_device(void *host, const void *from, size_t bytes) {
    device()->download(host, from, bytes);
    device()->finish(NULL);
}

// The numbers of rows as they are, [count, columns], in a new array of the host.
static inline float *host_rows(Rows rows) {
    float *host = ALLOC(float, rows.count *rows.columns, "rows of a test");
    device()->download_rows(host, rows);
    device()->finish(NULL);
    return host;
}

// The floats of rows, [count, stride], for hosts that read and write the device's memory.
static inline float *floats(Rows rows) { return (float *)rows.at; }

// A host array as the device sees it, where both are one memory.
static inline void *on_device(const void *host) { return (void *)host; }

#endif
