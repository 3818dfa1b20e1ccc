// bf16: every value as the upper half of its float, rounded to nearest, halves to even; 2 bytes.
// Rounding is deterministic, so the error of a value has a bias of up to half an ulp (2^-9 of it).
//
//   payload   row 0: columns bf16 | row 1: columns bf16 | ...     little-endian, no padding

#include "internal.h"

static size_t bf16_bytes(const MessageLayout *layout) {
    return memory_product(layout->rows, memory_product(layout->columns, sizeof(uint16_t)));
}

static size_t bf16_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                          const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    backend->pack_bf16(out, source, layout->rows, bad, poll);
    return bf16_bytes(layout);
}

static void bf16_decode(const Backend *backend, Rows out, int64_t begin,
                        const MessageLayout *layout, const DeviceByte *in, const Poll *poll) {
    backend->unpack_bf16(out, begin, in, layout->rows, poll);
}

const Codec codec_bf16 = {
    .name = "bf16",
    .bytes = bf16_bytes,
    .bytes_most = bf16_bytes,
    .encode = bf16_encode,
    .decode = bf16_decode,
};
