// ranks: 1
// If this failed, kernels with a missing barrier, a wrong mask or an index beyond their memory
// would pass their tests on the emulated device, or right ones would fail there.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define _Noreturn [[noreturn]]
extern "C" {
#include "support.h"
}

#ifdef __SANITIZE_ADDRESS__
static const bool has_asan = true;
#else
static const bool has_asan = false;
#endif

static const char *const orders[] = {"forward", "backward", "shuffled", "interleaved"};
enum { ORDERS = 4, MANY = 1000, HALF = 16 };

static cudaStream_t first, second;

static int open_streams(void **) {
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    return cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, -1);
}
static int close_streams(void **) {
    emulated_set_order(NULL);
    emulated_set_streams(NULL);
    cudaStreamDestroy(second);
    return cudaStreamDestroy(first);
}

#define STREAMS_TEST(name) TEST_WITH(name, open_streams, close_streams)

template <typename... Parameters, typename... Arguments>
static void launch(void (*kernel)(Parameters...), int grid, int block, size_t bytes,
                   Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)grid);
    config.blockDim = dim3((unsigned)block);
    config.dynamicSmemBytes = bytes;
    config.stream = first;
    assert_int_equal(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
}

template <typename T> static T *device_new(size_t count) {
    T *at = NULL;
    assert_int_equal(cudaMalloc(&at, count * sizeof *at), cudaSuccess);
    cudaMemsetAsync(at, 0, count * sizeof *at, first);
    return at;
}
template <typename T> static void to_host(T *host, const T *device, size_t count) {
    cudaMemcpyAsync(host, device, count * sizeof *host, cudaMemcpyDeviceToHost, first);
    cudaStreamSynchronize(first);
}
template <typename T> static T *device_copy(const T *host, size_t count) {
    T *at = device_new<T>(count);
    cudaMemcpyAsync(at, host, count * sizeof *at, cudaMemcpyHostToDevice, first);
    cudaStreamSynchronize(first);
    return at;
}

// ---- right kernels

