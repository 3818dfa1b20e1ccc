// fp32: a row is its numbers, tight: floats, or bf16 where the layout says that rows of bf16 go as
// they lie. The smallest codec, and the one to copy: bytes, encode, decode, and the table entry
// last. A codec says where rows lie in the message; the backend's operations move them.
//
//   payload   row 0: its numbers | row 1: its numbers | ...     no padding, no ids (invariant 6)

#include "internal.h"

static size_t run_bytes(Run run, const MessageLayout *layout) {
    return memory_product(run.count, memory_product(run.columns, rows_number(layout->rows_are)));
}

static size_t fp32_bytes(const MessageLayout *layout) {
    size_t bytes = 0;
    for (Run run = {0}; run_next(&run, layout);)
        bytes += run_bytes(run, layout);
    return bytes;
}

static size_t fp32_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                          const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    (void)bad; // every value can be written
    for (Run run = {0}; run_next(&run, layout);) {
        MessageSource some = run_source(source, run);
        some.row = int32_at(some.row, run.begin);
        if (layout->rows_are == ROWS_BF16)
            backend->pack_bf16(out, &some, run.count, NULL, poll);
        else
            backend->pack_fp32(out, &some, run.count, poll);
        out = byte_at(out, (int64_t)run_bytes(run, layout));
    }
    return fp32_bytes(layout);
}

static void fp32_decode(const Backend *backend, Rows out, int64_t begin,
                        const MessageLayout *layout, const DeviceByte *in, const Poll *poll) {
    for (Run run = {0}; run_next(&run, layout);) {
        Rows rows = run_rows(backend, out, begin, run);
        if (layout->rows_are == ROWS_BF16)
            backend->unpack_bf16(rows, begin + run.begin, in, run.count, poll);
        else
            backend->unpack_fp32(rows, begin + run.begin, in, run.count, poll);
        in = byte_at(in, (int64_t)run_bytes(run, layout));
    }
}

const Codec codec_fp32 = {
    .name = "fp32",
    .bytes = fp32_bytes,
    .bytes_most = fp32_bytes, // the length depends on rows and their lengths only
    .encode = fp32_encode,
    .decode = fp32_decode,
};
