// What the .cu files share: the device's memory as they see it, launches, errors.
//
// The sources also compile for the host, against the emulated device of the tests, whose
// cuda_runtime.h, cublas_v2.h and cusparse.h take the place of the toolkit's. So kernels are
// launched with LAUNCH only, shared memory is SHARED only, and there are no cooperative groups,
// textures, inline PTX, dynamic parallelism or float atomics (tests/kernels/test_cuda_sources.sh).
#pragma once

#include "cuda.h"

#include "../bf16.h"
#include "../both.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstring>

// ---- memory

// A number of rows of bf16: the upper half of a float.
struct Bf16 {
    uint16_t bits;
};
// Rows as kernels see them; a Number is a float or a Bf16.
template <typename Number> struct RowsOf {
    Number *at;
    int64_t count, columns, stride;
};
typedef RowsOf<float> DeviceRows;
template <typename Number> static inline RowsOf<Number> rows_of(Rows rows) {
    assert(rows_number(rows.type) == sizeof(Number));
    return RowsOf<Number>{(Number *)rows.at, rows.count, rows.columns, rows.stride};
}
static inline DeviceRows device_rows(Rows rows) { return rows_of<float>(rows); }
// Runs a statement in which Number is the type of a number of such rows.
#define EACH_TYPE(type, ...)                                                                       \
    do {                                                                                           \
        if ((type) == ROWS_BF16) {                                                                 \
            typedef Bf16 Number;                                                                   \
            __VA_ARGS__;                                                                           \
        } else {                                                                                   \
            typedef float Number;                                                                  \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)

// ---- numbers of rows, read and written as floats; what is written is rounded once
__device__ static inline float value_of(float x) { return x; }
__device__ static inline float value_of(Bf16 x) { return __uint_as_float((uint32_t)x.bits << 16); }
__device__ static inline void put(float *at, float value) { *at = value; }
__device__ static inline void put(Bf16 *at, float value) {
    at->bits = (uint16_t)bf16_flushed(__float_as_uint(value));
}
// Four neighbours: one request.
template <typename Number> struct QuadOf;
template <> struct QuadOf<float> { typedef float4 Raw; };
template <> struct QuadOf<Bf16> { typedef ushort4 Raw; };
template <typename Number> using RawQuad = typename QuadOf<Number>::Raw;
__device__ static inline float4 quad_value(float4 x) { return x; }
__device__ static inline float4 quad_value(ushort4 x) {
    return make_float4(value_of(Bf16{x.x}), value_of(Bf16{x.y}), value_of(Bf16{x.z}),
                       value_of(Bf16{x.w}));
}
template <typename Number> __device__ static inline float4 quad_of(const Number *at) {
    return quad_value(*(const RawQuad<Number> *)at);
}
__device__ static inline void put(float *at, float4 value) { *(float4 *)at = value; }
__device__ static inline void put(Bf16 *at, float4 value) {
    Bf16 quad[4];
    put(quad, value.x), put(quad + 1, value.y), put(quad + 2, value.z), put(quad + 3, value.w);
    *(ushort4 *)at = make_ushort4(quad[0].bits, quad[1].bits, quad[2].bits, quad[3].bits);
}

__device__ static inline float times(float factor, float x) { return factor * x; }
__device__ static inline float4 times(float factor, float4 x) {
    return make_float4(factor * x.x, factor * x.y, factor * x.z, factor * x.w);
}

// ---- errors: a failed call ends the job with EXIT_CUDA and a sentence that names it.
extern const PluginHost *cuda_host;
#define CHECKED_CALL(name, call, success, text_of)                                                 \
    do {                                                                                           \
        const auto status_ = (call);                                                               \
        if (status_ != (success))                                                                  \
            cuda_host->check_failed(__FILE__, __LINE__, EXIT_CUDA, "%s failed: %s", name,          \
                                    text_of(status_));                                             \
    } while (0)
#define CUDA_CALL(call) CHECKED_CALL(#call, call, cudaSuccess, cudaGetErrorString)

// ---- host
extern BackendStart cuda_how;
extern bool cuda_is_bf16; // run.precision=bf16: inputs of dense products are rounded to it
cudaStream_t cuda_stream(DeviceStream stream);
int cuda_processors(void);     // multiprocessors of the device
size_t cuda_cache_bytes(void); // its second cache
int cuda_device_ranks(void);   // ranks of this machine that share this rank's device
// Blocks of `block` threads for `threads` threads, at most as many as keep the device busy: kernels
// loop over what is left.
int64_t cuda_blocks(int64_t threads, int block);
void cuda_clock_start(void);           // events.cu, once
void cuda_dense_start(void);           // dense.cu, once
const char *cuda_dense_describe(void); // dense.cu: "cuBLAS 13.0.2"

// A flat block of the device that belongs to the backend itself, at least `bytes` large, kept until
// the end: scratch of operations of one stream that their header gives none for. It grows (waiting
// for both streams) and never shrinks; `slot` names the user.
enum ScratchSlot {
    SCRATCH_LOSS,
    SCRATCH_SUMS,
    SCRATCH_BLAS,
    SCRATCH_DISTANCE,
    SCRATCH_STRIP, // floats on their way from or to rows of bf16
    SCRATCH_INPUT, // inputs of products of bf16 that are floats
    SCRATCH_OTHER_INPUT,
    SCRATCH_WEIGHTS,
    SCRATCH_OTHER_WEIGHTS,
    SCRATCH_SLOTS
};
void *cuda_scratch(ScratchSlot slot, size_t bytes);

// ---- launches: grid blocks of `block` threads with `bytes` of shared memory. An empty grid
// launches nothing. Grids are one-dimensional; kernels loop over what is beyond the largest grid.
#define LAUNCH(kernel, grid, block, bytes, stream, ...)                                            \
    cuda_launch(#kernel, kernel, (grid), (block), (bytes), (stream), __VA_ARGS__)

template <typename... Parameters, typename... Arguments>
static void cuda_launch(const char *name, void (*kernel)(Parameters...), int64_t grid, int block,
                        size_t bytes, cudaStream_t stream, Arguments... arguments) {
    if (grid <= 0)
        return;
    const int64_t most = 0x7fffffff;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(grid < most ? grid : most));
    config.blockDim = dim3((unsigned)block);
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    cudaError_t status = cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
    if (status != cudaSuccess)
        cuda_host->check_failed(__FILE__, __LINE__, EXIT_CUDA, "the launch of %s failed: %s", name,
                                cudaGetErrorString(status));
}

// On STREAM_COMPUTE, with at most a thread for each of `items`; EACH_ITEM are those of a thread.
#define LAUNCH_ITEMS(kernel, items, block, ...)                                                    \
    LAUNCH(kernel, cuda_blocks((items), (block)), (block), 0, cuda_stream(STREAM_COMPUTE),         \
           __VA_ARGS__)
#define EACH_ITEM(i, items)                                                                        \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (items);                  \
         i += (int64_t)gridDim.x * blockDim.x)

