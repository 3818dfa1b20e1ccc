// grid with its codes as rans.h codes them, where that is shorter than their planes.
//
//   | Z of all rows, if the rule has one | S of all rows | header byte | codes of all rows |
//
// The bytes are counted and made one after the other, so this works on the host, and for backends
// whose memory is the host's alone. Both ways go through the codes themselves, a byte each, one row
// behind the other, in MessageLayout.scratch.

#include "internal.h"
#include "rans.h"

static int64_t values_of(const MessageLayout *layout) {
    int64_t values = 0;
    for (Run run = {0}; run_next(&run, layout);)
        values += run.count * run.columns;
    return values;
}

static bool has_sign(GridOptions options) {
    return options.rule == GRID_MAX || options.rule == GRID_L2 || options.rule == GRID_LOG;
}

// The code of 0; where 0 has none, that of the minimum.
static uint8_t code_of_zero(GridOptions options) {
    return (uint8_t)(has_sign(options) ? (1 << (options.bits - 1)) - 1 : 0);
}

static unsigned char *host_bytes(const Backend *backend, const DeviceByte *at) {
    assert(backend->host_is_device);
    return (unsigned char *)byte_at(at, 0);
}

// ---- planes -> codes

// The next bits of codes that are zero from there on: a plane of one row (codec.h).
static void unpack_plane(uint8_t *code, int64_t columns, int bits, int shift,
                         const unsigned char *in) {
    int each = 8 / bits, mask = (1 << bits) - 1;
    int64_t group = 16 * each, c = 0;
    for (; c + group <= columns; c += group, in += 16)
        for (int k = 0; k < each; k++)
            for (int l = 0; l < 16; l++)
                code[c + 16 * k + l] |= (uint8_t)((in[l] >> bits * k & mask) << shift);
    for (int bit = 0; c < columns; c++, bit += bits)
        code[c] |= (uint8_t)((in[bit / 8] >> bit % 8 & mask) << shift);
}

static const unsigned char *unpack_row(uint8_t *code, int64_t columns, int bits,
                                       const unsigned char *in) {
    int shift = 0;
    memset(code, 0, (size_t)columns);
    for (int plane = 8; plane > 0; plane /= 2)
        if (bits & plane) {
            unpack_plane(code, columns, plane, shift, in);
            in += quantized_row_bytes(columns, plane);
            shift += plane;
        }
    return in;
}

static void unpack(uint8_t *code, const MessageLayout *layout, const unsigned char *planes) {
    int bits = grid_get(&layout->values).bits;
    for (Run run = {0}; run_next(&run, layout);)
        for (int64_t i = 0; i < run.count; i++, code += run.columns)
            planes = unpack_row(code, run.columns, bits, planes);
}

// ---- the codec

static size_t entropy_bytes(const MessageLayout *layout) {
    return grid_bytes(layout) + (layout->rows > 0);
}

static size_t entropy_scratch(const MessageLayout *layout) {
    return memory_product(layout->rows, (size_t)layout->columns);
}

static size_t entropy_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                             const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    GridOptions options = grid_get(&layout->values);
    size_t before = grid_parameters_bytes(layout), room = entropy_bytes(layout) - before;
    unsigned char *header = host_bytes(backend, out) + before;
    DeviceByte *planes = byte_at(out, (int64_t)before + 1);
    uint8_t *code = host_bytes(backend, layout->scratch);
    if (layout->rows == 0)
        return 0;
    grid_pack(backend, out, planes, layout, source, bad, poll);
    unpack(code, layout, header + 1);
    size_t bytes =
        rans_encode(header, room, code, values_of(layout), options.bits, code_of_zero(options));
    if (bytes > 0)
        return before + bytes;
    grid_pack(backend, out, planes, layout, source, bad, poll); // they were written over
    header[0] = RANS_PACKED;
    return before + room;
}

// The code of 8 bits that stands for the same value as one of few bits.
static int wide_code(GridOptions options, int code) {
    int zero = code_of_zero(options);
    if (options.rule == GRID_MEAN) // -1 and 1
        return 126 + 2 * code;
    if (options.rule == GRID_LOG) // the largest magnitude is S in both
        return code < zero ? code : code == zero ? 127 : code + 2 * (127 - zero);
    return has_sign(options) ? code + 127 - zero : code;
}

// Codes of few bits as those of 8 bits that stand for the same values; which are their own planes.
static MessageLayout widen(uint8_t *code, const MessageLayout *layout) {
    GridOptions options = grid_get(&layout->values);
    MessageLayout wide = *layout;
    uint8_t of[256] = {0};
    for (int c = 0; c < 1 << options.bits; c++)
        of[c] = (uint8_t)wide_code(options, c);
    for (int64_t i = 0, n = values_of(layout); i < n; i++)
        code[i] = of[code[i]];
    if (options.rule == GRID_MEAN)
        options.rule = GRID_MAX;
    options.bits = 8;
    grid_set(&wide.values, options);
    return wide;
}

static void entropy_decode(const Backend *backend, Rows out, int64_t begin,
                           const MessageLayout *layout, const DeviceByte *in, const Poll *poll) {
    GridOptions options = grid_get(&layout->values);
    size_t before = grid_parameters_bytes(layout), room = entropy_bytes(layout) - before;
    const unsigned char *header = host_bytes(backend, in) + before;
    uint8_t *code = host_bytes(backend, layout->scratch);
    if (layout->rows == 0)
        return;
    if (layout->bytes == before + room && header[0] == RANS_PACKED) {
        grid_unpack(backend, out, begin, layout, in, byte_at(in, (int64_t)before + 1), poll);
        return;
    }
    CHECK(layout->bytes > before &&
              rans_decode(code, values_of(layout), options.bits, code_of_zero(options), header,
                          layout->bytes - before),
          EXIT_INTEGRITY, "the entropy codes of a message of %ld rows do not decode", layout->rows);
    MessageLayout wide = widen(code, layout);
    grid_unpack(backend, out, begin, &wide, in, layout->scratch, poll);
}

const Codec codec_grid_entropy = {
    .name = "grid-entropy",
    .varies = true,
    .set_bits = grid_set_bits,
    .bytes = entropy_bytes,
    .bytes_most = entropy_bytes,
    .scratch = entropy_scratch,
    .encode = entropy_encode,
    .decode = entropy_decode,
};
