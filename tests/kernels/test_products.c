// Without it: a bf16 product could have other bits than its definition, with a vector width, an
// instruction, a number of threads or a range of its own; or rounding to bf16 could be wrong.
#include "kernels.h"
#include "products_truth.h"

static RandomKey inputs(int which) { return random_key(9, RANDOM_FEATURES, (uint32_t)which, 0, 0); }

static Rows tried_rows(int64_t count, int64_t columns, int which) {
    Rows rows = test_rows(count, columns);
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < columns; c++)
            floats(rows)[r * rows.stride + c] = truth_input(inputs(which), r, c);
    return rows;
}

static float *tried_floats(int64_t rows, int64_t columns, int which) {
    float *at = TEST_ARRAY(float, rows *columns);
    for (int64_t i = 0; i < rows * columns; i++) // rows without infinities, or all sums had one
        at[i] = truth_input(inputs(which), i / columns * 8 + 3 * (i / columns % 2), i % columns);
    return at;
}

// What products are made of from now on, and by which vectors.
typedef struct Made {
    const char *precision, *sums;
    Truth truth;
} Made;
static const Made made[] = {{"bf16", "pairs", {SUMS_PAIRS, false}},
                            {"bf16", "tiles", {SUMS_TILES, false}},
                            {"bf16x3", "tiles", {SUMS_TILES, true}}};
enum { MADE = sizeof made / sizeof *made };

static Truth use(const Made *how, const char *vectors) {
    BackendStart start = {.vectors = vectors, .precision = how->precision, .sums = how->sums};
    assert_ok(backend_cpu.start(&start, &err));
    return how->truth;
}
static void use_fp32(void) { assert_ok(backend_cpu.start(&(BackendStart){0}, &err)); }

// A product: out = before (if add) + a op(w) + b w_b (if b has rows) + bias (if any).
typedef struct Product {
    Rows before, a, b;
    const float *w, *w_b, *bias;
    bool transposed, add;
} Product;

static float true_element(Truth how, const Product *p, int64_t r, int64_t c, int64_t columns) {
    const int64_t depth = p->a.columns;
    float sum = truth_sum(
        how, floats(p->before)[r * p->before.stride + c], p->add, floats(p->a) + r * p->a.stride, 1,
        p->transposed ? p->w + c * depth : p->w + c, p->transposed ? 1 : columns, depth);
    if (p->b.count > 0)
        sum = truth_sum(how, sum, true, floats(p->b) + r * p->b.stride, 1, p->w_b + c, columns,
                        p->b.columns);
    return p->bias != NULL ? sum + p->bias[c] : sum;
}

// Every bit of out in the range is the product's, and outside of it what was there.
static void product_is_true(Truth how, Rows out, const Product *p, Range range) {
    for (int64_t r = 0; r < out.count; r++)
        for (int64_t c = 0; c < out.columns; c++) {
            bool inside = r >= range.begin && r < range.end;
            float truth = inside ? true_element(how, p, r, c, out.columns)
                                 : floats(p->before)[r * p->before.stride + c];
            float is = floats(out)[r * out.stride + c];
            if (!truth_same(is, truth))
                fail_msg("row %lld, column %lld: %a, by definition %a", (long long)r, (long long)c,
                         (double)is, (double)truth);
        }
}

static void product_of(Truth how, int64_t rows, int64_t depth, int64_t columns, bool add) {
    const Rows none = {0}, a = tried_rows(rows, depth, 1), b = tried_rows(rows, 35, 7);
    const Rows before = tried_rows(rows, columns, 2), out = test_rows(rows, columns);
    float *w = tried_floats(depth, columns, 3), *w_b = tried_floats(35, columns, 8);
    float *bias = random_floats(columns, 4);
    const Product tried[] = {{before, a, none, w, NULL, bias, false, add},
                             {before, a, none, w, NULL, NULL, true, add},
                             {before, a, b, w, w_b, bias, false, false}};
    Range range = {rows / 5, rows - rows / 7};
    for (int i = 0; i < 3; i++) {
        memcpy(floats(out), floats(before), rows_bytes(rows, columns));
        if (i == 0)
            cpu_dense(out, range, a, on_device(w), on_device(bias), add, NULL);
        else if (i == 1)
            cpu_dense_transposed(out, range, a, on_device(w), add, NULL);
        else
            cpu_dense_sum(out, range, a, on_device(w), b, on_device(w_b), on_device(bias), NULL);
        assert_true(padding_is_zero(out));
        product_is_true(how, out, &tried[i], range);
    }
}

