// The operations on STREAM_COMPUTE but losses, metrics and optimizers, each with its variants.
#pragma once

#include "backend_case.h"

// ---- dense

enum { OTHER_COLUMNS = 37 };

static void dense(Case *c) {
    Shape s = c->shape;
    Rows a = case_rows(c, s.rows, s.columns);
    RowsType type = c->variant & 8 ? ROWS_FP32 : c->rows; // as logits are
    Rows out = c->variant & 4 ? case_rows_of(c, type, s.rows, OTHER_COLUMNS)
                              : case_dirty_rows_of(c, type, s.rows, OTHER_COLUMNS);
    DeviceFloat *w = case_floats(c, s.columns * OTHER_COLUMNS);
    DeviceFloat *bias = case_floats(c, OTHER_COLUMNS);
    c->b->dense(far_rows(c, out), far_range(c, range_of(c, s.rows)), far_rows(c, a), w,
                c->variant & 2 ? bias : NULL, c->variant & 4, NULL);
    case_keep_rows(c, out);
}

static void dense_transposed(Case *c) {
    Shape s = c->shape;
    RowsType type = c->variant & 4 ? ROWS_FP32 : c->rows; // as the gradient of logits is
    Rows g = case_rows_of(c, type, s.rows, OTHER_COLUMNS), out = case_rows(c, s.rows, s.columns);
    DeviceFloat *w = case_floats(c, s.columns * OTHER_COLUMNS);
    c->b->dense_transposed(far_rows(c, out), far_range(c, range_of(c, s.rows)), far_rows(c, g), w,
                           c->variant & 2, NULL);
    case_keep_rows(c, out);
}

static void dense_sum(Case *c) {
    Shape s = c->shape;
    Rows a = case_rows(c, s.rows, s.columns), b = case_rows(c, s.rows, 19);
    Rows out = case_dirty_rows(c, s.rows, OTHER_COLUMNS);
    DeviceFloat *w = case_floats(c, s.columns * OTHER_COLUMNS);
    DeviceFloat *w_b = case_floats(c, b.columns * OTHER_COLUMNS);
    DeviceFloat *bias = case_floats(c, OTHER_COLUMNS);
    c->b->dense_sum(far_rows(c, out), far_range(c, range_of(c, s.rows)), far_rows(c, a), w,
                    far_rows(c, b), w_b, c->variant & 2 ? bias : NULL, NULL);
    case_keep_rows(c, out);
}

static void dense_gradient(Case *c) {
    Shape s = c->shape;
    RowsType type = c->variant & 1 ? ROWS_FP32 : c->rows;
    Rows a = case_rows(c, s.rows, s.columns), g = case_rows_of(c, type, s.rows, OTHER_COLUMNS);
    int64_t scratch = c->b->dense_gradient_scratch(s.rows, s.columns, OTHER_COLUMNS);
    DeviceFloat *dw = case_floats(c, s.columns * OTHER_COLUMNS);
    c->b->dense_gradient(dw, a, g, case_floats(c, scratch), NULL);
    case_keep(c, dw, (size_t)(s.columns * OTHER_COLUMNS) * sizeof(float));
}

static void column_sums(Case *c) {
    Rows g = case_rows(c, c->shape.rows, c->shape.columns);
    DeviceFloat *db = case_floats(c, g.columns);
    c->b->column_sums(db, g, case_floats(c, c->b->column_sums_scratch(g.count, g.columns)));
    case_keep(c, db, (size_t)g.columns * sizeof(float));
}

// ---- sparse aggregate. Some rows have no edge, one in the middle has very many.

static Csr random_csr(Case *c, int64_t rows, int64_t sources, bool weighted, int64_t longest) {
    Csr csr;
    FREED int64_t *degree = ALLOC(int64_t, rows + 1, "test");
    int64_t entries = 0;
    for (int64_t r = 0; r < rows && sources > 0; r++) {
        degree[r] = r == rows / 2 && longest > 0 ? longest : case_random(c) % 21;
        degree[r] = degree[r] < sources ? degree[r] : sources;
        entries += degree[r];
    }
    csr_alloc(&csr, rows, entries, weighted, "test");
    for (int64_t r = 0; r < rows; r++) {
        int64_t begin = csr.offset[r];
        csr.offset[r + 1] = begin + degree[r];
        for (int64_t e = 0; e < degree[r]; e++) { // ascending, spread over the sources
            csr.column[begin + e] = (int32_t)(c->far + e * sources / degree[r]);
            if (weighted)
                csr.weight[begin + e] = (float)(case_random(c) % 1000) / 500 - 1;
        }
    }
    return csr;
}

