// ranks: 1
// If this failed, quantized messages would be biased, or not as codec.h draws them, or their bytes
// would depend on vectors or threads, or a row that cannot be written would go unnoticed.
#include "fringe/codec.h"
#include "kernels/kernels.h"
#include <float.h>
#include <math.h>

static const int known[] = {1, 2, 3, 4, 5, 6, 7, 8, 16};
enum { KNOWN = 9, GUARD = 0xA5 };

static double largest_code(int bits) { return (double)((1 << bits) - 1); }

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

static float value(Kind kind, int64_t row, int64_t column) {
    RandomStream stream = random_stream(3, RANDOM_FEATURES, (uint32_t)kind, 0, 0);
    double normal = random_normal(stream, row, 0, column);
    double uniform = random_uniform32(stream, row, 1, column);
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
typedef struct Trip {
    MessageShape shape;
    MessageSource source;
    Widths widths;
    int64_t *gid;
    int32_t *row;
    float *scale;
    uint8_t *bits; // [rows] by place
    size_t bytes;
    unsigned char *message; // and a guard behind
    Rows back;
} Trip;

enum { BEFORE = 2 }; // rows of `back` before the first

static const Codec *integer(void) {
    Error err = {0};
    const Codec *codec = codec_find("integer", &err);
    assert_ok(codec != NULL, &err);
    return codec;
}

// All rows of x in order; every row has `bits`.
static Trip trip_new(int64_t rows, int64_t columns, bool bf16, int bits) {
    Trip t = {.gid = TAKE(int64_t, rows, "gid"),
              .row = TAKE(int32_t, rows, "row"),
              .scale = TAKE(float, rows, "scale"),
              .bits = TAKE(uint8_t, rows, "bits"),
              .back = rows_take(BEFORE + rows + 1, columns, "back")};
    for (int64_t r = 0; r < rows; r++) {
        t.gid[r] = r % 2 == 0 ? r : ((int64_t)1 << 41) + 7 * r; // both words of an id
        t.row[r] = (int32_t)r;
        t.scale[r] = (float)(r % 7 - 3) / 3; // also 0 and negative
        t.bits[r] = (uint8_t)bits;
    }
    widths_take(&t.widths, rows, bits);
    t.shape = (MessageShape){.rows = rows, .columns = columns, .bf16 = bf16};
    t.source = (MessageSource){.x = rows_take(rows, columns, "x"),
                               .stream = random_stream(0x123456789abcdef, RANDOM_ROUNDING, 9, 2, 1),
                               .peer = 5,
                               .range = TAKE(float, rows, "range")};
    return t;
}

// Looks at `bits` and makes room for the message.
static void trip_ready(Trip *t) {
    t->shape.widths = &t->widths;
    t->source.row = t->row, t->source.gid = t->gid;
    widths_set(&t->widths, t->bits);
    t->bytes = integer()->bytes(&t->shape);
    memory_give(t->message);
    t->message = memory_take(t->bytes + 1, "message");
    t->message[t->bytes] = GUARD;
}

static void trip_clear(Trip *t) {
    memory_give(t->gid), memory_give(t->row), memory_give(t->scale), memory_give(t->bits);
    memory_give(t->message), memory_give(t->source.range);
    widths_clear(&t->widths);
    rows_give(&t->back);
    rows_give(&t->source.x);
}

static void trip_fill(Trip *t, Kind kind, int64_t r, int64_t like) {
    for (int64_t c = 0; c < t->shape.columns; c++)
        t->source.x.at[r * t->source.x.stride + c] = value(kind, like, c);
}

static int64_t trip_encode(Trip *t) {
    int64_t bad = integer()->encode(t->message, &t->shape, &t->source, NULL);
    assert_int_equal(t->message[t->bytes], GUARD);
    return bad;
}
static void trip_decode(Trip *t) {
    memset(t->back.at + BEFORE * t->back.stride, 0xff, rows_bytes(t->shape.rows, t->back.columns));
    integer()->decode(t->back, BEFORE, &t->shape, t->message, NULL);
}
static const float *sent(const Trip *t, int64_t place) {
    return t->source.x.at + t->row[place] * t->source.x.stride;
}
static const float *landed(const Trip *t, int64_t place) {
    return t->back.at + (BEFORE + place) * t->back.stride;
}

static float parameter(const Trip *t, int array, int64_t position) {
    int size = t->shape.bf16 ? 2 : 4;
    uint32_t bits = 0;
    memcpy((char *)&bits + 4 - size, t->message + (array * t->shape.rows + position) * size,
           (size_t)size);
    float found;
    memcpy(&found, &bits, 4);
    return found;
}

// ---- an independent message, a value at a time

static float bf16_cut(float x) { // towards zero
    uint32_t bits;
    memcpy(&bits, &x, 4);
    bits &= 0xffff0000U;
    memcpy(&x, &bits, 4);
    return x;
}
static float bf16_next(float x) { // away from zero
    uint32_t bits;
    memcpy(&bits, &x, 4);
    bits += 0x10000;
    memcpy(&x, &bits, 4);
    return x;
}

typedef struct Truth {
    float zero, step, most;
} Truth;

static Truth true_grid(const float *x, int64_t columns, float scale, int bits, bool bf16) {
    float least = scale * x[0], most = least;
    for (int64_t c = 1; c < columns; c++) {
        least = fminf(least, scale * x[c]);
        most = fmaxf(most, scale * x[c]);
    }
    Truth g = {.zero = least == 0 ? 0 : least, .most = (float)largest_code(bits)};
    if (bf16 && bf16_cut(g.zero) != g.zero)
        g.zero = g.zero < 0 ? bf16_next(bf16_cut(g.zero)) : bf16_cut(g.zero);
    if (most == g.zero)
        return g;
    g.step = (most - g.zero) / g.most;
    if (bf16 && bf16_cut(g.step) != g.step)
        g.step = bf16_next(bf16_cut(g.step));
    if (g.step == 0)
        g.step = bf16 ? 0x1p-133F : 0x1p-149F;
    while (g.zero + g.most * g.step < most)
        g.step = bf16 ? bf16_next(g.step) : nextafterf(g.step, INFINITY);
    return g;
}

static int true_code(const Trip *t, Truth g, float x, int bits, int64_t r, int64_t c) {
    if (g.step == 0)
        return 0;
    bool divide = g.step < 0x1p-100F || g.step > 0x1p100F || bits == 16;
    float steps = divide ? (x - g.zero) / g.step : (x - g.zero) * (1 / g.step);
    const MessageSource *s = &t->source;
    if (bits < 16) {
        double u = (double)random_uniform16(s->stream, t->gid[r], s->peer, c);
        return (int)fmin(floor(rint((double)steps * 0x1p16) * 0x1p-16 + u), (double)g.most);
    }
    double number = random_uniform32(s->stream, t->gid[r], s->peer, c);
    float u = (float)((floor(number * 0x1p23) + 0.5) * 0x1p-23);
    steps = fminf(steps, g.most);
    return (int)(floorf(steps) + floorf((steps - floorf(steps)) + u));
}

static int64_t true_bytes(int64_t columns, int bits) {
    int64_t bytes = 0;
    for (int plane = 1; plane <= 16; plane *= 2)
        bytes += bits & plane ? (columns * plane + 7) / 8 : 0;
    return bytes;
}

// Code c of a row that begins at `to`.
static void true_pack(unsigned char *to, int code, int bits, int64_t c, int64_t columns) {
    for (int width = 16; width > 0; width /= 2) {
        if (!(bits & width))
            continue;
        int64_t group = 128 / width, full = columns / group * group, bit = c * width;
        if (c < full && width < 16)
            bit = (c / group * 16 + c % 16) * 8 + c % group / 16 * width;
        for (int i = 0; i < width; i++, bit++, code >>= 1)
            to[bit / 8] |= (unsigned char)((code & 1) << bit % 8);
        to += (columns * width + 7) / 8;
    }
}

// Fills `message` (zeroed) and the rows and ranges that must come of it.
static void true_trip(const Trip *t, unsigned char *message, Rows back, float *range) {
    int64_t rows = t->shape.rows, columns = t->shape.columns, position = 0;
    int size = t->shape.bf16 ? 2 : 4;
    unsigned char *payload = message + 2 * rows * size;
    for (int w = 0; w < KNOWN; w++)
        for (int64_t k = 0; k < rows; k++) {
            if (t->bits[k] != known[w])
                continue;
            int64_t r = t->row[k];
            float scale = t->source.scale != NULL ? t->source.scale[r] : 1;
            Truth g = true_grid(sent(t, k), columns, scale, known[w], t->shape.bf16);
            memcpy(message + position * size, (char *)&g.zero + 4 - size, (size_t)size);
            memcpy(message + (rows + position) * size, (char *)&g.step + 4 - size, (size_t)size);
            for (int64_t c = 0; c < columns; c++) {
                int q = true_code(t, g, scale * sent(t, k)[c], known[w], r, c);
                true_pack(payload, q, known[w], c, columns);
                back.at[(BEFORE + k) * back.stride + c] = g.zero + (float)q * g.step;
            }
            range[k] = g.most * g.step;
            payload += true_bytes(columns, known[w]);
            position++;
        }
    assert_int_equal(payload - message, t->bytes);
}

static void rows_same(const Trip *t, Rows back) {
    for (int64_t r = 0; r < back.count; r++)
        for (int64_t c = 0; c < back.stride; c++)
            assert_memory_equal(&t->back.at[r * back.stride + c], &back.at[r * back.stride + c], 4);
}

// In every way of running it, the same as the independent message.
static void try_all_ways(Trip *t) {
    trip_ready(t);
    unsigned char *message = memory_take(t->bytes, "message");
    float *range = TAKE(float, t->shape.rows, "range");
    Rows back = rows_take(t->back.count, t->shape.columns, "back");
    true_trip(t, message, back, range);
    for (Way way = {0}; way_next(&way);) {
        memset(t->message, GUARD, t->bytes);
        memset(t->back.at, 0, rows_bytes(back.count, back.columns));
        assert_int_equal(trip_encode(t), -1);
        assert_memory_equal(t->message, message, t->bytes);
        assert_memory_equal(t->source.range, range, (size_t)t->shape.rows * sizeof *range);
        trip_decode(t);
        rows_same(t, back);
    }
    rows_give(&back);
    memory_give(range);
    memory_give(message);
}

static void message_is_as_drawn(void **state) {
    (void)state;
    static const int64_t columns[] = {1,  2,   5,   7,   16,  17,  31,   32,   41,   64,  65,
                                      96, 127, 128, 130, 256, 602, 1024, 1025, 1160, 2100};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            int64_t rows = columns[i] < 600 ? 3 * KINDS * KNOWN : 2 * KNOWN;
            Trip t = trip_new(rows, columns[i], bf16, 8);
            for (int64_t r = 0; r < rows; r++) {
                trip_fill(&t, (Kind)(r % KINDS), r, r);
                t.bits[r] = (uint8_t)known[(r / 2) % KNOWN];
                t.row[r] = (int32_t)(r - r % 3); // gaps, and a row more than once
            }
            if (i % 2 == 1)
                t.source.scale = t.scale;
            try_all_ways(&t);
            trip_clear(&t);
        }
}

