// A lossless codec whose length depends on the values: the floats of a message that are not zero,
// and a bitmap that says which. It loops on the host, which only a test may do.
//
//   | bitmap: float k is bit k % 8 of byte k / 8, filled up to 64 bytes | the floats, tight |
//
// A message of zeros has no byte. Zero is +0: all other floats arrive as they are.
#pragma once

#include "device.h"
#include "fringe/codec.h"

static inline size_t sparse_bitmap(const MessageLayout *layout) {
    return (size_t)((layout->rows * layout->columns + 511) / 512 * 64);
}

static inline size_t sparse_bytes(const MessageLayout *layout) {
    return sparse_bitmap(layout) + (size_t)(layout->rows * layout->columns) * sizeof(float);
}

static inline bool is_zero(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits == 0;
}

// Packs all floats behind the bitmap, and moves those that stay together.
static inline size_t sparse_encode(const Backend *backend, DeviceByte *out,
                                   const MessageLayout *layout, const MessageSource *source,
                                   DeviceInt64 *bad, const Poll *poll) {
    unsigned char *bitmap = (unsigned char *)out;
    float *at = (float *)(bitmap + sparse_bitmap(layout));
    int64_t kept = 0, *first_bad = (int64_t *)bad;
    memset(bitmap, 0, sparse_bitmap(layout));
    backend->pack_fp32((DeviceByte *)at, source, layout->rows, poll);
    for (int64_t k = 0; k < layout->rows * layout->columns; k++) {
        if (!isfinite(at[k]) && *first_bad == 0)
            *first_bad = 1 + k / layout->columns;
        if (is_zero(at[k]))
            continue;
        bitmap[k / 8] |= (unsigned char)(1U << k % 8);
        at[kept++] = at[k];
    }
    return kept == 0 ? 0 : sparse_bitmap(layout) + (size_t)kept * sizeof(float);
}

static inline void sparse_decode(const Backend *backend, Rows out, int64_t begin,
                                 const MessageLayout *layout, const DeviceByte *in,
                                 const Poll *poll) {
    const unsigned char *bitmap = (const unsigned char *)in;
    const float *at = (const float *)(bitmap + sparse_bitmap(layout));
    (void)backend, (void)poll;
    memset(floats(out) + begin * out.stride, 0, rows_bytes(layout->rows, out.columns));
    for (int64_t k = 0; layout->bytes > 0 && k < layout->rows * layout->columns; k++)
        if ((unsigned)bitmap[k / 8] >> k % 8 & 1U)
            floats(out)[(begin + k / out.columns) * out.stride + k % out.columns] = *at++;
}

static const Codec sparse = {.name = "sparse",
                             .varies = true,
                             .bytes = sparse_bytes,
                             .bytes_most = sparse_bytes,
                             .encode = sparse_encode,
                             .decode = sparse_decode};