__global__ static void note_turns(int *turn, int *turns) {
    turn[atomicAdd(turns, 1)] = (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

static void turns_of(const char *order, int *turn, int grid, int block) {
    int *device = device_new<int>((size_t)(grid * block)), *turns = device_new<int>(1);
    emulated_set_order(order);
    launch(note_turns, grid, block, 0, device, turns);
    to_host(turn, device, (size_t)(grid * block));
    cudaFree(turns);
    cudaFree(device);
}

STREAMS_TEST(threads_and_blocks_run_in_four_orders) {
    enum { GRID = 3, BLOCK = 65, ALL = GRID * BLOCK };
    int turn[ORDERS][ALL], again[ALL];
    for (int o = 0; o < ORDERS; o++) {
        int seen[ALL] = {};
        turns_of(orders[o], turn[o], GRID, BLOCK);
        for (int number : turn[o])
            assert_int_equal(seen[number]++, 0);
        for (int other = 0; other < o; other++)
            assert_memory_not_equal(turn[o], turn[other], sizeof again);
    }
    for (int i = 0; i < ALL; i++) {
        assert_int_equal(turn[0][i], i);
        assert_int_equal(turn[1][i], ALL - 1 - i);
    }
    assert_true(turn[3][1] == 2 && turn[3][BLOCK] == 2 * BLOCK); // lane 2, block 2
    turns_of("shuffled", again, GRID, BLOCK);
    assert_memory_not_equal(turn[2], again, sizeof again);
}

// Each thread notes two turns, with a meeting of its warp between them.
__global__ static void note_rounds(int *turn, int *turns) {
    turn[atomicAdd(turns, 1)] = (int)threadIdx.x;
    __syncwarp();
    turn[atomicAdd(turns, 1)] = (int)threadIdx.x;
}

STREAMS_TEST(warps_take_turns_where_they_are_interleaved) {
    int turn[128], *device = device_new<int>(128), *turns = device_new<int>(1);
    for (const char *order : {"forward", "interleaved"}) {
        emulated_set_order(order);
        cudaMemsetAsync(turns, 0, sizeof *turns, first);
        launch(note_rounds, 1, 64, 0, device, turns);
        to_host(turn, device, 128);
        const int second = order[0] == 'f' ? 0 : 1; // the warp that is the second to have a turn
        for (int i = 0; i < 64; i++)
            assert_int_equal(turn[i] / 32, i / 32 * second);
    }
    cudaFree(turns);
    cudaFree(device);
}

// *out = the sum of x by shuffles in halves of warps, shared memory, and a vote on the way.
__global__ static void sum_block(long long *out, const int *x, int count) {
    SHARED(int, part);
    const unsigned half = 0xffffu << (threadIdx.x / HALF % 2 * HALF);
    for (int begin = 0; begin < count; begin += (int)blockDim.x) {
        const int i = begin + (int)threadIdx.x;
        int sum = i < count ? x[i] : 0;
        for (int by = HALF / 2; by > 0; by /= 2)
            sum += __shfl_down_sync(half, sum, by, HALF);
        if (threadIdx.x % HALF == 0)
            part[threadIdx.x / HALF] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int p = 0; p < (int)blockDim.x / HALF; p++)
                *out += part[p];
        __syncthreads();
    }
}

__global__ static void lane_calls(unsigned *out) {
    const unsigned all = 0xffffffffu, l = threadIdx.x % 32, even = 0x55555555u;
    out[threadIdx.x] = __shfl_sync(all, l, 3, 8);            // 3 of the segment of 8
    out[32 + threadIdx.x] = __shfl_up_sync(all, l, 1, 16);   // the first keep their own
    out[64 + threadIdx.x] = __shfl_down_sync(all, l, 2, 16); // the last two keep their own
    out[96 + threadIdx.x] = __shfl_xor_sync(all, l, 8, 8);   // an earlier segment, or their own
    if (l % 2 == 0)
        out[128 + threadIdx.x] = __ballot_sync(even, l > 15);
    __syncwarp();
    out[160 + threadIdx.x] = (unsigned)(__any_sync(all, l == 9) + 2 * __all_sync(all, l < 31));
    out[192 + threadIdx.x] = (unsigned)__shfl_xor_sync(all, 0.5 * l, 1); // 8 bytes
}

STREAMS_TEST(orders_do_not_show_in_right_kernels) {
    int x[MANY];
    for (int i = 0; i < MANY; i++)
        x[i] = i * i;
    int *device = device_copy(x, MANY);
    for (const char *order : orders) {
        long long sum = 0, *out = device_new<long long>(1);
        unsigned got[224], *lanes = device_new<unsigned>(224);
        emulated_set_order(order);
        launch(sum_block, 1, 96, 6 * sizeof(int), out, device, (int)MANY);
        launch(lane_calls, 1, 32, 0, lanes);
        to_host(&sum, out, 1);
        to_host(got, lanes, 224);
        assert_int_equal(sum, (long long)MANY * (MANY - 1) * (2 * MANY - 1) / 6);
        for (unsigned l = 0; l < 32; l++) {
            assert_int_equal(got[l], l / 8 * 8 + 3);
            assert_int_equal(got[32 + l], l % 16 == 0 ? l : l - 1);
            assert_int_equal(got[64 + l], l % 16 >= 14 ? l : l + 2);
            assert_int_equal(got[96 + l], l / 8 % 2 == 1 ? l - 8 : l);
            assert_int_equal(got[128 + l], l % 2 == 0 ? 0x55550000u : 0);
            assert_int_equal(got[160 + l], 1);
            assert_int_equal(got[192 + l], (l ^ 1) / 2);
        }
        cudaFree(lanes);
        cudaFree(out);
    }
    cudaFree(device);
}

__global__ static void shift(int *out, bool waits) {
    SHARED(int, number);
    number[threadIdx.x] = (int)threadIdx.x;
    if (waits)
        __syncthreads();
    out[threadIdx.x] = number[(threadIdx.x + 1) % blockDim.x];
}

STREAMS_TEST(a_missing_barrier_shows) {
    enum { BLOCK = 64 };
    int got[2][ORDERS][BLOCK], *device = device_new<int>(BLOCK);
    for (int waits = 0; waits < 2; waits++)
        for (int o = 0; o < ORDERS; o++) {
            emulated_set_order(orders[o]);
            launch(shift, 1, BLOCK, BLOCK * sizeof(int), device, waits == 1);
            to_host(got[waits][o], device, BLOCK);
        }
    for (int o = 1; o < ORDERS; o++) {
        assert_memory_equal(got[1][o], got[1][0], sizeof got[1][0]);
        assert_memory_not_equal(got[0][o], got[0][0], sizeof got[0][0]);
    }
    assert_int_equal(got[0][0][0], -1); // forward: nobody has written the neighbour's number
    cudaFree(device);
}

// ---- streams

// What has run of two streams when an event between two copies of the first is waited for.
static void expect_run(const char *order, bool before, bool behind, bool beside) {
    const int one = 1;
    int got[3], *device = device_copy(&one, 1);
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventBlockingSync);
    emulated_set_streams(order);
    for (int i = 0; i < 3; i++) {
        cudaMemcpyAsync(&got[i], device, sizeof one, cudaMemcpyDeviceToHost,
                        i < 2 ? first : second);
        if (i == 0)
            cudaEventRecord(event, first);
    }
    assert_int_equal(got[0], 0x7fffffff); // it is spoiled until the copy runs
    cudaEventSynchronize(event);
    assert_int_equal(cudaEventQuery(event), cudaSuccess);
    assert_int_equal(got[0] == 1, before);
    assert_int_equal(got[1] == 1, behind);
    assert_int_equal(got[2] == 1, beside);
    cudaDeviceSynchronize();
    assert_true(got[1] == 1 && got[2] == 1);
    cudaEventDestroy(event);
    cudaFree(device);
}

STREAMS_TEST(a_wait_runs_what_its_order_says) {
    expect_run("oldest", true, false, false);
    expect_run("newest", true, false, true);
}

