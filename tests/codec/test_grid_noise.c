// If this failed, coded gradients would be biased, or noisier than the step of a memory is made
// for (alpha = 1 / (1 + omega)), or a zero would not stay one.
#include "grid_trip.h"

enum { BUCKET = 512 };

// ---- a row, and what its codec promises of it

static RoundTrip row_new(GridOptions options, int64_t columns) {
    return grid_trip_new(1, columns, options);
}

static float *values(const RoundTrip *t) { return floats(t->source.x); }

// Makes the message once, so that Z and S are known, which nothing random changes.
static void row_ready(RoundTrip *t) {
    round_trip_ready(t);
    assert_int_equal(round_trip_encode(t), -1);
}

// The values of the grid that are next to one: the lower in steps of `gap`, the upper above it by
// that. Of powers of two by magnitude.
typedef struct Cell {
    double fraction, gap; // how far the value is from the lower
} Cell;

static Cell cell_of_power(double size, double step, double least) {
    double below = size < step * least ? 0 : exp2(floor(log2(size)));
    double gap = below > 0 ? below : step * least;
    return (Cell){step > 0 ? (size - below) / gap : 0, gap};
}

static Cell cell_of(const RoundTrip *t, int64_t c) {
    GridOptions options = grid_get(&t->shape.values);
    double step = step_sent(t, 0), zero = has_minimum(options) ? parameter(t, 0, 0) : 0;
    double x = (double)values(t)[c], steps = step > 0 ? (x - zero) / step : 0;
    if (options.rule == GRID_LOG)
        return cell_of_power(fabs(x), step, exp2(1 - true_s(options)));
    return (Cell){steps - floor(steps), step};
}

static double noise_in_theory(const RoundTrip *t) {
    double sum = 0;
    for (int64_t c = 0; c < t->shape.columns; c++) {
        Cell cell = cell_of(t, c);
        sum += cell.fraction * (1 - cell.fraction) * cell.gap * cell.gap;
    }
    return sum;
}

static double norm_squared(const RoundTrip *t) {
    double sum = 0;
    for (int64_t c = 0; c < t->shape.columns; c++)
        sum += (double)values(t)[c] * (double)values(t)[c];
    return sum;
}

// ---- drawing

static void draw(RoundTrip *t, int which) {
    t->source.random.epoch = (uint32_t)which;
    assert_int_equal(round_trip_encode(t), -1);
    round_trip_decode(t);
}

// The mean of the squared error, and of the error of each value.
static double draw_many(RoundTrip *t, int draws, double *error) {
    double squares = 0;
    memset(error, 0, (size_t)t->shape.columns * sizeof *error);
    for (int i = 0; i < draws; i++) {
        draw(t, i);
        const float *y = landed(t, 0), *x = values(t);
        for (int64_t c = 0; c < t->shape.columns; c++) {
            double away = (double)y[c] - (double)x[c];
            error[c] += away / draws;
            squares += away * away;
        }
    }
    return squares / draws;
}

// The most that the mean of so many draws may be away, with false alarm 1e-9 a row: Bernstein, with
// what T, u and the floats of the values round (test_rounding.c).
static double mean_may_err(const RoundTrip *t, int64_t c, int draws) {
    Cell cell = cell_of(t, c);
    double f = cell.fraction, l = log(2 * (double)t->shape.columns / 1e-9), step = cell.gap;
    double magnitude = 0;
    for (int64_t i = 0; i < t->shape.columns; i++)
        magnitude = fmax(magnitude, fabs((double)values(t)[i]));
    return step * (sqrt(2 * f * (1 - f) * l / draws) + 2 * l / (3.0 * draws) + 0x1p-16) +
           2 * magnitude * 0x1p-23;
}

// The sanitizers see a few draws of each, whose noise says nothing.
enum { STATISTICS = UNDER_SANITIZERS(0, 1) };

// Unbiased, and as noisy as the formula says where that is more than rounding.
static void check_draws(RoundTrip *t, int draws) {
    double error[BUCKET], found = draw_many(t, draws, error), theory = noise_in_theory(t);
    double step = step_sent(t, 0);
    for (int64_t c = 0; c < t->shape.columns; c++)
        assert_near(error[c], 0, mean_may_err(t, c, draws));
    if (STATISTICS && theory > step * step / 4)
        assert_near(found / theory, 1, 0.05);
}

