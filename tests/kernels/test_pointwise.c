// Without it: a layer's activations or their gradients could be wrong for one order of the steps or
// one width, or could depend on the number of threads, the vector width or the schedule.
#include "kernels.h"

// ---- the truth: one row in double, written from the formulas

typedef struct Truth {
    int64_t columns;
    const Post *post;
    int64_t gid;
    const double *gamma, *beta;
} Truth;

static bool truly_kept(RandomKey key, float keep, int64_t gid, int64_t column) {
    uint32_t word[4];
    random_block(word, key, gid, 0, (uint32_t)(column / 8));
    uint32_t number = word[column % 8 / 2] >> (column % 2 * 16) & 0xffff;
    return number < (uint32_t)lround((double)keep * 65536);
}

static void true_norm(double *h, const Truth *t) {
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < t->columns; c++)
        mean += h[c] / (double)t->columns;
    for (int64_t c = 0; c < t->columns; c++)
        variance += (h[c] - mean) * (h[c] - mean) / (double)t->columns;
    for (int64_t c = 0; c < t->columns; c++)
        h[c] = (h[c] - mean) / sqrt(variance + 1e-5) * t->gamma[c] + t->beta[c];
}

static void true_post(double *h, const double *z, const Truth *t) {
    memcpy(h, z, (size_t)t->columns * sizeof *h);
    for (int i = 0; i < t->post->count; i++)
        if (t->post->step[i] == POST_NORM)
            true_norm(h, t);
        else
            for (int64_t c = 0; c < t->columns; c++)
                if (t->post->step[i] == POST_ACTIVATION)
                    h[c] = h[c] > 0 ? h[c] : 0;
                else if (t->post->training)
                    h[c] = truly_kept(t->post->random, t->post->keep, t->gid, c)
                               ? h[c] / (double)t->post->keep
                               : 0;
}

// sum_c weight[c] post(z)[c], of which the central differences are the gradients
static double true_sum(const double *weight, const double *z, const Truth *t) {
    double h[640], sum = 0;
    true_post(h, z, t);
    for (int64_t c = 0; c < t->columns; c++)
        sum += weight[c] * h[c];
    return sum;
}

static void true_gradient(double *d, double *at, const double *weight, const double *z,
                          const Truth *t) {
    const double step = 1e-5;
    for (int64_t c = 0; c < t->columns; c++) {
        double was = at[c];
        at[c] = was + step;
        double above = true_sum(weight, z, t);
        at[c] = was - step;
        d[c] = (above - true_sum(weight, z, t)) / (2 * step);
        at[c] = was;
    }
}

// ---- what is tested

static const int orders[][4] = {
    // count, steps
    {0, 0, 0, 0},
    {1, POST_DROPOUT, 0, 0},
    {1, POST_NORM, 0, 0},
    {1, POST_ACTIVATION, 0, 0},
    {2, POST_DROPOUT, POST_NORM, 0},
    {2, POST_NORM, POST_DROPOUT, 0},
    {2, POST_DROPOUT, POST_ACTIVATION, 0},
    {2, POST_ACTIVATION, POST_DROPOUT, 0},
    {2, POST_NORM, POST_ACTIVATION, 0},
    {2, POST_ACTIVATION, POST_NORM, 0},
    {3, POST_DROPOUT, POST_NORM, POST_ACTIVATION},
    {3, POST_DROPOUT, POST_ACTIVATION, POST_NORM},
    {3, POST_NORM, POST_DROPOUT, POST_ACTIVATION},
    {3, POST_NORM, POST_ACTIVATION, POST_DROPOUT},
    {3, POST_ACTIVATION, POST_DROPOUT, POST_NORM},
    {3, POST_ACTIVATION, POST_NORM, POST_DROPOUT},
};
enum { ORDERS = sizeof orders / sizeof *orders };

typedef struct Case { // an operation's arguments and results
    int64_t rows, columns;
    Rows z, dh, h, dz;
    float *gamma, *beta, *dgamma, *dbeta, *scratch;
    int64_t *gid;
    PostSaved saved;
    Post post;
} Case;

