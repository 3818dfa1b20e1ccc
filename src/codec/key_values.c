// The codec keys: fp32 values that are not zero, and their places (keys.h).

#include "internal.h"
#include "keys.h"

void keys_set(MemberValues *values, double part) { memcpy(values->values, &part, sizeof part); }

static double part_of(const MessageLayout *layout) {
    double part;
    memcpy(&part, layout->values.values, sizeof part);
    return part;
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