// ---- rows as they come

// A row of a kind, or with one value that is not zero.
static void row_fill(RoundTrip *t, int kind) {
    static const Kind kinds[] = {GAUSS, RELU, LAPLACE};
    if (kind < 3)
        round_trip_fill(t, kinds[kind], 0, kind);
    else
        values(t)[t->shape.columns / 2] = -1.7F;
}

TEST(draws_are_unbiased_and_as_noisy_as_said) {
    for (GridOptions options = {0}; grid_next(&options);)
        for (int kind = 0; kind < 4; kind++) {
            if (options.nearest || options.rule == GRID_MEAN || options.bits % 2 != 0)
                continue;
            OWNED(RoundTrip) t = row_new(options, BUCKET);
            row_fill(&t, kind);
            row_ready(&t);
            check_draws(&t, test_turns(UNDER_SANITIZERS(40, 600), 20000));
        }
}

// Half a step, and what T and a float round.
TEST(nearest_is_within_half_a_step) {
    for (GridOptions options = {0}; grid_next(&options);)
        for (int kind = 0; kind < 4; kind++) {
            if (!options.nearest || options.rule == GRID_MEAN)
                continue;
            OWNED(RoundTrip) t = row_new(options, BUCKET);
            row_fill(&t, kind);
            row_ready(&t);
            draw(&t, 0);
            for (int64_t c = 0; c < BUCKET; c++)
                assert_near(landed(&t, 0)[c], values(&t)[c], cell_of(&t, c).gap * (0.5 + 0x1p-15));
        }
}

TEST(zero_stays_zero) {
    for (GridRule rule = GRID_MAX; rule <= GRID_LOG; rule++) {
        if (rule == GRID_MEAN)
            continue;
        OWNED(RoundTrip) t = row_new((GridOptions){.rule = rule, .bits = 8, .bf16 = true}, BUCKET);
        round_trip_fill(&t, LAPLACE, 0, 0);
        for (int64_t c = 0; c < BUCKET; c += 2)
            values(&t)[c] = c % 4 == 0 ? 0.0F : -0.0F;
        row_ready(&t);
        for (int i = 0; i < test_turns(UNDER_SANITIZERS(50, 2000), 40000);
             i++) { // 256 zeros each: 10^7 in the long form
            draw(&t, i);
            for (int64_t c = 0; c < BUCKET; c += 2)
                if (landed(&t, 0)[c] != 0)
                    fail_msg("draw %d: column %d is %g", i, (int)c, (double)landed(&t, 0)[c]);
        }
    }
}

// The largest of all 16-bit numbers meets the largest values, whose t may be rounded to a little
// more than s.
TEST(largest_values_never_wrap) {
    enum { ROWS = 1000 };
    OWNED(RoundTrip) t = grid_trip_new(ROWS, 8, (GridOptions){.rule = GRID_MAX, .bits = 8});
    int64_t gid = 0, column = 0;
    while (random_uniform16(t.source.random, gid, t.source.peer, column) < 1 - 0x1p-16F) {
        column = (column + 1) % 8;
        gid += column == 0;
    }
    for (int64_t r = 0; r < ROWS; r++) {
        t.gid[r] = gid;
        values(&t)[r * t.source.x.stride + column] = (1 + (float)r / ROWS) * (r % 2 == 0 ? 1 : -1);
    }
    row_ready(&t);
    round_trip_decode(&t);
    for (int64_t k = 0; k < ROWS; k++)
        assert_true(landed(&t, k)[column] == (k % 2 == 0 ? 127 : -127) * step_sent(&t, k));
}

// ---- the worst rows

// The largest value, and others all of the size at which their noise is the largest beside it.
static void worst_of_max(float *x, double s) {
    double n = BUCKET - 1, steps = s * s * (sqrt(1 + n / (s * s)) - 1) / n;
    for (int c = 0; c < BUCKET; c++)
        x[c] = (float)(c == 100 ? 1 : (c % 2 == 0 ? steps : -steps) / s);
}

