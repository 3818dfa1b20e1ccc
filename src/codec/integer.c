// integer: stochastic rounding to 2^b values above the row's minimum, b a width per row (ALGORITHMS
// A.1; codec.h draws the message). The backend does the rows of one width at a time; here is only
// where they lie in the message.

#include "internal.h"

// The parts of a message: width by width, narrow ones first.
typedef struct Parts {
    const MessageShape *shape;
    Quantized rows;
} Parts;

static int64_t parameter_bytes(const MessageShape *shape) { return shape->bf16 ? 2 : 4; }

static Parts parts_start(const MessageShape *shape, const DeviceByte *message) {
    const Widths *widths = shape->widths;
    assert(widths != NULL && widths->count == shape->rows);
    int64_t array = shape->rows * parameter_bytes(shape);
    return (Parts){shape,
                   {.bf16 = shape->bf16,
                    .place = widths->place,
                    .minimum = byte_window(message, 0),
                    .step = byte_window(message, array),
                    .payload = byte_window(message, 2 * array)}};
}

// The next width that has rows; false after the last.
static bool parts_next(Parts *parts) {
    Quantized *rows = &parts->rows;
    const MessageShape *shape = parts->shape;
    int64_t parameters = rows->count * parameter_bytes(shape);
    rows->place = int32_window(rows->place, rows->count);
    rows->minimum = byte_window(rows->minimum, parameters);
    rows->step = byte_window(rows->step, parameters);
    rows->payload =
        byte_window(rows->payload, rows->count * quantized_row_bytes(shape->columns, rows->bits));
    rows->count = 0;
    while (rows->count == 0 && rows->bits < WIDTH_MOST)
        rows->count = shape->widths->of[++rows->bits];
    return rows->count > 0;
}

static size_t integer_bytes(const MessageShape *shape) {
    assert(shape->widths != NULL && shape->widths->count == shape->rows);
    size_t bytes = memory_product(shape->rows, 2 * (size_t)parameter_bytes(shape));
    for (int bits = 1; bits <= WIDTH_MOST; bits++)
        bytes += memory_product(shape->widths->of[bits],
                                (size_t)quantized_row_bytes(shape->columns, bits));
    return bytes;
}

static int64_t integer_encode(const Backend *backend, DeviceByte *out, const MessageShape *shape,
                              const MessageSource *source, const Poll *poll) {
    assert(source->x.columns == shape->columns);
    int64_t bad = -1;
    for (Parts parts = parts_start(shape, out); parts_next(&parts);) {
        int64_t place = backend->quantize(&parts.rows, source, poll);
        if (place >= 0 && (bad < 0 || place < bad))
            bad = place;
    }
    return bad;
}

static void integer_decode(const Backend *backend, Rows out, int64_t begin,
                           const MessageShape *shape, const DeviceByte *in, const Poll *poll) {
    assert(out.columns == shape->columns);
    for (Parts parts = parts_start(shape, in); parts_next(&parts);)
        backend->dequantize(out, begin, &parts.rows, poll);
}

const Codec codec_integer = {
    .name = "integer",
    .has_widths = true,
    .bytes = integer_bytes,
    .encode = integer_encode,
    .decode = integer_decode,
};
