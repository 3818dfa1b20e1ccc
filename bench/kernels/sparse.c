// The sparse aggregate, 256 wide, against the best of the hand-written variants of LIMITS 2
// in the same run: on a random graph, on a clustered graph with shuffled ids and in cluster order,
// with 1 and 2 threads. The time of the aggregate includes copying panels. Every variant must give
// the bits of the naive loop before it is timed (all add in the order of the list).
//
// In the same turns: the aggregate of the same rows in bf16, which reads and writes half the bytes
// (docs/precision.md).
//
// Options: --nodes --edges --clusters --rounds --threads (the most), --strict.
//
// smoke: --nodes=2000 --edges=20000 --rounds=1
#include "bench.h"
#include "device.h"
#include "internal.h"
#include <omp.h>

typedef struct Job {
    int64_t rows, width;
    const int64_t *offset;
    const int32_t *column;
    const float *x, *tiled_64, *tiled_16;
    float *out, *scratch;
    Aggregate *aggregate, *aggregate_bf16;
    Rows x_bf16, out_bf16;
} Job;

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define V V512
#define LANES 16
#define VARIANT(name) name##_512
typedef float V512 __attribute__((vector_size(64)));
#include "sparse_variants.h"
#undef V
#undef LANES
#undef VARIANT
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define V V256
#define LANES 8
#define VARIANT(name) name##_256
typedef float V256 __attribute__((vector_size(32)));
#include "sparse_variants.h"
#undef V
#undef LANES
#undef VARIANT
#pragma GCC pop_options

static void fringe_aggregate(const Job *job) {
    Rows x = {
        .at = on_device(job->x), .count = job->rows, .columns = job->width, .stride = job->width};
    Rows out = {
        .at = on_device(job->out), .count = job->rows, .columns = job->width, .stride = job->width};
    backend_cpu.aggregate_prepare(job->aggregate, x, NULL, NULL);
    backend_cpu.aggregate_rows(job->aggregate, out, (Range){0, job->rows}, false, NULL, NULL);
}

static void bf16_aggregate(const Job *job) {
    backend_cpu.aggregate_prepare(job->aggregate_bf16, job->x_bf16, NULL, NULL);
    backend_cpu.aggregate_rows(job->aggregate_bf16, job->out_bf16, (Range){0, job->rows}, false,
                               NULL, NULL);
}

// The tiled ones are shown but no rivals: they need another layout of x than the rest of a network,
// and are timed without the copy into it (with it they are the repacked ones).
typedef struct Variant {
    const char *name;
    void (*wide)(const Job *job), (*narrow)(const Job *job); // AVX-512, AVX2
    bool is_rival; // counts as a hand-written variant to be reached
} Variant;

#define BOTH(name) name##_512, name##_256
static const Variant variants[] = {
    {"fringe", fringe_aggregate, fringe_aggregate, false},
    {"naive", BOTH(naive), true},
    {"registers, no prefetch", BOTH(rows_0), true},
    {"registers, prefetch 8", BOTH(rows_8), true},
    {"registers, prefetch 16", BOTH(rows_16), true},
    {"repack 128", BOTH(repack_128_16), true},
    {"repack 64", BOTH(repack_64_16), true},
    {"repack 64, prefetch 24", BOTH(repack_64_24), true},
    {"repack 32", BOTH(repack_32_16), true},
    {"repack 32, prefetch 24", BOTH(repack_32_24), true},
    {"repack 16", BOTH(repack_16_16), true},
    {"tiled 64, copy not counted", BOTH(tiled_64_16), false},
    {"tiled 16, copy not counted", BOTH(tiled_16_16), false},
};
enum { VARIANTS = sizeof variants / sizeof *variants, FRINGE = 0, NAIVE = 1, WIDTH = 256 };