// Values half-way between two codes, whose squares add up to s².
static void worst_of_l2(float *x, double s) {
    double left = s * s - BUCKET / 4.0, sum = 0, steps[BUCKET];
    int level = 0, c = 0;
    for (int i = 0; i < BUCKET; i++)
        steps[i] = left < 0 ? s / sqrt(BUCKET) : 0.5;
    for (; left >= 2 * level + 2; c = (c + 1) % BUCKET, level += c == 0) {
        left -= 2 * level + 2;
        steps[c] += 1;
    }
    for (int i = 0; i < BUCKET; i++)
        sum += steps[i];
    for (int i = 0; i < BUCKET; i++)
        x[i] = (float)((steps[i] + fmax(0, left) / (2 * sum)) / s);
}

// Both ends, and half-way between two codes around zero.
static void worst_of_minmax(float *x) {
    memset(x, 0, BUCKET * sizeof *x);
    x[3] = -1, x[200] = 1;
}

static void worst_fill(RoundTrip *t, GridOptions options) {
    if (options.rule == GRID_MAX)
        worst_of_max(values(t), true_s(options));
    else if (options.rule == GRID_L2)
        worst_of_l2(values(t), true_s(options));
    else
        worst_of_minmax(values(t));
}

TEST(worst_rows_reach_omega) {
    for (GridOptions options = {0}; grid_next(&options);) {
        if (options.nearest || options.rule == GRID_MEAN || options.rule == GRID_LOG)
            continue;
        double omega = grid_omega(options, BUCKET), error[BUCKET];
        OWNED(RoundTrip) t = row_new(options, BUCKET);
        worst_fill(&t, options);
        row_ready(&t);
        double theory = noise_in_theory(&t) / norm_squared(&t) / omega;
        double found = draw_many(&t, test_turns(UNDER_SANITIZERS(10, 300), 20000), error) /
                       norm_squared(&t) / omega;
        assert_true(theory <= (options.bf16 ? 1.017 : 1 + 1e-6));
        if (!options.bf16)
            assert_near(theory, 1, 1e-3);
        if (STATISTICS)
            assert_near(found / theory, 1, 0.05);
    }
}

// A value that is hardly above half of S, and others below the least power, in 3 and 4 bits; in
// more 1/8, of values of 4/3 of a power. As they were found by search.
TEST(worst_rows_of_powers) {
    static const double found[] = {0, 0, 0, 5.17, .112, .125};
    for (int bits = 3; bits <= 5; bits++) {
        GridOptions options = {.rule = GRID_LOG, .bits = bits};
        OWNED(RoundTrip) t = row_new(options, BUCKET);
        worst_of_max(values(&t), exp2(true_s(options) - 2));
        for (int64_t c = 0; c < BUCKET; c++)
            values(&t)[c] = bits == 5 ? 4 / 3.0F : c == 100 ? 1.000001F : values(&t)[c];
        row_ready(&t);
        double noise = noise_in_theory(&t) / norm_squared(&t);
        assert_near(noise / found[bits], 1, 0.01);
        assert_true(noise <= grid_omega(options, BUCKET));
    }
}

// With S as fp32. The ends of a range are on the grid but for the rounding of S.
TEST(no_row_is_above_omega) {
    static const int64_t columns[] = {1, 2, 3, 17, 100, 512};
    for (GridOptions options = {0}; grid_next(&options);)
        for (int i = 0; i < 6 * USUAL; i++) {
            if (options.nearest || options.bf16 || options.rule == GRID_MEAN)
                continue;
            OWNED(RoundTrip) t = row_new(options, columns[i / USUAL]);
            round_trip_fill(&t, (Kind)(i % USUAL), 0, i);
            row_ready(&t);
            double step = step_sent(&t, 0), most = grid_omega(options, t.shape.columns);
            assert_true(noise_in_theory(&t) <=
                        most * norm_squared(&t) * (1 + 1e-6) + 1e-4 * step * step);
        }
}

static double omega_of(GridRule rule, int bits) {
    return grid_omega((GridOptions){.rule = rule, .bits = bits}, BUCKET);
}

