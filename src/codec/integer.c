// integer: stochastic rounding to 2^b values above the row's minimum, b a width per row (ALGORITHMS
// A.1; codec.h draws the message). The backend encodes the rows of one width at a time; this file
// computes their places in the message.

#include "internal.h"

// The codec's own options.
typedef struct IntegerOptions {
    bool bf16;    // Z and S travel as bf16, else as fp32
    bool nearest; // rounds to the nearest value of the grid, else at random
} IntegerOptions;
_Static_assert(sizeof(IntegerOptions) <= sizeof(MemberValues), "the options fit");

static IntegerOptions options_of(const MessageLayout *layout) {
    return MEMBER_OPTIONS(IntegerOptions, &layout->values);
}

static bool integer_configure(const Config *config, MemberValues *values, Error *err) {
    IntegerOptions options = {.bf16 = strcmp(config->quantization.scale_dtype, "bf16") == 0,
                              .nearest = strcmp(config->quantization.memory, "ef21") == 0};
    (void)err; // the config has checked the word
    memcpy(values->values, &options, sizeof options);
    return true;
}

// The parts of a message: width by width, narrow ones first.
typedef struct Parts {
    const MessageLayout *layout;
    Quantized rows;
} Parts;

static int64_t parameter_bytes(const MessageLayout *layout) {
    return options_of(layout).bf16 ? 2 : 4;
}

static Parts parts_start(const MessageLayout *layout, const DeviceByte *message) {
    const Widths *widths = layout->widths;
    assert(widths != NULL && widths->count == layout->rows);
    int64_t array = layout->rows * parameter_bytes(layout);
    return (Parts){layout,
                   {.bf16 = options_of(layout).bf16,
                    .nearest = options_of(layout).nearest,
                    .place = widths->place,
                    .minimum = byte_at(message, 0),
                    .step = byte_at(message, array),
                    .payload = byte_at(message, 2 * array)}};
}

// The next width that has rows; false after the last.
static bool parts_next(Parts *parts) {
    Quantized *rows = &parts->rows;
    const MessageLayout *layout = parts->layout;
    int64_t parameters = rows->count * parameter_bytes(layout);
    rows->place = int32_at(rows->place, rows->count);
    rows->minimum = byte_at(rows->minimum, parameters);
    rows->step = byte_at(rows->step, parameters);
    rows->payload =
        byte_at(rows->payload, rows->count * quantized_row_bytes(layout->columns, rows->bits));
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

// The longest row has 16 bits; with one column it has 7 bits, which are three planes.
static size_t integer_bytes_most(const MessageLayout *layout) {
    int64_t most = 0;
    for (int bits = 1; bits <= WIDTH_MOST; bits++)
        if (width_known(bits) && quantized_row_bytes(layout->columns, bits) > most)
            most = quantized_row_bytes(layout->columns, bits);
    return memory_product(layout->rows, (size_t)(2 * parameter_bytes(layout) + most));
}

static size_t integer_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                             const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    assert(source->x.columns == layout->columns);
    for (Parts parts = parts_start(layout, out); parts_next(&parts);)
        backend->quantize(&parts.rows, source, bad, poll);
    return integer_bytes(layout);
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
    .configure = integer_configure,
    .bytes = integer_bytes,
    .bytes_most = integer_bytes_most,
    .encode = integer_encode,
    .decode = integer_decode,
};
