// All floats of a message, tight, at the beginning of its scratch, for codecs that make bytes of
// them one after the other: on the host, for backends whose memory is the host's.

#include "internal.h"

int64_t tight_count(const MessageLayout *layout) {
    return (int64_t)(codec_fp32.bytes(layout) / sizeof(float));
}

size_t tight_bytes(const MessageLayout *layout) {
    return memory_product(layout->rows, memory_product(layout->columns, sizeof(float)));
}

float *tight_floats(const Backend *backend, const MessageLayout *layout) {
    assert(backend->host_is_device);
    return (float *)(void *)byte_at(layout->scratch, 0);
}

// Reports the first row that has a value that is not finite.
static void check_rows(const float *x, const MessageLayout *layout, int64_t *bad) {
    for (Run run = {0}; run_next(&run, layout);)
        for (int64_t i = 0; i < run.count * run.columns; i++)
            if (!isfinite(*x++) && *bad == 0)
                *bad = 1 + run.begin + i / run.columns;
}

float *tight_pack(const Backend *backend, const MessageLayout *layout, const MessageSource *source,
                  DeviceInt64 *bad, const Poll *poll) {
    float *x = tight_floats(backend, layout);
    codec_fp32.encode(backend, layout->scratch, layout, source, bad, poll);
    check_rows(x, layout, (int64_t *)(void *)bad);
    return x;
}

void tight_unpack(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                  const Poll *poll) {
    codec_fp32.decode(backend, out, begin, layout, layout->scratch, poll);
}
