// If this failed, some codec of the table would lose or blur the rows of a message, write outside
// of it, leave a byte of it to chance, or hide a value that is not a number. What is asked here
// must hold for every member; tests that know what a codec is stand in files of their own.
#include "rows.h"

#include "fringe/codec.h"

static const int64_t column_counts[] = {1, 2, 16, 41, 130};
static const int64_t row_counts[] = {0, 1, 6, 77};
enum { COLUMN_COUNTS = 5, ROW_COUNTS = 4, SOURCES = 300, BEFORE = 3, AFTER = 2, GUARD = 0xA5 };

// Values of one row lie in one eighth of their size: none of them is near the zero or the neighbour
// that a codec could put in its place.
static float value(int64_t row, int64_t column) {
    float size = (float)(1 + row % 5) * (row % 2 == 0 ? 100.0F : -0.01F);
    return size * (1 + (float)((row * 31 + column * 17) % 64) / 512);
}

static float factor(int64_t row) { return 2.0F / (float)(1 + row % 3); }

// One message: every third row of SOURCES rows, or fewer.
typedef struct Trip {
    const Codec *codec;
    int bits; // of every row; 0: the codec knows no widths
    MessageLayout layout;
    MessageSource source;
    Widths widths;
    Taken *taken; // their blocks
    float *scale;
    int32_t *row;
    int64_t *gid;
    size_t bytes;
} Trip;

static Trip trip_new(const Codec *codec, int bits, int64_t rows, int64_t columns) {
    Trip t = {.codec = codec,
              .bits = bits,
              .layout = {.rows = rows, .columns = columns},
              .source = {.x = test_rows(SOURCES, columns),
                         .random = random_key(5, RANDOM_ROUNDING, 2, 1, 0),
                         .range = on_device(TEST_ARRAY(float, rows))},
              .scale = TEST_ARRAY(float, SOURCES),
              .row = TEST_ARRAY(int32_t, rows),
              .gid = TEST_ARRAY(int64_t, SOURCES)};
    for (int64_t r = 0; r < SOURCES; r++) {
        t.scale[r] = factor(r);
        t.gid[r] = 7 * r;
        for (int64_t k = 0; k < columns; k++)
            floats(t.source.x)[r * t.source.x.stride + k] = value(r, k);
    }
    for (int64_t k = 0; k < rows; k++)
        t.row[k] = (int32_t)(3 * k + 1);
    t.source.row = on_device(t.row);
    t.source.gid = on_device(t.gid);
    return t;
}

// With the options that an empty config gives. The layout points at the widths, which must not move
// any more.
static void trip_begin(Trip *t) {
    config_learn_keys((const Family *const[]){&codec_family}, 1);
    Config config = CONFIGURED();
    assert_ok(codec_configure(t->codec, &config, &t->layout.values, &err));
    if (t->codec->has_widths) {
        widths_alloc(&t->widths, &(Allocator){.backend = device(), .taken = &t->taken},
                     t->layout.rows);
        widths_fill(&t->widths, t->bits);
        t->layout.widths = &t->widths;
    }
    t->bytes = t->codec->bytes(&t->layout);
    if (t->bytes > t->codec->bytes_most(&t->layout))
        fail_msg("%s: a message takes more than the most that one may take", t->codec->name);
}

static void trip_clear(Trip *t) { taken_free(&t->taken); }

// A message in memory that held `fill` before, with a guard at both ends.
enum { MARGIN = 64 };
static unsigned char *encoded(const Trip *t, int fill, int64_t *bad) {
    unsigned char *memory = test_memory(t->bytes + 2 * MARGIN);
    memset(memory, GUARD, t->bytes + 2 * MARGIN);
    memset(memory + MARGIN, fill, t->bytes);
    *bad = 0;
    t->codec->encode(device(), on_device(memory + MARGIN), &t->layout, &t->source, on_device(bad),
                     NULL);
    for (int64_t i = 0; i < MARGIN; i++)
        if (memory[i] != GUARD || memory[MARGIN + (int64_t)t->bytes + i] != GUARD)
            fail_msg("%s writes outside of a message of %zu bytes", t->codec->name, t->bytes);
    return memory;
}

static Rows decoded(const Trip *t, const unsigned char *message) {
    Rows back = test_rows(BEFORE + t->layout.rows + AFTER, t->layout.columns);
    memset(floats(back), 0xff, rows_bytes(back.count, t->layout.columns));
    t->codec->decode(device(), back, BEFORE, &t->layout, on_device(message + MARGIN), NULL);
    return back;
}

