// Dense products in our panels against one whole call of the same library and against the FMA peak
// measured in the same run: the shapes of a 602-256-256-41 model (LIMITS 7).
//
// Panels cost nothing where they reach the whole call; the bits, unlike the whole call's, do not
// depend on the number of threads.
//
// Products of bf16 stand beside a loop of vdpbf16ps on registers in the same run, and beside
// torch's where PYTHON names an interpreter that has it; where the CPU has AMX, so do its tiles,
// beside a loop of tdpbf16ps and what memory lets through, and products of bf16x3, beside fp32.
// Before, the bits of every kernel that this CPU can run are compared with the definition, on
// --bits rows.
//
//   dense [--strict] [--rows=100000] [--rounds=7] [--bits=1000000]
//
// smoke: --rows=300 --rounds=1 --bits=200
#include "bench.h"
#include "dense_limits.h"
#include "device.h"
#include "grid.h"
#include "kernels/products_truth.h"

typedef struct Work {
    Rows x, out;
    Rows x_bf16, out_bf16; // the same, as a training in bf16 has them
    float *w, *dw, *scratch;
} Work;

static void fill(float *at, int64_t count) {
    RandomKey key = random_key(1, RANDOM_FEATURES, 0, 0, 0);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        at[i] = random_uniform16(key, i / 512, 0, i % 512) - 0.5f;
}

static void fill_rows(Rows rows) { // but for their padding, which is zero
    fill(floats(rows), rows.count * rows.stride);
    for (int64_t r = 0; r < rows.count; r++)
        memset(floats(rows) + r * rows.stride + rows.columns, 0,
               (size_t)(rows.stride - rows.columns) * sizeof(float));
}

static Rows bf16_of(Rows rows) {
    Rows out = alloc_rows(&(Allocator){.backend = device(), .rows = ROWS_BF16}, rows.count,
                          rows.columns, "rows of bf16");
    uint16_t *to = (uint16_t *)(void *)floats(out);
    for (int64_t i = 0; i < rows.count * rows.stride; i++)
        to[i] = (uint16_t)(float_bits(floats(rows)[i]) >> 16);
    return out;
}

static Work work_new(int64_t rows, int64_t depth, int64_t columns) {
    int64_t scratch = backend_cpu.dense_gradient_scratch(rows, depth, columns);
    Work work = {.x = rows_alloc(device(), rows, depth, "x"),
                 .out = rows_alloc(device(), rows, columns, "out"),
                 .w = ALLOC(float, depth *columns, "w"),
                 .dw = ALLOC(float, depth *columns, "dw"),
                 .scratch = ALLOC(float, scratch, "scratch")};
    fill_rows(work.x);
    fill_rows(work.out);
    fill(work.w, depth * columns);
    work.x_bf16 = bf16_of(work.x);
    work.out_bf16 = bf16_of(work.out);
    return work;
}

static void work_free(Work *work) {
    rows_free(device(), &work->x);
    rows_free(device(), &work->out);
    rows_free(device(), &work->x_bf16);
    rows_free(device(), &work->out_bf16);
    memory_free(work->w);
    memory_free(work->dw);
    memory_free(work->scratch);
}

// y = x w, x = y wT, dw = xT y: the forward product, its gradient by x, its gradient by w.
static void forward(void *context) {
    Work *k = (Work *)context;
    backend_cpu.dense(k->out, (Range){0, k->x.count}, k->x, on_device(k->w), NULL, false, NULL);
}
static void backward(void *context) {
    Work *k = (Work *)context;
    backend_cpu.dense_transposed(k->x, (Range){0, k->x.count}, k->out, on_device(k->w), false,
                                 NULL);
}
static void gradient(void *context) {
    Work *k = (Work *)context;
    backend_cpu.dense_gradient(on_device(k->dw), k->x, k->out, on_device(k->scratch), NULL);
}

static void use(const char *precision, const char *sums) {
    need(backend_cpu.start(&(BackendStart){.precision = precision, .sums = sums}, &err));
}
static void in_bf16(void (*run)(void *), void *context, const char *sums) {
    Work work = *(Work *)context;
    work.x = work.x_bf16;
    work.out = work.out_bf16;
    use("bf16", sums);
    run(&work);
    use("fp32", NULL);
}
static void in_bf16x3(void (*run)(void *), void *context) {
    use("bf16x3", NULL);
    run(context);
    use("fp32", NULL);
}
#define IN_BF16(f)                                                                                 \
    static void f##_bf16(void *context) { in_bf16(f, context, "pairs"); }                          \
    static void f##_tiles(void *context) { in_bf16(f, context, "tiles"); }                         \
    static void f##_bf16x3(void *context) { in_bf16x3(f, context); }
