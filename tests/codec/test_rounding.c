// If this failed, quantized values would be biased, or further from the truth than a step.
#include "round_trip.h"

// ---- statistics: a row sent many times under different ids (ALGORITHMS 0 and A.8)

enum { TIMES = UNDER_SANITIZERS(300, 2000), ELEMENTS = 256 };

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

static Squares check_mean(const RoundTrip *t) {
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

TEST(means_and_variances_hold) {
    for (Kind kind = 0; kind < USUAL; kind++)
        for (int w = 0; w < KNOWN; w++)
            for (int bf16 = 0; bf16 < 2; bf16++) {
                OWNED(RoundTrip) t = round_trip_new(TIMES, ELEMENTS, bf16, known[w]);
                for (int64_t r = 0; r < TIMES; r++)
                    if (r == 0)
                        round_trip_fill(&t, kind, 0, 0);
                    else
                        memcpy(floats(t.source.x) + r * ELEMENTS, floats(t.source.x),
                               ELEMENTS * sizeof(float));
                round_trip_run(&t);
                Squares squares = check_mean(&t);
                assert_true(squares.theory <= ELEMENTS * squares.step * squares.step / 4);
                // 6 sqrt(3 / (TIMES ELEMENTS)) = 0.015 of 2000; at 16 bits a step is an ulp of the
                // offset
                if (known[w] < 16 || kind != OFFSET)
                    assert_near(squares.found / squares.theory, 1, 0.02 * sqrt(2000.0 / TIMES));
            }
}

TEST(variance_of_random_rows_is_a_sixth) {
    OWNED(RoundTrip) t = round_trip_new(400, ELEMENTS, false, 8);
    for (int64_t r = 0; r < t.shape.rows; r++)
        round_trip_fill(&t, GAUSS, r, r);
    round_trip_run(&t);
    double sum = 0;
    for (int64_t k = 0; k < t.shape.rows; k++)
        for (int64_t c = 0; c < ELEMENTS; c++) {
            double away = (double)(landed(&t, k)[c] - sent(&t, k)[c]) / (double)parameter(&t, 1, k);
            sum += away * away;
        }
    // of 102,400 squares with mean 1/6 and deviation 0.2
    assert_near(sum / (double)(t.shape.rows * ELEMENTS), 1 / 6.0, 0.02 / 6);
}

// ---- what holds for every row

static float ulp(float x) { return nextafterf(fabsf(x), INFINITY) - fabsf(x); }

static void check_row(const RoundTrip *t, int64_t k) {
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
    if (t->bf16)
        return;
    assert_true(zero == least);
    // an ulp of S is up to two of the range; a denormal S has no smaller one
    float more = fmaxf(2 * ulp(most - least), (float)largest_code(t->bits[k]) * 0x1p-149F);
    assert_true(top <= most + more + grain);
    if (most == least)
        assert_true(step == 0);
}

TEST(ends_are_exact_and_errors_below_a_step) {
    for (int w = 0; w < KNOWN; w++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            OWNED(RoundTrip) t = round_trip_new(40 * KINDS, 61, bf16, known[w]);
            for (int64_t r = 0; r < t.shape.rows; r++)
                round_trip_fill(&t, (Kind)(r % KINDS), r, r);
            round_trip_run(&t);
            for (int64_t k = 0; k < t.shape.rows; k++)
                check_row(&t, k);
        }
}

TEST(constant_rows_are_exact) {
    static const float constant[] = {0, -0.0F, 1.5F, -3, 0x1p-130F, 1e30F, 3.14159F, -1e-7F};
    for (int w = 0; w < KNOWN; w++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            OWNED(RoundTrip) t = round_trip_new(8, 37, bf16, known[w]);
            for (int64_t i = 0; i < 8 * 37; i++)
                floats(t.source.x)[i / 37 * t.source.x.stride + i % 37] = constant[i / 37];
            round_trip_run(&t);
            for (int64_t k = 0; k < 8; k++)
                if (!bf16 || bf16_cut(constant[k]) == constant[k]) {
                    assert_true(parameter(&t, 1, k) == 0 && ((float *)t.source.range)[k] == 0);
                    for (int64_t c = 0; c < 37; c++)
                        assert_true(landed(&t, k)[c] == constant[k]);
                }
        }
}

// The largest of all 16-bit numbers meets the maximum of a row, whose t may be rounded to a little
// more than the largest code.
TEST(largest_value_never_wraps) {
    enum { ROWS = 1000 };
    OWNED(RoundTrip) t = round_trip_new(ROWS, 8, false, 8);
    int64_t gid = 0, column = 0;
    while (random_uniform16(t.source.random, gid, t.source.peer, column) < 1 - 0x1p-16F) {
        column = (column + 1) % 8;
        gid += column == 0;
    }
    for (int64_t r = 0; r < ROWS; r++) {
        t.gid[r] = gid;
        floats(t.source.x)[r * t.source.x.stride + column] = 1 + (float)r / ROWS;
    }
    round_trip_run(&t);
    for (int64_t k = 0; k < ROWS; k++)
        assert_true(landed(&t, k)[column] >= sent(&t, k)[column]);
}

// Integers from 0 to the largest code are their own codes, whatever the rounding.
TEST(codes_come_back) {
    RandomKey key = random_key(4, RANDOM_FEATURES, 0, 0, 0);
    for (int w = 0; w < KNOWN; w++)
        for (int64_t columns = 2; columns < UNDER_SANITIZERS(70, 300); columns++) {
            OWNED(RoundTrip)
            t = round_trip_new(3, columns, columns % 2 == 0 && known[w] <= 8, known[w]);
            for (int64_t r = 0; r < 3; r++)
                for (int64_t c = 0; c < columns; c++)
                    floats(t.source.x)[r * t.source.x.stride + c] =
                        c == (r + 1) % columns ? 0
                        : c == r % columns     ? (float)largest_code(known[w])
                                               : (float)floor((largest_code(known[w]) + 1) *
                                                              random_uniform32(key, r, w, c));
            round_trip_ready(&t);
            assert_int_equal(t.bytes, 3 * ((t.bf16 ? 4 : 8) + true_bytes(columns, known[w])));
            assert_int_equal(round_trip_encode(&t), -1);
            round_trip_decode(&t);
            for (int64_t k = 0; k < 3; k++)
                assert_memory_equal(landed(&t, k), sent(&t, k), (size_t)columns * sizeof(float));
        }
}
