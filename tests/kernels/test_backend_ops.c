// If this failed, an operation of a backend would compute something else than the CPU's: training
// on a device would be another training, and its messages would be misread.
//
// Every operation x shape x backend {fenced, emulated, cuda} against the CPU's plain vectors. The
// emulated device runs every kernel with its threads and blocks in four orders, on four shapes, and
// its streams in two.
#include "backend_ops_compute.h"
#include "backend_ops_message.h"
#include "cpu.h"
#include "device.h"
#include "fenced/fenced.h"
#include "support.h"

static const Operation operations[] = {COMPUTE_OPERATIONS, MESSAGE_OPERATIONS};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static const Shape shapes[] = {{1, 1}, {0, 41}, {3, 602}, {70, 41}, {21, 256}, {33, 16}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static Case run(const Backend *b, const Operation *o, Shape shape, int variant, int64_t far,
                RowsType rows) {
    Case c = {.b = b, .shape = shape, .variant = variant, .far = far, .rows = rows};
    const BackendStart how = {.vectors = "plain", .precision = rows == ROWS_BF16 ? "bf16" : "fp32"};
    if (o->bf16 > 0)
        assert_true(b->start(&how, &(Error){0}));
    o->run(&c);
    return c;
}

// |a - b| / |a| of floats.
static double distance(const Case *a, const Case *b) {
    double away = 0, norm = 0;
    for (size_t i = 0; i + sizeof(float) <= a->out_bytes; i += sizeof(float)) {
        float x, y;
        memcpy(&x, a->out + i, sizeof x);
        memcpy(&y, b->out + i, sizeof y);
        away += ((double)x - (double)y) * ((double)x - (double)y);
        norm += (double)x * (double)x;
    }
    return norm > 0 ? sqrt(away / norm) : sqrt(away);
}

// Sums in another order are rounded to another bf16 here and there.
static bool is_same(const Case *want, const Case *got, double tolerance) {
    if (want->out_bytes != got->out_bytes)
        return false;
    if (tolerance > 0)
        return distance(want, got) <= (want->rounded ? 1e-3 : tolerance);
    return want->out_bytes == 0 || memcmp(want->out, got->out, want->out_bytes) == 0;
}

static void compare(const Backend *b, const Operation *o, Shape shape, int variant, RowsType rows,
                    const char *how) {
    CLEARED(case_clear) Case want = run(&backend_cpu, o, shape, variant, 0, rows);
    CLEARED(case_clear) Case got = run(b, o, shape, variant, 0, rows);
    if (!is_same(&want, &got, o->tolerance))
        fail_msg("%s on %s (%s), %d x %d, variant %d%s: differs from cpu", o->name, b->name, how,
                 (int)shape.rows, (int)shape.columns, variant,
                 rows == ROWS_BF16 ? ", rows of bf16" : "");
}

static int variants_of(const Operation *o, RowsType rows) {
    return rows == ROWS_BF16 ? o->bf16 : o->variants;
}

// Every operation and variant, on one shape that `turn` moves on, or on all of them (turn -1).
// Returns how many cases there were.
static int walk(const Backend *b, int turn, RowsType rows, const char *how) {
    int cases = 0;
    assert_true(cpu_choose_lanes("plain", &(Error){0}));
    for (int o = 0; o < OPERATIONS; o++)
        for (int v = 0; v < variants_of(&operations[o], rows); v++)
            for (int s = 0; s < SHAPES; s++)
                if (turn < 0 || s == (v + o + turn) % SHAPES) {
                    compare(b, &operations[o], shapes[s], v, rows, how);
                    cases++;
                }
    assert_true(cpu_choose_lanes("auto", &(Error){0}));
    return cases;
}

// Every operation on shapes beyond its blocks, tiles and grids: a few variants on all of them,
// many, and those of rows of bf16, in turn, where each round of quantize's nine widths meets
// others; under the sanitizers the first variant. Returns how many cases there were.
static int walk_large(const Backend *b, RowsType rows, const char *how,
                      void (*before)(int number)) {
    int cases = 0;
    assert_true(cpu_choose_lanes("plain", &(Error){0}));
    for (int i = 0; i < OPERATIONS; i++) {
        const Operation *o = &operations[i];
        const int variants = variants_of(o, rows);
        for (int v = 0; v < UNDER_SANITIZERS(variants > 0, variants); v++)
            for (int s = 0; s < large_shapes(o); s++) {
                if ((variants > 4 || rows == ROWS_BF16) && s != (v + v / 9) % large_shapes(o))
                    continue;
                if (before != NULL)
                    before(cases);
                compare(b, o, o->large[s], v, rows, how);
                cases++;
            }
    }
    assert_true(cpu_choose_lanes("auto", &(Error){0}));
    return cases;
}

TEST(on_the_cpu) {
    assert_true(walk(&backend_cpu, 0, ROWS_FP32, "plain") > 100);
    assert_true(walk_large(&backend_cpu, ROWS_FP32, "plain", NULL) > UNDER_SANITIZERS(20, 100));
}

TEST(on_fenced) {
    assert_true(walk(&backend_fenced, 0, ROWS_FP32, "late") > 100);
    assert_true(walk(&backend_fenced, 0, ROWS_BF16, "late") > 100);
    if (UNDER_SANITIZERS(false, true)) // the CPU's kernels again
        assert_true(walk_large(&backend_fenced, ROWS_FP32, "late", NULL) > 100);
}

static const char *const thread_orders[] = {"forward", "backward", "shuffled", "interleaved"};

static void take_turns(int number) {
    setenv("FRINGE_EMULATED_ORDER", thread_orders[number % 4], 1);
    setenv("FRINGE_EMULATED_STREAMS", number % 2 == 0 ? "oldest" : "newest", 1);
}

TEST(large_on_emulated) {
    const Backend *b = ok_or_skip(emulated_device(&err));
    assert_true(walk_large(b, ROWS_FP32, "large", take_turns) > 100);
    assert_true(walk_large(b, ROWS_BF16, "large", take_turns) > 100);
}

TEST(on_emulated) {
    const Backend *b = ok_or_skip(emulated_device(&err));
    for (int i = 0; i < 4; i++) {
        take_turns(i);
        assert_true(walk(b, i, ROWS_FP32, thread_orders[i]) > 100);
        if (i % 2 == 1)
            assert_true(walk(b, i, ROWS_BF16, thread_orders[i]) > 100);
    }
}

// Rows that cross 2^31 floats, and those of a whole width that cross 2^31 bytes, are the same rows.
static void compare_far(const Backend *b) {
    const Shape shape = {33, 16};
    const int64_t fars[] = {((int64_t)1 << 31) / shape.columns - shape.rows / 2,
                            ((int64_t)1 << 29) / shape.columns - shape.rows / 2};
    for (int k = 0; k < 2 * OPERATIONS; k++) {
        const Operation *o = &operations[k / 2];
        const RowsType rows = k % 2 == 0 ? ROWS_FP32 : ROWS_BF16;
        for (int v = 0; v < o->far && v < variants_of(o, rows); v++)
            for (int i = 0; i < 2; i++) {
                CLEARED(case_clear) Case near = run(b, o, shape, v, 0, rows);
                CLEARED(case_clear) Case far = run(b, o, shape, v, fars[i], rows);
                if (near.out_bytes == 0 || !is_same(&near, &far, 0))
                    fail_msg("%s on %s, variant %d: rows from %lld on differ", o->name, b->name, v,
                             (long long)fars[i]);
            }
    }
}

TEST(far_rows_of_the_cpu) { compare_far(&backend_cpu); }

TEST(far_rows_of_the_emulated) {
    const Backend *b = ok_or_skip(emulated_device(&err));
    compare_far(b);
}

// The aggregate's other kernel, whose sums are cuSPARSE's.
static void aggregates_by_cusparse(const Backend *b) {
    static const Operation by_cusparse[] = {
        {"aggregate_rows", aggregate_rows, 16, 1e-5, 0, 0, {{0}}},
        {"a long row", aggregate_long_row, 16, 1e-5, 0, 0, {{0}}}};
    assert_ok(b->start(&(BackendStart){.spmm = "cusparse"}, &err));
    assert_string_equal(b->spmm(), "cusparse");
    for (int o = 0; o < 2; o++)
        for (int v = 0; v < by_cusparse[o].variants; v++)
            for (int s = 0; s < SHAPES; s++)
                compare(b, &by_cusparse[o], shapes[s], v, ROWS_FP32, "cusparse");
    assert_ok(b->start(&(BackendStart){.spmm = "own"}, &err));
    assert_string_equal(b->spmm(), "own");
}

TEST(cusparse_on_emulated) {
    const Backend *b = ok_or_skip(emulated_device(&err));
    aggregates_by_cusparse(b);
}

// Rows of bf16 are added up by the own kernel alone; whoever names another is told.
TEST(precisions_that_a_device_knows) {
    const Backend *b = ok_or_skip(emulated_device(&err));
    assert_ok(b->start(&(BackendStart){.precision = "bf16", .spmm = "auto"}, &err));
    assert_string_equal(b->spmm(), "own");
    assert_refused(b->start(&(BackendStart){.precision = "bf16", .spmm = "cusparse"}, &err),
                   EXIT_UNAVAILABLE, "run.spmm 'cusparse'");
    assert_refused(b->start(&(BackendStart){.precision = "bf16x3"}, &err), EXIT_UNAVAILABLE,
                   "run.precision 'bf16x3'");
    assert_ok(b->start(&(BackendStart){0}, &err));
}

// The plan of the device's memory is made of what aggregates say that they take.
static void aggregate_takes_what_it_says(const Backend *b, const char *spmm, bool weighted) {
    enum { ROWS = 300, SOURCES = 5000, WIDE = 41, THIN = 7 };
    enum { SMALL = 20 * 64 }; // least sizes of blocks
    Case c = {.b = b};
    int32_t place[ROWS];
    for (int r = 0; r < ROWS; r++)
        place[r] = r;
    assert_ok(b->start(&(BackendStart){.spmm = spmm}, &err));
    Csr csr = random_csr(&c, ROWS, SOURCES, weighted, SOURCES);
    Rows x = case_rows(&c, SOURCES, WIDE), out = case_dirty_rows(&c, ROWS, WIDE);
    Rows thin = case_rows(&c, SOURCES, THIN), thin_out = case_dirty_rows(&c, ROWS, THIN);
    DeviceFloat *right = case_floats(&c, SOURCES);
    size_t before = b->device_free();
    Aggregate *aggregate = b->aggregate_new(&csr, SOURCES, WIDE, ROWS_FP32, "rows");
    HaloAggregate *halo = b->aggregate_halo_new(&csr, place);
    b->aggregate_prepare(aggregate, x, right, NULL);
    for (int i = 0; i <= 2; i++) // two ranges, and all rows
        b->aggregate_rows(aggregate, out, (Range){i == 1 ? ROWS / 2 : 0, i > 0 ? ROWS : ROWS / 2},
                          false, NULL, NULL);
    // rows of another width by the same aggregate
    b->aggregate_prepare(aggregate, thin, NULL, NULL);
    b->aggregate_rows(aggregate, thin_out, (Range){0, ROWS}, true, NULL, NULL);
    size_t taken = before - b->device_free();
    size_t said = 2 * csr_bytes(&csr) + sizeof place + b->aggregate_halo_bytes(&csr) +
                  b->aggregate_bytes(&csr, SOURCES, WIDE, ROWS_FP32, "rows");
    if (taken > said + SMALL || said > taken + taken / 20 + SMALL)
        fail_msg("%s, %s: takes %zu, says %zu", spmm, weighted ? "weighted" : "not weighted", taken,
                 said);
    b->aggregate_free(aggregate);
    b->aggregate_halo_free(halo);
    csr_free(&csr);
    case_clear(&c);
    assert_ok(b->start(&(BackendStart){.spmm = "own"}, &err));
}

TEST(aggregates_take_what_they_say) {
    const Backend *b = ok_or_skip(emulated_device(&err));
    for (int weighted = 0; weighted < 2; weighted++) {
        aggregate_takes_what_it_says(b, "own", weighted);
        aggregate_takes_what_it_says(b, "cusparse", weighted);
    }
}

// What only a device of many processors needs to be beyond its grids: four variants of each
// operation are half a minute.
static void compare_giant(const Backend *b, RowsType rows) {
    static const Shape giant[] = {{200000, 41}, {70000, 256}};
    for (int i = 0; i < OPERATIONS; i++) {
        const int variants = variants_of(&operations[i], rows);
        for (int v = 0; v < variants && v < 4; v++)
            for (int s = 0; s < 2; s++)
                if (variants == 1 || s == v % 2)
                    compare(b, &operations[i], giant[s], v, rows, "giant");
    }
}

TEST(on_cuda) {
    const Backend *b = ok_or_skip(real_device(&test_comm, &err));
    const bool is_short = getenv("FRINGE_TEST_SHORT") != NULL; // under a sanitizer of the device
    for (RowsType rows = ROWS_FP32; rows <= ROWS_BF16; rows++) {
        assert_true(walk(b, is_short ? 0 : -1, rows, "device") > (is_short ? 100 : 500));
        if (is_short)
            continue;
        assert_true(walk_large(b, rows, "large", NULL) > 100);
        compare_giant(b, rows);
    }
    if (!is_short)
        compare_far(b);
    aggregates_by_cusparse(b);
}