// Enough rows of one width that threads share them.
static void threads_do_not_show(void **state) {
    (void)state;
    for (int w = 1; w < KNOWN; w += 2) {
        Trip t = trip_new(1500, 48, w > 4, known[w]);
        for (int64_t r = 0; r < t.shape.rows; r++) {
            trip_fill(&t, (Kind)(r % USUAL), r, r);
            t.bits[r] = r % 100 == 7 ? 2 : (uint8_t)known[w];
        }
        try_all_ways(&t);
        trip_clear(&t);
    }
}

// ---- statistics: a row sent many times under different ids (ALGORITHMS 0 and A.8)

enum { TIMES = 2000, ELEMENTS = 256 };

// The error of the mean of TIMES values Z or Z + S that one of ELEMENTS may reach, with false alarm
// 1e-9 (Bernstein: the first term is the recipe of ALGORITHMS 0, the second counts where f is so
// small that a few hits are many), and what rounding takes: 2^-16 steps by u and T, and the ulp of
// decoded values.
static double mean_may_err(double f, double step, double magnitude) {
    double l = log(2 * ELEMENTS / 1e-9);
    return step * (sqrt(2 * f * (1 - f) * l / TIMES) + 2 * l / (3 * TIMES) + 0x1p-16) +
           magnitude * 0x1p-23;
}

