// If this failed, bf16 messages would not hold the nearest bf16 of every value, or a value that has
// none would be sent as something else.
#include "fringe/codec.h"
#include "rows.h"
#include <float.h>

enum { ROWS = 3000, BEFORE = 1 };

static float of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// By distance: the two neighbours are compared in double.
static float nearest(float x) {
    uint32_t low = bits_of(x) & 0xffff0000U, high = low + 0x10000;
    double down = fabs((double)x - (double)of_bits(low));
    double up = fabs((double)of_bits(high) - (double)x);
    if (down != up)
        return of_bits(down < up ? low : high);
    return of_bits(low >> 16 & 1 ? high : low);
}

typedef struct Case {
    const Codec *codec;
    Rows x, back;
    int32_t *row;
    float *scale;
    MessageLayout shape;
    MessageSource source;
    size_t bytes;
    unsigned char *message; // and a guard behind
} Case;

// Random bits of finite numbers below 2^100, every scale a power of two.
static Case case_new(int64_t rows, int64_t columns) {
    Case c = {.codec = assert_ok(codec_find("bf16", &err)),
              .x = test_rows(rows, columns),
              .back = zeroed_rows(BEFORE + rows + 1, columns),
              .row = TEST_ARRAY(int32_t, rows),
              .scale = TEST_ARRAY(float, rows),
              .shape = {.rows = rows, .columns = columns}};
    RandomKey key = random_key(5, RANDOM_FEATURES, 0, 0, 0);
    for (int64_t r = 0; r < rows; r++) {
        c.row[r] = (int32_t)(r - r % 2);
        c.scale[r] = ldexpf(1, (int)(r % 5) - 2);
        for (int64_t k = 0; k < columns; k++) {
            uint32_t word[4];
            random_block(word, key, r, 0, (uint32_t)k);
            uint32_t tie = word[1] % 4 == 0 ? 0xffff8000U : 0xffffffffU; // many halves
            uint32_t bits = ((word[0] & 0x80ffffffU) | (word[2] % 227) << 23) & tie;
            floats(c.x)[r * c.x.stride + k] = of_bits(bits);
        }
    }
    c.source = (MessageSource){.x = c.x, .row = on_device(c.row)};
    c.bytes = c.codec->bytes(&c.shape);
    assert_int_equal(c.bytes, rows * columns * 2);
    c.message = test_memory(c.bytes + 1);
    c.message[c.bytes] = 0xA5;
    return c;
}

static int64_t encode(Case *c) {
    int64_t bad = 0;
    c->codec->encode(device(), on_device(c->message), &c->shape, &c->source, on_device(&bad), NULL);
    assert_int_equal(c->message[c->bytes], 0xA5);
    return bad - 1;
}

TEST(values_are_the_nearest) {
    static const int64_t columns[] = {1, 7, 16, 41, 256};
    for (int i = 0; i < 5; i++) {
        Case c = case_new(i == 3 ? ROWS : 40, columns[i]);
        if (i % 2 == 1)
            c.source.scale = on_device(c.scale);
        assert_int_equal(encode(&c), -1);
        memset(floats(c.back) + BEFORE * c.back.stride, 0xff, rows_bytes(c.shape.rows, columns[i]));
        c.codec->decode(device(), c.back, BEFORE, &c.shape, on_device(c.message), NULL);
        for (int64_t r = 0; r < c.back.count; r++)
            for (int64_t k = 0; k < c.back.stride; k++) {
                float expected = 0;
                int64_t place = r - BEFORE;
                if (place >= 0 && place < c.shape.rows && k < columns[i]) {
                    float x = floats(c.x)[c.row[place] * c.x.stride + k];
                    expected = nearest(c.source.scale ? c.scale[c.row[place]] * x : x);
                }
                assert_memory_equal(&floats(c.back)[r * c.back.stride + k], &expected, 4);
            }
    }
}

TEST(values_without_a_bf16_are_reported) {
    const float bad[] = {NAN,      of_bits(0x7f800001), of_bits(0xffffffff),
                         INFINITY, -INFINITY,           FLT_MAX};
    for (int b = 0; b < 6; b++) {
        Case c = case_new(ROWS, 41);
        floats(c.x)[2000 * c.x.stride + 40] = bad[b];
        assert_int_equal(encode(&c), 2000);
        floats(c.x)[6 * c.x.stride] = bad[b];
        assert_int_equal(encode(&c), 6);
    }
    Case c = case_new(4, 3);
    floats(c.x)[0] = of_bits(0x7f7f0000); // the largest one
    assert_int_equal(encode(&c), -1);
}
