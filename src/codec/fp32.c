// fp32: a row is its floats, tight. The smallest codec, and the one to copy: bytes, encode, decode,
// and the table entry last. Both directions are bound by memory, so the one idea is to ask for rows
// of the gather some time before they are read: send lists ascend (law 5), but with gaps that the
// hardware does not guess.
//
//   payload   row 0: columns floats | row 1: columns floats | ...     no padding, no ids (law 6)

#include "family.h"

#include <omp.h>
#include <string.h>

enum {
    AHEAD = 8,         // rows asked for before they are read
    LINE = 16,         // floats of a cache line
    BLOCK = 1 << 14,   // floats that a thread takes at a time
    POLL_EVERY = 16,   // blocks between two calls of the Poll: about a tenth of a millisecond
    PARALLEL = 1 << 15 // floats below which one thread is quicker than starting the others
};

static size_t fp32_bytes(const MessageShape *shape) {
    return memory_product(shape->rows, memory_product(shape->columns, sizeof(float)));
}

static void ask_for(const float *row, int64_t columns) {
    for (int64_t c = 0; c < columns; c += LINE)
        __builtin_prefetch(row + c);
}

// out[c] = scale * x[c]
static void scale_row(float *out, const float *x, float scale, int64_t columns) {
    for (int64_t c = 0; c < columns; c++)
        out[c] = scale * x[c];
}

// Rows [begin, end) of the list.
static void encode_block(float *out, const MessageSource *source, int64_t begin, int64_t end,
                         int64_t count) {
    const Rows x = source->x;
    const int32_t *row = source->row;
    for (int64_t k = begin; k < end; k++) {
        if (k + AHEAD < count)
            ask_for(x.at + row[k + AHEAD] * x.stride, x.columns);
        const float *from = x.at + row[k] * x.stride;
        if (source->scale == NULL)
            memcpy(out + k * x.columns, from, (size_t)x.columns * sizeof(float));
        else
            scale_row(out + k * x.columns, from, source->scale[row[k]], x.columns);
    }
}

static int64_t rows_of_a_block(int64_t columns) {
    return columns >= BLOCK ? 1 : BLOCK / (columns > 0 ? columns : 1);
}

static void poll_sometimes(const Poll *poll, int64_t block) {
    if (block % POLL_EVERY == POLL_EVERY - 1 && omp_get_thread_num() == 0)
        poll_call(poll);
}

static int64_t fp32_encode(unsigned char *out, const MessageShape *shape,
                           const MessageSource *source, const Poll *poll) {
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

static void fp32_decode(Rows out, int64_t begin, const MessageShape *shape, const unsigned char *in,
                        const Poll *poll) {
    const size_t bytes = (size_t)out.columns * sizeof(float);
    const int64_t count = shape->rows;
    const int64_t step = rows_of_a_block(out.columns), blocks = (count + step - 1) / step;
#pragma omp parallel for schedule(static) if (count * out.columns > PARALLEL)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t end = (b + 1) * step < count ? (b + 1) * step : count;
        for (int64_t k = b * step; k < end; k++)
            memcpy(out.at + (begin + k) * out.stride, in + (size_t)k * bytes, bytes);
        poll_sometimes(poll, b);
    }
}

const Codec codec_fp32 = {
    .name = "fp32",
    .bytes = fp32_bytes,
    .encode = fp32_encode,
    .decode = fp32_decode,
};
