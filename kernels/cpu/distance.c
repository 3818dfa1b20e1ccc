// How far rows have moved since they were sent last.
#include "distance.h"

enum { PIECE = 4096, BLOCKS = 256 };

// In at most 256 blocks whose size is a function of `count` alone, added in order.
void cpu_message_distance(DeviceDouble *two, const DeviceFloat *a, const DeviceFloat *b,
                          int64_t count, const Poll *poll) {
    const int64_t even = (count + BLOCKS - 1) / BLOCKS, block = even < PIECE ? PIECE : even;
    const int64_t blocks = (count + block - 1) / block;
    double part[BLOCKS][2], *sum = cpu_doubles(two);
    Pace pace = pace_start(poll);
    void (*some)(double *, const float *, const float *, int64_t, int64_t) =
        LANES_PICK(distance_some);
#pragma omp parallel for schedule(static) if (blocks > 8)
    for (int64_t i = 0; i < blocks; i++) {
        int64_t end = (i + 1) * block;
        some(part[i], cpu_floats(a), cpu_floats(b), i * block, end < count ? end : count);
        pace_call(&pace);
    }
    sum[0] = sum[1] = 0;
    for (int64_t i = 0; i < blocks; i++) {
        sum[0] += part[i][0];
        sum[1] += part[i][1];
    }
}