static Case case_new(int64_t rows, int64_t columns, const int order[4], float keep) {
    Case c = {.rows = rows, .columns = columns};
    c.z = random_rows(rows, columns, 1), c.dh = random_rows(rows, columns, 2);
    c.h = test_rows(rows, columns), c.dz = test_rows(rows, columns);
    c.gamma = random_floats(columns, 3), c.beta = random_floats(columns, 4);
    c.dgamma = TEST_ARRAY(float, columns), c.dbeta = TEST_ARRAY(float, columns);
    c.scratch = TEST_ARRAY(float, cpu_post_scratch(rows, columns));
    c.gid = TEST_ARRAY(int64_t, rows);
    for (int64_t r = 0; r < rows; r++)
        c.gid[r] = r % 2 == 0 ? 17 * r + 3 : ((int64_t)1 << 40) + r; // both words of a row id
    c.saved.mean = on_device(TEST_ARRAY(float, rows));
    c.saved.inverse = on_device(TEST_ARRAY(float, rows));
    c.saved.kept = on_device(TEST_ARRAY(uint8_t, rows * c.z.stride / 8));
    c.saved.positive = on_device(TEST_ARRAY(uint8_t, rows * c.z.stride / 8));
    c.post = (Post){.count = order[0], .keep = keep, .training = true};
    c.post.random = random_key(0x123456789abcdefu, RANDOM_DROPOUT, 5, 2, 1);
    c.post.random.kind.seven = columns % 2 == 1;
    c.post.gamma = on_device(c.gamma), c.post.beta = on_device(c.beta);
    for (int i = 0; i < order[0]; i++)
        c.post.step[i] = (PostStep)order[i + 1];
    return c;
}

static void case_forward(Case *c) {
    cpu_post_forward(c->h, (Range){0, c->rows}, c->z, &c->post, c->saved, on_device(c->gid), NULL);
}
static void case_backward(Case *c) {
    cpu_post_backward(c->dz, c->dh, c->z, &c->post, c->saved, on_device(c->dgamma),
                      on_device(c->dbeta), on_device(c->scratch), NULL);
}

static void widen(double *to, const float *from, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        to[i] = (double)from[i];
}

// |a - b| <= 2e-5 (1 + scale): a dozen roundings of numbers up to `scale`, times a norm's factor
static void close_row(const float *a, const double *b, int64_t count, const Case *c,
                      const char *what) {
    double scale = 0;
    for (int64_t i = 0; i < count; i++)
        scale = fmax(scale, fabs(b[i]));
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)a[i] - b[i]) <= 2e-5 * (1 + scale)))
            fail_msg("%s[%d]: %.9g, truth %.9g (width %d, %d steps %d %d %d)", what, (int)i,
                     (double)a[i], b[i], (int)c->columns, c->post.count, c->post.step[0],
                     c->post.step[1], c->post.step[2]);
}

static void row_matches(Case *c, int64_t r, double *dgamma, double *dbeta) {
    double z[640], weight[640], gamma[640], beta[640], h[640], d[640] = {0};
    widen(z, floats(c->z) + r * c->z.stride, c->columns);
    widen(weight, floats(c->dh) + r * c->z.stride, c->columns);
    widen(gamma, c->gamma, c->columns), widen(beta, c->beta, c->columns);
    Truth truth = {c->columns, &c->post, c->gid[r], gamma, beta};
    true_post(h, z, &truth);
    close_row(floats(c->h) + r * c->h.stride, h, c->columns, c, "h");
    if (!c->post.training)
        return;
    true_gradient(d, z, weight, z, &truth);
    close_row(floats(c->dz) + r * c->dz.stride, d, c->columns, c, "dz");
    true_gradient(d, gamma, weight, z, &truth);
    for (int64_t i = 0; i < c->columns; i++)
        dgamma[i] += d[i];
    true_gradient(d, beta, weight, z, &truth);
    for (int64_t i = 0; i < c->columns; i++)
        dbeta[i] += d[i];
}

static bool has_norm(const Post *post) {
    for (int i = 0; i < post->count; i++)
        if (post->step[i] == POST_NORM)
            return true;
    return false;
}

