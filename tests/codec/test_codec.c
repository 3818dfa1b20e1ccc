// If this failed, a message would not hold the rows of its send list, tight and in order, or
// decoding would not give them back.
#include "rows.h"

#include "fringe/codec.h"

static const int64_t widths[] = {1, 3, 16, 41, 48, 256, 602};
static const int64_t list_lengths[] = {0, 1, 7, 100, 5000};
enum { WIDTHS = 7, LENGTHS = 5, SOURCES = UNDER_SANITIZERS(5011, 20011) };

static float value(int64_t row, int64_t column) {
    return (float)((row * 613 + column * 7919) % 10007) / 64.0F - 70.0F;
}
static float factor(int64_t row) { return 1.0F / (float)(1 + row % 13); }

// Ascending, with gaps and neighbours.
static int32_t listed(int64_t k, int64_t length) {
    return (int32_t)(k * (SOURCES - 1) / (length > 1 ? length - 1 : 1));
}

typedef struct Case {
    Rows x;
    float *scale;
    int32_t *row;
    int64_t length;
} Case;

static Case case_new(int64_t columns, int64_t length) {
    Case c = {test_rows(SOURCES, columns), TEST_ARRAY(float, SOURCES), TEST_ARRAY(int32_t, length),
              length};
    for (int64_t r = 0; r < SOURCES; r++) {
        c.scale[r] = factor(r);
        for (int64_t k = 0; k < columns; k++)
            floats(c.x)[r * c.x.stride + k] = value(r, k);
    }
    for (int64_t k = 0; k < length; k++)
        c.row[k] = listed(k, length);
    return c;
}

static void count_call(void *context) { ++*(int *)context; }

// Encoded with a guard behind, decoded into the middle of other rows.
static void try_case(const Codec *codec, const Case *c, bool scaled) {
    enum { BEFORE = 3, AFTER = 2 };
    int64_t columns = c->x.columns, length = c->length;
    MessageLayout shape = {.rows = length, .columns = columns};
    MessageSource source = {
        .x = c->x, .scale = scaled ? on_device(c->scale) : NULL, .row = on_device(c->row)};
    size_t bytes = codec->bytes(&shape);
    assert_int_equal(bytes, length * columns * 4);
    unsigned char *out = test_memory(bytes + 1);
    out[bytes] = 0xA5;
    int calls = 0;
    Poll poll = {count_call, &calls};
    int64_t bad = 0;
    codec->encode(device(), on_device(out), &shape, &source, on_device(&bad), &poll);
    assert_int_equal(bad, 0);
    assert_true(out[bytes] == 0xA5);
    Rows back = zeroed_rows(BEFORE + length + AFTER, columns);
    memset(floats(back) + BEFORE * back.stride, 0xff, rows_bytes(length, columns));
    codec->decode(device(), back, BEFORE, &shape, on_device(out), &poll);
    assert_true(bytes < 8 << 20 || calls >= 2);
    for (int64_t r = 0; r < back.count; r++)
        for (int64_t k = 0; k < back.stride; k++) {
            float expected = 0;
            if (r >= BEFORE && r < BEFORE + length && k < columns) {
                int64_t from = c->row[r - BEFORE];
                expected = scaled ? factor(from) * value(from, k) : value(from, k);
                float sent; // tight and in order
                memcpy(&sent, out + ((r - BEFORE) * columns + k) * 4, 4);
                assert_memory_equal(&sent, &expected, 4);
            }
            assert_memory_equal(&floats(back)[r * back.stride + k], &expected, 4);
        }
}

TEST(fp32_gives_rows_back) {
    const Codec *codec = assert_ok(codec_find("fp32", &err));
    for (int w = 0; w < WIDTHS; w++)
        for (int l = 0; l < LENGTHS; l++) {
            Case c = case_new(widths[w], list_lengths[l]);
            try_case(codec, &c, false);
            try_case(codec, &c, true);
            test_clear();
        }
}

// Of a message whose rows have one width.
static size_t bytes_at(const Codec *codec, MessageLayout layout, int bits) {
    Widths all = {.count = layout.rows};
    all.of[bits] = layout.rows;
    layout.widths = codec->has_widths ? &all : NULL;
    return codec->bytes(&layout);
}

// Buffers have room for the longest message and no more.
TEST(bytes_most_is_what_the_widest_takes) {
    Config config = CONFIGURED();
    for (int i = 0; i < codec_family.count; i++)
        for (int64_t columns = 1; columns < 40; columns++) {
            const Codec *codec = family_member(&codec_family, i);
            MessageLayout layout = {.rows = 7, .columns = columns};
            size_t most = 0;
            assert_ok(codec_configure(codec, &config, &layout.values, &err));
            for (int bits = 1; bits <= WIDTH_MOST; bits++)
                if (width_known(bits) && bytes_at(codec, layout, bits) > most)
                    most = bytes_at(codec, layout, bits);
            assert_int_equal(codec->bytes_most(&layout), most);
        }
}

TEST(wrong_name_is_answered_with_the_list) {
    assert_refused(codec_find("fp23", &err) != NULL, EXIT_CONFIG, "expected one of fp32");
}
