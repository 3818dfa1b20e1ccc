// What the files of messages share: the rows of a MessageSource as a kernel sees them.
#ifndef FRINGE_KERNELS_CUDA_MESSAGE_H
#define FRINGE_KERNELS_CUDA_MESSAGE_H

#include "device.h"

static constexpr int WARP = 32, MESSAGE_THREADS = 128, MESSAGE_WARPS = MESSAGE_THREADS / WARP;
#define WHOLE_WARP 0xffffffffu

// Row r of what a message is made of, by its number in [own rows | partial sums].
__device__ static inline const float *message_row(const MessageSource &source, int64_t r) {
    return r < source.x.count
               ? floats_of(source.x.at) + r * source.x.stride
               : floats_of(source.sums.at) + (r - source.x.count) * source.sums.stride;
}
__device__ static inline float message_scale(const MessageSource &source, int64_t r) {
    return source.scale != NULL && r < source.x.count ? floats_of(source.scale)[r] : 1.0f;
}
__device__ static inline int message_peer(const MessageSource &source, int64_t r) {
    return r < source.x.count ? source.peer : source.sum_peer;
}

// *bad becomes 1 + place if that is less or there is none (0).
__device__ static inline void note_bad(DeviceInt64 *bad, int64_t place) {
    unsigned long long *at = (unsigned long long *)int64s_of(bad), old = *at;
    const unsigned long long mine = (unsigned long long)(place + 1);
    while (old == 0 || mine < old) {
        const unsigned long long seen = atomicCAS(at, old, mine);
        if (seen == old)
            return;
        old = seen;
    }
}

// A warp does a row, then the row that lies as many rows behind as there are warps.
__device__ static inline int64_t first_row(void) {
    return (int64_t)blockIdx.x * MESSAGE_WARPS + threadIdx.x / WARP;
}
__device__ static inline int64_t row_step(void) { return (int64_t)gridDim.x * MESSAGE_WARPS; }

#define LAUNCH_ROWS(kernel, rows, bytes, ...)                                                      \
    LAUNCH(kernel, cuda_blocks((rows)*WARP, MESSAGE_THREADS), MESSAGE_THREADS, (bytes),            \
           cuda_stream(STREAM_MESSAGE), __VA_ARGS__)

#endif
