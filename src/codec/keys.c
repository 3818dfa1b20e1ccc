// See keys.h.

#include "keys.h"
#include "differences.h"

#include <assert.h>
#include <string.h>

enum { COUNT_BYTES = 4 };

size_t keys_most(int64_t n, int64_t kept) {
    return n == 0 ? 0 : (size_t)(COUNT_BYTES + 4 * kept) + differences_most(n, kept, 1);
}

static int64_t count_of(const float *x, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += x[i] != 0;
    return count;
}

size_t keys_write(unsigned char *out, const float *x, int64_t n) {
    int64_t count = count_of(x, n);
    unsigned char *value = out + COUNT_BYTES;
    DifferenceWriter keys;
    assert(n <= INT32_MAX);
    if (n == 0)
        return 0;
    number_put(out, (uint32_t)count, COUNT_BYTES);
    keys = differences_write(value + 4 * count, count);
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0) {
            memcpy(value, &x[i], sizeof x[i]);
            value += sizeof x[i];
            differences_put(&keys, i);
        }
    return (size_t)(keys.at - out);
}

// Value by value, each at the place that its key says. False: there is none such.
static bool read_values(float *x, int64_t n, const unsigned char *value, DifferenceReader *keys) {
    for (int64_t place; keys->read < keys->count; value += sizeof *x) {
        if (!differences_get(keys, n, &place))
            return false;
        memcpy(&x[place], value, sizeof *x);
        if (x[place] == 0)
            return false;
    }
    return true;
}

bool keys_read(float *x, int64_t n, const unsigned char *in, size_t bytes) {
    const unsigned char *end = in + bytes;
    DifferenceReader keys;
    memset(x, 0, (size_t)n * sizeof *x);
    if (n == 0 || bytes < COUNT_BYTES)
        return n == 0 && bytes == 0;
    int64_t count = number_get(in, COUNT_BYTES);
    const unsigned char *value = in + COUNT_BYTES;
    return 4 * count <= end - value && differences_read(&keys, value + 4 * count, end, count) &&
           read_values(x, n, value, &keys) && keys.at == end;
}