IN_BF16(forward)
IN_BF16(backward)
IN_BF16(gradient)

// The library in one call, which spreads it over the threads itself.
#if defined(HAVE_DNNL)
#include <dnnl.h>
static void whole_forward(void *context) {
    Work *k = (Work *)context;
    dnnl_sgemm('N', 'N', k->x.count, k->out.columns, k->x.columns, 1, floats(k->x), k->x.stride,
               k->w, k->out.columns, 0, floats(k->out), k->out.stride);
}
static void whole_backward(void *context) {
    Work *k = (Work *)context;
    dnnl_sgemm('N', 'T', k->x.count, k->x.columns, k->out.columns, 1, floats(k->out), k->out.stride,
               k->w, k->out.columns, 0, floats(k->x), k->x.stride);
}
static void whole_gradient(void *context) {
    Work *k = (Work *)context;
    dnnl_sgemm('T', 'N', k->x.columns, k->out.columns, k->x.count, 1, floats(k->x), k->x.stride,
               floats(k->out), k->out.stride, 0, k->dw, k->out.columns);
}
#else
#include <cblas.h>
extern void openblas_set_num_threads(int) __attribute__((weak));
static void library_threads(void) {
    if (openblas_set_num_threads != NULL)
        openblas_set_num_threads(omp_get_max_threads());
}
static void whole_forward(void *context) {
    Work *k = (Work *)context;
    library_threads();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k->x.count, (int)k->out.columns,
                (int)k->x.columns, 1, floats(k->x), (int)k->x.stride, k->w, (int)k->out.columns, 0,
                floats(k->out), (int)k->out.stride);
}
static void whole_backward(void *context) {
    Work *k = (Work *)context;
    library_threads();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k->x.count, (int)k->x.columns,
                (int)k->out.columns, 1, floats(k->out), (int)k->out.stride, k->w,
                (int)k->out.columns, 0, floats(k->x), (int)k->x.stride);
}
static void whole_gradient(void *context) {
    Work *k = (Work *)context;
    library_threads();
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)k->x.columns, (int)k->out.columns,
                (int)k->x.count, 1, floats(k->x), (int)k->x.stride, floats(k->out),
                (int)k->out.stride, 0, k->dw, (int)k->out.columns);
}
#endif

// ---- what memory lets through

// x is read and out written, by each thread a range of its own.
static void pass(void *context) {
    const Work *k = (Work *)context;
    int64_t read = k->x_bf16.count * k->x_bf16.stride / 4;
    int64_t written = k->out_bf16.count * k->out_bf16.stride / 4;
    const uint64_t *from = (const uint64_t *)(const void *)k->x_bf16.at;
    uint64_t *to = (uint64_t *)(void *)k->out_bf16.at, sum = 0;
#pragma omp parallel
    {
#pragma omp for schedule(static) reduction(^ : sum)
        for (int64_t i = 0; i < read; i++)
            sum ^= from[i];
#pragma omp for schedule(static)
        for (int64_t i = 0; i < written; i++)
            to[i] = 0x3e003e003e003e00 ^ (sum & 1);
    }
}

// ---- torch's bf16: GFLOP/s of the three products, in a process of its own

static bool torch_bf16(double out[3], int64_t rows, int64_t depth, int64_t columns, int rounds) {
    char command[1600];
    const char *python = getenv("PYTHON");
    if (python == NULL || getenv("FRINGE_SMOKE") != NULL)
        return false;
    snprintf(command, sizeof command,
             "%s -c \"import torch, time, statistics; torch.set_num_threads(%d); "
             "x = torch.rand(%lld, %lld).bfloat16(); y = torch.rand(%lld, %lld).bfloat16(); "
             "w = torch.rand(%lld, %lld).bfloat16()\n"
             "for f in (lambda: x @ w, lambda: y @ w.t(), lambda: x.t() @ y):\n"
             "    f(); s = []\n"
             "    for _ in range(%d): t = time.perf_counter(); f(); s.append(time.perf_counter() - "
             "t)\n"
             "    print(2e-9 * %lld * %lld * %lld / statistics.median(s))\" 2>/dev/null",
             python, omp_get_max_threads(), (long long)rows, (long long)depth, (long long)rows,
             (long long)columns, (long long)depth, (long long)columns, rounds, (long long)rows,
             (long long)depth, (long long)columns);
    FILE *pipe = popen(command, "r");
    int read = pipe != NULL ? fscanf(pipe, "%lf %lf %lf", &out[0], &out[1], &out[2]) : 0;
    if (pipe != NULL)
        pclose(pipe);
    return read == 3;
}