static void order_matches(const int order[4], int64_t columns, int64_t rows, bool training) {
    Case c = case_new(rows, columns, order, 0.7f);
    double dgamma[640] = {0}, dbeta[640] = {0};
    c.post.training = training;
    rows_dirty(c.h), rows_dirty(c.dz);
    case_forward(&c);
    assert_true(padding_is_zero(c.h));
    if (training) {
        case_backward(&c);
        assert_true(padding_is_zero(c.dz));
    }
    for (int64_t r = 0; r < rows; r++)
        row_matches(&c, r, dgamma, dbeta);
    if (training && has_norm(&c.post)) {
        close_row(c.dgamma, dgamma, columns, &c, "dgamma");
        close_row(c.dbeta, dbeta, columns, &c, "dbeta");
    }
}

// The sanitizers see every width modulo 16, and rows of several hundred columns in one order.
enum {
    WIDTH_STEP = UNDER_SANITIZERS(3, 1),
    WIDTH_MOST = UNDER_SANITIZERS(48, 70),
    FIRST_WIDE = UNDER_SANITIZERS(ORDERS - 1, 9)
};

TEST(every_order_and_width_is_right) {
    for (int o = 0; o < ORDERS; o++)
        for (int training = 0; training < 2; training++) {
            for (int64_t columns = 1; columns <= WIDTH_MOST; columns += WIDTH_STEP)
                order_matches(orders[o], columns, 3, training);
            order_matches(orders[o], 256, UNDER_SANITIZERS(1, 2), training);
            if (o >= FIRST_WIDE) // the truth takes columns^2 steps
                order_matches(orders[o], 602, 1, training);
        }
}

TEST(in_place_where_the_door_allows_it) {
    for (int o = 0; o < ORDERS; o++) {
        Case c = case_new(100, 41, orders[o], 0.5f);
        case_forward(&c);
        case_backward(&c);
        cpu_post_backward(c.dh, c.dh, c.z, &c.post, c.saved, on_device(c.dgamma),
                          on_device(c.dbeta), on_device(c.scratch), NULL);
        assert_true(rows_equal(c.dh, c.dz));
        c.post.training = false;
        case_forward(&c);
        cpu_post_forward(c.z, (Range){0, c.rows}, c.z, &c.post, (PostSaved){0}, NULL, NULL);
        assert_true(rows_equal(c.h, c.z));
    }
}

// h, dz, dgamma, dbeta and the masks are those of the plain code on one thread in one call.
static void same_everywhere(const int order[4], int64_t rows, int64_t columns) {
    Case first = case_new(rows, columns, order, 0.6f), c = case_new(rows, columns, order, 0.6f);
    for (Way way = {0}; way_next(&way);) {
        Case *now = way_is_first(&way) ? &first : &c;
        rows_dirty(now->h), rows_dirty(now->dz);
        int64_t cut = (rows * 7 / 19) * (way.threads - 1) / 2;
        cpu_post_forward(now->h, (Range){0, cut}, now->z, &now->post, now->saved,
                         on_device(now->gid), NULL);
        cpu_post_forward(now->h, (Range){cut, rows}, now->z, &now->post, now->saved,
                         on_device(now->gid), NULL);
        case_backward(now);
        size_t bits = (size_t)(rows * first.z.stride / 8), floats = (size_t)columns * 4;
        assert_true(rows_equal(now->h, first.h));
        assert_true(rows_equal(now->dz, first.dz));
        assert_memory_equal(now->dgamma, first.dgamma, floats);
        assert_memory_equal(now->dbeta, first.dbeta, floats);
        assert_memory_equal(now->saved.kept, first.saved.kept, bits);
        assert_memory_equal(now->saved.positive, first.saved.positive, bits);
    }
}

