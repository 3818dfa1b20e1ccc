// Rows of every kind, and a message of them on its way through a codec with grids: integer, where
// a test names no other.
#pragma once

#include "codec_values.h"
#include "kernels/kernels.h"
#include <float.h>

static const int known[] = {1, 2, 3, 4, 5, 6, 7, 8, 16};
enum { KNOWN = 9, GUARD = 0xA5 };

static inline double largest_code(int bits) { return (double)((1 << bits) - 1); }

// ---- rows of every kind

typedef enum Kind {
    GAUSS,
    RELU,
    LAPLACE,
    OFFSET,
    USUAL, // as many kinds as statistics are made of; odd ones follow
    CONSTANT = USUAL,
    ZEROS, // of both signs
    DENORMAL,
    HUGE_RANGE,  // 1 / S is not a normal number
    HUGE_OFFSET, // a range of few ulps
    BELOW_ZERO,  // the maximum is lost beside the minimum
    KINDS
} Kind;

static inline float value(Kind kind, int64_t row, int64_t column) {
    RandomKey key = random_key(3, RANDOM_FEATURES, (uint32_t)kind, 0, 0);
    double normal = random_normal(key, row, 0, column);
    double uniform = random_uniform32(key, row, 1, column);
    switch (kind) {
    case GAUSS:
        return (float)normal;
    case RELU:
        return normal > 0 ? (float)normal : 0;
    case LAPLACE:
        return (float)(normal > 0 ? -log(uniform) : log(uniform));
    case OFFSET:
        return (float)(1000 + normal);
    case CONSTANT:
        return (float)row * 1.7F - 11;
    case ZEROS:
        return column % 3 == 1 ? -0.0F : 0.0F;
    case DENORMAL:
        return (float)(floor(uniform * (double)(1 + row % 40)) * 0x1p-149);
    case HUGE_RANGE:
        return (float)((uniform - 0.5) * 0x1.8p127);
    case HUGE_OFFSET:
        return (float)(-3e30 * (1 + floor(uniform * 9) * 0x1p-23));
    default:
        return column % 2 == 0 ? (float)(-1000 * uniform) : (float)(1e-7 * uniform);
    }
}

// A message on its way: everything that encode and decode are called with.
typedef struct RoundTrip {
    const Codec *codec;
    MessageLayout shape;
    bool bf16; // of Z and S
    MessageSource source;
    Widths widths;
    Taken *taken; // their blocks
    int64_t *gid;
    int32_t *row;
    float *scale;
    uint8_t *bits; // [rows] by place
    size_t bytes;
    unsigned char *message; // and a guard behind
    Rows back;
} RoundTrip;

enum { BEFORE = 2 }; // rows of `back` before the first

static inline const Codec *integer(void) {
    const Codec *codec = assert_ok(codec_find("integer", &err));
    return codec;
}

// All rows of x in order; every row has `bits`.
static inline RoundTrip round_trip_new(int64_t rows, int64_t columns, bool bf16, int bits) {
    RoundTrip t = {.codec = integer(),
                   .gid = TEST_ARRAY(int64_t, rows),
                   .row = TEST_ARRAY(int32_t, rows),
                   .scale = TEST_ARRAY(float, rows),
                   .bits = TEST_ARRAY(uint8_t, rows),
                   .back = zeroed_rows(BEFORE + rows + 1, columns)};
    for (int64_t r = 0; r < rows; r++) {
        t.gid[r] = r % 2 == 0 ? r : ((int64_t)1 << 41) + 7 * r; // both words of an id
        t.row[r] = (int32_t)r;
        t.scale[r] = (float)(r % 7 - 3) / 3; // also 0 and negative
        t.bits[r] = (uint8_t)bits;
    }
    widths_alloc(&t.widths, &(Allocator){.backend = device(), .taken = &t.taken}, rows);
    widths_fill(&t.widths, bits);
    t.shape = (MessageLayout){.rows = rows, .columns = columns, .values = integer_values(bf16)};
    t.bf16 = bf16;
    t.source = (MessageSource){.x = zeroed_rows(rows, columns),
                               .random = random_key(0x123456789abcdef, RANDOM_ROUNDING, 9, 2, 1),
                               .peer = 5,
                               .range = on_device(TEST_ARRAY(float, rows))};
    return t;
}