typedef struct Squares { // summed over elements
    double found, theory, step;
} Squares;

static Squares check_mean(const Trip *t) {
    double zero = parameter(t, 0, 0), step = parameter(t, 1, 0);
    Squares squares = {.step = step};
    double magnitude = fabs(zero) + largest_code(t->bits[0]) * step;
    for (int64_t c = 0; c < ELEMENTS; c++) {
        double x = sent(t, 0)[c], sum = 0;
        for (int64_t k = 0; k < TIMES; k++) {
            double away = landed(t, k)[c] - x;
            sum += away;
            squares.found += away * away / TIMES;
        }
        double steps = (x - zero) / step, f = steps - floor(steps);
        squares.theory += step * step * f * (1 - f);
        assert_near(sum / TIMES, 0, mean_may_err(f, step, magnitude));
    }
    return squares;
}

static void means_and_variances_hold(void **state) {
    (void)state;
    for (Kind kind = 0; kind < USUAL; kind++)
        for (int w = 0; w < KNOWN; w++)
            for (int bf16 = 0; bf16 < 2; bf16++) {
                Trip t = trip_new(TIMES, ELEMENTS, bf16, known[w]);
                for (int64_t r = 0; r < TIMES; r++)
                    if (r == 0)
                        trip_fill(&t, kind, 0, 0);
                    else
                        memcpy(t.source.x.at + r * ELEMENTS, t.source.x.at,
                               ELEMENTS * sizeof(float));
                trip_ready(&t);
                assert_int_equal(trip_encode(&t), -1);
                trip_decode(&t);
                Squares squares = check_mean(&t);
                assert_true(squares.theory <= ELEMENTS * squares.step * squares.step / 4);
                // 6 sqrt(3 / (TIMES ELEMENTS)) = 0.015; at 16 bits a step is an ulp of the offset
                if (known[w] < 16 || kind != OFFSET)
                    assert_near(squares.found / squares.theory, 1, 0.02);
                trip_clear(&t);
            }
}

