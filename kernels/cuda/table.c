// The CUDA backend: the table, and what the plug-in shows. The same file makes the plug-in
// "emulated" of the tests, which no config can name.
#include "../timed.h"
#include "cuda.h"

#ifndef FRINGE_PLUGIN_NAME
#define FRINGE_PLUGIN_NAME "cuda"
#endif

static const PluginHost *program;

static bool operation_begin(EventRecord *record, DeviceStream stream, TimerKind kind) {
    return program->operation_begin(record, stream, kind);
}
static void operation_end(void) { program->operation_end(); }

#define FUNCTION(type, name, parameters)
#define OPERATION(name, ...) TIMED(cuda, name, __VA_ARGS__)
#include "fringe/operations.def"

static const Backend table = {
    .name = FRINGE_PLUGIN_NAME,
    .start = cuda_start,
    .is_device = true,
    .describe = cuda_describe,
    .device_id = cuda_device_id,
    .device_free = cuda_device_free,
    .range_begin = cuda_range_begin,
    .range_end = cuda_range_end,
    .spmm = cuda_spmm,
    .spmm_set = cuda_spmm_set,
#define FUNCTION(type, name, parameters) .name = cuda_##name,
#define OPERATION(name, ...) .name = timed_##name,
#include "fringe/operations.def"
};

static const Backend *open_table(const PluginHost *host) {
    cuda_open(host);
    program = host;
    return &table;
}

__attribute__((visibility("default")))
const Plugin fringe_plugin = {.abi = FRINGE_ABI, .name = FRINGE_PLUGIN_NAME, .open = open_table};