// Of a long row, no more columns than its kernel needs to show all it does.
static void aggregate(Case *c, int64_t longest) {
    Shape s = c->shape;
    s.columns = longest > 0 && s.columns > 41 ? 41 : s.columns;
    int64_t sources = longest > s.rows ? longest : s.rows;
    bool weighted = c->variant & 2, scaled = c->variant & 4, self = c->variant & 8;
    Csr csr = random_csr(c, s.rows, sources, weighted, longest);
    Aggregate *a = c->b->aggregate_new(&csr, c->far + sources, s.columns, c->rows, "rows");
    Rows x = case_rows(c, sources, s.columns), out = case_dirty_rows(c, s.rows, s.columns);
    DeviceFloat *left = case_floats(c, s.rows), *right = case_floats(c, sources);
    if (c->variant == 7) // what is found to be fast does not show
        c->b->aggregate_tune(a, case_dirty_rows(c, s.rows, s.columns), far_rows(c, x));
    c->b->aggregate_prepare(a, far_rows(c, x), scaled ? far_floats(c, right, 1) : NULL, NULL);
    c->b->aggregate_rows(a, out, range_of(c, s.rows), self, scaled ? left : NULL, NULL);
    case_keep_rows(c, out);
    c->b->aggregate_free(a);
    csr_free(&csr);
}

static void aggregate_rows(Case *c) { aggregate(c, 0); }

// Other weights than the Csr's, and these again.
static void aggregate_weights(Case *c) {
    Shape s = c->shape;
    Csr csr = random_csr(c, s.rows, s.rows, true, 0);
    Aggregate *a = c->b->aggregate_new(&csr, c->far + s.rows, s.columns, c->rows, "rows");
    Rows x = case_rows(c, s.rows, s.columns), out = case_dirty_rows(c, s.rows, s.columns);
    DeviceFloat *other = case_floats(c, csr_entries(&csr));
    for (int time = 0; time < 2; time++) {
        c->b->aggregate_weights(a, time == 0 ? other : NULL);
        c->b->aggregate_prepare(a, far_rows(c, x), NULL, NULL);
        c->b->aggregate_rows(a, out, range_of(c, s.rows), false, NULL, NULL);
        case_keep_rows(c, out);
    }
    c->b->aggregate_free(a);
    csr_free(&csr);
}
static void aggregate_long_row(Case *c) { aggregate(c, 5000); }

static void aggregate_sums(Case *c) {
    Shape s = c->shape;
    Csr csr = random_csr(c, s.rows, s.rows, c->variant & 2, 0);
    Aggregate *a = c->b->aggregate_new(&csr, s.rows, s.columns, c->rows, "rows");
    Rows x = case_rows(c, s.rows, s.columns),
         sums = case_dirty_rows_of(c, ROWS_FP32, s.rows, s.columns);
    c->b->aggregate_prepare(a, x, case_floats(c, s.rows), NULL);
    c->b->aggregate_sums(a, sums, range_of(c, s.rows), c->variant & 4, NULL);
    case_keep_rows(c, sums);
    c->b->aggregate_free(a);
    csr_free(&csr);
}

// In one call; or in three, one of which has no new column, and with the factors of owners. Sums
// are floats, whatever the rows.
static void aggregate_halo(Case *c) {
    Shape s = c->shape;
    const int64_t halo_rows = 50, ends[] = {halo_rows / 4, halo_rows / 4, halo_rows / 2, halo_rows};
    bool weighted = c->variant & 2;
    Csr csr = random_csr(c, s.rows, halo_rows, weighted, 0);
    FREED int32_t *rows = ALLOC(int32_t, s.rows + 1, "test");
    for (int64_t k = 0; k < s.rows; k++)
        rows[k] = (int32_t)(2 * k);
    HaloAggregate *h = c->b->aggregate_halo_new(&csr, rows);
    Rows out = case_rows_of(c, ROWS_FP32, 2 * s.rows, s.columns);
    Rows halo = case_rows(c, halo_rows, s.columns);
    const DeviceFloat *right = far_floats(c, case_floats(c, halo_rows), 1);
    DeviceFloat *left = case_floats(c, 2 * s.rows);
    Rows landing = case_dirty_rows(c, halo_rows, s.columns); // what has not landed is anything
    for (int time = 0; time < 2; time++) {                   // begin starts over
        c->b->aggregate_halo_begin(h);
        for (int i = c->variant & 1 ? 0 : 3; i < 4; i++) {
            Rows from = time == 0 && i < 3 ? landing : halo;
            c->b->copy(from.at, halo.at, rows_size(rows_first(halo, ends[i])));
            c->b->aggregate_halo(h, out, far_rows(c, from), c->variant & 1 ? right : NULL,
                                 c->far + ends[i], i == 3 ? left : NULL, NULL);
        }
    }
    case_keep_rows(c, out);
    c->b->aggregate_halo_free(h);
    csr_free(&csr);
}