static void variance_of_random_rows_is_a_sixth(void **state) {
    (void)state;
    Trip t = trip_new(400, ELEMENTS, false, 8);
    for (int64_t r = 0; r < t.shape.rows; r++)
        trip_fill(&t, GAUSS, r, r);
    trip_ready(&t);
    assert_int_equal(trip_encode(&t), -1);
    trip_decode(&t);
    double sum = 0;
    for (int64_t k = 0; k < t.shape.rows; k++)
        for (int64_t c = 0; c < ELEMENTS; c++) {
            double away = (double)(landed(&t, k)[c] - sent(&t, k)[c]) / (double)parameter(&t, 1, k);
            sum += away * away;
        }
    // of 102,400 squares with mean 1/6 and deviation 0.2
    assert_near(sum / (double)(t.shape.rows * ELEMENTS), 1 / 6.0, 0.02 / 6);
    trip_clear(&t);
}

// ---- what holds for every row

static float ulp(float x) { return nextafterf(fabsf(x), INFINITY) - fabsf(x); }

static void check_row(const Trip *t, int64_t k) {
    const float *x = sent(t, k), *y = landed(t, k);
    float zero = parameter(t, 0, k), step = parameter(t, 1, k), least = x[0], most = x[0];
    float top = zero + (float)largest_code(t->bits[k]) * step;
    for (int64_t c = 0; c < t->shape.columns; c++)
        least = fminf(least, x[c]), most = fmaxf(most, x[c]);
    float grain = fmaxf(ulp(zero), ulp(top)); // what a sum may round
    for (int64_t c = 0; c < t->shape.columns; c++) {
        assert_true(fabsf(y[c] - x[c]) <= step + grain);
        assert_true(y[c] >= zero && y[c] <= top);
        if (x[c] == zero)
            assert_true(y[c] == zero);
    }
    assert_true(zero <= least && top >= most);
    if (t->shape.bf16)
        return;
    assert_true(zero == least);
    // an ulp of S is up to two of the range; a denormal S has no smaller one
    float more = fmaxf(2 * ulp(most - least), (float)largest_code(t->bits[k]) * 0x1p-149F);
    assert_true(top <= most + more + grain);
    if (most == least)
        assert_true(step == 0);
}

