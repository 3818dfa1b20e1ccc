// If this failed, top-k would not keep the largest values, or keys would send other values than
// there are, or more bytes than they take, or take a damaged message for a gradient.
#include "../rows.h"
#include "codec/keys.h"
#include "fringe/codec.h"

#include <float.h>

enum { COLUMNS = 64, ROWS = 40, FLOATS = ROWS * COLUMNS };

static double draw(int64_t i, int which) {
    return random_uniform32(random_key(7, RANDOM_GENERATE, 1, which, 0), i, 0, 0) - 0.5;
}

// ---- the largest ones

static float sorted_by[FLOATS];

// Larger magnitudes first, then lower places.
static int larger_first(const void *a, const void *b) {
    int i = *(const int *)a, j = *(const int *)b;
    float x = fabsf(sorted_by[i]), y = fabsf(sorted_by[j]);
    return x > y ? -1 : x < y ? 1 : i - j;
}

// All different, nearly equal, or few different ones.
static float value_of(int64_t k, int values) {
    if (values == 0)
        return (float)draw(k, 1);
    return values == 1 ? 1 + (float)(k * 7 % 50) * FLT_EPSILON
                       : (float)(int)(draw(k, 0) * 2 * values);
}

// Every third row is shorter, and filled up with what must stay.
static void assert_keeps_largest(double part, int values) {
    static float x[FLOATS], want[FLOATS];
    int32_t length[ROWS];
    int order[FLOATS], n = 0;
    for (int i = 0; i < ROWS; i++)
        length[i] = i % 3 == 0 ? 1 + (i * 7) % COLUMNS : COLUMNS;
    for (int k = 0; k < FLOATS; k++) {
        x[k] = want[k] = value_of(k, values);
        if (k % COLUMNS < length[k / COLUMNS])
            order[n++] = k;
    }
    memcpy(sorted_by, x, sizeof x);
    qsort(order, (size_t)n, sizeof *order, larger_first);
    for (int k = (int)ceil(part * n); k < n; k++)
        want[order[k]] = 0;
    Rows rows = {.at = on_device(x), .count = ROWS, .columns = COLUMNS, .stride = COLUMNS};
    top_keep(device(), rows, length, part);
    for (int k = 0; k < FLOATS; k++)
        assert_true(x[k] == want[k]);
    assert_int_equal(top_count(part, n), (int64_t)ceil(part * n));
}

TEST(the_largest_stay_and_of_equals_the_lower_places) {
    static const double parts[] = {1e-9, 0.01, 0.1, 0.5, 0.999, 1};
    for (int p = 0; p < 6; p++)
        for (int values = 0; values < 6; values++)
            assert_keeps_largest(parts[p], values);
}

// ---- bytes

enum { MANY = 100000 };
static float sparse[MANY], back[MANY];
static unsigned char message[6 * MANY];

static int64_t fill(double density) {
    int64_t kept = 0;
    for (int64_t i = 0; i < MANY; i++) {
        sparse[i] = draw(i, 2) + 0.5 < density ? (float)draw(i, 3) : 0;
        kept += sparse[i] != 0;
    }
    return kept;
}

TEST(values_come_back_in_few_bytes) {
    static const struct {
        double density, most; // bytes of a key
    } lists[] = {{1, 1.26}, {0.1, 1.26}, {0.02, 1.27}, {0.01, 1.34}, {1e-4, 2.4}, {0, 0}};
    for (int l = 0; l < 6; l++) {
        int64_t kept = fill(lists[l].density);
        size_t bytes = keys_write(message, sparse, MANY), keys = bytes - 4 - (size_t)kept * 4;
        assert_true(bytes <= keys_most(MANY, kept));
        assert_true(keys_read(back, MANY, message, bytes));
        assert_memory_equal(back, sparse, sizeof sparse);
        print_message("%g of the values: %.3f bytes a key, %.4f of fp32\n", lists[l].density,
                      kept > 0 ? (double)keys / (double)kept : 0, (double)bytes / (4.0 * MANY));
        assert_true((double)keys <= lists[l].most * (double)kept);
    }
}

