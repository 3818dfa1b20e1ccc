// bf16: every value as the upper half of its float, rounded to nearest, halves to even; 2 bytes.
// Deterministic, so biased by up to half an ulp (2^-9 of the value), which is what "half the bytes,
// nothing to tune" costs.
//
//   payload   row 0: columns bf16 | row 1: columns bf16 | ...     little-endian, no padding

#include "blocks.h"
#include "internal.h"

#include <string.h>

static size_t bf16_bytes(const MessageShape *shape) {
    return memory_product(shape->rows, memory_product(shape->columns, sizeof(uint16_t)));
}

// The bf16 of a float's bits. An exponent of ones in the result: not finite, or beyond the largest
// bf16.
static inline uint32_t rounded(uint32_t bits) { return (bits + 0x7fff + (bits >> 16 & 1)) >> 16; }

// False if a value has no bf16.
static bool encode_row(unsigned char *to, const float *x, float scale, int64_t columns) {
    uint32_t bad = 0;
    for (int64_t c = 0; c < columns; c++) {
        float value = scale * x[c];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint16_t half = (uint16_t)rounded(bits);
        bad |= (bits >> 23 & 0xff) == 0xff; // a NaN may round to anything
        bad |= (half & 0x7f80) == 0x7f80;
        memcpy(to + 2 * c, &half, sizeof half);
    }
    return bad == 0;
}

static void decode_row(float *out, const unsigned char *from, int64_t columns) {
    for (int64_t c = 0; c < columns; c++) {
        uint16_t half;
        memcpy(&half, from + 2 * c, sizeof half);
        uint32_t bits = (uint32_t)half << 16;
        memcpy(out + c, &bits, sizeof bits);
    }
    clear_padding(out, columns);
}

// Rows [begin, end) of the list; the first place that cannot be written, or `count`.
static int64_t encode_block(unsigned char *out, const MessageSource *source, int64_t begin,
                            int64_t end, int64_t count) {
    const int64_t columns = source->x.columns;
    int64_t bad = count;
    for (int64_t k = begin; k < end; k++) {
        int32_t row = source->row[k];
        ask_ahead(source, k, count);
        if (!encode_row(out + 2 * k * columns, message_row(source, row), message_scale(source, row),
                        columns) &&
            bad == count)
            bad = k;
    }
    return bad;
}

static int64_t bf16_encode(const Backend *backend, unsigned char *out, const MessageShape *shape,
                           const MessageSource *source, const Poll *poll) {
    (void)backend;
    const int64_t count = shape->rows, columns = shape->columns;
    const int64_t step = rows_of_a_block(columns), blocks = (count + step - 1) / step;
    int64_t bad = count;
#pragma omp parallel for schedule(static) reduction(min : bad) if (count * columns > PARALLEL)
    for (int64_t i = 0; i < blocks; i++) {
        int64_t begin = i * step, end = begin + step < count ? begin + step : count;
        int64_t found = encode_block(out, source, begin, end, count);
        bad = found < bad ? found : bad;
        poll_sometimes(poll, i);
    }
    return bad < count ? bad : -1;
}

static void bf16_decode(const Backend *backend, Rows out, int64_t begin, const MessageShape *shape,
                        const unsigned char *in, const Poll *poll) {
    (void)backend;
    const int64_t count = shape->rows, columns = shape->columns;
    const int64_t step = rows_of_a_block(columns), blocks = (count + step - 1) / step;
#pragma omp parallel for schedule(static) if (count * columns > PARALLEL)
    for (int64_t i = 0; i < blocks; i++) {
        int64_t end = (i + 1) * step < count ? (i + 1) * step : count;
        for (int64_t k = i * step; k < end; k++)
            decode_row(out.at + (begin + k) * out.stride, in + 2 * k * columns, columns);
        poll_sometimes(poll, i);
    }
}

const Codec codec_bf16 = {
    .name = "bf16",
    .bytes = bf16_bytes,
    .encode = bf16_encode,
    .decode = bf16_decode,
};