static void gradient_of(Truth how, int64_t rows, int64_t m, int64_t n) {
    Rows a = tried_rows(rows, m, 1), g = tried_rows(rows, n, 2);
    float *dw = TEST_ARRAY(float, m *n);
    int64_t room = cpu_dense_gradient_scratch(rows, m, n), behind = 32 * n;
    int64_t parts = cpu_dense_gradient_scratch(rows, 1, 1);
    float *scratch = TEST_ARRAY(float, room + behind);
    for (int64_t i = 0; i < behind; i++)
        scratch[room + i] = 7;
    cpu_dense_gradient(on_device(dw), a, g, on_device(scratch), NULL);
    for (int64_t i = 0; i < behind; i++)
        assert_true(scratch[room + i] == 7);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float truth = 0;
            for (int64_t p = 0; p < parts; p++) {
                int64_t begin = rows * p / parts, end = rows * (p + 1) / parts;
                float part = truth_sum(how, 0, false, floats(a) + begin * a.stride + i, a.stride,
                                       floats(g) + begin * g.stride + j, g.stride, end - begin);
                truth = p == 0 ? part : truth + part;
            }
            if (!truth_same(dw[i * n + j], truth))
                fail_msg("dw[%lld, %lld]: %a, by definition %a", (long long)i, (long long)j,
                         (double)dw[i * n + j], (double)truth);
        }
}

static void products_are_true(const Made *how, const char *vectors, int64_t from, int64_t step) {
    Truth is = use(how, vectors);
    for (int64_t columns = from; columns <= 70; columns += step) {
        product_of(is, 29, 21, columns, columns % 2);
        product_of(is, 29, columns, 18, columns % 2);
        gradient_of(is, 40 + columns, columns, 19);
        gradient_of(is, 33, 13, columns);
    }
    product_of(is, 1000, 5, 3, true); // three panels
    product_of(is, 9, 602, 290, true);
    product_of(is, 1, 1, 1, false);
    product_of(is, 0, 5, 5, true);
    gradient_of(is, 0, 3, 5);
    gradient_of(is, 1100, 7, 3);
}

TEST(every_width_has_the_bits_of_the_definition) {
    for (int i = 0; i < MADE; i++) {
        for (Way way = {0}; way_next(&way);)
            if (i == 0 || way.threads == 2) // the threads are those of the first
                products_are_true(&made[i], cpu_lanes_names[way.lanes], 1 + way.threads,
                                  i > 0 || way.threads > 1 ? 23 : 5);
        if (cpu_has_tiles())
            products_are_true(&made[i], "auto", 1, 23);
    }
    use_fp32();
}

// The same of rows of bf16, whose product is rounded.
static void rows_where_they_lie(Truth how) {
    enum { COUNT = 2 * 96, DEPTH = 300, COLUMNS = 20 };
    const Allocator bf16 = {.backend = &backend_cpu, .rows = ROWS_BF16};
    Rows a = alloc_rows(&bf16, COUNT, DEPTH, "rows"), out = test_rows(COUNT, COLUMNS);
    Rows rounded = tried_rows(COUNT, DEPTH, 1);
    float *w = tried_floats(DEPTH, COLUMNS, 3);
    for (int64_t i = 0; i < COUNT * a.stride; i++)
        ((uint16_t *)(void *)a.at)[i] = (uint16_t)bf16_flushed(truth_bits(floats(rounded)[i]));
    for (int64_t i = 0; i < COUNT * a.stride; i++)
        floats(rounded)[i] = truth_rounded(floats(rounded)[i]);
    cpu_dense(out, (Range){0, COUNT}, a, on_device(w), NULL, false, NULL);
    product_is_true(how, out, &(Product){out, rounded, {0}, w, NULL, NULL, false, false},
                    (Range){0, COUNT});
    rows_free(&backend_cpu, &a);
}