static bool has_wide(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

// ---- graphs

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Every row has edges / nodes neighbours: a share `inside` from its own cluster of consecutive
// nodes, the rest from anywhere. name[i] is what node i is called.
static Csr graph_make(int64_t nodes, int64_t edges, int64_t clusters, double inside,
                      const int32_t *name) {
    const int64_t degree = edges / nodes, size = (nodes + clusters - 1) / clusters;
    Csr csr = {.rows = nodes,
               .offset = ALLOC(int64_t, nodes + 1, "offsets"),
               .column = ALLOC(int32_t, nodes * degree, "columns")};
    for (int64_t i = 0; i <= nodes; i++)
        csr.offset[i] = i * degree;
    RandomKey key = random_key(7, RANDOM_GENERATE, 0, 1, 0);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < nodes; i++) {
        int32_t *column = csr.column + name[i] * degree;
        int64_t first = i / size * size, own = first + size < nodes ? size : nodes - first;
        for (int64_t d = 0; d < degree; d++) {
            double u = random_uniform32(key, i, 0, 2 * d);
            double v = random_uniform32(key, i, 0, 2 * d + 1);
            int64_t j =
                u < inside ? first + (int64_t)(v * (double)own) : (int64_t)(v * (double)nodes);
            column[d] = name[j];
        }
        qsort(column, (size_t)degree, sizeof *column, by_number);
    }
    return csr;
}

static void graph_free(Csr *csr) {
    memory_free(csr->column);
    memory_free(csr->offset);
}

static int32_t *names_make(int64_t nodes, bool is_shuffled) {
    int32_t *name = ALLOC(int32_t, nodes, "names of nodes");
    for (int64_t i = 0; i < nodes; i++)
        name[i] = (int32_t)i;
    RandomKey key = random_key(9, RANDOM_GENERATE, 0, 2, 0);
    for (int64_t i = nodes - 1; is_shuffled && i > 0; i--) {
        int64_t other = (int64_t)(random_uniform32(key, i, 0, 0) * (double)(i + 1));
        int32_t swap = name[i];
        name[i] = name[other];
        name[other] = swap;
    }
    return name;
}

// ---- measuring

typedef struct Bars { // how many times as fast as the naive loop on shuffled nodes, and as fp32
    double naive, bf16;
} Bars;

static void (*variant_run(int v))(const Job *) {
    return has_wide() ? variants[v].wide : variants[v].narrow;
}

typedef struct Turn {
    void (*run)(const Job *job);
    const Job *job;
} Turn;
static void turn_run(void *context) {
    const Turn *turn = (const Turn *)context;
    turn->run(turn->job);
}

// Every variant gives the naive loop's bits, or the bench stops.
static void variants_check(const Job *job) {
    size_t bytes = memory_product(job->rows * job->width, sizeof(float));
    FREED float *expected = (float *)memory_alloc(bytes, "result of the naive loop");
    variant_run(NAIVE)(job);
    memcpy(expected, job->out, bytes);
    for (int v = 0; v < VARIANTS; v++) {
        memset(job->out, 0xff, bytes);
        variant_run(v)(job);
        CHECK(memcmp(expected, job->out, bytes) == 0, EXIT_BUG,
              "the variant '%s' does not give the result of the naive loop", variants[v].name);
    }
}

static void bf16_figure(const char *graph, int threads, const Job *job, double fp32, double bf16,
                        double bar) {
    Figure figure = {.value = bf16 * 1e3,
                     .unit = "ms",
                     .against = "fringe, rows of fp32",
                     .limit = fp32 * 1e3,
                     .ratio = fp32 / bf16,
                     .bar = bar};
    snprintf(figure.name, sizeof figure.name, "fringe, rows of bf16 (%s), %s, %d thr",
             backend_cpu.aggregate_describe(job->aggregate_bf16, job->width, ROWS_BF16), graph,
             threads);
    bench_figure(&figure);
}

