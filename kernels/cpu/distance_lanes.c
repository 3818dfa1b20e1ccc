// Sums of squares of a block, in double: number i of the block is added by lane i % 16, in order,
// and the lanes as a tree.
#include "distance.h"
#include "lanes.h"

typedef struct Sums {
    double moved[16], size[16];
} Sums;

LANES_INLINE void add_one(Sums *sums, int lane, float a, float b) {
    double d = (double)a - (double)b;
    sums->moved[lane] += d * d;
    sums->size[lane] += (double)b * (double)b;
}

void LANES_NAME(distance_some)(double two[2], const float *a, const float *b, int64_t begin,
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