// ---- the bits of bf16 products

enum { BITS_DEPTH = 63, BITS_COLUMNS = 17, BITS_ROWS = 400 };

static void check_block(const ProductKernels *kernels, SumOrder order, const float *x,
                        const float *w, const float *truth) {
    static float c[BITS_ROWS * BITS_COLUMNS];
    tried_block(kernels, order, c, x, BITS_DEPTH, w, BITS_ROWS, BITS_DEPTH, BITS_COLUMNS);
    for (int i = 0; i < BITS_ROWS * BITS_COLUMNS; i++)
        CHECK(truth_same(c[i], truth[i]), EXIT_BUG, "%s: element %d is %a, by definition %a",
              kernels->name, i, (double)c[i], (double)truth[i]);
}

// Every kernel that this CPU can run, on so many rows of inputs that try them.
static void check_bits(Truth how, int64_t rows) {
    const ProductKernels *kernels[TRIED_KERNELS];
    static float x[BITS_ROWS * BITS_DEPTH], w[BITS_DEPTH * BITS_COLUMNS];
    static float truth[BITS_ROWS * BITS_COLUMNS];
    RandomKey key = random_key(3, RANDOM_FEATURES, 0, 0, 0);
    tried_kernels(kernels);
    for (int i = 0; i < BITS_DEPTH * BITS_COLUMNS; i++)
        w[i] = truth_input(key, i / BITS_COLUMNS * 8 + 3 * (i % 2), i % BITS_COLUMNS);
    for (int64_t done = 0; done < rows; done += BITS_ROWS) {
        for (int r = 0; r < BITS_ROWS; r++) {
            for (int k = 0; k < BITS_DEPTH; k++)
                x[r * BITS_DEPTH + k] = truth_input(key, 1000 + done + r, k);
            for (int c = 0; c < BITS_COLUMNS; c++)
                truth[r * BITS_COLUMNS + c] = truth_sum(how, 0, false, x + r * BITS_DEPTH, 1, w + c,
                                                        BITS_COLUMNS, BITS_DEPTH);
        }
        for (int k = 0; k < TRIED_KERNELS; k++)
            if (kernels[k] != NULL && kernels[k]->block[how.order] != NULL)
                check_block(kernels[k], how.order, x, w, truth);
    }
    printf("bits of bf16 products, sums by %s: those of the definition on %lld rows of %d x %d, "
           "by %s too\n",
           cpu_sums_names[how.order], (long long)rows, BITS_DEPTH, BITS_COLUMNS,
           kernels[1 + how.order]->name);
}

// Both ways of the forward product agree to rounding.
static void check(Work *work) {
    whole_forward(work);
    int64_t count = work->out.count * work->out.stride;
    FREED float *kept = ALLOC(float, count, "result of the whole call");
    memcpy(kept, floats(work->out), (size_t)count * sizeof *kept);
    forward(work);
    for (int64_t r = 0; r < work->out.count; r++)
        for (int64_t c = 0; c < work->out.columns; c++) {
            float away =
                floats(work->out)[r * work->out.stride + c] - kept[r * work->out.stride + c];
            CHECK(away < 1e-3f && away > -1e-3f, EXIT_BUG, "panels differ from the whole call");
        }
}

enum {
    FP32,
    WHOLE = 3,
    BF16 = 6,
    PEAK = 9,
    LIMIT,
    TILES,
    BF16X3 = 14,
    TILE_LIMIT = 17,
    PASS,
    CASES
};
static const char *const product_names[3] = {"x w", "y wT", "xT y"};

// What the bars of bf16 ask of its limit: 41 columns have one in the product that is deep in them.
static double bar_of(int product, int64_t columns) {
    static const double wide[] = {0.8, 0.8, 0.72}, narrow[] = {0, 0.6, 0};
    return !has_limit() ? 0 : columns >= 256 ? wide[product] : narrow[product];
}

static void say(Figure f, const char *precision, int product, const Work *work) {
    f.unit = "GFLOP/s";
    f.ratio = f.value / f.limit;
    snprintf(f.name, sizeof f.name, "%s %s, %lld x %lld, %d threads", precision,
             product_names[product], (long long)work->x.columns, (long long)work->out.columns,
             omp_get_max_threads());
    bench_figure(&f);
}

// Against the machine's limit and torch's (0: not measured).
static void say_bf16(const char *name, double value, Figure limit, double torch, int product,
                     const Work *work) {
    limit.value = value;
    say(limit, name, product, work);
    if (torch > 0)
        say((Figure){.value = value,
                     .against = "torch's bf16",
                     .limit = torch,
                     .bar = work->out.columns >= 256 ? 0.95 : 0},
            name, product, work);
}

