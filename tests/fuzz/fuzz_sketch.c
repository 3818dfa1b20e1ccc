// The reader of sketches of gradients, which says no more of a message than that it refuses it.

#include "fuzz.h"

#include "codec/sketch.h"

#include <math.h>

// The first byte chooses the options, the next two say how many floats there are; the others are
// the message. What was read is finite.
FUZZER {
    if (count < 3)
        return;
    const SketchOptions options = {.buckets = bytes[0] & 1 ? 256 : 6,
                                   .groups = bytes[0] & 2 ? 8 : 1,
                                   .tables = bytes[0] & 4 ? 2 : 3,
                                   .bins = bytes[0] & 8 ? .3 : 1,
                                   .entropy = bytes[0] & 16,
                                   .part = bytes[0] & 32 ? .1 : 1};
    int64_t n = bytes[1] + 256 * bytes[2];
    float *x = malloc((size_t)n * sizeof *x + 1);
    void *scratch = malloc(sketch_scratch(&options, n));
    uint8_t *exact = fuzz_exact(bytes + 3, count - 3);
    FUZZ_CHECK(x != NULL && scratch != NULL);
    if (sketch_read(x, n, &options, exact, count - 3, scratch)) {
        for (int64_t i = 0; i < n; i++)
            FUZZ_CHECK(isfinite(x[i]));
    }
    free(exact);
    free(scratch);
    free(x);
}
