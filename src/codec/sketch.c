// The codec sketch: buckets of quantiles (sketch.h) of all floats of a message.

#include "sketch.h"
#include "internal.h"

_Static_assert(sizeof(SketchOptions) <= sizeof(MemberValues), "the options fit");

void sketch_set(MemberValues *values, SketchOptions options) {
    memcpy(values->values, &options, sizeof options);
}

static SketchOptions options_of(const MessageLayout *layout) {
    return MEMBER_OPTIONS(SketchOptions, &layout->values);
}

static size_t codec_bytes(const MessageLayout *layout) {
    SketchOptions options = options_of(layout);
    return sketch_most(&options, tight_count(layout));
}

// Behind the floats, of which there are more than the layout says where rows are shorter.
static size_t codec_scratch(const MessageLayout *layout) {
    SketchOptions options = options_of(layout);
    return tight_bytes(layout) + sketch_scratch(&options, layout->rows * layout->columns);
}

static void *scratch_of(const MessageLayout *layout) {
    return byte_at(layout->scratch, (int64_t)tight_bytes(layout));
}

// Which bins keys have in sketches: a number of the epoch, the first row, and who codes.
static uint32_t seed_of(const MessageLayout *layout, const MessageSource *source) {
    int64_t row = layout->rows > 0 ? ((const int32_t *)(const void *)source->row)[0] : 0;
    int64_t id = layout->rows > 0 ? ((const int64_t *)(const void *)source->gid)[row] : 0;
    return (uint32_t)(random_uniform32(source->random, id, source->peer, 0) * 0x1p32);
}

// A message of values that are not finite is not sent. It stands for zeros, so that it decodes.
static size_t encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                     const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    SketchOptions options = options_of(layout);
    float *x = tight_pack(backend, layout, source, bad, poll);
    int64_t n = tight_count(layout);
    if (*(int64_t *)(void *)bad != 0)
        memset(x, 0, (size_t)n * sizeof *x);
    size_t bytes = sketch_write((unsigned char *)(void *)out, x, n, &options,
                                seed_of(layout, source), scratch_of(layout));
    assert(bytes <= codec_bytes(layout));
    return bytes;
}

static void decode(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                   const DeviceByte *in, const Poll *poll) {
    SketchOptions options = options_of(layout);
    CHECK(sketch_read(tight_floats(backend, layout), tight_count(layout), &options,
                      (const unsigned char *)(const void *)in, layout->bytes, scratch_of(layout)),
          EXIT_INTEGRITY, "the sketch of a message of %ld rows does not decode", layout->rows);
    tight_unpack(backend, out, begin, layout, poll);
}

const Codec codec_sketch = {
    .name = "sketch",
    .varies = true,
    .bytes = codec_bytes,
    .bytes_most = codec_bytes, // more rows or longer ones take no fewer
    .scratch = codec_scratch,
    .encode = encode,
    .decode = decode,
};