TEST(omega_is_that_of_the_table) {
    static const struct {
        int bits;
        double max, l2; // 0: not in the table
    } table[] = {{2, 10.8, 21.6}, {3, 3.30, 6.5},  {4, 1.19, 2.23},
                 {5, 0, .57},     {6, .119, .133}, {8, .0079, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].max > 0)
            assert_near(omega_of(GRID_MAX, table[i].bits) / table[i].max, 1, 0.008);
        if (table[i].l2 > 0)
            assert_near(omega_of(GRID_L2, table[i].bits) / table[i].l2, 1, 0.008);
    }
    assert_near(omega_of(GRID_MINMAX, 8), 510 / (2 * 255.0 * 255), 1e-12);
    assert_near(1 / (1 + omega_of(GRID_MAX, 2)), 2 / (1 + sqrt(BUCKET)), 1e-12); // of DIANA
    assert_true(isinf(omega_of(GRID_MEAN, 1)));
}

// ---- usual rows

enum { NORMAL, DOUBLE_EXPONENTIAL, STUDENT_3, SHAPES };

static double drawn(int shape, int64_t row, int64_t column) {
    RandomKey key = random_key(9, RANDOM_FEATURES, (uint32_t)shape, 0, 0);
    double x = random_normal(key, row, 0, column), squares = 0;
    if (shape == NORMAL)
        return x;
    if (shape == DOUBLE_EXPONENTIAL)
        return copysign(log(random_uniform32(key, row, 1, column)), x);
    for (int i = 1; i <= 3; i++) {
        double y = random_normal(key, row, i, column);
        squares += y * y;
    }
    return x / sqrt(squares / 3);
}

// By rule and bits, E |Q(x) - x|² / |x|² of buckets on average, S as bf16, as a program measured it
// that shares nothing with this one.
static const struct {
    GridRule rule;
    int bits;
    double noise[SHAPES];
} usual[] = {{GRID_MAX, 4, {.036, .079, .21}},
             {GRID_MAX, 8, {1.1e-4, 2.4e-4, 7.0e-4}},
             {GRID_L2, 4, {1.58, 1.34, 1.28}},
             {GRID_MAX, 2, {1.6, 2.4, 3.9}},
             {GRID_LOG, 5, {.082, .082, .082}}};
enum { USUAL_GRIDS = sizeof usual / sizeof *usual };

static double relative_noise(const float *x, GridOptions options) {
    OWNED(RoundTrip) t = row_new(options, BUCKET);
    memcpy(values(&t), x, BUCKET * sizeof *x);
    row_ready(&t);
    double noise = noise_in_theory(&t) / norm_squared(&t);
    return noise;
}

TEST(usual_rows_are_as_noisy_as_measured) {
    static const double spread[SHAPES] = {.2, .4, .75}; // of a bucket, of the mean
    int buckets = test_turns(UNDER_SANITIZERS(20, 300), 4000);
    for (int shape = 0; shape < SHAPES; shape++) {
        double noise[USUAL_GRIDS] = {0};
        float x[BUCKET];
        for (int row = 0; row < buckets; row++) {
            for (int64_t c = 0; c < BUCKET; c++)
                x[c] = (float)drawn(shape, row, c);
            for (int i = 0; i < USUAL_GRIDS; i++)
                noise[i] +=
                    relative_noise(x, (GridOptions){usual[i].rule, usual[i].bits, false, true});
        }
        for (int i = 0; i < USUAL_GRIDS; i++)
            assert_near(noise[i] / buckets / usual[i].noise[shape], 1,
                        0.03 /* two digits */ + 5 * spread[shape] / sqrt(buckets));
    }
}

// Of powers of two: more bits are no more precise.
TEST(more_bits_of_powers_are_not_less_noise) {
    static const int bits[] = {4, 5, 6, 8};
    double noise[4] = {0}, error[BUCKET];
    int buckets = test_turns(UNDER_SANITIZERS(10, 200), 4000);
    for (int row = 0; row < buckets; row++)
        for (int i = 0; i < 4; i++) {
            OWNED(RoundTrip) t = row_new((GridOptions){GRID_LOG, bits[i], false, true}, BUCKET);
            for (int64_t c = 0; c < BUCKET; c++)
                values(&t)[c] = (float)drawn(NORMAL, row, c);
            row_ready(&t);
            noise[i] += draw_many(&t, 4, error) / norm_squared(&t) / buckets;
        }
    for (int i = 0; STATISTICS && i < 4; i++) {
        print_message("log, %d bits: %.4f of the square of normal values\n", bits[i], noise[i]);
        assert_near(noise[i], .081, .004);
        assert_near(noise[i] / noise[1], 1, .01);
    }
}
