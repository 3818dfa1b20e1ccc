// Messages on the fenced backend.
#include "fenced.h"

static MessageSource source_twin(const MessageSource *source) {
    MessageSource twin = *source;
    twin.x = fenced_rows(source->x);
    twin.scale = fenced_twin(source->scale);
    twin.sums = fenced_rows(source->sums);
    twin.row = fenced_twin(source->row);
    twin.gid = fenced_twin(source->gid);
    twin.range = fenced_twin(source->range);
    return twin;
}

static Quantized quantized_twin(const Quantized *quantized) {
    Quantized twin = *quantized;
    twin.place = fenced_twin(quantized->place);
    twin.minimum = fenced_twin(quantized->minimum);
    twin.step = fenced_twin(quantized->step);
    twin.payload = fenced_twin(quantized->payload);
    return twin;
}

// ---- checksum

typedef struct Checksum {
    DeviceInt64 *sum;
    const DeviceByte *payload;
    size_t bytes;
} Checksum;

static void run_checksum(const void *arguments, const Poll *poll) {
    const Checksum *c = arguments;
    backend_cpu.message_checksum(c->sum, c->payload, c->bytes, poll);
}

void fenced_message_checksum(DeviceInt64 *sum, const DeviceByte *payload, size_t bytes,
                             const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_checksum, Checksum, fenced_twin(sum), fenced_twin(payload),
               bytes);
}

// ---- what is remembered of rows

typedef struct Combined {
    DeviceFloat *out;
    float a;
    const DeviceFloat *x;
    float b;
    int64_t count;
} Combined;

static void run_combine(const void *arguments, const Poll *poll) {
    const Combined *c = arguments;
    backend_cpu.message_combine(c->out, c->a, c->x, c->b, c->count, poll);
}

void fenced_message_combine(DeviceFloat *out, float a, const DeviceFloat *x, float b, int64_t count,
                            const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_combine, Combined, fenced_twin(out), a, fenced_twin(x), b,
               count);
}

typedef struct Distance {
    DeviceDouble *two;
    const DeviceFloat *a, *b;
    int64_t count;
} Distance;

static void run_distance(const void *arguments, const Poll *poll) {
    const Distance *c = arguments;
    backend_cpu.message_distance(c->two, c->a, c->b, c->count, poll);
}

void fenced_message_distance(DeviceDouble *two, const DeviceFloat *a, const DeviceFloat *b,
                             int64_t count, const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_distance, Distance, fenced_twin(two), fenced_twin(a),
               fenced_twin(b), count);
}

typedef struct Blended {
    Rows m, x;
    const DeviceFloat *part;
} Blended;

static void run_blend(const void *arguments, const Poll *poll) {
    const Blended *c = arguments;
    backend_cpu.message_blend(c->m, c->x, c->part, poll);
}

void fenced_message_blend(Rows m, Rows x, const DeviceFloat *part, const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_blend, Blended, fenced_rows(m), fenced_rows(x),
               fenced_twin(part));
}

// ---- floats and bf16

typedef struct Pack {
    DeviceByte *out;
    MessageSource source;
    int64_t count;
    DeviceInt64 *bad;
} Pack;

static void run_pack_fp32(const void *arguments, const Poll *poll) {
    const Pack *c = arguments;
    backend_cpu.pack_fp32(c->out, &c->source, c->count, poll);
}

void fenced_pack_fp32(DeviceByte *out, const MessageSource *source, int64_t count,
                      const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_pack_fp32, Pack, fenced_twin(out), source_twin(source), count,
               NULL);
}

static void run_pack_bf16(const void *arguments, const Poll *poll) {
    const Pack *c = arguments;
    backend_cpu.pack_bf16(c->out, &c->source, c->count, c->bad, poll);
}

void fenced_pack_bf16(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad,
                      const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_pack_bf16, Pack, fenced_twin(out), source_twin(source), count,
               fenced_twin(bad));
}

typedef struct Unpack {
    Rows out;
    int64_t first;
    const DeviceByte *in;
    int64_t count;
} Unpack;

static void run_unpack_fp32(const void *arguments, const Poll *poll) {
    const Unpack *c = arguments;
    backend_cpu.unpack_fp32(c->out, c->first, c->in, c->count, poll);
}

void fenced_unpack_fp32(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                        const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_unpack_fp32, Unpack, fenced_rows(out), first, fenced_twin(in),
               count);
}

static void run_unpack_bf16(const void *arguments, const Poll *poll) {
    const Unpack *c = arguments;
    backend_cpu.unpack_bf16(c->out, c->first, c->in, c->count, poll);
}

void fenced_unpack_bf16(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                        const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_unpack_bf16, Unpack, fenced_rows(out), first, fenced_twin(in),
               count);
}

// ---- quantized

typedef struct Quantize {
    Quantized to;
    MessageSource source;
    DeviceInt64 *bad;
} Quantize;

static void run_quantize(const void *arguments, const Poll *poll) {
    const Quantize *c = arguments;
    backend_cpu.quantize(&c->to, &c->source, c->bad, poll);
}

void fenced_quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *bad,
                     const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_quantize, Quantize, quantized_twin(to), source_twin(source),
               fenced_twin(bad));
}

typedef struct Dequantize {
    Rows out;
    int64_t begin;
    Quantized from;
} Dequantize;

static void run_dequantize(const void *arguments, const Poll *poll) {
    const Dequantize *c = arguments;
    backend_cpu.dequantize(c->out, c->begin, &c->from, poll);
}

void fenced_dequantize(Rows out, int64_t begin, const Quantized *from, const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_MESSAGE, run_dequantize, Dequantize, fenced_rows(out), begin,
               quantized_twin(from));
}