// ---- pointwise

// The last has no kernels of its own (kernels/orders.h), but its first two steps have.
static const PostStep orders[][3] = {{POST_NORM, POST_ACTIVATION, POST_DROPOUT},
                                     {POST_ACTIVATION, POST_NORM, POST_DROPOUT},
                                     {POST_DROPOUT, POST_NORM, POST_ACTIVATION},
                                     {POST_ACTIVATION, POST_DROPOUT, POST_NORM}};

static Post post_of(Case *c) {
    int64_t columns = c->shape.columns;
    int which = c->variant % 10;
    Post post = {.keep = which % 3 == 0 ? 0.5f : 0.8f,
                 .random = random_key(5, RANDOM_DROPOUT, 3, 1, 0),
                 .training = c->variant < 10,
                 .gamma = case_floats(c, columns),
                 .beta = case_floats(c, columns)};
    if (which < 4) {
        post.count = 3;
        memcpy(post.step, orders[which], sizeof post.step);
    } else if (which < 7) { // one step alone
        post.count = 1;
        post.step[0] = (PostStep)(which - 4);
    } else if (which < 9) {
        post.count = 2;
        memcpy(post.step, orders[which == 7 ? 0 : 3], 2 * sizeof *post.step);
    }
    return post;
}

static bool post_has(const Post *post, PostStep step) {
    for (int i = 0; i < post->count; i++)
        if (post->step[i] == step)
            return true;
    return false;
}

// Forward in two ranges, then backward; masks by what backward makes of them.
static void post(Case *c) {
    Shape s = c->shape;
    Post p = post_of(c);
    Rows z = case_rows(c, s.rows, s.columns), h = case_dirty_rows(c, s.rows, s.columns);
    size_t bits = (size_t)(s.rows * z.stride / 8);
    PostSaved saved = {case_bytes(c, (size_t)s.rows * 4), case_bytes(c, (size_t)s.rows * 4),
                       case_bytes(c, bits), case_bytes(c, bits)};
    DeviceInt64 *gid = case_ids(c, s.rows);
    PostSaved there = {far_floats(c, saved.mean, 1), far_floats(c, saved.inverse, 1),
                       far_bytes(c, saved.kept, z.stride / 8),
                       far_bytes(c, saved.positive, z.stride / 8)};
    Range first = {0, s.rows / 2}, last = {s.rows / 2, s.rows};
    c->b->post_forward(far_rows(c, h), far_range(c, first), far_rows(c, z), &p, there,
                       far_ids(c, gid), NULL);
    c->b->post_forward(far_rows(c, h), far_range(c, last), far_rows(c, z), &p, there,
                       far_ids(c, gid), NULL);
    case_keep_rows(c, h);
    if (!p.training)
        return;
    Rows dh = case_rows(c, s.rows, s.columns), dz = case_dirty_rows(c, s.rows, s.columns);
    bool norm = post_has(&p, POST_NORM);
    DeviceFloat *scratch = case_floats(c, c->b->post_scratch(s.rows, s.columns));
    DeviceFloat *dgamma = case_floats(c, s.columns), *dbeta = case_floats(c, s.columns);
    c->b->post_backward(dz, dh, z, &p, saved, norm ? dgamma : NULL, norm ? dbeta : NULL, scratch,
                        NULL);
    case_keep_rows(c, dz);
    if (norm) {
        case_keep(c, saved.mean, (size_t)s.rows * 4);
        case_keep(c, saved.inverse, (size_t)s.rows * 4);
        case_keep(c, dgamma, (size_t)s.columns * 4);
        case_keep(c, dbeta, (size_t)s.columns * 4);
    }
    c->b->post_backward(dh, dh, z, &p, saved, norm ? dgamma : NULL, norm ? dbeta : NULL, scratch,
                        NULL);
    case_keep_rows(c, dh);
}

static void dropout(Case *c) {
    static const float keep[] = {0.5f, 0.9f, 1, 0x1p-17f};
    Rows x = case_rows(c, c->shape.rows, c->shape.columns);
    Rows out = c->variant & 1 ? x : case_rows(c, x.count, x.columns);
    c->b->dropout(far_rows(c, out), far_range(c, range_of(c, x.count)), far_rows(c, x),
                  keep[c->variant / 2],
                  random_of_kind(random_key(5, RANDOM_DROPOUT, 9, 2, 0),
                                 (RandomKind){.seven = c->shape.columns % 2 == 1}),
                  far_ids(c, case_ids(c, x.count)), NULL);
    case_keep_rows(c, out);
}