// Of a row with values in [low, high]: one eighth of a value for what a format of few bits rounds
// away; where rows have widths one step between two codes, and 1 / 64 for a grid in bf16.
static double bound(const Trip *t, double low, double high) {
    double step = t->bits > 0 ? (high - low) / (double)((1 << t->bits) - 1) : 0;
    double size = fmax(fabs(low), fabs(high));
    return step + size / (t->bits > 0 ? 64 : 8);
}

static void assert_row_is_back(const Trip *t, Rows back, int64_t place, bool scaled) {
    int64_t from = t->row[place];
    const float *got = floats(back) + (BEFORE + place) * back.stride;
    double f = scaled ? (double)factor(from) : 1, low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < t->layout.columns; k++) {
        low = fmin(low, f * (double)value(from, k));
        high = fmax(high, f * (double)value(from, k));
    }
    for (int64_t k = 0; k < back.stride; k++) {
        double want = k < t->layout.columns ? f * (double)value(from, k) : 0;
        double most = k < t->layout.columns ? bound(t, low, high) : 0;
        if (!(fabs((double)got[k] - want) <= most))
            fail_msg("%s, %d bits, %lld rows of %lld: value %lld of row %lld is %g, was %g",
                     t->codec->name, t->bits, (long long)t->layout.rows,
                     (long long)t->layout.columns, (long long)k, (long long)place, (double)got[k],
                     want);
    }
}

static void assert_others_are_untouched(const Trip *t, Rows back) {
    for (int64_t r = 0; r < back.count; r++)
        for (int64_t k = 0; k < back.stride; k++) {
            uint32_t bits;
            memcpy(&bits, &floats(back)[r * back.stride + k], sizeof bits);
            if ((r < BEFORE || r >= BEFORE + t->layout.rows) && bits != UINT32_MAX)
                fail_msg("%s decodes into row %lld", t->codec->name, (long long)(r - BEFORE));
        }
}

// The same bytes whatever lay there before: none of them is left to chance.
static void try_trip(const Codec *codec, int bits, int64_t rows, int64_t columns, bool scaled) {
    int64_t bad[2];
    CLEARED(trip_clear) Trip t = trip_new(codec, bits, rows, columns);
    trip_begin(&t);
    t.source.scale = scaled ? on_device(t.scale) : NULL;
    unsigned char *message = encoded(&t, 0, &bad[0]), *again = encoded(&t, 0xff, &bad[1]);
    assert_true(bad[0] == 0 && bad[1] == 0);
    if (memcmp(message, again, t.bytes + 2 * MARGIN) != 0)
        fail_msg("%s leaves bytes of %lld rows of %lld unwritten", codec->name, (long long)rows,
                 (long long)columns);
    Rows back = decoded(&t, message);
    for (int64_t k = 0; k < rows; k++)
        assert_row_is_back(&t, back, k, scaled);
    assert_others_are_untouched(&t, back);
}

// Either the codec names the row, or what arrives is not finite either.
static void try_bad_value(const Codec *codec, int bits, float wrong) {
    enum { ROWS = 20, COLUMNS = 9, PLACE = 13 };
    int64_t bad;
    CLEARED(trip_clear) Trip t = trip_new(codec, bits, ROWS, COLUMNS);
    trip_begin(&t);
    floats(t.source.x)[t.row[PLACE] * t.source.x.stride + COLUMNS - 1] = wrong;
    unsigned char *message = encoded(&t, 0, &bad);
    if (bad == 0) {
        Rows back = decoded(&t, message);
        if (isfinite(floats(back)[(BEFORE + PLACE) * back.stride + COLUMNS - 1]))
            fail_msg("%s hides a value that is not finite", codec->name);
    } else {
        assert_int_equal(bad, 1 + PLACE);
    }
}

static void try_codec(const Codec *codec, int bits) {
    for (int c = 0; c < COLUMN_COUNTS; c++)
        for (int r = 0; r < ROW_COUNTS; r++)
            for (int scaled = 0; scaled < 2; scaled++)
                try_trip(codec, bits, row_counts[r], column_counts[c], scaled);
    try_bad_value(codec, bits, NAN);
    try_bad_value(codec, bits, -INFINITY);
}

TEST(every_codec_gives_rows_back) {
    for (int i = 0; i < codec_family.count; i++) {
        const Codec *codec = family_member(&codec_family, i);
        for (int bits = codec->has_widths; bits <= (codec->has_widths ? WIDTH_MOST : 0); bits++)
            if (bits == 0 || width_known(bits))
                try_codec(codec, bits);
    }
}
