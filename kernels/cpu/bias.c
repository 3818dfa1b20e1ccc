// out[r] += bias: for layers whose aggregate is the last thing that happens to a row (transform first), where no
// dense product is left to add the bias while the row is in the cache.
#include "cpu.h"

void cpu_add_bias(Rows out, Range range, const float *bias, const Poll *poll) {
    enum { CHUNK = 1024 }; // rows between polls
    for (int64_t begin = range.begin; begin < range.end; begin += CHUNK) {
        int64_t end = begin + CHUNK < range.end ? begin + CHUNK : range.end;
#pragma omp parallel for schedule(static)
        for (int64_t r = begin; r < end; r++) {
            float *row = out.at + r * out.stride;
            for (int64_t c = 0; c < out.columns; c++)
                row[c] += bias[c];
        }
        poll_call(poll);
    }
}
