// What the files of messages share: the rows of a MessageSource as a kernel sees them, and how rows
// are spread over threads.
//
// The one idea: 4, 8, 16 or 32 neighbouring lanes of a warp do a row, the fewest that leave each at
// most CELLS cells of it (a cell is what a lane moves at once). So short rows leave few lanes idle,
// what is done once a row is done for several rows at a time, and every lane asks for CELLS cells
// before it waits for the first.
#pragma once

#include "device.h"

static constexpr int WARP = 32, MESSAGE_THREADS = 128, CELLS = 4;
#define WHOLE_WARP 0xffffffffu

// How many lanes do a row: 2^shift.
struct RowLanes {
    int count, shift;
};

// Of a row of so many cells.
static inline RowLanes row_lanes(int64_t cells) {
    RowLanes lanes = {4, 2};
    while (lanes.count < WARP && CELLS * lanes.count < cells)
        lanes = RowLanes{2 * lanes.count, lanes.shift + 1};
    return lanes;
}

// A thread's lane in its row; its row of the block, its first row, and from row to row.
__device__ static inline int row_lane(RowLanes lanes) {
    return (int)threadIdx.x & (lanes.count - 1);
}
__device__ static inline int row_of_block(RowLanes lanes) {
    return (int)threadIdx.x >> lanes.shift;
}
__device__ static inline int64_t first_row(RowLanes lanes) {
    return (int64_t)blockIdx.x * (MESSAGE_THREADS >> lanes.shift) + row_of_block(lanes);
}
__device__ static inline int64_t row_step(RowLanes lanes) {
    return (int64_t)gridDim.x * (MESSAGE_THREADS >> lanes.shift);
}

#define LAUNCH_ROWS(kernel, rows, lanes, bytes, ...)                                               \
    LAUNCH(kernel, cuda_blocks((rows) * (lanes).count, MESSAGE_THREADS), MESSAGE_THREADS, (bytes), \
           cuda_stream(STREAM_MESSAGE), __VA_ARGS__)

// Row r of what a message is made of, by its number in [own rows | partial sums].
template <typename Number>
__device__ static inline const Number *message_row(const MessageSource &source, int64_t r) {
    return r < source.x.count
               ? (const Number *)source.x.at + r * source.x.stride
               : (const Number *)source.partials.at + (r - source.x.count) * source.partials.stride;
}

// *bad becomes 1 + place if that is less or there is none (0). It only ever falls, so that a value
// which was read too early costs one more try and no wrong result.
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
