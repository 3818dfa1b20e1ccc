// Sums of squares of a block, in double: number i of the block is added by lane i % 16, in order,
// and the lanes as a tree.
#include "lanes.h"
#include "sums.h"

double LANES_NAME(square_sum)(const void *of, int64_t begin, int64_t end) {
    const float *x = (const float *)of;
    double lane[16] = {0};
    int64_t i = begin;
    for (; i + 16 <= end; i += 16)
        for (int l = 0; l < 16; l++)
            lane[l] += (double)x[i + l] * (double)x[i + l];
    for (int l = 0; i < end; i++, l++)
        lane[l] += (double)x[i] * (double)x[i];
    return lanes_sum(lane);
}

typedef struct Sums {
    double moved[16], size[16];
} Sums;

LANES_INLINE void add_one(Sums *sums, int lane, float a, float b) {
    double d = (double)a - (double)b;
    sums->moved[lane] += d * d;
    sums->size[lane] += (double)b * (double)b;
}

void LANES_NAME(distance)(double two[2], const float *a, const float *b, int64_t begin,
                          int64_t end) {
    Sums sums = {0};
    int64_t i = begin;
    for (; i + 16 <= end; i += 16)
        for (int l = 0; l < 16; l++)
            add_one(&sums, l, a[i + l], b[i + l]);
    for (int l = 0; i < end; i++, l++)
        add_one(&sums, l, a[i], b[i]);
    two[0] = lanes_sum(sums.moved);
    two[1] = lanes_sum(sums.size);
}