static void job_figures(const char *graph, int threads, const Job *job, const double *seconds,
                        double naive_shuffled, Bars bars, const BenchLimits *limits) {
    int best = NAIVE;
    for (int v = 0; v < VARIANTS; v++) {
        if (variants[v].is_rival && seconds[v] < seconds[best])
            best = v;
        if (v != FRINGE)
            bench_value(seconds[v] * 1e3, "ms", "%s, %s, %d thr", variants[v].name, graph, threads);
    }
    Figure figure = {.value = seconds[FRINGE] * 1e3, .unit = "ms"};
    snprintf(figure.name, sizeof figure.name, "fringe (%s), %s, %d thr",
             backend_cpu.aggregate_describe(job->aggregate, job->width, ROWS_FP32), graph, threads);
    snprintf(figure.against, sizeof figure.against, "best: %s", variants[best].name);
    figure.limit = seconds[best] * 1e3;
    figure.ratio = seconds[best] / seconds[FRINGE];
    figure.bar = 0.95;
    bench_figure(&figure);

    snprintf(figure.against, sizeof figure.against, "naive loop, shuffled");
    figure.limit = naive_shuffled * 1e3;
    figure.ratio = naive_shuffled / seconds[FRINGE];
    figure.bar = bars.naive;
    bench_figure(&figure);

    double edges = (double)job->offset[job->rows], rows = (double)job->rows;
    double bytes = edges * WIDTH * 4 + edges * 4 + rows * WIDTH * 4;
    figure.value = bytes / seconds[FRINGE] * 1e-9;
    figure.unit = "GB/s";
    snprintf(figure.against, sizeof figure.against, "random rows of 1 KiB");
    figure.limit = limits->random_rows;
    figure.ratio = figure.value / figure.limit;
    figure.bar = 0;
    bench_figure(&figure);
}

typedef struct Bed { // what all graphs share
    int64_t nodes, edges;
    int rounds, threads;
    Rows x, tiled_64, tiled_16, out, scratch, x_bf16, out_bf16, scratch_bf16;
} Bed;

static void tile_fill(Rows tiled, Rows x, int64_t wide) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < x.count; i++)
        for (int64_t c = 0; c < WIDTH; c++)
            floats(tiled)[c / wide * wide * x.count + i * wide + c % wide] =
                floats(x)[i * WIDTH + c];
}

static Rows bf16_rows(const Bed *bed, const char *what) {
    return alloc_rows(&(Allocator){.backend = device(), .rows = ROWS_BF16}, bed->nodes, WIDTH,
                      what);
}

static void bed_make(Bed *bed) {
    bed->x = rows_alloc(device(), bed->nodes, WIDTH, "features");
    bed->tiled_64 = rows_alloc(device(), bed->nodes, WIDTH, "features in tiles of 64");
    bed->tiled_16 = rows_alloc(device(), bed->nodes, WIDTH, "features in tiles of 16");
    bed->out = rows_alloc(device(), bed->nodes, WIDTH, "result");
    bed->scratch = rows_alloc(device(), bed->nodes, WIDTH, "copied panels");
    RandomKey key = random_key(3, RANDOM_FEATURES, 0, 0, 0);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < bed->nodes; i++)
        for (int64_t c = 0; c < WIDTH; c++)
            floats(bed->x)[i * WIDTH + c] = random_uniform16(key, i, 0, c) - 0.5F;
    tile_fill(bed->tiled_64, bed->x, 64);
    tile_fill(bed->tiled_16, bed->x, 16);
    bed->x_bf16 = bf16_rows(bed, "features in bf16");
    bed->out_bf16 = bf16_rows(bed, "result in bf16");
    bed->scratch_bf16 = bf16_rows(bed, "copied panels of bf16");
    device()->upload_rows(bed->x_bf16, floats(bed->x));
    device()->finish(NULL);
}

static Job job_make(const Bed *bed, const Csr *csr) {
    Job job = {.rows = bed->nodes,
               .width = WIDTH,
               .offset = csr->offset,
               .column = csr->column,
               .x = floats(bed->x),
               .tiled_64 = floats(bed->tiled_64),
               .tiled_16 = floats(bed->tiled_16),
               .out = floats(bed->out),
               .scratch = floats(bed->scratch),
               .x_bf16 = bed->x_bf16,
               .out_bf16 = bed->out_bf16};
    job.aggregate = backend_cpu.aggregate_new(csr, bed->nodes, WIDTH, ROWS_FP32, "auto");
    job.aggregate_bf16 = backend_cpu.aggregate_new(csr, bed->nodes, WIDTH, ROWS_BF16, "auto");
    double begin = clock_seconds();
    backend_cpu.aggregate_tune(job.aggregate, bed->out, bed->scratch);
    printf("# aggregate_tune took %.2f s\n", clock_seconds() - begin);
    backend_cpu.aggregate_tune(job.aggregate_bf16, bed->out_bf16, bed->scratch_bf16);
    return job;
}

