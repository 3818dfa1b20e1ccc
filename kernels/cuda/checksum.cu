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
                           const Poll *poll) {
    (void)poll;
    cuda_message_zero(sum, sizeof(int64_t));
    const int64_t words = divide_up((int64_t)bytes, CHECKSUM_WORD);
    LAUNCH(add_terms, cuda_blocks(words, CHECKSUM_THREADS), CHECKSUM_THREADS, 0,
           cuda_stream(STREAM_MESSAGE), (Sum *)int64s_of(sum), bytes_of(payload), bytes);
}

// ---- what is remembered of rows

__global__ __launch_bounds__(CHECKSUM_THREADS) static void combine(float *out, float a,
                                                                   const float *x, float b,
                                                                   int64_t count) {
    const int64_t step = (int64_t)gridDim.x * CHECKSUM_THREADS;
    for (int64_t i = (int64_t)blockIdx.x * CHECKSUM_THREADS + threadIdx.x; i < count; i += step) {
        const float added = b * x[i];
        out[i] = a == 0 ? added : a * out[i] + added;
    }
}

void cuda_message_combine(DeviceFloat *out, float a, const DeviceFloat *x, float b, int64_t count,
                          const Poll *poll) {
    (void)poll;
    LAUNCH(combine, cuda_blocks(count, CHECKSUM_THREADS), CHECKSUM_THREADS, 0,
           cuda_stream(STREAM_MESSAGE), floats_of(out), a, floats_of(x), b, count);
}
