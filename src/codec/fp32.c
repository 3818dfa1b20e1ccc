// fp32: a row is its floats, tight. The smallest codec, and the one to copy: bytes, encode, decode,
// and the table entry last. Both directions are bound by memory (blocks.h).
//
//   payload   row 0: columns floats | row 1: columns floats | ...     no padding, no ids (law 6)

#include "blocks.h"
#include "internal.h"

#include <string.h>

static size_t fp32_bytes(const MessageShape *shape) {
    return memory_product(shape->rows, memory_product(shape->columns, sizeof(float)));
}

// out[c] = scale * x[c]
static void scale_row(float *out, const float *x, float scale, int64_t columns) {
    for (int64_t c = 0; c < columns; c++)
        out[c] = scale * x[c];
}

// Rows [begin, end) of the list.
static void encode_block(float *out, const MessageSource *source, int64_t begin, int64_t end,
                         int64_t count) {
    const int64_t columns = source->x.columns;
    for (int64_t k = begin; k < end; k++) {
        ask_ahead(source, k, count);
        const float *from = message_row(source, source->row[k]);
        if (source->scale == NULL)
            memcpy(out + k * columns, from, (size_t)columns * sizeof(float));
        else
            scale_row(out + k * columns, from, message_scale(source, source->row[k]), columns);
    }
}

static int64_t fp32_encode(const Backend *backend, unsigned char *out, const MessageShape *shape,
                           const MessageSource *source, const Poll *poll) {
    (void)backend;
    float *to = (float *)(void *)out;
    const int64_t count = shape->rows, columns = shape->columns;
    const int64_t step = rows_of_a_block(columns), blocks = (count + step - 1) / step;
#pragma omp parallel for schedule(static) if (count * columns > PARALLEL)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t begin = b * step, end = begin + step < count ? begin + step : count;
        encode_block(to, source, begin, end, count);
        poll_sometimes(poll, b);
    }
    return -1; // every value can be written
}

static void fp32_decode(const Backend *backend, Rows out, int64_t begin, const MessageShape *shape,
                        const unsigned char *in, const Poll *poll) {
    (void)backend;
    const size_t bytes = (size_t)out.columns * sizeof(float);
    const int64_t count = shape->rows;
    const int64_t step = rows_of_a_block(out.columns), blocks = (count + step - 1) / step;
#pragma omp parallel for schedule(static) if (count * out.columns > PARALLEL)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t end = (b + 1) * step < count ? (b + 1) * step : count;
        for (int64_t k = b * step; k < end; k++) {
            float *row = out.at + (begin + k) * out.stride;
            memcpy(row, in + (size_t)k * bytes, bytes);
            clear_padding(row, out.columns);
        }
        poll_sometimes(poll, b);
    }
}

const Codec codec_fp32 = {
    .name = "fp32",
    .bytes = fp32_bytes,
    .encode = fp32_encode,
    .decode = fp32_decode,
};