static void ends_are_exact_and_errors_below_a_step(void **state) {
    (void)state;
    for (int w = 0; w < KNOWN; w++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            Trip t = trip_new(40 * KINDS, 61, bf16, known[w]);
            for (int64_t r = 0; r < t.shape.rows; r++)
                trip_fill(&t, (Kind)(r % KINDS), r, r);
            trip_ready(&t);
            assert_int_equal(trip_encode(&t), -1);
            trip_decode(&t);
            for (int64_t k = 0; k < t.shape.rows; k++)
                check_row(&t, k);
            trip_clear(&t);
        }
}

static void constant_rows_are_exact(void **state) {
    (void)state;
    static const float constant[] = {0, -0.0F, 1.5F, -3, 0x1p-130F, 1e30F, 3.14159F, -1e-7F};
    for (int w = 0; w < KNOWN; w++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            Trip t = trip_new(8, 37, bf16, known[w]);
            for (int64_t i = 0; i < 8 * 37; i++)
                t.source.x.at[i / 37 * t.source.x.stride + i % 37] = constant[i / 37];
            trip_ready(&t);
            assert_int_equal(trip_encode(&t), -1);
            trip_decode(&t);
            for (int64_t k = 0; k < 8; k++)
                if (!bf16 || bf16_cut(constant[k]) == constant[k]) {
                    assert_true(parameter(&t, 1, k) == 0 && t.source.range[k] == 0);
                    for (int64_t c = 0; c < 37; c++)
                        assert_true(landed(&t, k)[c] == constant[k]);
                }
            trip_clear(&t);
        }
}

// The largest of all 16-bit numbers meets the maximum of a row, whose t may be rounded to a little
// more than the largest code.
static void largest_value_never_wraps(void **state) {
    (void)state;
    enum { ROWS = 1000 };
    Trip t = trip_new(ROWS, 8, false, 8);
    int64_t gid = 0, column = 0;
    while (random_uniform16(t.source.stream, gid, t.source.peer, column) < 1 - 0x1p-16F) {
        column = (column + 1) % 8;
        gid += column == 0;
    }
    for (int64_t r = 0; r < ROWS; r++) {
        t.gid[r] = gid;
        t.source.x.at[r * t.source.x.stride + column] = 1 + (float)r / ROWS;
    }
    trip_ready(&t);
    assert_int_equal(trip_encode(&t), -1);
    trip_decode(&t);
    for (int64_t k = 0; k < ROWS; k++)
        assert_true(landed(&t, k)[column] >= sent(&t, k)[column]);
    trip_clear(&t);
}

// Integers from 0 to the largest code are their own codes, whatever the rounding.
static void codes_come_back(void **state) {
    (void)state;
    RandomStream stream = random_stream(4, RANDOM_FEATURES, 0, 0, 0);
    for (int w = 0; w < KNOWN; w++)
        for (int64_t columns = 2; columns < 300; columns++) {
            Trip t = trip_new(3, columns, columns % 2 == 0 && known[w] <= 8, known[w]);
            for (int64_t r = 0; r < 3; r++)
                for (int64_t c = 0; c < columns; c++)
                    t.source.x.at[r * t.source.x.stride + c] =
                        c == (r + 1) % columns ? 0
                        : c == r % columns     ? (float)largest_code(known[w])
                                               : (float)floor((largest_code(known[w]) + 1) *
                                                              random_uniform32(stream, r, w, c));
            trip_ready(&t);
            assert_int_equal(t.bytes, 3 * ((t.shape.bf16 ? 4 : 8) + true_bytes(columns, known[w])));
            assert_int_equal(trip_encode(&t), -1);
            trip_decode(&t);
            for (int64_t k = 0; k < 3; k++)
                assert_memory_equal(landed(&t, k), sent(&t, k), (size_t)columns * sizeof(float));
            trip_clear(&t);
        }
}

// ---- rows that cannot be written

static void expect_bad(Trip *t, int64_t place) {
    for (Way way = {0}; way_next(&way);)
        assert_int_equal(trip_encode(t), place);
}

