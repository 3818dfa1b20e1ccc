// The device that tests and benches work on: the CPU's, or the one that FRINGE_TEST_BACKEND names.
// A test whose first line says "also on fenced" reaches its memory by uploads and downloads alone,
// and runs on both; the others need a device whose memory is the host's.
#pragma once

#include "../kernels/plugin.h"

#include <unistd.h>

static inline const char *device_name(void) {
    const char *name = getenv("FRINGE_TEST_BACKEND");
    return name != NULL ? name : "cpu";
}

// A plug-in in the build's folder, loaded and started; NULL with a sentence where that fails.
static inline const Backend *plugin_device(Backend *loaded, const char *file, const char *name,
                                           BackendStart how, Error *err) {
    const char *build = getenv("FRINGE_BUILD");
    char path[1200];
    if (loaded->name != NULL)
        return loaded;
    snprintf(path, sizeof path, "%s/%s", build != NULL ? build : ".", file);
    if (access(path, F_OK) != 0)
        error_set(err, EXIT_UNAVAILABLE, "%s was not built", file);
    else if (plugin_load(loaded, path, name, err) && !loaded->start(&how, err))
        *loaded = (Backend){0};
    return err->code == 0 ? loaded : NULL;
}

// The CUDA backend on a device that the host emulates, which no config can name, ...
static inline const Backend *emulated_device(Error *err) {
    static Backend emulated;
    const Backend *device =
        plugin_device(&emulated, "tests/libfringe-emulated.so", "emulated", (BackendStart){0}, err);
    CHECK(device != NULL || strstr(err->text, "was not built") != NULL, EXIT_BUG, "%s", err->text);
    return device;
}
// ... and on the device of this rank.
static inline const Backend *real_device(const Comm *comm, Error *err) {
    static Backend cuda;
    BackendStart how = {.node_rank = comm->node_rank, .node_size = comm->node_size};
    return plugin_device(&cuda, "libfringe-cuda.so", "cuda", how, err);
}

static inline const Backend *device(void) {
    Error err = {0};
    if (strcmp(device_name(), "emulated") == 0)
        return emulated_device(&err);
    if (strcmp(device_name(), "cuda") == 0)
        return real_device(&(Comm){.node_size = 1}, &err);
    return backend_find(device_name(), &err);
}

// Host arrays to and from blocks of the device; done on return. Neither takes memory.
static inline void to_device(void *to, const void *host, size_t bytes) {
    device()->upload(to, host, bytes);
    device()->finish(NULL);
}
static inline void from_device(void *host, const void *from, size_t bytes) {
    device()->download(host, from, bytes);
    device()->finish(NULL);
}

// The floats of rows, [count, stride], for hosts that read and write the device's memory.
static inline float *floats(Rows rows) { return (float *)rows.at; }

// A host array as the device sees it, where both are one memory.
static inline void *on_device(const void *host) { return (void *)host; }
