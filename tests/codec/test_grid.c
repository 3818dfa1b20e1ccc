// If this failed, coded weight gradients would not be as codec.h draws them, or their bytes would
// depend on vectors or threads, or floats behind the end of a bucket would travel or count.
#include "grid_trip.h"

// ---- an independent message, a value at a time

// What s S must cover, or be.
static double true_reach(GridRule rule, const float *x, int64_t length, float scale) {
    double lane[16] = {0}, sum = 0, most = 0;
    for (int64_t c = 0; c < length; c++) {
        double size = fabs((double)(scale * x[c]));
        most = fmax(most, size);
        lane[c % 16] += rule == GRID_L2 ? size * size : size;
    }
    for (int i = 0; i < 16; i++)
        sum += lane[i];
    if (rule == GRID_MAX || rule == GRID_LOG)
        return most;
    return rule == GRID_L2 ? sqrt(sum) : sum / (double)length;
}

static float bf16_nearest(float x) { // of x >= 0; ties to even
    float below = bf16_cut(x), above = bf16_next(below);
    if (x - below != above - x)
        return x - below < above - x ? below : above;
    return bf16_cut(below / 2) * 2 == below ? below : above;
}

static float power_above(double reach, bool bf16) {
    double power = bf16 ? 0x1p-133 : 0x1p-149;
    while (power < reach)
        power *= 2;
    return reach > 0 ? (float)power : 0;
}

static float true_step(GridOptions options, double reach) {
    if (options.rule == GRID_LOG)
        return power_above(reach, options.bf16);
    float step = (float)(reach / true_s(options));
    if (options.rule == GRID_MEAN)
        return options.bf16 ? bf16_nearest(step) : step;
    step = options.bf16 ? bf16_cut(step) : nextafterf(nextafterf(step, 0), 0);
    while ((double)step * true_s(options) < reach)
        step = options.bf16 ? bf16_next(step) : nextafterf(step, INFINITY);
    return step;
}

static Truth true_row(GridOptions options, const float *x, int64_t length, float scale) {
    if (has_minimum(options))
        return true_grid(x, length, scale, options.bits, options.bf16);
    return (Truth){.step = true_step(options, true_reach(options.rule, x, length, scale)),
                   .most = (float)true_s(options)};
}

// The magnitude of a code by powers of two.
static int true_power(const RoundTrip *t, GridOptions options, Truth g, float x, int64_t r,
                      int64_t c) {
    double number = random_uniform32(t->source.random, t->gid[r], t->source.peer, c);
    double k = options.nearest ? 0x1p22 : floor(number * 0x1p23);
    double y = fabs((double)x) / (double)g.step, least = ldexp(1, 1 - true_s(options));
    int exponent;
    if (g.step == 0 || y < least)
        return g.step > 0 && k < 0x1p23 * (y / least);
    double digits = ldexp(frexp(y, &exponent), 24) - 0x1p23;
    return exponent - 1 + true_s(options) + (digits + k >= 0x1p23);
}

static int true_q(const RoundTrip *t, GridOptions options, Truth g, float x, int64_t r, int64_t c) {
    int s = true_s(options);
    if (has_minimum(options))
        return true_code(t, g, x, options.bits, r, c, options.nearest);
    if (options.rule == GRID_MEAN)
        return x >= 0 || g.step == 0;
    int size = options.rule == GRID_LOG
                   ? true_power(t, options, g, x, r, c)
                   : true_code(t, g, fabsf(x), options.bits, r, c, options.nearest);
    return x < 0 ? s - size : s + size;
}

static float true_value(GridOptions options, Truth g, int q) {
    int s = true_s(options);
    if (has_minimum(options))
        return g.zero + (float)q * g.step;
    if (options.rule == GRID_LOG)
        return q == s ? 0 : copysignf(ldexpf(g.step, abs(q - s) - s), (float)(q - s));
    return options.rule == GRID_MEAN ? (float)(2 * q - 1) * g.step : (float)(q - s) * g.step;
}

static int64_t length_of(const RoundTrip *t, int64_t place) {
    return t->shape.length == NULL ? t->shape.columns : t->shape.length[place];
}

