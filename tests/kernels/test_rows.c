// Without it: an operation on rows of bf16 could compute with other numbers than on the same rows
// of floats, round its result twice or not at all, or do so with one vector width.
#include "bf16.h"
#include "kernels.h"
#include "philox.h"

enum { ROWS = 83, IN = 3, NUMBERS = 70000 };
// A row without neighbours: its aggregate is the row times a quarter twice, denormal in places.
enum { ALONE = 61 };

// What an operation works on, with rows of one type: the same numbers, which bf16 has.
typedef struct Try {
    Rows in[IN], out;
    float *numbers;            // that it makes beside rows
    const float *small, *wide; // [columns], [columns, columns]
    float *scratch;
    Csr csr;
    int64_t gid[ROWS];
    unsigned char bits[4][ROWS * 400];
} Try;
typedef void Op(Try *t);

static const Range some = {5, ROWS - 7}, all = {0, ROWS};
static const RowFactor half = {.plain = 0.3f}, one = {.plain = 1};

static void aggregate_by(Try *t, const char *panels) {
    Aggregate *a = cpu_aggregate_new(&t->csr, ROWS, t->out.columns, t->out.type, panels);
    cpu_aggregate_prepare(a, t->in[0], on_device(t->small), NULL);
    cpu_aggregate_rows(a, t->out, some, true, on_device(t->small), NULL);
    cpu_aggregate_free(a);
}
static void aggregate(Try *t) { aggregate_by(t, "rows"); }
static void aggregate_panels(Try *t) { aggregate_by(t, "16"); }
static Rows sums_of(Try *t) { // floats, whatever the rows are
    return (Rows){.at = on_device(t->numbers),
                  .count = ROWS,
                  .columns = t->out.columns,
                  .stride = t->out.stride};
}
static void sums(Try *t) {
    Aggregate *a = cpu_aggregate_new(&t->csr, ROWS, t->out.columns, ROWS_FP32, "rows");
    cpu_aggregate_prepare(a, t->in[0], NULL, NULL);
    cpu_aggregate_sums(a, sums_of(t), some, true, NULL);
    cpu_aggregate_free(a);
}
static void sums_go_on(Try *t) {
    int32_t row[ROWS];
    for (int i = 0; i < ROWS; i++)
        row[i] = i;
    memcpy(t->numbers, t->wide, (size_t)(ROWS * t->out.stride) * sizeof(float));
    HaloAggregate *a = cpu_aggregate_halo_new(&t->csr, row);
    cpu_aggregate_halo_begin(a);
    cpu_aggregate_halo(a, sums_of(t), t->in[0], on_device(t->small), 40, NULL, NULL);
    cpu_aggregate_halo(a, sums_of(t), t->in[0], on_device(t->small), ROWS, NULL, NULL);
    cpu_aggregate_halo_free(a);
}
static Post post_of(Try *t, bool training) {
    return (Post){.count = 3,
                  .step = {POST_DROPOUT, POST_NORM, POST_ACTIVATION},
                  .keep = 0.7f,
                  .random = random_key(3, RANDOM_DROPOUT, 1, 1, 0),
                  .training = training,
                  .gamma = on_device(t->small),
                  .beta = on_device(t->small)};
}
static PostSaved saved_of(Try *t) {
    return (PostSaved){on_device(t->scratch), on_device(t->scratch + ROWS),
                       (DeviceByte *)t->bits[0], (DeviceByte *)t->bits[1]};
}
static const DeviceInt64 *gid_of(Try *t) { return (const DeviceInt64 *)t->gid; }
static void post(Try *t) {
    Post steps = post_of(t, true);
    cpu_post_forward(t->out, all, t->in[0], &steps, saved_of(t), gid_of(t), NULL);
}
static void post_back(Try *t) {
    Post steps = post_of(t, true);
    cpu_post_forward(t->in[2], all, t->in[0], &steps, saved_of(t), gid_of(t), NULL);
    cpu_post_backward(t->out, t->in[1], t->in[0], &steps, saved_of(t), on_device(t->numbers),
                      on_device(t->numbers + 400), on_device(t->scratch + 2 * ROWS), NULL);
}
static void dropout(Try *t) {
    cpu_dropout(t->out, some, t->in[0], 0.6f, random_key(4, RANDOM_DROPOUT, 2, 1, 0), gid_of(t),
                NULL);
}
static void column_sums(Try *t) {
    cpu_column_sums(on_device(t->numbers), t->in[0], on_device(t->scratch));
}
static void bias(Try *t) { cpu_add_bias(t->out, some, on_device(t->small), NULL); }
static void add(Try *t) { cpu_add_scaled(t->out, some, half, t->in[0], one, t->in[1], NULL); }
static void scale(Try *t) {
    cpu_add_scaled(t->out, some, (RowFactor){0}, t->out, half, t->in[1], NULL);
}
static void dot(Try *t) { cpu_dot(on_device(t->numbers), t->in[0], t->in[1]); }
static void activate(Try *t) { cpu_activate(t->out, some, t->in[0], ACTIVATION_GELU, 0, NULL); }
static void activate_back(Try *t) {
    cpu_activate_back(t->out, some, t->in[0], ACTIVATION_ELU, 0, NULL);
}
static void larger(Try *t) {
    cpu_take_larger(t->out, (DeviceByte *)t->bits[2], some, t->in[0], 1, NULL);
    cpu_add_chosen(t->out, some, t->in[0], (DeviceByte *)t->bits[2], 1, NULL);
}
static void products(Try *t) {
    cpu_column_products((DeviceDouble *)t->numbers, t->in[0], t->in[1], on_device(t->small),
                        on_device(t->small), (DeviceDouble *)t->scratch, NULL);
}
static void norm(Try *t) {
    const DeviceFloat *s = on_device(t->small);
    cpu_norm_columns(t->out, some, t->in[0], s, s, s, s, NULL);
}
static void norm_back(Try *t) {
    const DeviceFloat *s = on_device(t->small);
    cpu_norm_columns_back(t->out, t->in[0], s, s, s, on_device(t->wide), NULL);
}
static MessageSource source_of(Try *t) {
    static int32_t row[ROWS];
    for (int i = 0; i < ROWS; i++)
        row[i] = i; // those behind 60 are sums
    return (MessageSource){.x = rows_first(t->in[0], 60),
                           .scale = on_device(t->wide),
                           .partials = rows_first(t->in[1], ROWS - 60),
                           .row = (const DeviceInt32 *)row,
                           .random = random_key(5, RANDOM_ROUNDING, 1, 0, 0),
                           .gid = gid_of(t)};
}
static void pack_fp32(Try *t) {
    MessageSource source = source_of(t);
    cpu_pack_fp32((DeviceByte *)t->numbers, &source, ROWS, NULL);
}
static void pack_bf16(Try *t) {
    MessageSource source = source_of(t);
    int64_t bad = 0;
    cpu_pack_bf16((DeviceByte *)t->numbers, &source, ROWS, (DeviceInt64 *)&bad, NULL);
    assert_int_equal(bad, 0);
}
static void quantize_by(Try *t, GridRule rule, int bits) {
    MessageSource source = source_of(t);
    int64_t bad = 0;
    unsigned char *at = (unsigned char *)t->numbers;
    Quantized to = {.bits = bits,
                    .rule = rule,
                    .count = ROWS,
                    .minimum = (DeviceByte *)at,
                    .step = (DeviceByte *)(at + 400),
                    .payload = (DeviceByte *)(at + 800)};
    cpu_quantize(&to, &source, (DeviceInt64 *)&bad, NULL);
    assert_int_equal(bad, 0);
}
static void quantize(Try *t) { quantize_by(t, GRID_MINMAX, 4); }
static void quantize_16(Try *t) { quantize_by(t, GRID_MINMAX, 16); }
static void quantize_norm(Try *t) { quantize_by(t, GRID_L2, 8); }
static void quantize_log(Try *t) { quantize_by(t, GRID_LOG, 4); }
static void download(Try *t) { cpu_download_rows(t->numbers, t->in[0]); }
static void upload(Try *t) { cpu_upload_rows(t->out, t->wide); }
static void dense(Try *t) {
    cpu_dense(t->out, some, t->in[0], on_device(t->wide), on_device(t->small), true, NULL);
}
static void dense_sum(Try *t) {
    cpu_dense_sum(t->out, some, t->in[0], on_device(t->wide), t->in[1], on_device(t->wide + 1),
                  on_device(t->small), NULL);
}
static void dense_transposed(Try *t) {
    cpu_dense_transposed(t->out, (Range){0, 72}, t->in[0], on_device(t->wide), false, NULL);
}
static void dense_gradient(Try *t) {
    cpu_dense_gradient(on_device(t->numbers), rows_columns(t->in[0], (Range){0, 37}), t->in[1],
                       on_device(t->scratch), NULL);
}

