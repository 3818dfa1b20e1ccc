// The device's properties, what a launch may ask for, errors and choices.
#include "emulated.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace emulated {

const char *forced_order, *forced_streams;

enum {
    SHARED_BYTES = 48 << 10,
    PROCESSORS = 2,
    CACHE_BYTES = 64 << 10, // small: rows of a test are wider than what fits
    THREADS_OF_A_PROCESSOR = 256
};

void stop(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "emulated device: ");
    vfprintf(stderr, format, arguments);
    if (kernel_runs)
        fprintf(stderr, " (block %u, thread %u)", blockIdx.x, threadIdx.x);
    fprintf(stderr, "\n");
    va_end(arguments);
    fflush(stderr);
    abort();
}

int choice(const char *forced, const char *variable, const char *const *names, int count) {
    const char *name = forced != nullptr ? forced : getenv(variable);
    if (name == nullptr)
        return 0;
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    stop("%s is '%s', which is no order", variable, name);
}

// splitmix64
uint64_t scramble(uint64_t number) {
    number = (number + 1) * 0x9e3779b97f4a7c15u;
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

// ---- errors

static cudaError_t last_error = cudaSuccess;

cudaError_t failed(cudaError_t status) { return last_error = status; }

static const struct {
    cudaError_t status;
    const char *sentence;
} errors[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorNotSupported, "operation not supported"},
};

// ---- launches

cudaError_t check_launch(const cudaLaunchConfig_t &config) {
    const dim3 &g = config.gridDim, &b = config.blockDim;
    if (!is_stream(config.stream))
        return failed(cudaErrorInvalidResourceHandle);
    if (g.x == 0 || g.x > INT32_MAX || b.x == 0 || b.x > THREADS_OF_BLOCK)
        return failed(cudaErrorInvalidConfiguration);
    if (g.y != 1 || g.z != 1 || b.y != 1 || b.z != 1 || config.numAttrs != 0)
        return failed(cudaErrorNotSupported);
    if (config.dynamicSmemBytes > SHARED_BYTES)
        return failed(cudaErrorInvalidValue);
    return cudaSuccess;
}

} // namespace emulated

using namespace emulated;

extern "C" void emulated_set_order(const char *name) { forced_order = name; }
extern "C" void emulated_set_streams(const char *name) { forced_streams = name; }

const char *cudaGetErrorString(cudaError_t status) {
    for (const auto &error : errors)
        if (error.status == status)
            return error.sentence;
    return "unknown error";
}
cudaError_t cudaGetLastError() {
    const cudaError_t status = last_error;
    last_error = cudaSuccess;
    return status;
}

// ---- properties

static cudaError_t check_device(int device) {
    return device == 0 ? cudaSuccess : failed(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return check_device(device); }

// One device is shown. Which of the machine's it is says EMULATED_DEVICE, a number.
static cudaUUID_t device_uuid() {
    cudaUUID_t uuid = {};
    const char *number = getenv("EMULATED_DEVICE");
    uuid.bytes[0] = (char)(number != nullptr ? atoi(number) : 0);
    return uuid;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    *properties = cudaDeviceProp{"emulated", whole_memory(),         9,           0,
                                 PROCESSORS, THREADS_OF_A_PROCESSOR, CACHE_BYTES, device_uuid()};
    return check_device(device);
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -1;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *) {
    *attributes = {THREADS_OF_BLOCK};
    return cudaSuccess;
}
