// Without it: a dense product could be wrong for odd widths, write into padding, or depend on the
// number of threads or on where its rows are cut into calls.
#include "kernels.h"

static double element(const Rows *a, const float *w, int64_t r, int64_t c, int64_t columns,
                      bool transposed, double *size) {
    double sum = 0;
    for (int64_t k = 0; k < a->columns; k++) {
        double term = (double)floats(*a)[r * a->stride + k] *
                      (double)(transposed ? w[c * a->columns + k] : w[k * columns + c]);
        sum += term, *size += fabs(term);
    }
    return sum;
}

// out[r] = before[r] (if add) + a[r] op(w) + bias, checked at every element.
static void product_matches(Rows out, Rows before, Rows a, const float *w, const float *bias,
                            bool transposed, bool add, Range range) {
    for (int64_t r = 0; r < out.count; r++)
        for (int64_t c = 0; c < out.columns; c++) {
            float was = floats(before)[r * before.stride + c], is = floats(out)[r * out.stride + c];
            if (r < range.begin || r >= range.end) {
                assert_true(is == was);
                continue;
            }
            double size = fabs((double)was) + 1;
            double truth = element(&a, w, r, c, out.columns, transposed, &size);
            truth += (add ? (double)was : 0) + (bias != NULL ? (double)bias[c] : 0);
            assert_near((double)is, truth, 1e-6 * size); // sums of at most 602 floats
        }
}

static void one_product(int64_t rows, int64_t depth, int64_t columns, bool add) {
    Rows a = random_rows(rows, depth, 1), out = test_rows(rows, columns);
    Rows before = random_rows(rows, columns, 2);
    float *w = random_floats(depth * columns, 3), *bias = random_floats(columns, 4);
    Range range = {rows / 5, rows - rows / 7};
    for (int transposed = 0; transposed < 2; transposed++) {
        const float *used = !transposed && columns % 3 != 0 ? bias : NULL;
        memcpy(floats(out), floats(before), rows_bytes(rows, columns));
        if (transposed)
            cpu_dense_transposed(out, range, a, on_device(w), add, NULL);
        else
            cpu_dense(out, range, a, on_device(w), on_device(used), add, NULL);
        assert_true(padding_is_zero(out));
        product_matches(out, before, a, w, used, transposed, add, range);
    }
}

TEST(products_are_right_at_every_width) {
    for (int64_t columns = 1; columns <= 70; columns++) {
        one_product(21, 40, columns, columns % 2);
        one_product(21, columns, 30, columns % 2);
    }
    one_product(1100, 33, 41, true); // three panels
    one_product(30, 602, 256, false);
    one_product(1, 1, 1, false);
    one_product(0, 5, 5, true);
}

TEST(gradient_is_right) {
    static const int64_t sizes[][3] = {{0, 3, 5},     {1, 1, 1},      {255, 7, 16},  {256, 41, 5},
                                       {257, 16, 41}, {5000, 70, 33}, {600, 602, 41}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t rows = sizes[s][0], m = sizes[s][1], n = sizes[s][2];
        Rows a = random_rows(rows, m, 1), g = random_rows(rows, n, 2);
        float *dw = TEST_ARRAY(float, m *n);
        float *scratch = TEST_ARRAY(float, cpu_dense_gradient_scratch(rows, m, n));
        cpu_dense_gradient(on_device(dw), a, g, on_device(scratch), NULL);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double truth = 0, size = 0;
                for (int64_t r = 0; r < rows; r++) {
                    double term =
                        (double)floats(a)[r * a.stride + i] * (double)floats(g)[r * g.stride + j];
                    truth += term, size += fabs(term);
                }
                assert_near((double)dw[i * n + j], truth, 1e-6 * size);
            }
    }
}

// The same product with 1, 2 and 3 threads, in one call and cut between panels.
static void cuts_and_threads_do_not_show(int64_t depth, int64_t columns) {
    enum { ROWS = 2500 };
    Rows a = random_rows(ROWS, depth, 1);
    Rows first = test_rows(ROWS, columns), out = test_rows(ROWS, columns);
    float *w = random_floats(depth * columns, 3), *bias = random_floats(columns, 4);
    cpu_dense(first, (Range){0, ROWS}, a, on_device(w), on_device(bias), false, NULL);
    static const int64_t cuts[] = {0, 512, 1536, ROWS};
    for (Way way = {0}; way_next(&way);)
        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
            if (UNDER_SANITIZERS(c != (size_t)way.step % 4, false))
                continue;
            rows_dirty(out);
            cpu_dense(out, (Range){cuts[c], ROWS}, a, on_device(w), on_device(bias), false, NULL);
            cpu_dense(out, (Range){0, cuts[c]}, a, on_device(w), on_device(bias), false, NULL);
            assert_true(rows_equal(out, first));
        }
}

TEST(bits_of_products_do_not_depend_on_cuts_or_threads) {
    static const int64_t shapes[][2] = {{602, 256}, {256, 256}, {256, 41}, {16, 7}, {1433, 16}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        cuts_and_threads_do_not_show(shapes[s][0], shapes[s][1]);
}

TEST(bits_of_the_gradient_do_not_depend_on_threads) {
    Rows a = random_rows(5000, 130, 1), g = random_rows(5000, 41, 2);
    float *dw = TEST_ARRAY(float, 130 * 41), *first = TEST_ARRAY(float, 130 * 41);
    float *scratch = TEST_ARRAY(float, cpu_dense_gradient_scratch(5000, 130, 41));
    for (Way way = {0}; way_next(&way);) {
        memset(scratch, 0xff, (size_t)cpu_dense_gradient_scratch(5000, 130, 41) * 4);
        cpu_dense_gradient(on_device(way_is_first(&way) ? first : dw), a, g, on_device(scratch),
                           NULL);
        if (!way_is_first(&way))
            assert_memory_equal(dw, first, 130 * 41 * sizeof *dw);
    }
}

static void counting(void *context) {
    assert_int_equal(omp_get_thread_num(), 0);
    ++*(int *)context;
}

TEST(long_products_poll_from_thread_0) {
    enum { ROWS = 16384, WIDTH = 300 };
    Rows a = random_rows(ROWS, 16, 1), out = test_rows(ROWS, WIDTH);
    float *w = random_floats(WIDTH * WIDTH, 3);
    int calls = 0;
    Poll poll = {counting, &calls};
    for (int i = 0; i < 20; i++) // long enough at any speed
        cpu_dense(out, (Range){0, ROWS}, a, on_device(w), NULL, false, &poll);
    assert_true(calls > 0);
}
