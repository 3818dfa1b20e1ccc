// Operations on the bytes and floats of messages, bound by memory. The checksum of a message: terms
// of words (checksum.h), added by threads, warps and one atomic of integers a warp.
#include "message.h"

#include "../checksum.h"

static constexpr int CHECKSUM_THREADS = 256;

typedef unsigned long long Sum; // as atomics have it

__global__ __launch_bounds__(CHECKSUM_THREADS) static void add_terms(Sum *all,
                                                                     const unsigned char *payload,
                                                                     uint64_t bytes) {
    const uint64_t words = (bytes + CHECKSUM_WORD - 1) / CHECKSUM_WORD;
    const uint64_t step = (uint64_t)gridDim.x * CHECKSUM_THREADS;
    Sum mine = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * CHECKSUM_THREADS + threadIdx.x; i < words; i += step)
        mine += checksum_term(checksum_word(payload, bytes, i), i);
    for (int half = WARP / 2; half > 0; half /= 2)
        mine += __shfl_down_sync(WHOLE_WARP, mine, half);
    if (threadIdx.x % WARP == 0)
        atomicAdd(all, mine);
}

void cuda_message_checksum(DeviceInt64 *sum, const DeviceByte *payload, size_t bytes,
                           const Poll *) {
    cuda_message_zero(sum, sizeof(int64_t));
    const int64_t words = divide_up((int64_t)bytes, CHECKSUM_WORD);
    LAUNCH(add_terms, cuda_blocks(words, CHECKSUM_THREADS), CHECKSUM_THREADS, 0,
           cuda_stream(STREAM_MESSAGE), (Sum *)int64s_of(sum), bytes_of(payload), bytes);
}

// ---- how far rows have moved

static constexpr int DISTANCE_THREADS = 256, TERMS = 1024;

// The terms of both sums, TERMS of each, from `begin` on.
__device__ static inline void make_terms(double *term, const float *a, const float *b,
                                         int64_t begin, int count) {
    for (int i = (int)threadIdx.x; i < count; i += DISTANCE_THREADS) {
        const double size = b[begin + i], moved = (double)a[begin + i] - size;
        term[i] = moved * moved;
        term[TERMS + i] = size * size;
    }
}

// part[b] and part[SUM_PARTS + b] = the two sums over block b: number i of the block is added by
// lane i % 16, in order, and the lanes as a tree. The first 16 threads do one sum, the next 16 the
// other.
__global__ __launch_bounds__(DISTANCE_THREADS) static void distance_blocks(
    double *part, const float *a, const float *b, int64_t count, int64_t block) {
    SHARED(double, term); // of both sums
    const int64_t first = (int64_t)blockIdx.x * block, end = least(first + block, count);
    const int which = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    double sum = 0;
    for (int64_t begin = first; begin < end; begin += TERMS) {
        const int here = (int)least(TERMS, end - begin);
        make_terms(term, a, b, begin, here);
        __syncthreads();
        for (int i = lane; which < 2 && i < here; i += LANES)
            sum += term[which * TERMS + i];
        __syncthreads();
    }
    if (which >= 2)
        return;
    for (int half = LANES / 2; half > 0; half /= 2)
        sum += __shfl_down_sync(lanes_mask(), sum, half, LANES);
    if (lane == 0)
        part[which * SUM_PARTS + blockIdx.x] = sum;
}

__global__ static void add_distances(double *two, const double *part, int64_t parts) {
    double sum = 0;
    for (int64_t i = 0; i < parts; i++)
        sum += part[threadIdx.x * SUM_PARTS + i];
    two[threadIdx.x] = sum;
}

void cuda_message_distance(DeviceDouble *two, const DeviceFloat *a, const DeviceFloat *b,
                           int64_t count, const Poll *) {
    double *part = (double *)cuda_scratch(SCRATCH_DISTANCE, 2 * SUM_PARTS * sizeof(double));
    const int64_t block = sum_block(count, LEAST_FLOATS), parts = divide_up(count, block);
    LAUNCH(distance_blocks, parts, DISTANCE_THREADS, 2 * TERMS * sizeof(double),
           cuda_stream(STREAM_MESSAGE), part, floats_of(a), floats_of(b), count, block);
    LAUNCH(add_distances, 1, 2, 0, cuda_stream(STREAM_MESSAGE), doubles_of(two), part, parts);
}
