// The bytes of keys.h, and the codec of that name: fp32 values that are not zero, and their places.

#include "internal.h"

#include "differences.h"
#include "keys.h"

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

// ---- the codec

void keys_set(MemberValues *values, double part) { memcpy(values->values, &part, sizeof part); }

static double part_of(const MessageLayout *layout) {
    return MEMBER_OPTIONS(double, &layout->values);
}

static size_t codec_bytes(const MessageLayout *layout) {
    int64_t n = tight_count(layout);
    return keys_most(n, top_count(part_of(layout), n));
}

static size_t encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                     const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    const float *x = tight_pack(backend, layout, source, bad, poll);
    size_t bytes = keys_write((unsigned char *)(void *)out, x, tight_count(layout));
    assert(bytes <= codec_bytes(layout));
    return bytes;
}

static void decode(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                   const DeviceByte *in, const Poll *poll) {
    CHECK(keys_read(tight_floats(backend, layout), tight_count(layout),
                    (const unsigned char *)(const void *)in, layout->bytes),
          EXIT_INTEGRITY, "the keys of a message of %ld rows do not decode", layout->rows);
    tight_unpack(backend, out, begin, layout, poll);
}

const Codec codec_key_values = {
    .name = "keys",
    .varies = true,
    .bytes = codec_bytes,
    .bytes_most = codec_bytes, // more rows or longer ones take no fewer
    .scratch = tight_bytes,
    .encode = encode,
    .decode = decode,
};
