// The reader of values with keys, which says no more of a message than that it refuses it.

#include "fuzz.h"

#include "codec/keys.h"

// What was read is written again as it was.
static void write_again(const float *x, int64_t n, const uint8_t *message, size_t bytes) {
    unsigned char *out = malloc(bytes + 1);
    FUZZ_CHECK(out != NULL);
    FUZZ_CHECK(keys_write(out, x, n) == bytes);
    FUZZ_CHECK(memcmp(out, message, bytes) == 0);
    free(out);
}

// The first two bytes say how many floats there are; the others are the message.
FUZZER {
    if (count < 2)
        return;
    int64_t n = bytes[0] + 256 * bytes[1];
    float *x = malloc((size_t)n * sizeof *x + 1);
    uint8_t *exact = fuzz_exact(bytes + 2, count - 2);
    FUZZ_CHECK(x != NULL);
    if (keys_read(x, n, exact, count - 2))
        write_again(x, n, exact, count - 2);
    free(exact);
    free(x);
}