// Looks at `bits` and makes room for the message.
static inline void round_trip_ready(RoundTrip *t) {
    t->shape.widths = t->codec->has_widths ? &t->widths : NULL;
    t->source.row = on_device(t->row), t->source.gid = on_device(t->gid);
    widths_set(&t->widths, t->bits);
    t->bytes = t->codec->bytes(&t->shape);
    t->message = test_memory(t->bytes + 1);
    t->message[t->bytes] = GUARD;
}

static inline void round_trip_clear(RoundTrip *t) { taken_free(&t->taken); }
#define CLEARS_RoundTrip round_trip_clear

static inline void round_trip_fill(RoundTrip *t, Kind kind, int64_t r, int64_t like) {
    for (int64_t c = 0; c < t->shape.columns; c++)
        floats(t->source.x)[r * t->source.x.stride + c] = value(kind, like, c);
}

static inline int64_t round_trip_encode(RoundTrip *t) {
    int64_t bad = 0;
    t->codec->encode(device(), on_device(t->message), &t->shape, &t->source, on_device(&bad), NULL);
    assert_int_equal(t->message[t->bytes], GUARD);
    return bad - 1;
}
static inline void round_trip_decode(RoundTrip *t) {
    memset(floats(t->back) + BEFORE * t->back.stride, 0xff,
           rows_bytes(t->shape.rows, t->back.columns));
    t->codec->decode(device(), t->back, BEFORE, &t->shape, on_device(t->message), NULL);
}
// All of it, where no row is bad.
static inline void round_trip_run(RoundTrip *t) {
    round_trip_ready(t);
    assert_int_equal(round_trip_encode(t), -1);
    round_trip_decode(t);
}
// In every way of running it, the same as the independent message, its rows and, if there are any,
// its ranges.
static inline void round_trip_all_ways(RoundTrip *t, const unsigned char *message, Rows back,
                                       const float *range) {
    for (Way way = {0}; way_next(&way);) {
        memset(t->message, GUARD, t->bytes);
        memset(floats(t->back), 0, rows_bytes(back.count, back.columns));
        assert_int_equal(round_trip_encode(t), -1);
        assert_memory_equal(t->message, message, t->bytes);
        if (range != NULL)
            assert_memory_equal(t->source.range, range, (size_t)t->shape.rows * sizeof *range);
        round_trip_decode(t);
        assert_true(rows_equal(t->back, back));
    }
}
static inline const float *sent(const RoundTrip *t, int64_t place) {
    return floats(t->source.x) + t->row[place] * t->source.x.stride;
}
static inline const float *landed(const RoundTrip *t, int64_t place) {
    return floats(t->back) + (BEFORE + place) * t->back.stride;
}

static inline float parameter(const RoundTrip *t, int array, int64_t position) {
    int size = t->bf16 ? 2 : 4;
    uint32_t bits = 0;
    memcpy((char *)&bits + 4 - size, t->message + (array * t->shape.rows + position) * size,
           (size_t)size);
    float found;
    memcpy(&found, &bits, 4);
    return found;
}

static inline float bf16_cut(float x) { // towards zero
    uint32_t bits;
    memcpy(&bits, &x, 4);
    bits &= 0xffff0000U;
    memcpy(&x, &bits, 4);
    return x;
}
static inline float bf16_next(float x) { // away from zero
    uint32_t bits;
    memcpy(&bits, &x, 4);
    bits += 0x10000;
    memcpy(&x, &bits, 4);
    return x;
}
