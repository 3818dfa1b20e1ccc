// integer: stochastic rounding to 2^b values above the row's minimum, b a width per row (ALGORITHMS
// A.1; codec.h draws the message). The backend does the rows of one width at a time; here is only
// where they lie in the message.

#include "internal.h"

// The parts of a message: width by width, narrow ones first.
typedef struct Parts {
    const MessageLayout *layout;
    Quantized rows;
} Parts;

static int64_t parameter_bytes(const MessageLayout *layout) { return layout->bf16 ? 2 : 4; }

static Parts parts_start(const MessageLayout *layout, const DeviceByte *message) {
    const Widths *widths = layout->widths;
    assert(widths != NULL && widths->count == layout->rows);
    int64_t array = layout->rows * parameter_bytes(layout);
    return (Parts){layout,
                   {.bf16 = layout->bf16,
                    .place = widths->place,
                    .minimum = byte_window(message, 0),
                    .step = byte_window(message, array),
                    .payload = byte_window(message, 2 * array)}};
}

// The next width that has rows; false after the last.
static bool parts_next(Parts *parts) {
    Quantized *rows = &parts->rows;
    const MessageLayout *layout = parts->layout;
    int64_t parameters = rows->count * parameter_bytes(layout);
    rows->place = int32_window(rows->place, rows->count);
    rows->minimum = byte_window(rows->minimum, parameters);
    rows->step = byte_window(rows->step, parameters);
    rows->payload =
        byte_window(rows->payload, rows->count * quantized_row_bytes(layout->columns, rows->bits));
    rows->count = 0;
    while (rows->count == 0 && rows->bits < WIDTH_MOST)
        rows->count = layout->widths->of[++rows->bits];
    return rows->count > 0;
}

static size_t integer_bytes(const MessageLayout *layout) {
    assert(layout->widths != NULL && layout->widths->count == layout->rows);
    size_t bytes = memory_product(layout->rows, 2 * (size_t)parameter_bytes(layout));
    for (int bits = 1; bits <= WIDTH_MOST; bits++)
        bytes += memory_product(layout->widths->of[bits],
                                (size_t)quantized_row_bytes(layout->columns, bits));
    return bytes;
}

static void integer_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                           const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    assert(source->x.columns == layout->columns);
    for (Parts parts = parts_start(layout, out); parts_next(&parts);)
        backend->quantize(&parts.rows, source, bad, poll);
}

static void integer_decode(const Backend *backend, Rows out, int64_t begin,
                           const MessageLayout *layout, const DeviceByte *in, const Poll *poll) {
    assert(out.columns == layout->columns);
    for (Parts parts = parts_start(layout, in); parts_next(&parts);)
        backend->dequantize(out, begin, &parts.rows, poll);
}

const Codec codec_integer = {
    .name = "integer",
    .has_widths = true,
    .bytes = integer_bytes,
    .encode = integer_encode,
    .decode = integer_decode,
};
