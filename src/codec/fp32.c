// fp32: a row is its floats, tight. The smallest codec, and the one to copy: bytes, encode, decode,
// and the table entry last. A codec says where rows lie in the message; the backend's operations
// move them.
//
//   payload   row 0: columns floats | row 1: columns floats | ...     no padding, no ids (law 6)

#include "internal.h"

static size_t fp32_bytes(const MessageLayout *layout) {
    return memory_product(layout->rows, memory_product(layout->columns, sizeof(float)));
}

static size_t fp32_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                          const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    (void)bad; // every value can be written
    backend->pack_fp32(out, source, layout->rows, poll);
    return fp32_bytes(layout);
}

static void fp32_decode(const Backend *backend, Rows out, int64_t begin,
                        const MessageLayout *layout, const DeviceByte *in, const Poll *poll) {
    backend->unpack_fp32(out, begin, in, layout->rows, poll);
}

const Codec codec_fp32 = {
    .name = "fp32",
    .bytes = fp32_bytes,
    .bytes_most = fp32_bytes, // the length depends on rows and columns only
    .encode = fp32_encode,
    .decode = fp32_decode,
};
