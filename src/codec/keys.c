// The codec keys: fp32 values that are not zero, and their places (keys.h). The bytes are made one
// after the other, so this works on the host, and for backends whose memory is the host's alone.
// Both ways go through all floats, tight, in MessageLayout.scratch.

#include "keys.h"
#include "internal.h"

#include <math.h>
#include <string.h>

// ---- the bytes

enum { COUNT_BYTES = 4 };

// An additional byte of a difference stands for 256 zeros at least.
size_t keys_most(int64_t n, int64_t kept) {
    int64_t more = n / 256 < 3 * kept ? n / 256 : 3 * kept;
    return n == 0 ? 0 : (size_t)(COUNT_BYTES + 5 * kept + (kept + 3) / 4 + more);
}

static void put_number(unsigned char *out, uint32_t number, int bytes) {
    for (int b = 0; b < bytes; b++)
        out[b] = (unsigned char)(number >> 8 * b);
}

static uint32_t get_number(const unsigned char *in, int bytes) {
    uint32_t number = 0;
    for (int b = 0; b < bytes; b++)
        number |= (uint32_t)in[b] << 8 * b;
    return number;
}

static int bytes_of(uint32_t number) {
    return number < 1U << 8 ? 1 : number < 1U << 16 ? 2 : number < 1U << 24 ? 3 : 4;
}

static int64_t count_of(const float *x, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += x[i] != 0;
    return count;
}

size_t keys_write(unsigned char *out, const float *x, int64_t n) {
    int64_t count = count_of(x, n), before = -1, k = 0;
    unsigned char *value = out + COUNT_BYTES, *size = value + 4 * count;
    unsigned char *at = size + (count + 3) / 4;
    assert(n <= INT32_MAX);
    if (n == 0)
        return 0;
    put_number(out, (uint32_t)count, COUNT_BYTES);
    memset(size, 0, (size_t)(at - size));
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0) {
            uint32_t difference = (uint32_t)(i - before - 1);
            int bytes = bytes_of(difference);
            memcpy(value + 4 * k, &x[i], sizeof x[i]);
            size[k / 4] |= (unsigned char)((bytes - 1) << k % 4 * 2);
            put_number(at, difference, bytes);
            at += bytes;
            before = i;
            k++;
        }
    return (size_t)(at - out);
}

// What is left of a message.
typedef struct Left {
    const unsigned char *at;
    int64_t bytes;
} Left;

// The next `bytes` of it; NULL: there are fewer.
static const unsigned char *take(Left *left, int64_t bytes) {
    const unsigned char *at = left->at;
    if (bytes > left->bytes)
        return NULL;
    left->at += bytes;
    left->bytes -= bytes;
    return at;
}

static int size_of(const unsigned char *size, int64_t k) {
    return 1 + (size[k / 4] >> k % 4 * 2 & 3);
}

// Value k, at the place that its difference says. False: there is none such.
static bool read_one(float *x, int64_t n, int64_t *place, const unsigned char *value, Left *left,
                     int bytes) {
    const unsigned char *at = take(left, bytes);
    if (at == NULL || bytes_of(get_number(at, bytes)) != bytes)
        return false;
    *place += 1 + (int64_t)get_number(at, bytes);
    if (*place >= n)
        return false;
    memcpy(&x[*place], value, sizeof *x);
    return x[*place] != 0;
}

bool keys_read(float *x, int64_t n, const unsigned char *in, size_t bytes) {
    Left left = {in, (int64_t)bytes};
    memset(x, 0, (size_t)n * sizeof *x);
    const unsigned char *header = n > 0 ? take(&left, COUNT_BYTES) : NULL;
    if (header == NULL)
        return n == 0 && bytes == 0;
    int64_t count = get_number(header, COUNT_BYTES), place = -1;
    const unsigned char *value = take(&left, 4 * count);
    const unsigned char *size = value != NULL ? take(&left, (count + 3) / 4) : NULL;
    if (size == NULL)
        return false;
    for (int64_t k = 0; k < count; k++)
        if (!read_one(x, n, &place, value + 4 * k, &left, size_of(size, k)))
            return false;
    bool filled_up = count % 4 == 0 || size[count / 4] >> count % 4 * 2 == 0;
    return filled_up && left.bytes == 0;
}

// ---- the codec

void keys_set(MemberValues *values, double part) { memcpy(values->values, &part, sizeof part); }

static double part_of(const MessageLayout *layout) {
    double part;
    memcpy(&part, layout->values.values, sizeof part);
    return part;
}

static int64_t floats_of(const MessageLayout *layout) {
    return (int64_t)(codec_fp32.bytes(layout) / sizeof(float));
}

static size_t codec_bytes(const MessageLayout *layout) {
    int64_t n = floats_of(layout);
    return keys_most(n, top_count(part_of(layout), n));
}

static size_t codec_scratch(const MessageLayout *layout) {
    return memory_product(layout->rows, memory_product(layout->columns, sizeof(float)));
}

static float *host_floats(const Backend *backend, const MessageLayout *layout) {
    assert(backend->host_is_device);
    return (float *)(void *)byte_window(layout->scratch, 0);
}

// Reports the first row that has a value that is not finite.
static void check_rows(const float *x, const MessageLayout *layout, int64_t *bad) {
    for (Run run = {0}; run_next(&run, layout);)
        for (int64_t i = 0; i < run.count * run.columns; i++)
            if (!isfinite(*x++) && *bad == 0)
                *bad = 1 + run.begin + i / run.columns;
}

static size_t encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                     const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    float *x = host_floats(backend, layout);
    codec_fp32.encode(backend, layout->scratch, layout, source, bad, poll);
    check_rows(x, layout, (int64_t *)(void *)bad);
    size_t bytes = keys_write((unsigned char *)(void *)out, x, floats_of(layout));
    assert(bytes <= codec_bytes(layout));
    return bytes;
}

static void decode(const Backend *backend, Rows out, int64_t begin, const MessageLayout *layout,
                   const DeviceByte *in, const Poll *poll) {
    float *x = host_floats(backend, layout);
    CHECK(keys_read(x, floats_of(layout), (const unsigned char *)(const void *)in, layout->bytes),
          EXIT_INTEGRITY, "the keys of a message of %lld rows do not decode",
          (long long)layout->rows);
    codec_fp32.decode(backend, out, begin, layout, layout->scratch, poll);
}

const Codec codec_key_values = {
    .name = "keys",
    .varies = true,
    .bytes = codec_bytes,
    .bytes_most = codec_bytes, // more rows or longer ones take no fewer
    .scratch = codec_scratch,
    .encode = encode,
    .decode = decode,
};