// In place, too.
static void dropout_entries(Case *c) {
    static const float keep[] = {0.5f, 0.9f, 1, 0x1p-17f};
    Shape s = c->shape;
    int64_t count = s.rows * s.columns;
    DeviceInt32 *row = case_int32s(c, count, 0, (int32_t)(s.rows > 0 ? s.rows : 1));
    DeviceInt32 *column = case_int32s(c, count, 0, (int32_t)s.columns);
    DeviceFloat *value = case_floats(c, count);
    DeviceFloat *out = c->variant & 1 ? value : case_floats(c, count);
    c->b->dropout_entries(out, value, count, row, column, keep[c->variant / 2],
                          random_key(5, RANDOM_DROPOUT, 9, 2, 0), case_ids(c, s.rows), NULL);
    case_keep(c, out, (size_t)count * sizeof(float));
}

// And back.
static void pad_rows(Case *c) {
    Rows out = case_dirty_rows(c, c->shape.rows, c->shape.columns);
    int64_t count = out.count * out.columns;
    DeviceFloat *tight = case_floats(c, count);
    c->b->pad_rows(out, case_floats(c, count));
    c->b->unpad_rows(tight, out);
    case_keep_rows(c, out);
    case_keep(c, tight, (size_t)count * sizeof(float));
}

static void add_bias(Case *c) {
    Rows out = case_rows(c, c->shape.rows, c->shape.columns);
    c->b->add_bias(far_rows(c, out), far_range(c, range_of(c, out.count)),
                   case_floats(c, out.columns), NULL);
    case_keep_rows(c, out);
}

// Factors of all rows and of each; of the rows themselves, or as many others.
static RowFactor case_factor(Case *c, int64_t rows, int kind) {
    if (kind == 0)
        return (RowFactor){.plain = -0.37f};
    if (kind == 1)
        return (RowFactor){.times = 1, .at = case_floats(c, 1)};
    return (RowFactor){
        .plain = 1, .times = -1, .at = far_floats(c, case_floats(c, rows), 1), .each = true};
}

static void add_scaled(Case *c) {
    Rows a = case_rows(c, c->shape.rows, c->shape.columns);
    RowsType type = c->variant & 1 ? ROWS_FP32 : c->rows; // as sums that are to be rounded
    Rows x = case_rows_of(c, type, a.count, a.columns);
    Rows out = c->variant & 2 ? a : case_rows(c, a.count, a.columns);
    int kind = c->variant / 4;
    RowFactor p = kind == 3 ? (RowFactor){0} : case_factor(c, a.count, kind);
    RowFactor q = case_factor(c, a.count, (kind + 2) % 3);
    c->b->add_scaled(far_rows(c, out), far_range(c, range_of(c, a.count)), p, far_rows(c, a), q,
                     far_rows(c, x), NULL);
    case_keep_rows(c, out);
}

// Forward, then the factors of a gradient.
static void activate(Case *c) {
    Rows u = case_rows(c, c->shape.rows, c->shape.columns);
    Rows out = c->variant & 1 ? u : case_rows(c, u.count, u.columns);
    Rows kept = case_rows(c, u.count, u.columns), d = case_rows(c, u.count, u.columns);
    uint8_t function = (uint8_t)(c->variant / 2);
    c->b->activate_back(far_rows(c, d), far_range(c, range_of(c, u.count)), far_rows(c, kept),
                        function, 0.03f, NULL);
    c->b->activate(far_rows(c, out), far_range(c, range_of(c, u.count)), far_rows(c, u), function,
                   0.03f, NULL);
    case_keep_rows(c, d);
    case_keep_rows(c, out);
}

// Sums of rows, rows from them, and the way back.
static void norm_columns(Case *c) {
    Rows u = case_rows(c, c->shape.rows, c->shape.columns), d = case_rows(c, u.count, u.columns);
    Rows out = c->variant & 1 ? u : case_rows(c, u.count, u.columns);
    int64_t columns = u.columns, scratch = c->b->column_products_scratch(u.count, columns);
    DeviceDouble *sums = case_bytes(c, (size_t)(2 * columns) * sizeof(double));
    DeviceDouble *room = case_bytes(c, (size_t)scratch * sizeof(double));
    DeviceFloat *middle = case_floats(c, columns), *factor = case_floats(c, columns);
    DeviceFloat *gamma = case_floats(c, columns), *mean = case_floats(c, 2 * columns);
    bool plain = c->variant & 2;
    c->b->column_products(sums, d, u, plain ? NULL : middle, plain ? NULL : factor, room, NULL);
    case_keep(c, sums, (size_t)(2 * columns) * sizeof(double));
    c->b->norm_columns_back(d, u, middle, factor, gamma, mean, NULL);
    case_keep_rows(c, d);
    c->b->norm_columns(far_rows(c, out), far_range(c, range_of(c, u.count)), far_rows(c, u), middle,
                       factor, gamma, mean, NULL);
    case_keep_rows(c, out);
}