// Fills `message` (zeroed) and the rows that must come of it.
static void true_trip(const RoundTrip *t, unsigned char *message, Rows back) {
    GridOptions options = grid_get(&t->shape.values);
    int64_t rows = t->shape.rows, step_at = has_minimum(options) ? rows : 0;
    size_t size = t->bf16 ? 2 : 4;
    unsigned char *payload = message + (size_t)(step_at + rows) * size;
    for (int64_t k = 0; k < rows; k++) {
        int64_t r = t->row[k], length = length_of(t, k);
        float scale = t->source.scale != NULL ? t->scale[r] : 1;
        Truth g = true_row(options, sent(t, k), length, scale);
        if (has_minimum(options))
            memcpy(message + (size_t)k * size, (char *)&g.zero + 4 - size, size);
        memcpy(message + (size_t)(step_at + k) * size, (char *)&g.step + 4 - size, size);
        for (int64_t c = 0; c < length; c++) {
            int q = true_q(t, options, g, scale * sent(t, k)[c], r, c);
            true_pack(payload, q, options.bits, c, length);
            floats(back)[(BEFORE + k) * back.stride + c] = true_value(options, g, q);
        }
        payload += true_bytes(length, options.bits);
    }
    assert_int_equal(payload - message, t->bytes);
}

static void try_all_ways(RoundTrip *t) {
    round_trip_ready(t);
    unsigned char *message = test_memory(t->bytes);
    Rows back = zeroed_rows(t->back.count, t->shape.columns);
    true_trip(t, message, back);
    round_trip_all_ways(t, message, back, NULL);
}

// ---- rows of many lengths

enum { BUCKET = 512, FULL = 65 }; // full buckets that threads share

// Behind a row's length lies what must neither travel nor count.
static void spoil_tail(RoundTrip *t, int64_t k) {
    float *x = floats(t->source.x) + t->row[k] * t->source.x.stride;
    for (int64_t c = length_of(t, k); c < t->shape.columns; c++)
        x[c] = c % 2 == 0 ? NAN : 1e30F;
}

TEST(rows_of_lengths_are_as_drawn) {
    static const int32_t lengths[] = {1, 15, 16, 17, 511, 512, 130, 512};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, SHORT = 3 * LENGTHS };
    int32_t length[FULL + SHORT];
    int turn = 0;
    for (GridOptions options = {0}; grid_next(&options); turn++) {
        int full = turn % 7 == 0 ? FULL : 0; // threads wait for each other, so not always
        OWNED(RoundTrip) t = grid_trip_new(SHORT + full, BUCKET, options);
        t.source.random.kind =
            (RandomKind){.seven = turn / 8 % 2 == 1, .narrow = turn / 4 % 2 == 1};
        for (int64_t k = 0; k < t.shape.rows; k++)
            length[k] = k >= 5 && k < 5 + full ? BUCKET : lengths[k % LENGTHS];
        t.shape.length = length;
        for (int64_t k = 0; k < t.shape.rows; k++) {
            round_trip_fill(&t, kind_of(options.rule, k + turn), k, k);
            spoil_tail(&t, k);
        }
        if (turn % 3 == 2)
            t.source.scale = on_device(t.scale);
        try_all_ways(&t);
    }
}

// Rows of several pieces, and none behind the others.
TEST(long_rows_are_as_drawn) {
    static const int64_t columns[] = {1, 41, 1024, 1025, 2100};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (GridOptions options = {0}; grid_next(&options);) {
            if (options.bits != 4 && options.rule != GRID_MEAN)
                continue;
            OWNED(RoundTrip) t = grid_trip_new(KINDS, columns[i], options);
            t.source.random.kind = (RandomKind){.seven = i / 2 % 2 == 1, .narrow = i % 2 == 1};
            for (int64_t k = 0; k < KINDS; k++) {
                round_trip_fill(&t, kind_of(options.rule, k), k, k);
                t.row[k] = (int32_t)(KINDS - 1 - k);
            }
            try_all_ways(&t);
        }
}

TEST(sixteen_bits_are_as_drawn) {
    for (int nearest = 0; nearest < 2; nearest++) {
        OWNED(RoundTrip)
        t = grid_trip_new(KINDS, 41, (GridOptions){.bits = 16, .nearest = nearest});
        for (int64_t k = 0; k < KINDS; k++)
            round_trip_fill(&t, (Kind)k, k, k);
        try_all_ways(&t);
    }
}

// ---- what a message takes, by the numbers of COMPRESSORS

static size_t message_bytes(GridOptions options, const int32_t *length, int64_t rows) {
    MessageLayout layout = {.rows = rows, .columns = BUCKET, .length = length};
    grid_set(&layout.values, options);
    assert_true(codec_grid.bytes(&layout) <= codec_grid.bytes_most(&layout));
    return codec_grid.bytes(&layout);
}