// Factors that have no room are packed for each panel and strip; rows of bf16 are multiplied where
// they lie if they are whole tiles.
TEST(large_products_have_the_bits_of_the_definition) {
    for (int i = 0; i < MADE; i++) {
        const char *vectors = i == 0 || cpu_has_tiles() ? "auto" : "avx512";
        if (cpu_lanes() < LANES_AVX512)
            vectors = "plain";
        Truth how = use(&made[i], vectors);
        product_of(how, 500, 40, 20, false); // two tasks
        product_of(how, 200, 33, 530, true); // panels of two strips
        product_of(how, 8, 700, 800, true);
        product_of(how, 8, 120, 4400, false); // its left factor is one block
        gradient_of(how, 30, 500, 19);
        gradient_of(how, 300, 40, 50);
        gradient_of(how, 4400, 5, 19); // parts of more than a block
        gradient_of(how, 30, 19, 300);
        if (!how.parts)
            rows_where_they_lie(how);
    }
    use_fp32();
}

// Also where a sum is one, and where it is added to the sum of another block.
TEST(denormals_that_are_there_are_zeros) {
    const float tiny = 0x1p-63f;
    for (int i = 0; i < MADE; i++)
        for (Way way = {0}; way_next(&way);) {
            use(&made[i], cpu_lanes_names[way.lanes]);
            for (int64_t depth = 1; depth < 258; depth += 256) {
                Rows a = test_rows(1, depth), out = test_rows(1, 1);
                float w[257] = {0};
                memset(a.at, 0, rows_bytes(1, depth));
                floats(a)[0] = w[0] = tiny;
                floats(out)[0] = 0x1p-127f;
                cpu_dense(out, (Range){0, 1}, a, on_device(w), NULL, true, NULL);
                if (floats(out)[0] != tiny * tiny)
                    fail_msg("%s by %s, depth %lld: %a", made[i].sums, cpu_lanes_names[way.lanes],
                             (long long)depth, (double)floats(out)[0]);
            }
        }
    use_fp32();
}

TEST(every_kernel_has_the_bits_of_the_definition) {
    const ProductKernels *kernels[TRIED_KERNELS];
    enum { ROWS = 50, DEPTH = 61, COLUMNS = 67 };
    Rows a = tried_rows(ROWS, DEPTH, 5);
    float *w = tried_floats(DEPTH, COLUMNS, 6), c[ROWS * COLUMNS];
    tried_kernels(kernels);
    for (int k = 0; k < TRIED_KERNELS; k++)
        for (Truth how = {0}; kernels[k] != NULL && how.order < SUM_ORDERS; how.order++) {
            if (kernels[k]->block[how.order] == NULL)
                continue;
            tried_block(kernels[k], how.order, c, floats(a), a.stride, w, ROWS, DEPTH, COLUMNS);
            for (int64_t r = 0; r < ROWS; r++)
                for (int64_t j = 0; j < COLUMNS; j++)
                    assert_true(truth_same(c[r * COLUMNS + j],
                                           truth_sum(how, 0, false, floats(a) + r * a.stride, 1,
                                                     w + j, COLUMNS, DEPTH)));
        }
}

TEST(rounding_is_to_the_nearest) {
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 4093) {
        float x = truth_float((uint32_t)bits), is = truth_float(bf16_flushed((uint32_t)bits) << 16);
        assert_true(truth_same(is, truth_rounded(x)));
    }
    assert_int_equal(bf16_flushed(0x7f800001), 0x7fc0); // a NaN that is quiet
    assert_int_equal(bf16_flushed(0xff800000), 0xff80);
    assert_int_equal(bf16_flushed(0x80000001), 0x8000);
    assert_int_equal(bf16_flushed(0x3f808000), 0x3f80); // halves to even, down and up
    assert_int_equal(bf16_flushed(0x3f818000), 0x3f82);
}