// Three sets of rows, and the gradient of the one in the middle.
static void take_larger(Case *c) {
    Rows out = case_rows(c, c->shape.rows, c->shape.columns);
    Range range = range_of(c, out.count);
    DeviceByte *which = case_bytes(c, (size_t)(out.count * out.stride));
    for (uint8_t place = 0; place < 3; place++)
        c->b->take_larger(far_rows(c, out), far_bytes(c, which, out.stride), far_range(c, range),
                          far_rows(c, case_rows(c, out.count, out.columns)), place, NULL);
    case_keep_rows(c, out);
    c->b->add_chosen(far_rows(c, out), far_range(c, range),
                     far_rows(c, case_rows(c, out.count, out.columns)),
                     far_bytes(c, which, out.stride), 1, NULL);
    case_keep_rows(c, out);
}

static void dot(Case *c) {
    Rows x = case_rows(c, c->shape.rows, c->shape.columns);
    Rows y = case_rows(c, x.count, x.columns);
    DeviceFloat *out = case_floats(c, 1);
    c->b->dot(out, x, y);
    case_keep(c, out, sizeof(float));
}

#define COMPUTE_OPERATIONS                                                                         \
    {"dense", dense, 8, 1e-5, 8, 16, {{1500, 16}, {600, 256}}},                                    \
        {"dense_transposed", dense_transposed, 4, 1e-5, 4, 8, {{1500, 16}, {300, 602}}},           \
        {"dense_sum", dense_sum, 4, 1e-5, 4, 4, {{1500, 16}, {600, 256}}},                         \
        {"dense_gradient",                                                                         \
         dense_gradient,                                                                           \
         1,                                                                                        \
         1e-5,                                                                                     \
         0,                                                                                        \
         2,                                                                                        \
         {{1500, 16}, {9000, 3}, {17000, 1}, {600, 256}, {300, 602}}},                             \
        {"column_sums", column_sums, 1, 0, 0, 1, {{9000, 3}, {17000, 1}, {600, 256}, {5000, 41}}}, \
        {"aggregate_rows", aggregate_rows, 16, 0, 8, 16, {{9000, 3}, {1500, 16}, {300, 602}}},     \
        {"aggregate_rows of a long row", aggregate_long_row, 16, 0, 8, 16, {{600, 256}}},          \
        {"aggregate_sums", aggregate_sums, 8, 0, 0, 8, {{1500, 16}, {300, 602}}},                  \
        {"aggregate_weights", aggregate_weights, 2, 0, 2, 2, {{1500, 16}}},                        \
        {"dropout_entries", dropout_entries, 8, 0, 0, 0, {{300, 602}}},                            \
        {"pad_rows", pad_rows, 1, 0, 0, 0, {{1500, 16}, {300, 602}}},                              \
        {"aggregate_halo", aggregate_halo, 4, 0, 4, 4, {{9000, 3}, {300, 602}}},                   \
        {"post", post, 20, 0, 20, 20, {{1500, 16}, {300, 602}, {9000, 3}, {17000, 1}}},            \
        {"dropout", dropout, 8, 0, 8, 8, {{1500, 16}, {300, 602}}},                                \
        {"add_bias", add_bias, 2, 0, 2, 2, {{1500, 16}, {300, 602}}},                              \
        {"activate", activate, 8, 0, 8, 8, {{1500, 16}, {300, 602}}},                              \
        {"norm_columns", norm_columns, 4, 0, 4, 4, {{1500, 16}, {300, 602}, {17000, 1}}},          \
        {"take_larger", take_larger, 2, 0, 2, 2, {{1500, 16}, {300, 41}}},                         \
        {"add_scaled", add_scaled, 16, 0, 16, 16, {{1500, 16}, {300, 602}}}, {                     \
        "dot", dot, 1, 0, 0, 1, {                                                                  \
            {1500, 16}, {17000, 1}, { 600, 256 }                                                   \
        }                                                                                          \
    }