TEST(messages_take_what_their_floats_take) {
    const int32_t length[] = {512, 512, 1, 300};
    GridOptions max4 = {.rule = GRID_MAX, .bits = 4, .bf16 = true};
    assert_int_equal(message_bytes(max4, NULL, 4), 4 * (2 + 256));
    assert_int_equal(message_bytes(max4, length, 4), 4 * 2 + 2 * 256 + 1 + 150);
    GridOptions max3 = {.rule = GRID_MAX, .bits = 3};
    assert_int_equal(message_bytes(max3, length, 4), 4 * 4 + 2 * (128 + 64) + 2 + (75 + 38));
    GridOptions minmax8 = {.rule = GRID_MINMAX, .bits = 8, .bf16 = true};
    assert_int_equal(message_bytes(minmax8, length, 4), 4 * 4 + 2 * 512 + 1 + 300);
    GridOptions log5 = {.rule = GRID_LOG, .bits = 5, .bf16 = true};
    assert_int_equal(message_bytes(log5, NULL, 1), 2 + 320);
    GridOptions mean = {.rule = GRID_MEAN, .bits = 1, .bf16 = true};
    assert_int_equal(message_bytes(mean, length, 4), 4 * 2 + 2 * 64 + 1 + 38);
    assert_int_equal(message_bytes(mean, NULL, 0), 0);
}

// ---- rows that cannot be written

static int64_t bad_place(RoundTrip *t) {
    int64_t place = round_trip_encode(t);
    for (Way way = {0}; way_next(&way);)
        assert_int_equal(round_trip_encode(t), place);
    return place;
}

TEST(bad_rows_are_reported) {
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (GridOptions options = {0}; grid_next(&options);) {
        enum { ROWS = 9 };
        int32_t length[ROWS] = {40, 40, 3, 40, 40, 17, 17, 40, 40};
        OWNED(RoundTrip) t = grid_trip_new(ROWS, 40, options);
        t.shape.length = length;
        for (int64_t k = 0; k < ROWS; k++) {
            round_trip_fill(&t, GAUSS, k, k);
            spoil_tail(&t, k);
        }
        round_trip_ready(&t);
        assert_int_equal(bad_place(&t), -1);
        float *x = floats(t.source.x);
        x[6 * t.source.x.stride + 16] = bad[options.bits % 3];
        assert_int_equal(bad_place(&t), 6);
        x[2 * t.source.x.stride + 2] = bad[(options.bits + 1) % 3];
        assert_int_equal(bad_place(&t), 2);
    }
}

// s S is no float: of the norm where each value is one, of the largest value where no bf16 or no
// power of two is above.
TEST(overflowing_steps_are_reported) {
    static const GridRule rules[] = {GRID_MAX, GRID_L2, GRID_LOG};
    for (int i = 0; i < 3; i++) {
        bool l2 = rules[i] == GRID_L2, log = rules[i] == GRID_LOG;
        GridOptions options = {.rule = rules[i], .bits = log ? 3 : 2, .bf16 = !l2};
        OWNED(RoundTrip) t = grid_trip_new(3, 20, options);
        for (int64_t k = 0; k < 3; k++)
            round_trip_fill(&t, GAUSS, k, k);
        round_trip_ready(&t);
        float *x = floats(t.source.x) + 1 * t.source.x.stride;
        x[0] = l2 ? 3e38F : log ? 0x1p127F : 0x1.fep127F;
        assert_int_equal(bad_place(&t), -1);
        x[1] = l2 ? 3e38F : log ? -0x1.000002p127F : -FLT_MAX;
        assert_int_equal(bad_place(&t), 1);
    }
}

// ---- fp32, for refreshes

TEST(fp32_has_lengths_too) {
    int32_t length[] = {16, 41, 41, 1, 40, 40, 41};
    enum { ROWS = sizeof length / sizeof *length };
    OWNED(RoundTrip) t = round_trip_new(ROWS, 41, false, 8);
    t.codec = codec_find("fp32", &(Error){0});
    t.shape.length = length;
    for (int64_t k = 0; k < ROWS; k++) {
        t.row[k] = (int32_t)(ROWS - 1 - k);
        round_trip_fill(&t, GAUSS, t.row[k], k);
        spoil_tail(&t, k);
    }
    round_trip_ready(&t);
    assert_int_equal(t.bytes, 4 * (16 + 3 * 41 + 1 + 2 * 40));
    assert_int_equal(round_trip_encode(&t), -1);
    round_trip_decode(&t);
    for (int64_t k = 0; k < ROWS; k++)
        for (int64_t c = 0; c < t.back.stride; c++) {
            float want = c < length[k] ? sent(&t, k)[c] : 0;
            assert_memory_equal(&landed(&t, k)[c], &want, sizeof want);
        }
}