static const struct {
    const char *name;
    Op *op;
} ops[] = {
    {"aggregate_rows", aggregate},
    {"aggregate_rows by panels", aggregate_panels},
    {"aggregate_sums", sums},
    {"aggregate_halo", sums_go_on},
    {"post_forward", post},
    {"post_backward", post_back},
    {"dropout", dropout},
    {"column_sums", column_sums},
    {"add_bias", bias},
    {"add_scaled", add},
    {"add_scaled of one", scale},
    {"dot", dot},
    {"activate", activate},
    {"activate_back", activate_back},
    {"take_larger, add_chosen", larger},
    {"column_products", products},
    {"norm_columns", norm},
    {"norm_columns_back", norm_back},
    {"pack_fp32", pack_fp32},
    {"pack_bf16", pack_bf16},
    {"quantize", quantize},
    {"quantize to 16 bits", quantize_16},
    {"quantize by the norm", quantize_norm},
    {"quantize to powers", quantize_log},
    {"download_rows", download},
    {"upload_rows", upload},
    {"dense", dense},
    {"dense_sum", dense_sum},
    {"dense_transposed", dense_transposed},
    {"dense_gradient", dense_gradient},
};

// Numbers of bf16, and in one row of 9 some that are denormal.
static float number_of(int64_t i) {
    float value = (float)((i * 7919 + i / 31) % 509 - 250) / 64 * (i % 83 % 9 == 4 ? 0x1p-124f : 1);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = bf16_flushed(bits) << 16;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static Try *try_new(RowsType type, int64_t columns) {
    Try *t = TEST_ARRAY(Try, 1);
    static float wide[400 * 400];
    float *host = TEST_ARRAY(float, ROWS *columns);
    Rows *rows[IN + 1] = {&t->in[0], &t->in[1], &t->in[2], &t->out};
    for (int i = 0; i < IN + 1; i++) {
        *rows[i] = test_rows_of(type, ROWS, columns);
        for (int64_t k = 0; k < ROWS * columns; k++)
            host[k] = number_of(k + 1000 * i);
        cpu_upload_rows(*rows[i], host);
    }
    for (int64_t k = wide[0] == 0 ? 0 : 400 * 400; k < 400 * 400; k++)
        wide[k] = number_of(3 * k) + 0.01f;
    t->small = wide + 100;
    t->wide = wide;
    t->numbers = TEST_ARRAY(float, NUMBERS);
    t->scratch = TEST_ARRAY(float, 400 * 400 + 4000);
    t->csr = (Csr){.rows = ROWS, .offset = TEST_ARRAY(int64_t, ROWS + 1)};
    t->csr.column = TEST_ARRAY(int32_t, ROWS * 6);
    for (int64_t r = 0; r < ROWS; r++) {
        int64_t edges = r == ALONE ? 0 : 6, first = t->csr.offset[r];
        t->gid[r] = 11 * r;
        t->csr.offset[r + 1] = first + edges;
        for (int e = 0; e < edges; e++)
            ((int32_t *)t->csr.column)[first + e] = (int32_t)(r / 9 + 12 * e);
    }
    return t;
}

// What an operation makes of rows of bf16 is what it makes of floats, rounded once.
static void compare(const char *name, const Try *is, const Try *of_floats) {
    const uint16_t *halves = (const uint16_t *)(const void *)is->out.at;
    if (memcmp(is->numbers, of_floats->numbers, NUMBERS * sizeof(float)) != 0)
        fail_msg("%s: other numbers than of floats", name);
    for (int64_t i = 0; i < is->out.count * is->out.stride; i++) {
        uint32_t bits;
        memcpy(&bits, floats(of_floats->out) + i, sizeof bits);
        if (halves[i] != bf16_flushed(bits))
            fail_msg("%s, row %lld, column %lld: %04x, of floats %08x", name,
                     (long long)(i / is->out.stride), (long long)(i % is->out.stride), halves[i],
                     bits);
    }
}

static void compare_all(const char *vectors) {
    BackendStart how = {.vectors = vectors, .precision = "bf16"};
    assert_ok(backend_cpu.start(&how, &err));
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int64_t columns = 37; columns < 400; columns += 261) {
            Try *t = try_new(ROWS_BF16, columns), *of_floats = try_new(ROWS_FP32, columns);
            ops[i].op(t);
            ops[i].op(of_floats);
            compare(ops[i].name, t, of_floats);
            test_clear();
        }
}
TEST(bf16_is_what_floats_are_rounded_to) {
    for (Way way = {0}; way_next(&way);)
        if (way.threads == 3)
            compare_all(cpu_lanes_names[way.lanes]);
    compare_all("auto");
    assert_ok(backend_cpu.start(&(BackendStart){0}, &err));
}