// sum[i] = part[i] + part[count + i] + ..., `parts` of them, in order.
template <typename Number>
__global__ static void add_in_turn(Number *sum, const Number *part, int64_t parts, int64_t count) {
    EACH_ITEM(i, count) {
        Number all = 0;
        for (int64_t p = 0; p < parts; p++)
            all += part[p * count + i];
        sum[i] = all;
    }
}

// Floats [count, columns], `stride` apart, as rows.
template <typename Number>
__global__ static void pad_floats(RowsOf<Number> out, const float *from, int64_t stride) {
    EACH_ITEM(i, out.count * out.stride) {
        const int64_t r = i / out.stride, c = i % out.stride;
        put(out.at + i, c < out.columns ? from[r * stride + c] : 0.0f);
    }
}

// The block's shared memory: SHARED(float, sum) gives `float *sum` of the launch's `bytes`. Once a
// kernel. The emulated device has its own.
#ifndef SHARED
#define SHARED(type, name)                                                                         \
    extern __shared__ __align__(16) unsigned char shared_memory[];                                 \
    type *name = reinterpret_cast<type *>(shared_memory)
#endif

// ---- lanes: 16 neighbouring threads of a warp do a row, so that sums along it are the CPU's fixed
// tree (kernels/cpu/lanes.h): lane l adds columns l, l + 16, ..., then takes lane l+8, l+4, l+2,
// l+1.
enum { LANES = 16 };
__device__ static inline unsigned lanes_mask(void) { // of this thread's 16, in its warp
    return 0xffffu << (threadIdx.x / LANES % 2 * LANES);
}
// The sum, in all 16 lanes. All of them call it.
__device__ static inline float lanes_sum(float value) {
    for (int half = LANES / 2; half > 0; half /= 2)
        value += __shfl_down_sync(lanes_mask(), value, half, LANES);
    return __shfl_sync(lanes_mask(), value, 0, LANES);
}
