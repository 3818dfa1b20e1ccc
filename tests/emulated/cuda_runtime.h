// The emulated device: the part of the CUDA runtime that kernels/cuda uses, on the host, for tests.
// This folder's cuda_runtime.h, cublas_v2.h and cusparse.h take the place of the toolkit's.
//
// The one idea: what a device leaves open, the emulation does in several ways. The threads of a
// block are fibers that run in one of four orders (FRINGE_EMULATED_ORDER: forward, backward,
// shuffled, interleaved), so that a missing barrier shows in the result. Work on a stream runs only
// while the host waits, in one of three orders (FRINGE_EMULATED_STREAMS: oldest, newest, random),
// so that a missing event does. The host cannot read device memory at all. A misuse ends the
// program with a sentence.
//
//   threads.cpp    fibers, barriers, shuffles
//   streams.cpp    queues, events
//   memory.cpp     blocks, copies
//   libraries.cpp  cuBLAS and cuSPARSE, as plain loops
#ifndef FRINGE_EMULATED_CUDA_RUNTIME_H
#define FRINGE_EMULATED_CUDA_RUNTIME_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define CUDART_VERSION 13000

using std::isfinite;
using std::isnan;

// ---- vectors

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
#define EMULATED_VECTOR(type, name)                                                                \
    struct name##2 {                                                                               \
        type x, y;                                                                                 \
    };                                                                                             \
    struct alignas(4 * sizeof(type)) name##4 {                                                     \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                        \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
EMULATED_VECTOR(float, float)
EMULATED_VECTOR(int, int)
EMULATED_VECTOR(unsigned, uint)
EMULATED_VECTOR(unsigned short, ushort)
EMULATED_VECTOR(unsigned char, uchar)
#undef EMULATED_VECTOR

// ---- errors

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorStubLibrary = 34,
    cudaErrorInsufficientDriver,
    cudaErrorNotReady = 600
};
const char *cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError();

// ---- the device

struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount;
    size_t totalGlobalMem;
};
struct cudaFuncAttributes {
    int maxThreadsPerBlock;
};
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDeviceGetStreamPriorityRange(int *low, int *high);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);

// ---- memory

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
namespace emulated {
struct Queue;
struct Moment;
} // namespace emulated
typedef emulated::Queue *cudaStream_t;
typedef emulated::Moment *cudaEvent_t;

cudaError_t emulated_malloc(void **block, size_t bytes);
template <typename T> cudaError_t cudaMalloc(T **block, size_t bytes) {
    return emulated_malloc((void **)block, bytes);
}
cudaError_t cudaFree(void *block);
cudaError_t emulated_malloc_host(void **block, size_t bytes);
template <typename T> cudaError_t cudaMallocHost(T **block, size_t bytes) {
    return emulated_malloc_host((void **)block, bytes);
}
cudaError_t cudaFreeHost(void *block);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all_bytes);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);

// ---- streams and events

enum { cudaStreamNonBlocking = 1, cudaEventBlockingSync = 1 };
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);

// ---- launches

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
};
namespace emulated {
void put(cudaStream_t stream, std::function<void()> run);
void run_grid(dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()> &kernel);
} // namespace emulated
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
    if (config->gridDim.x == 0 || config->blockDim.x == 0 || config->blockDim.x > 1024 ||
        config->dynamicSmemBytes > (48 << 10))
        return cudaErrorInvalidValue;
    cudaLaunchConfig_t c = *config;
    emulated::put(c.stream, [=] {
        emulated::run_grid(c.gridDim, c.blockDim, c.dynamicSmemBytes,
                           [=] { kernel(arguments...); });
    });
    return cudaSuccess;
}

// ---- inside kernels

extern dim3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

namespace emulated {
void *shared_memory();
enum class Meeting { SYNC, SHUFFLE, BALLOT };
// Waits until exactly the lanes of the mask are at such a call; then the values that they gave, by
// lane.
const uint64_t *meet(Meeting kind, unsigned mask, uint64_t value);
void meet_block();
unsigned lane();
[[noreturn]] void stop(const char *format, ...) __attribute__((format(printf, 1, 2)));

template <typename T> T shuffle(unsigned mask, T value, int from, int width) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    const uint64_t *all = meet(Meeting::SHUFFLE, mask, bits);
    int first = (int)lane() / width * width;
    if (from < first || from >= first + width)
        return value;
    if (!(mask >> from & 1))
        stop("a shuffle reads lane %d, which is not in its mask 0x%08x", from, mask);
    std::memcpy(&value, &all[from], sizeof value);
    return value;
}
} // namespace emulated

#define SHARED(type, name) type *name = static_cast<type *>(emulated::shared_memory())

static inline void __syncthreads() { emulated::meet_block(); }
static inline void __syncwarp(unsigned mask = 0xffffffffu) {
    emulated::meet(emulated::Meeting::SYNC, mask, 0);
}
template <typename T> T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
    int first = (int)emulated::lane() / width * width;
    return emulated::shuffle(mask, value, first + (from & (width - 1)), width);
}
template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    return emulated::shuffle(mask, value, (int)(emulated::lane() + by), width);
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    return emulated::shuffle(mask, value, (int)emulated::lane() - (int)by, width);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32) {
    return emulated::shuffle(mask, value, (int)emulated::lane() ^ by, width);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate) {
    const uint64_t *all = emulated::meet(emulated::Meeting::BALLOT, mask, predicate != 0);
    unsigned bits = 0;
    for (int l = 0; l < 32; l++)
        if (mask >> l & 1)
            bits |= (unsigned)all[l] << l;
    return bits;
}
static inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, p) == mask; }
static inline void __threadfence() {}

// One thread runs at a time, so an atomic is what it says.
template <typename T> T atomicAdd(T *at, T value) {
    static_assert(std::is_integral<T>::value, "atomics on floats have no order");
    T old = *at;
    *at = (T)(old + value);
    return old;
}
template <typename T> T atomicMin(T *at, T value) {
    static_assert(std::is_integral<T>::value, "atomics on floats have no order");
    T old = *at;
    *at = value < old ? value : old;
    return old;
}
template <typename T> T atomicMax(T *at, T value) {
    static_assert(std::is_integral<T>::value, "atomics on floats have no order");
    T old = *at;
    *at = value > old ? value : old;
    return old;
}
template <typename T> T atomicCAS(T *at, T compare, T value) {
    T old = *at;
    *at = old == compare ? value : old;
    return old;
}
template <typename T> T __ldg(const T *at) { return *at; }

template <typename To, typename From> static inline To emulated_bits(From from) {
    To to;
    static_assert(sizeof to == sizeof from, "the same bits");
    std::memcpy(&to, &from, sizeof to);
    return to;
}
static inline unsigned __float_as_uint(float x) { return emulated_bits<unsigned>(x); }
static inline int __float_as_int(float x) { return emulated_bits<int>(x); }
static inline float __uint_as_float(unsigned x) { return emulated_bits<float>(x); }
static inline float __int_as_float(int x) { return emulated_bits<float>(x); }
static inline int __float2int_rn(float x) { return (int)lrintf(x); }
static inline unsigned __float2uint_rn(float x) { return (unsigned)llrintf(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
template <typename T> T min(T a, T b) { return b < a ? b : a; }
template <typename T> T max(T a, T b) { return a < b ? b : a; }

#endif
