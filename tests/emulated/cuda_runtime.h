// The emulated device: the part of the CUDA runtime that kernels/cuda uses, on the host, for tests.
// This folder's cuda_runtime.h, cublas_v2.h and cusparse.h take the place of the toolkit's.
//
// The one idea: what a device leaves open, the emulation does in several ways. The threads of a
// block are fibers that run in one of four orders, so that a missing barrier shows in the result.
// Work on a stream runs only while the host waits, in one of three orders, so that a missing event
// shows. The host cannot touch device memory at all. A misuse ends the program with a sentence.
//
//   FRINGE_EMULATED_ORDER    forward (default) | backward | shuffled | interleaved; every launch
//                            reads it when it runs
//   FRINGE_EMULATED_STREAMS  oldest (default) | newest | random; every wait reads it
//   FRINGE_EMULATED_SEED     of random
//   FRINGE_EMULATED_MEMORY   bytes of the device (16 GiB)
//
// What is not there does not compile: <<< >>>, static __shared__ arrays (device.h has SHARED),
// float atomics. Blocks and grids have one dimension. One thread of the host calls the runtime.
//
//   kernel.h      what kernels call
//   blocks.cpp    the order of threads and blocks       meetings.cpp  barriers, shuffles, votes
//   fibers.cpp    stacks and switches between them      streams.cpp   queues; events.cpp events
//   memory.cpp    blocks of the device; copies.cpp copies
//   device.cpp    its properties, errors                blas.cpp, sparse.cpp  the libraries
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define CUDART_VERSION 13000

// ---- errors

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorStubLibrary = 34,
    cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorNotSupported = 801
};
const char *cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError(); // and forgets it

// ---- the device

struct cudaUUID_t {
    char bytes[16];
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, l2CacheSize;
    cudaUUID_t uuid;
};
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);

// ---- streams and events. The default stream (0) is a stream like the others.

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);

// ---- memory

enum cudaDataType { CUDA_R_32F = 0, CUDA_R_16BF = 14 };
typedef cudaDataType cudaDataType_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};

cudaError_t cudaMalloc(void **block, size_t bytes);
cudaError_t cudaFree(void *block);
cudaError_t cudaMallocHost(void **block, size_t bytes);
cudaError_t cudaFreeHost(void *block);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all_bytes);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = 0);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = 0);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);

template <typename T> cudaError_t cudaMalloc(T **block, size_t bytes) {
    return cudaMalloc((void **)block, bytes);
}
template <typename T> cudaError_t cudaMallocHost(T **block, size_t bytes) {
    return cudaMallocHost((void **)block, bytes);
}

#include "kernel.h"

// ---- launches

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    void *attrs; // none are known
    unsigned numAttrs;
};
struct cudaFuncAttributes {
    int maxThreadsPerBlock;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
template <typename T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, T *kernel) {
    return cudaFuncGetAttributes(a, (const void *)kernel);
}

namespace emulated {

// What waits on a stream until it runs.
struct Work {
    bool is_copy = false;
    virtual void run() = 0;
    virtual ~Work() = default;
};
template <typename Body> struct Task final : Work {
    Body body;
    explicit Task(const Body &of) : body(of) {}
    void run() override { body(); }
};
void put_work(cudaStream_t stream, Work *work); // takes it over
template <typename Body> void put(cudaStream_t stream, const Body &body) {
    put_work(stream, new Task<Body>(body));
}

cudaError_t check_launch(const cudaLaunchConfig_t &config);
// Runs thread(arguments) as every thread of every block.
typedef void Thread(const void *arguments);
void run_grid(const cudaLaunchConfig_t &config, Thread *thread, const void *arguments);

} // namespace emulated

// Arguments are copied at the call, and again for every thread.
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...arguments) {
    static_assert((sizeof(Parameters) + ... + 0) <= 4096, "older devices take no more arguments");
    cudaError_t status = emulated::check_launch(*config);
    if (status != cudaSuccess)
        return status;
    emulated::put(config->stream,
                  [c = *config, kernel, ... copies = static_cast<Parameters>(arguments)] {
                      auto thread = [&] { kernel(copies...); };
                      emulated::run_grid(
                          c, [](const void *t) { (*(const decltype(thread) *)t)(); }, &thread);
                  });
    return cudaSuccess;
}

// Instead of the environment, for tests that fork or load the emulation; NULL: the environment
// again. The name must stay.
extern "C" void emulated_set_order(const char *name);
extern "C" void emulated_set_streams(const char *name);