TEST(bits_do_not_depend_on_threads_width_or_ranges) {
    static const int64_t widths[] = {1, 7, 16, 41, 130, 256};
    for (int o = 0; o < ORDERS; o++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            same_everywhere(orders[o], UNDER_SANITIZERS(70, 700), widths[w]);
    same_everywhere(orders[10], 16400, 48); // blocks of 512 rows
}

// ---- dropout by itself

TEST(dropout_is_the_numbers_of_random_h) {
    static const float keeps[] = {0.5f, 0.9f, 0.123f, 1e-6f, 0.99999f};
    static const int64_t widths[] = {1, 8, 15, 16, 64, 127, 128, 129, 602, 1433};
    for (size_t k = 0; k < sizeof keeps / sizeof *keeps; k++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (Way way = {0}; way_next(&way);) {
                RandomKey key = random_key(~0u - 1, RANDOM_DROPOUT, 9, 3, 0);
                Rows x = random_rows(5, widths[w], 1), out = test_rows(5, widths[w]);
                int64_t gid[5] = {0, 1, 0xffffffffu, (int64_t)1 << 32, ((int64_t)1 << 48) - 1};
                cpu_dropout(out, (Range){0, 5}, x, keeps[k], key, on_device(gid), NULL);
                for (int64_t r = 0; r < 5; r++)
                    for (int64_t c = 0; c < widths[w]; c++) {
                        float value = floats(x)[r * x.stride + c] * (1.0f / keeps[k]);
                        bool kept = truly_kept(key, keeps[k], gid[r], c);
                        assert_true(floats(out)[r * x.stride + c] == (kept ? value : 0));
                    }
                assert_true(padding_is_zero(out));
                cpu_dropout(x, (Range){0, 5}, x, keeps[k], key, on_device(gid),
                            NULL); // in place
                assert_true(rows_equal(x, out));
            }
}

TEST(dropout_keeps_the_right_share) {
    enum { ROWS = 64, COLUMNS = 8415 };
    static const float keeps[] = {0.1f, 0.5f, 0.8f};
    Rows x = test_rows(ROWS, COLUMNS);
    int64_t gid[ROWS];
    for (int64_t r = 0; r < ROWS; r++)
        gid[r] = r;
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < ROWS * x.stride; i++)
            floats(x)[i] = i % x.stride < COLUMNS ? 1.0f : 0.0f;
        RandomKey key = random_key(1, RANDOM_DROPOUT, 0, 0, 0);
        cpu_dropout(x, (Range){0, ROWS}, x, keeps[k], key, on_device(gid), NULL);
        double n = (double)ROWS * COLUMNS, keep = (double)keeps[k], kept = 0;
        for (int64_t i = 0; i < ROWS * x.stride; i++)
            kept += floats(x)[i] != 0;
        assert_true(fabs(kept - n * keep) < 6 * sqrt(n * keep * (1 - keep))); // six sigma
    }
}

TEST(keep_of_one_is_no_dropout) {
    Case c = case_new(20, 33, orders[1], 1.0f);
    case_forward(&c);
    assert_true(rows_equal(c.h, c.z));
    case_backward(&c);
    assert_true(rows_equal(c.dz, c.dh));
    cpu_dropout(c.dz, (Range){0, 20}, c.z, 1.0f, c.post.random, on_device(c.gid), NULL);
    assert_true(rows_equal(c.dz, c.z));
}

TEST(a_nan_is_not_hidden) {
    for (Way way = {0}; way_next(&way);) {
        Case c = case_new(4, 20, orders[3], 0.5f); // activation
        floats(c.z)[c.z.stride + 18] = NAN;
        case_forward(&c);
        assert_true(isnan(floats(c.h)[c.z.stride + 18]));
    }
}

// ---- sums

TEST(columns_are_summed) {
    static const int64_t sizes[][2] = {{0, 5}, {1, 1}, {63, 17}, {65, 41}, {3000, 70}, {17000, 48}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t rows = sizes[s][0], columns = sizes[s][1];
        Rows g = random_rows(rows, columns, 3);
        float sum[80], first[80];
        float *scratch = TEST_ARRAY(float, cpu_column_sums_scratch(rows, columns));
        for (Way way = {0}; way_next(&way);) {
            cpu_column_sums(on_device(sum), g, on_device(scratch));
            if (way_is_first(&way))
                memcpy(first, sum, sizeof sum);
            assert_memory_equal(sum, first, (size_t)columns * 4);
        }
        for (int64_t c = 0; c < columns; c++) {
            double truth = 0, size = 0;
            for (int64_t r = 0; r < rows; r++) {
                truth += (double)floats(g)[r * g.stride + c];
                size += fabs((double)floats(g)[r * g.stride + c]);
            }
            assert_true(fabs((double)sum[c] - truth) <= 1e-6 * size); // 17000 roundings of 6e-8
        }
    }
}