static void bad_rows_are_reported(void **state) {
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static const int64_t columns[] = {1, 15, 16, 40, 1100};
    for (int i = 0; i < 5; i++)
        for (int b = 0; b < 3; b++) {
            int64_t width = columns[i];
            Trip t = trip_new(KNOWN + 1, width, b == 1, 8);
            for (int64_t k = 0; k < KNOWN; k++) {
                trip_fill(&t, GAUSS, k, k);
                // the first place is the first written, or the last
                t.bits[k] = (uint8_t)known[b == 0 ? k : KNOWN - 1 - k];
            }
            trip_ready(&t);
            expect_bad(&t, -1);
            float *x = t.source.x.at;
            x[7 * t.source.x.stride + width - 1] = bad[b];
            expect_bad(&t, 7);
            x[2 * t.source.x.stride + width / 2] = bad[b];
            expect_bad(&t, 2);
            x[0] = bad[b];
            expect_bad(&t, 0);
            trip_clear(&t);
        }
}

static void overflowing_ranges_are_reported(void **state) {
    (void)state;
    for (int bf16 = 0; bf16 < 2; bf16++) {
        Trip t = trip_new(2000, 20, bf16, 4);
        for (int64_t k = 0; k < t.shape.rows; k++)
            trip_fill(&t, GAUSS, k, k);
        trip_ready(&t);
        float *row = t.source.x.at + 1234 * t.source.x.stride;
        row[3] = FLT_MAX; // alone it is no trouble to fp32; bf16 has no such number
        expect_bad(&t, bf16 ? 1234 : -1);
        row[17] = -FLT_MAX;
        expect_bad(&t, 1234);
        row[3] = row[17] = 1e30F;
        expect_bad(&t, -1);
        t.scale[1234] = 1e30F, t.source.scale = t.scale;
        expect_bad(&t, 1234);
        trip_clear(&t);
    }
}

// ---- random numbers

// The stream, the receiver and the id all change the rounding; nothing else does.
static void rounding_depends_on_its_key_alone(void **state) {
    (void)state;
    Trip t = trip_new(4, 200, false, 4);
    for (int64_t k = 0; k < 4; k++)
        trip_fill(&t, GAUSS, k, 0);
    trip_ready(&t);
    size_t parameters = 4 * 8;
    unsigned char *first = memory_take(t.bytes, "message");
    trip_encode(&t);
    memcpy(first, t.message, t.bytes);
    trip_encode(&t);
    assert_memory_equal(t.message, first, t.bytes);
    for (int change = 0; change < 4; change++) {
        Trip other = t;
        int64_t gid[4] = {100, 101, 102, 103};
        if (change == 0)
            other.source.peer = 6;
        else if (change == 1)
            other.source.stream.epoch++;
        else if (change == 2)
            other.source.stream.seed++;
        else
            other.source.gid = gid;
        trip_encode(&other);
        assert_memory_equal(t.message, first, parameters);
        for (int64_t k = 0; k < 4; k++)
            assert_true(
                memcmp(t.message + parameters + k * 100, first + parameters + k * 100, 100) != 0);
    }
    memory_give(first);
    trip_clear(&t);
}

static void count_call(void *context) { ++*(int *)context; }

static void empty_messages_and_polls(void **state) {
    (void)state;
    Trip t = trip_new(0, 5, true, 8);
    trip_ready(&t);
    assert_int_equal(t.bytes, 0);
    assert_int_equal(trip_encode(&t), -1);
    trip_decode(&t);
    trip_clear(&t);
    t = trip_new(3000, 64, true, 8);
    trip_ready(&t);
    int calls = 0;
    Poll poll = {count_call, &calls};
    int64_t takes = memory_takes();
    integer()->encode(t.message, &t.shape, &t.source, &poll);
    integer()->decode(t.back, BEFORE, &t.shape, t.message, &poll);
    assert_int_equal(memory_takes(), takes);
    assert_true(calls >= 2);
    trip_clear(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(message_is_as_drawn),
    cmocka_unit_test(threads_do_not_show),
    cmocka_unit_test(means_and_variances_hold),
    cmocka_unit_test(variance_of_random_rows_is_a_sixth),
    cmocka_unit_test(ends_are_exact_and_errors_below_a_step),
    cmocka_unit_test(constant_rows_are_exact),
    cmocka_unit_test(largest_value_never_wraps),
    cmocka_unit_test(codes_come_back),
    cmocka_unit_test(bad_rows_are_reported),
    cmocka_unit_test(overflowing_ranges_are_reported),
    cmocka_unit_test(rounding_depends_on_its_key_alone),
    cmocka_unit_test(empty_messages_and_polls),
};

TEST_MAIN(tests)
