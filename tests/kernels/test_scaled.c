// If this failed, GIN's rows would not get their own part, halo rows not their diagonal, or the
// gradient of GIN's factor would depend on the number of threads.
#include "kernels.h"

static const int64_t counts[] = {0, 1, 63, 64, 65, 517, 20011};
static const int64_t columns[] = {1, 15, 16, 17, 67};
enum { COUNTS = sizeof counts / sizeof *counts, COLUMNS = sizeof columns / sizeof *columns };

// The factor of row r, by a loop that says what the header says.
static float factor_of(RowFactor factor, int64_t r) {
    volatile float product = factor.at == NULL ? 0 : factor.times * ((const float *)factor.at)[r];
    return factor.at == NULL ? factor.plain : factor.plain + product;
}

static float sum_of(float p, float a, float q, float x) {
    volatile float kept = p * a, added = q * x;
    return p == 0 ? added : kept + added;
}

// Products and sum rounded, as the promise says; rows outside of the range and padding stay.
static void check_sums(Rows a, Rows x, RowFactor p, RowFactor q) {
    Rows before = random_rows(a.count, a.columns, 3);
    for (Way way = {0}; way_next(&way);) {
        Rows out = random_rows(a.count, a.columns, 3), same = random_rows(a.count, a.columns, 1);
        Range range = {a.count / 3, a.count - a.count / 5};
        backend_cpu.add_scaled(out, range, p, a, q, x, NULL);
        backend_cpu.add_scaled(same, range, p, same, q, x, NULL);
        for (int64_t r = 0; r < a.count; r++)
            for (int64_t c = 0; c < a.columns; c++) {
                int64_t k = r * out.stride + c, of_p = p.each ? r : 0, of_q = q.each ? r : 0;
                bool inside = r >= range.begin && r < range.end;
                float sum =
                    sum_of(factor_of(p, of_p), floats(a)[k], factor_of(q, of_q), floats(x)[k]);
                assert_true(floats(out)[k] == (inside ? sum : floats(before)[k]));
                assert_true(floats(same)[k] == (inside ? sum : floats(a)[k]));
            }
        assert_true(padding_is_zero(out) && padding_is_zero(same));
    }
}

TEST(adds_what_it_says) {
    const float scalar = -0.37f;
    for (int i = 0; i < COUNTS * COLUMNS; i++) {
        int64_t n = counts[i / COLUMNS], d = columns[i % COLUMNS];
        if (n > 20000 && UNDER_SANITIZERS(true, d != 17)) // more than 256 blocks of 64 rows
            continue;
        Rows a = random_rows(n, d, 1), x = random_rows(n, d, 2);
        Rows each = random_rows(1, n > 0 ? n : 1, 5);
        RowFactor of_all = {.times = 1, .at = on_device(&scalar)};
        RowFactor of_each = {.times = 1, .at = each.at, .each = true};
        RowFactor rest = {.plain = 1, .times = -1, .at = each.at, .each = true};
        check_sums(a, x, (RowFactor){.plain = 1}, of_all);
        check_sums(a, x, rest, of_each);
    }
}

// A residual's first rows hold anything, and a row may be scaled where it lies.
TEST(what_counts_nothing_is_not_read) {
    const float factor = 0.7f;
    Rows x = random_rows(100, 17, 1), out = random_rows(100, 17, 2);
    for (int64_t k = 0; k < out.count * out.stride; k++)
        floats(out)[k] = NAN;
    RowFactor q = {.times = 1, .at = on_device(&factor)};
    backend_cpu.message_add_scaled(out, (RowFactor){0}, out, q, x, NULL);
    for (int64_t r = 0; r < x.count; r++)
        for (int64_t c = 0; c < x.columns; c++)
            assert_true(floats(out)[r * x.stride + c] == factor * floats(x)[r * x.stride + c]);
}

TEST(products_are_summed_in_double) {
    for (int i = 0; i < COUNTS * COLUMNS; i++) {
        int64_t n = counts[i / COLUMNS], d = columns[i % COLUMNS];
        if (n > 20000 && d != 17) // more than 256 blocks of 64 rows: once is enough
            continue;
        Rows x = random_rows(n, d, 4), y = random_rows(n, d, 5);
        double want = 0, size = 0;
        float first = 0;
        for (int64_t r = 0; r < n; r++)
            for (int64_t c = 0; c < d; c++) {
                double product =
                    (double)floats(x)[r * x.stride + c] * (double)floats(y)[r * y.stride + c];
                want += product;
                size += fabs(product);
            }
        for (Way way = {0}; way_next(&way);) {
            float got = NAN;
            backend_cpu.dot(on_device(&got), x, y);
            assert_near((double)got, want, 6e-8 * fabs(want) + 1e-12 * size); // rounded to a float
            if (way_is_first(&way))
                first = got;
            assert_memory_equal(&got, &first, sizeof got);
        }
    }
}
