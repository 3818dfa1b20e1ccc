// The reader of entropy codes, which says no more of a message than that it refuses it.

#include "fuzz.h"

#include "codec/rans.h"

enum { ROOM = 2048 };

// What was read can be written, and is read again.
static void write_again(const uint8_t *code, int64_t n, int bits, uint8_t zero) {
    unsigned char *out = malloc(ROOM);
    uint8_t *again = malloc((size_t)n);
    FUZZ_CHECK(out != NULL && (again != NULL || n == 0));
    size_t bytes = rans_encode(out, ROOM, code, n, bits, zero);
    FUZZ_CHECK(bytes > 0 && rans_decode(again, n, bits, zero, out, bytes));
    FUZZ_CHECK(n == 0 || memcmp(again, code, (size_t)n) == 0);
    free(again);
    free(out);
}

// The first byte says of how many bits a code is, the second which is zero, the third how many
// there are; the others are the message.
FUZZER {
    if (count < 3)
        return;
    int bits = 1 + bytes[0] % 8;
    uint8_t zero = (uint8_t)(bytes[1] % (1 << bits));
    int64_t n = bytes[2];
    uint8_t *code = malloc((size_t)n), *exact = fuzz_exact(bytes + 3, count - 3);
    FUZZ_CHECK(code != NULL || n == 0);
    if (rans_decode(code, n, bits, zero, exact, count - 3)) {
        for (int64_t i = 0; i < n; i++)
            FUZZ_CHECK(code[i] >> bits == 0);
        write_again(code, n, bits, zero);
    }
    free(exact);
    free(code);
}
