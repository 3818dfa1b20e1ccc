// grid: rows of `bits` bits a value on a grid of their own (GridRule in backend.h). What one row
// costs does not depend on the others, so there are no widths.
//
//   | Z of all rows, if the rule has one | S of all rows | codes of row 0 | codes of row 1 | ...
//
// Z and S are bf16 or fp32; the codes of a row are planes as codec.h draws them, of its length.

#include "internal.h"

_Static_assert(sizeof(GridOptions) <= sizeof(MemberValues), "the options fit");

// ---- options

bool grid_bits_known(GridOptions options) {
    if (options.rule == GRID_MINMAX)
        return width_known(options.bits);
    if (options.rule == GRID_MEAN)
        return options.bits == 1;
    return options.bits >= (options.rule == GRID_LOG ? 3 : 2) && options.bits <= 8;
}

void grid_set(MemberValues *values, GridOptions options) {
    assert(grid_bits_known(options));
    memcpy(values->values, &options, sizeof options);
}

GridOptions grid_get(const MemberValues *values) { return MEMBER_OPTIONS(GridOptions, values); }

void grid_set_bits(MemberValues *values, int bits) {
    GridOptions options = grid_get(values);
    options.bits = bits;
    grid_set(values, options);
}

// Found by search over rows with the exact S: for the maximum one value of it among others of equal
// size, for the 2-norm all of equal size, for the range two ends and all others half-way. Of powers
// of two a bound: a value between two adds at most 1/8 of its square, and one below the least as
// much as the steps of the maximum that are as short.
double grid_omega(GridOptions options, int64_t columns) {
    double d = (double)columns;
    double s = ldexp(1, options.bits - 1) - 1, most = ldexp(1, options.bits) - 1;
    double steps = ldexp(1, (int)s - 2); // of the least power in half of S
    switch (options.rule) {
    case GRID_MINMAX:
        return fmax(0, d - 2) / (2 * most * most);
    case GRID_MAX:
        return (sqrt(1 + (d - 1) / (s * s)) - 1) / 2;
    case GRID_L2:
        return s <= sqrt(d) / 2 ? sqrt(d) / s - 1 : d / (4 * s * s);
    case GRID_LOG:
        return .125 + (sqrt(1 + (d - 1) / (steps * steps)) - 1) / 2;
    default:
        return INFINITY;
    }
}

// ---- the parts of a message

static int64_t parameter_bytes(GridOptions options) { return options.bf16 ? 2 : 4; }

// Of all rows, in front of the codes.
size_t grid_parameters_bytes(const MessageLayout *layout) {
    GridOptions options = grid_get(&layout->values);
    int arrays = options.rule == GRID_MINMAX ? 2 : 1;
    return memory_product(layout->rows, (size_t)(arrays * parameter_bytes(options)));
}

static int64_t codes_bytes(const MessageLayout *layout, Run run) {
    return run.count * quantized_row_bytes(run.columns, grid_get(&layout->values).bits);
}

// No row yet; parts_next moves on.
static Quantized parts_start(const MessageLayout *layout, const DeviceByte *message,
                             const DeviceByte *codes) {
    GridOptions options = grid_get(&layout->values);
    bool has_minimum = options.rule == GRID_MINMAX;
    int64_t array = layout->rows * parameter_bytes(options);
    assert(layout->widths == NULL);
    return (Quantized){.bits = options.bits,
                       .bf16 = options.bf16,
                       .nearest = options.nearest,
                       .rule = options.rule,
                       .minimum = has_minimum ? byte_at(message, 0) : NULL,
                       .step = byte_at(message, has_minimum ? array : 0),
                       .payload = byte_at(codes, 0)};
}

// The rows of a run, whose places are their own. False behind the last.
static bool parts_next(Quantized *rows, Run *run, const MessageLayout *layout) {
    int64_t parameters = run->count * parameter_bytes(grid_get(&layout->values));
    rows->payload = byte_at(rows->payload, codes_bytes(layout, *run));
    rows->step = byte_at(rows->step, parameters);
    if (rows->minimum != NULL)
        rows->minimum = byte_at(rows->minimum, parameters);
    bool more = run_next(run, layout);
    rows->first = run->begin;
    rows->count = run->count;
    return more;
}

void grid_pack(const Backend *backend, DeviceByte *message, DeviceByte *codes,
               const MessageLayout *layout, const MessageSource *source, DeviceInt64 *bad,
               const Poll *poll) {
    Run run = {0};
    for (Quantized rows = parts_start(layout, message, codes); parts_next(&rows, &run, layout);) {
        MessageSource some = run_source(source, run);
        backend->quantize(&rows, &some, bad, poll);
    }
}

void grid_unpack(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                 const DeviceByte *message, const DeviceByte *codes, const Poll *poll) {
    Run run = {0};
    for (Quantized rows = parts_start(layout, message, codes); parts_next(&rows, &run, layout);)
        backend->dequantize(run_rows(backend, out, begin, run), begin, &rows, poll);
}

// ---- the codec

size_t grid_bytes(const MessageLayout *layout) {
    size_t bytes = grid_parameters_bytes(layout);
    for (Run run = {0}; run_next(&run, layout);)
        bytes += (size_t)codes_bytes(layout, run);
    return bytes;
}

static DeviceByte *codes_of(const MessageLayout *layout, const DeviceByte *message) {
    return byte_at(message, (int64_t)grid_parameters_bytes(layout));
}

static size_t grid_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                          const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    grid_pack(backend, out, codes_of(layout, out), layout, source, bad, poll);
    return grid_bytes(layout);
}

static void grid_decode(const Backend *backend, Rows out, int64_t begin,
                        const MessageLayout *layout, const DeviceByte *in, const Poll *poll) {
    grid_unpack(backend, out, begin, layout, in, codes_of(layout, in), poll);
}

const Codec codec_grid = {
    .name = "grid",
    .set_bits = grid_set_bits,
    .bytes = grid_bytes,
    .bytes_most = grid_bytes, // the length depends on rows, their lengths and the options only
    .encode = grid_encode,
    .decode = grid_decode,
};