// One value, as far away as it needs so many bytes, and the last one.
TEST(far_values_come_back) {
    static const int64_t places[] = {0, 255, 256, 65535, 65536, MANY - 1};
    for (int p = 0; p < 6; p++) {
        memset(sparse, 0, sizeof sparse);
        sparse[places[p]] = sparse[MANY - 1] = -3;
        size_t bytes = keys_write(message, sparse, MANY);
        assert_true(bytes <= keys_most(MANY, 2));
        assert_true(keys_read(back, MANY, message, bytes));
        assert_memory_equal(back, sparse, sizeof sparse);
    }
    assert_int_equal(keys_write(message, sparse, 0), 0);
    assert_true(keys_read(back, 0, message, 0));
}

// A length is no other's, and what can be read is what is written again.
TEST(damaged_messages_are_refused) {
    enum { N = 300 };
    static unsigned char again[6 * N];
    fill(0.1);
    size_t bytes = keys_write(message, sparse, N);
    assert_true(keys_read(back, N, message, bytes));
    for (size_t cut = 0; cut <= bytes + 1; cut++)
        assert_true(keys_read(back, N, message, cut) == (cut == bytes));
    for (size_t i = 0; i < 8 * bytes; i++) {
        message[i / 8] ^= (unsigned char)(1 << i % 8);
        if (keys_read(back, N, message, bytes)) {
            assert_int_equal(keys_write(again, back, N), bytes);
            assert_memory_equal(again, message, bytes);
        }
        message[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    static const unsigned char wrong[][10] = {
        {1, 0, 0, 0, 0, 0, 128, 63, 4, 0},      // a size behind the last
        {1, 0, 0, 0, 0, 0, 0, 0, 0, 0},         // a value that is zero
        {1, 0, 0, 0, 0, 0, 128, 63, 0, 10},     // a place behind the last
        {255, 255, 255, 255, 0, 0, 0, 0, 0, 0}, // far too many
    };
    for (int w = 0; w < 4; w++)
        assert_false(keys_read(back, 10, wrong[w], 10));
    static const unsigned char longer[] = {1, 0, 0, 0, 0, 0, 128, 63, 1, 9, 0}; // a byte too many
    assert_false(keys_read(back, 10, longer, sizeof longer));
}

// ---- the codec

TEST(rows_come_back_and_bad_ones_are_reported) {
    int32_t length[ROWS], row[ROWS];
    int64_t id[ROWS], bad = 0;
    Rows x = zeroed_rows(ROWS, COLUMNS), out = zeroed_rows(ROWS, COLUMNS);
    MessageLayout layout = {.rows = ROWS, .columns = COLUMNS, .length = length};
    keys_set(&layout.values, 1);
    for (int i = 0; i < ROWS; i++) {
        length[i] = i % 4 == 0 ? 5 : COLUMNS;
        row[i] = i, id[i] = i;
        for (int c = 0; c < length[i]; c += 3)
            floats(x)[i * x.stride + c] = (float)draw(i * COLUMNS + c, 4);
    }
    MessageSource source = {.x = x,
                            .partials = {.columns = COLUMNS, .stride = x.stride},
                            .row = on_device(row),
                            .gid = on_device(id)};
    layout.scratch = on_device(test_memory(codec_key_values.scratch(&layout)));
    layout.bytes = codec_key_values.encode(device(), on_device(message), &layout, &source,
                                           on_device(&bad), NULL);
    assert_true(bad == 0 && layout.bytes <= codec_key_values.bytes(&layout));
    memset(floats(out), 0xff, rows_bytes(ROWS, COLUMNS));
    codec_key_values.decode(device(), out, 0, &layout, on_device(message), NULL);
    assert_memory_equal(floats(out), floats(x), rows_bytes(ROWS, COLUMNS));
    floats(x)[9 * x.stride + 2] = NAN;
    codec_key_values.encode(device(), on_device(message), &layout, &source, on_device(&bad), NULL);
    assert_int_equal(bad, 1 + 9);
}