typedef struct Measured {
    double seconds[CASES], flops; // flops: 1e9, of one product
    double torch[3];
} Measured;

static void say_tiles(const Measured *m, int product, const Work *work) {
    double wide = 8 * 16 * 16 * 32e-9 * STEPS * omp_get_max_threads() / m->seconds[TILE_LIMIT];
    double memory = m->flops / m->seconds[PASS];
    bool by_memory = memory < wide;
    Figure limit = {.limit = by_memory ? memory : wide, .bar = 0.6};
    double bf16x3 = m->flops / m->seconds[BF16X3 + product];
    snprintf(limit.against, sizeof limit.against, "%s",
             by_memory ? "reading x, writing out" : "tdpbf16ps on tiles");
    say_bf16("bf16 by tiles", m->flops / m->seconds[TILES + product], limit, m->torch[product],
             product, work);
    say((Figure){.value = m->flops / m->seconds[TILES + product],
                 .against = "tdpbf16ps on tiles",
                 .limit = wide},
        "bf16 by tiles", product, work);
    say((Figure){.value = bf16x3,
                 .against = "fp32",
                 .limit = m->flops / m->seconds[FP32 + product],
                 .bar = work->out.columns >= 256 ? 2.5 : 0},
        "bf16x3", product, work);
}

static void say_product(const Measured *m, int i, const Work *work) {
    double loop = 32e-9 * CHAINS * STEPS * omp_get_max_threads(), most = loop / m->seconds[PEAK];
    double fp32 = m->flops / m->seconds[FP32 + i];
    Figure limit = {.limit = has_limit() ? 2 * loop / m->seconds[LIMIT] : most,
                    .bar = bar_of(i, work->out.columns)};
    say((Figure){.value = fp32,
                 .against = "whole call",
                 .limit = m->flops / m->seconds[WHOLE + i],
                 .bar = 0.95},
        "fp32", i, work);
    say((Figure){.value = fp32, .against = "FMA peak", .limit = most}, "fp32", i, work);
    snprintf(limit.against, sizeof limit.against, "%s",
             has_limit() ? "vdpbf16ps on registers" : "FMA peak");
    say_bf16("bf16", m->flops / m->seconds[BF16 + i], limit, has_tiles() ? 0 : m->torch[i], i,
             work);
    if (has_tiles())
        say_tiles(m, i, work);
}

static void measure(int64_t rows, int64_t depth, int64_t columns, int rounds) {
    CLEARED(work_free) Work work = work_new(rows, depth, columns);
    float factor[2] = {0.5f, 1e-3f};
    check(&work);
    const BenchCase cases[CASES] = {{"x w", forward, &work},
                                    {"y wT", backward, &work},
                                    {"xT y", gradient, &work},
                                    {"x w", whole_forward, &work},
                                    {"y wT", whole_backward, &work},
                                    {"xT y", whole_gradient, &work},
                                    {"x w", forward_bf16, &work},
                                    {"y wT", backward_bf16, &work},
                                    {"xT y", gradient_bf16, &work},
                                    {"FMA peak", peak, factor},
                                    {"bf16 limit", limit, factor},
                                    {"x w", forward_tiles, &work},
                                    {"y wT", backward_tiles, &work},
                                    {"xT y", gradient_tiles, &work},
                                    {"x w", forward_bf16x3, &work},
                                    {"y wT", backward_bf16x3, &work},
                                    {"xT y", gradient_bf16x3, &work},
                                    {"limit of tiles", limit_of_tiles, NULL},
                                    {"pass", pass, &work}};
    Measured m = {.flops = 2e-9 * (double)rows * (double)depth * (double)columns};
    bench_compare(cases, has_tiles() ? CASES : has_limit() ? TILES : LIMIT, rounds, m.seconds);
    if (!torch_bf16(m.torch, rows, depth, columns, rounds))
        memset(m.torch, 0, sizeof m.torch);
    for (int i = 0; i < 3; i++)
        say_product(&m, i, &work);
}

BENCH(dense) {
    int64_t rows = bench_option("--rows", 100000);
    int rounds = (int)bench_option("--rounds", 7);
    printf("%lld rows, %s\n", (long long)rows, backend_cpu.describe());
    for (Truth how = {0}; how.order < SUM_ORDERS; how.order++)
        check_bits(how, bench_option("--bits", 1000000));
    for (int threads = 1; threads <= 2; threads++) {
        omp_set_num_threads(threads);
        measure(rows, 602, 256, rounds);
        measure(rows, 256, 256, rounds);
        measure(rows, 256, 41, rounds);
    }
}
