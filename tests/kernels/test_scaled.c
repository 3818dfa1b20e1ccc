// ranks: 1
// If this failed, GIN's rows would not get their own part, halo rows not their diagonal, or the
// gradient of GIN's factor would depend on the number of threads.
#include "kernels.h"
#include <math.h>

static const int64_t counts[] = {0, 1, 63, 64, 65, 517, 20011};
static const int64_t columns[] = {1, 15, 16, 17, 67};
enum { COUNTS = sizeof counts / sizeof *counts, COLUMNS = sizeof columns / sizeof *columns };

// Rounded twice, as the promise says; rows outside of the range and padding stay.
static void adds_what_it_says(void **state) {
    (void)state;
    const float scalar = -0.37f;
    for (int i = 0; i < COUNTS * COLUMNS; i++) {
        int64_t n = counts[i / COLUMNS], d = columns[i % COLUMNS];
        if (n > 20000 && d != 17) // more than 256 blocks of 64 rows: once is enough
            continue;
        Rows a = random_rows(n, d, 1), x = random_rows(n, d, 2);
        for (Way way = {0}; way_next(&way);) {
            Rows out = random_rows(n, d, 3), same = random_rows(n, d, 1);
            Range range = {n / 3, n - n / 5};
            backend_cpu.add_scaled(out, range, a, x, on_device(&scalar), NULL);
            backend_cpu.add_scaled(same, range, same, x, on_device(&scalar), NULL);
            Rows before = random_rows(n, d, 3);
            for (int64_t r = 0; r < n; r++)
                for (int64_t c = 0; c < d; c++) {
                    int64_t k = r * out.stride + c;
                    bool inside = r >= range.begin && r < range.end;
                    volatile float product = scalar * floats(x)[k];
                    float sum = floats(a)[k] + product;
                    assert_true(floats(out)[k] == (inside ? sum : floats(before)[k]));
                    assert_true(floats(same)[k] == (inside ? sum : floats(a)[k]));
                }
            assert_true(padding_is_zero(out) && padding_is_zero(same));
            rows_free(device(), &before);
            rows_free(device(), &same);
            rows_free(device(), &out);
        }
        rows_free(device(), &x);
        rows_free(device(), &a);
    }
}

static void rows_have_a_factor_each(void **state) {
    (void)state;
    for (int i = 0; i < COUNTS * COLUMNS; i++) {
        int64_t n = counts[i / COLUMNS], d = columns[i % COLUMNS];
        if (n > 20000 && d != 17)
            continue;
        Rows before = random_rows(n, d, 1), factor = random_rows(1, n > 0 ? n : 1, 2);
        for (Way way = {0}; way_next(&way);) {
            Rows x = random_rows(n, d, 1);
            Range range = {n / 3, n - n / 5};
            backend_cpu.scale_rows(x, range, factor.at, NULL);
            for (int64_t k = 0; k < n * x.stride; k++) {
                int64_t r = k / x.stride;
                bool inside = r >= range.begin && r < range.end;
                assert_true(floats(x)[k] == floats(before)[k] * (inside ? floats(factor)[r] : 1));
            }
            assert_true(padding_is_zero(x));
            rows_free(device(), &x);
        }
        rows_free(device(), &factor);
        rows_free(device(), &before);
    }
}

static void products_are_summed_in_double(void **state) {
    (void)state;
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
        rows_free(device(), &y);
        rows_free(device(), &x);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(adds_what_it_says),
    cmocka_unit_test(rows_have_a_factor_each),
    cmocka_unit_test(products_are_summed_in_double),
};
TEST_MAIN(tests)
