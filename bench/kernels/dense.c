// Dense products in our panels against one whole call of the same library and against the FMA peak
// measured in the same run: the shapes of a 602-256-256-41 model (LIMITS 7).
//
// Panels cost nothing where they reach the whole call; the bits, unlike the whole call's, do not
// depend on the number of threads.
//
// smoke: --rows=300 --rounds=1
#include "bench.h"
#include "device.h"
#include "internal.h"
#include <omp.h>
#include <stdio.h>
#include <string.h>

typedef struct Work {
    Rows x, out;
    float *w, *dw, *scratch;
} Work;

static void fill(float *at, int64_t count) {
    RandomStream stream = random_stream(1, RANDOM_FEATURES, 0, 0, 0);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        at[i] = random_uniform16(stream, i / 512, 0, i % 512) - 0.5f;
}

// Padding is filled too; the products do not read it.
static Work work_new(int64_t rows, int64_t depth, int64_t columns) {
    int64_t scratch = backend_cpu.dense_gradient_scratch(rows, depth, columns);
    Work work = {rows_alloc(device(), rows, depth, "x"), rows_alloc(device(), rows, columns, "out"),
                 ALLOC(float, depth *columns, "w"), ALLOC(float, depth *columns, "dw"),
                 ALLOC(float, scratch, "scratch")};
    fill(floats(work.x), rows * work.x.stride);
    fill(floats(work.out), rows * work.out.stride);
    fill(work.w, depth * columns);
    return work;
}

static void work_free(Work *work) {
    rows_free(device(), &work->x);
    rows_free(device(), &work->out);
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

// ---- FMA peak: independent chains of the widest vectors

typedef float Wide __attribute__((vector_size(64)));
enum { CHAINS = 12, STEPS = 1 << 20 };

#define PEAK_LOOP                                                                                  \
    Wide sum[CHAINS];                                                                              \
    for (int c = 0; c < CHAINS; c++) /* different, or they would be one */                         \
        for (int i = 0; i < 16; i++)                                                               \
            sum[c][i] = (float)c;                                                                  \
    for (int i = 0; i < STEPS; i++)                                                                \
        _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) sum[c] = sum[c] * a + b;         \
    for (int c = 1; c < CHAINS; c++)                                                               \
        sum[0] += sum[c];                                                                          \
    *out = sum[0];

#if defined(__x86_64__)
__attribute__((target("avx512f"), optimize("fp-contract=fast"))) static void
peak_avx512(Wide *out, float a, float b) {
    PEAK_LOOP
}
__attribute__((target("avx2,fma"), optimize("fp-contract=fast"))) static void
peak_avx2(Wide *out, float a, float b) {
    PEAK_LOOP
}
#endif
static void peak_plain(Wide *out, float a, float b) { PEAK_LOOP }

static void peak(void *context) {
    float *factor = (float *)context;
#pragma omp parallel
    {
        Wide out;
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f"))
            peak_avx512(&out, factor[0], factor[1]);
        else if (__builtin_cpu_supports("fma"))
            peak_avx2(&out, factor[0], factor[1]);
        else
#endif
            peak_plain(&out, factor[0], factor[1]);
        if (out[0] > 1e30f) // never: the loop must not be dropped
            factor[0] = 0;
    }
}

// Both ways of the forward product agree to rounding.
static void check(Work *work) {
    whole_forward(work);
    int64_t count = work->out.count * work->out.stride;
    float *kept = ALLOC(float, count, "result of the whole call");
    memcpy(kept, floats(work->out), (size_t)count * sizeof *kept);
    forward(work);
    for (int64_t r = 0; r < work->out.count; r++)
        for (int64_t c = 0; c < work->out.columns; c++) {
            float away =
                floats(work->out)[r * work->out.stride + c] - kept[r * work->out.stride + c];
            CHECK(away < 1e-3f && away > -1e-3f, EXIT_BUG, "panels differ from the whole call");
        }
    memory_free(kept);
}

static void measure(Bench *bench, int64_t rows, int64_t depth, int64_t columns, int rounds) {
    Work work = work_new(rows, depth, columns);
    float factor[2] = {0.5f, 1e-3f};
    check(&work);
    const BenchCase cases[] = {{"x w", forward, &work},   {"x w", whole_forward, &work},
                               {"y wT", backward, &work}, {"y wT", whole_backward, &work},
                               {"xT y", gradient, &work}, {"xT y", whole_gradient, &work},
                               {"FMA peak", peak, factor}};
    double seconds[7];
    bench_compare(cases, 7, rounds, seconds);
    double work_done = 2e-9 * (double)rows * (double)depth * (double)columns;
    double most = 32e-9 * CHAINS * STEPS * omp_get_max_threads() / seconds[6];
    for (int i = 0; i < 6; i += 2) {
        Figure f = {.value = work_done / seconds[i],
                    .unit = "GFLOP/s",
                    .against = "whole call",
                    .limit = work_done / seconds[i + 1],
                    .bar = 0.95};
        f.ratio = f.value / f.limit;
        snprintf(f.name, sizeof f.name, "%s, %lld x %lld, %d threads (%.0f %% of peak)",
                 cases[i].name, (long long)depth, (long long)columns, omp_get_max_threads(),
                 100 * f.value / most);
        bench_figure(bench, &f);
    }
    work_free(&work);
}

int main(int argc, char **argv) {
    Bench bench;
    bench_start(&bench, "dense", argc, argv);
    int64_t rows = bench_option(argc, argv, "--rows", 100000);
    int rounds = (int)bench_option(argc, argv, "--rounds", 7);
    printf("%lld rows, %s\n", (long long)rows, backend_cpu.describe());
    for (int threads = 1; threads <= 2; threads++) {
        omp_set_num_threads(threads);
        measure(&bench, rows, 602, 256, rounds);
        measure(&bench, rows, 256, 256, rounds);
        measure(&bench, rows, 256, 41, rounds);
    }
    return bench_end(&bench);
}