STREAMS_TEST(a_stream_waits_for_what_an_event_was) {
    for (const char *order : {"oldest", "newest", "random", "random"}) {
        int one = 0, got = 0, *device = device_new<int>(1);
        cudaEvent_t event;
        emulated_set_streams(order);
        cudaEventCreate(&event);
        cudaMemcpyAsync(device, &one, sizeof one, cudaMemcpyHostToDevice, first);
        one = 1; // the copy has not read it yet
        cudaEventRecord(event, first);
        cudaStreamWaitEvent(second, event);
        cudaEventRecord(event, second); // the wait is for what it was
        cudaMemcpyAsync(&got, device, sizeof got, cudaMemcpyDeviceToHost, second);
        int asked = 0;
        for (; cudaStreamQuery(second) == cudaErrorNotReady; asked++)
            assert_true(asked < 100);
        assert_true(asked > 10 && got == 1); // six commands, a step in three questions
        cudaEventDestroy(event);
        cudaFree(device);
    }
}

// ---- memory and libraries

STREAMS_TEST(memory_is_limited_and_full_of_nothing) {
    float got[64];
    void *block = NULL;
    size_t left = 0, all = 0;
    setenv("FRINGE_EMULATED_MEMORY", "1000", 1);
    assert_int_equal(cudaMalloc(&block, sizeof got), cudaSuccess);
    assert_int_equal((uintptr_t)block % 256, 0);
    cudaMemGetInfo(&left, &all);
    assert_true(left == 1000 - sizeof got && all == 1000);
    void *more = NULL;
    assert_int_equal(cudaMalloc(&more, 800), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    unsetenv("FRINGE_EMULATED_MEMORY");
    cudaMemcpy(got, block, sizeof got, cudaMemcpyDeviceToHost);
    for (float x : got)
        assert_true(isnan(x));
    cudaFree(block);
}

STREAMS_TEST(dense_products_are_right) {
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, -1, 2, 0, 1, 3}, two = 2, one = 1; // 2x3, 3x2
    const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    float *x = device_copy(a, 6), *y = device_copy(b, 6), *z = device_copy(ones, 8), got[8];
    cublasHandle_t blas;
    cublasCreate(&blas);
    cublasSetStream(blas, first);
    // another mode may take TF32
    assert_int_equal(
        cublasSgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &two, x, 2, y, 3, &one, z, 2),
        CUBLAS_STATUS_NOT_SUPPORTED);
    cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH);
    cublasSgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &two, x, 2, y, 3, &one, z, 2);
    cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_T, 2, 2, 3, &one, x, 3, y, 2, &one, z + 4, 2);
    to_host(got, z, 8);
    const float want[] = {17, 21, 37, 45, 9, 21, 9, 15};
    assert_memory_equal(got, want, sizeof got);
    cublasDestroy(blas);
    for (void *block : {x, y, z})
        cudaFree(block);
}

STREAMS_TEST(sparse_products_are_right) {
    const int32_t offset[] = {0, 2, 2, 3}, column[] = {0, 2, 1};
    const float weight[] = {2, 3, 5};
    int32_t *o = device_copy(offset, 4), *c = device_copy(column, 3);
    float *w = device_copy(weight, 3), product[6];
    const float a[] = {1, 2, 3, 4, 5, 6}, one = 1, zero = 0;
    float *x = device_copy(a, 6), *y = device_new<float>(6), *buffer = device_new<float>(16);
    cusparseHandle_t sparse;
    cusparseSpMatDescr_t matrix;
    cusparseDnMatDescr_t from, to;
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    cusparseCreate(&sparse);
    cusparseSetStream(sparse, first);
    cusparseCreateCsr(&matrix, 3, 3, 3, o, c, w, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateDnMat(&from, 3, 2, 2, x, CUDA_R_32F, CUSPARSE_ORDER_ROW);
    cusparseCreateDnMat(&to, 3, 2, 2, y, CUDA_R_32F, CUSPARSE_ORDER_ROW);
    assert_int_equal(cusparseSpMM_preprocess(sparse, plain, plain, &one, matrix, from, &zero, to,
                                             CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, buffer),
                     CUSPARSE_STATUS_SUCCESS);
    assert_int_equal(cusparseSpMM(sparse, plain, plain, &one, matrix, from, &zero, to, CUDA_R_32F,
                                  CUSPARSE_SPMM_CSR_ALG3, buffer),
                     CUSPARSE_STATUS_SUCCESS);
    to_host(product, y, 6);
    const float sums[] = {17, 22, 0, 0, 15, 20};
    assert_memory_equal(product, sums, sizeof sums);
    cusparseDestroyDnMat(to);
    cusparseDestroyDnMat(from);
    cusparseDestroySpMat(matrix);
    cusparseDestroy(sparse);
    for (void *block : {(void *)buffer, (void *)w, (void *)c, (void *)o, (void *)x, (void *)y})
        cudaFree(block);
}

#include "faults.h"