static void job_free(const Job *job) {
    backend_cpu.aggregate_free(job->aggregate_bf16);
    backend_cpu.aggregate_free(job->aggregate);
}

// One graph, all variants in turns; `shuffled`: the job whose naive loop the last bar is about.
static void job_measure(const Bed *bed, const char *graph, const Job *job, const Job *shuffled,
                        Bars bars, const BenchLimits *limits) {
    enum { SHUFFLED = VARIANTS, BF16, CASES };
    BenchCase cases[CASES];
    Turn turn[CASES];
    double seconds[CASES];
    variants_check(job);
    for (int v = 0; v < VARIANTS; v++)
        turn[v] = (Turn){variant_run(v), job};
    turn[SHUFFLED] = (Turn){variant_run(NAIVE), shuffled};
    turn[BF16] = (Turn){bf16_aggregate, job};
    for (int v = 0; v < CASES; v++)
        cases[v] = (BenchCase){v < VARIANTS    ? variants[v].name
                               : v == SHUFFLED ? "naive"
                                               : "rows of bf16",
                               turn_run, turn + v};
    bench_compare(cases, CASES, bed->rounds, seconds);
    job_figures(graph, bed->threads, job, seconds, seconds[SHUFFLED], bars, limits);
    bf16_figure(graph, bed->threads, job, seconds[FRINGE], seconds[BF16], bars.bf16);
}

static void threads_measure(const Bed *bed, const Csr *random, const Csr *shuffled,
                            const Csr *ordered) {
    omp_set_num_threads(bed->threads);
    BenchLimits limits = bench_limits(bed->threads, rows_bytes(bed->nodes, WIDTH));
    printf("# limits with %d threads, GB/s: sequential read %.1f, memcpy %.1f, random rows %.1f\n",
           bed->threads, limits.sequential_read, limits.memory_copy, limits.random_rows);
    CLEARED(job_free) Job job = job_make(bed, random);
    job_measure(bed, "random", &job, &job, (Bars){.naive = 2.5}, &limits);
    job_free(&job);
    CLEARED(job_free) Job base = job_make(bed, shuffled);
    job_measure(bed, "clustered shuffled", &base, &base, (Bars){.naive = 2.5}, &limits);
    job = job_make(bed, ordered);
    job_measure(bed, "clustered in order", &job, &base, (Bars){.naive = 4, .bf16 = 1.5}, &limits);
}

BENCH(sparse) {
    Bed bed = {.nodes = bench_option("--nodes", 200000),
               .edges = bench_option("--edges", 10000000),
               .rounds = (int)bench_option("--rounds", 5)};
    const int64_t clusters = bench_option("--clusters", (bed.nodes + 499) / 500);
    const int threads = (int)bench_option("--threads", 2);
    CHECK(__builtin_cpu_supports("avx2"), EXIT_UNAVAILABLE, "the variants need AVX2");
    bed_make(&bed);
    int32_t *plain = names_make(bed.nodes, false), *names = names_make(bed.nodes, true);
    Csr random = graph_make(bed.nodes, bed.edges, clusters, 0, plain);
    Csr shuffled = graph_make(bed.nodes, bed.edges, clusters, 0.8, names);
    Csr ordered = graph_make(bed.nodes, bed.edges, clusters, 0.8, plain);
    for (bed.threads = 1; bed.threads <= threads; bed.threads++)
        threads_measure(&bed, &random, &shuffled, &ordered);
    graph_free(&ordered);
    graph_free(&shuffled);
    graph_free(&random);
    memory_free(names);
    memory_free(plain);
    Rows *rows[] = {&bed.x,       &bed.tiled_64, &bed.tiled_16, &bed.out,
                    &bed.scratch, &bed.x_bf16,   &bed.out_bf16, &bed.scratch_bf16};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rows_free(device(), rows[i]);
}
