// Rows of floats to quantized rows and back, all rows in order and a send list of 30 % of them.
//
// Quantizing is held against the same kernel without random numbers: they are meant to hide behind
// memory. Decoding is held against a copy of as many rows in order with the same kind of stores,
// around the cache where the result is larger than it. Figures are GB/s of floats; memcpy of the
// same rows stands beside them.
//
//   message [--strict] [--rows=200000] [--columns=256] [--rounds=9] [--threads=N]
//
// smoke: --rows=1000 --rounds=1
#include "bench.h"
#include "device.h"
#include "quantize.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { WIDTHS = 3 };
static const int widths[WIDTHS] = {2, 4, 8};

typedef struct Work {
    Rows x, out;
    int64_t *gid;
    int32_t *row, *place;
    int64_t count; // rows of the list
    unsigned char *minimum, *step, *payload;
} Work;

typedef struct Job { // of bench_compare
    Work *work;
    const char *vectors;
    int bits;
    bool nearest;
    RandomKind kind; // of the random numbers
} Job;

static void vectors_choose(const char *vectors) { need(cpu_choose_lanes(vectors, &err)); }

static bool vectors_there(const char *vectors) {
    Error err = {0};
    bool is_there = cpu_choose_lanes(vectors, &err);
    vectors_choose("auto");
    return is_there;
}

static Work work_new(int64_t rows, int64_t columns) {
    Work w = {.x = rows_alloc(device(), rows, columns, "x"),
              .out = rows_alloc(device(), rows, columns, "out"),
              .gid = ALLOC(int64_t, rows, "gid"),
              .row = ALLOC(int32_t, rows, "row"),
              .place = ALLOC(int32_t, rows, "place"),
              .minimum = ALLOC(unsigned char, rows * 4, "minimum"),
              .step = ALLOC(unsigned char, rows * 4, "step"),
              .payload = ALLOC(unsigned char, rows *columns, "payload")};
    RandomKey key = random_key(1, RANDOM_FEATURES, 0, 0, 0);
#pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        w.gid[r] = 3 * r;
        w.place[r] = (int32_t)r;
        for (int64_t c = 0; c < columns; c++)
            floats(w.x)[r * w.x.stride + c] = random_uniform16(key, r, 0, c) * 2 - 1;
    }
    return w;
}

// Each row with that chance, ascending.
static void list_make(Work *w, float share) {
    RandomKey key = random_key(2, RANDOM_GENERATE, 0, 0, 0);
    w->count = 0;
    for (int64_t r = 0; r < w->x.count; r++)
        if (random_uniform16(key, r, 0, 0) < share)
            w->row[w->count++] = (int32_t)r;
}

static Quantized message_of(const Job *job) {
    const Work *w = job->work;
    return (Quantized){.bits = job->bits,
                       .nearest = job->nearest,
                       .count = w->count,
                       .place = on_device(w->place),
                       .minimum = on_device(w->minimum),
                       .step = on_device(w->step),
                       .payload = on_device(w->payload)};
}

static MessageSource source_of(const Job *job) {
    const Work *w = job->work;
    return (MessageSource){.x = w->x,
                           .row = on_device(w->row),
                           .random =
                               random_of_kind(random_key(2, RANDOM_ROUNDING, 0, 0, 0), job->kind),
                           .gid = on_device(w->gid),
                           .peer = 1};
}

static void quantize(void *context) {
    const Job *job = (const Job *)context;
    Quantized to = message_of(job);
    MessageSource from = source_of(job);
    vectors_choose(job->vectors);
    int64_t bad = 0;
    cpu_quantize(&to, &from, on_device(&bad), NULL);
    CHECK(bad == 0, EXIT_BUG, "a row was refused");
}
static void dequantize(void *context) {
    const Job *job = (const Job *)context;
    Quantized from = message_of(job);
    vectors_choose(job->vectors);
    cpu_dequantize(job->work->out, 0, &from, NULL);
}

static void row_around_cache(float *to, const float *from, int64_t count) {
#if defined(__AVX__)
    for (int64_t i = 0; i < count; i += 8)
        _mm256_stream_ps(to + i, _mm256_load_ps(from + i));
#elif defined(__SSE2__)
    for (int64_t i = 0; i < count; i += 4)
        _mm_stream_ps(to + i, _mm_load_ps(from + i));
#else
    memcpy(to, from, (size_t)count * sizeof *to);
#endif
}

// The rows of the list, one after the other.
static void copy_listed(void *context) {
    const Work *w = ((const Job *)context)->work;
    int64_t stride = w->x.stride;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < w->count; k++)
        memcpy(floats(w->out) + k * stride, floats(w->x) + w->row[k] * stride,
               (size_t)stride * sizeof(float));
}

// As cpu_dequantize decides.
static bool is_around_cache(const Work *w) {
    return cpu_beyond_cache(w->out.count, cpu_rows(w->out));
}

// As many rows in order, stored as decoded rows are.
static void copy_in_order(void *context) {
    const Work *w = ((const Job *)context)->work;
    int64_t stride = w->x.stride;
    bool around = is_around_cache(w);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < w->count; k++)
        if (around)
            row_around_cache(floats(w->out) + k * stride, floats(w->x) + k * stride, stride);
        else
            memcpy(floats(w->out) + k * stride, floats(w->x) + k * stride,
                   (size_t)stride * sizeof(float));
}

// Plain C is the reference: every byte of the message.
static void check(Work *w) {
    for (int i = 0; i < WIDTHS; i++) {
        RandomKind kind = {.seven = i == 1, .narrow = i == 2};
        Job plain = {w, "plain", widths[i], false, kind};
        Job vectors = {w, "auto", widths[i], false, kind};
        size_t bytes = (size_t)(w->count * quantized_row_bytes(w->x.columns, widths[i]));
        quantize(&plain);
        unsigned char *payload = memory_alloc(bytes, "payload of the reference");
        memcpy(payload, w->payload, bytes);
        quantize(&vectors);
        CHECK(memcmp(payload, w->payload, bytes) == 0, EXIT_BUG,
              "the vector kernels differ from plain C");
        memory_free(payload);
    }
}

static void say(const char *what, int bits, const char *list, double value, const char *against,
                double limit, double bar) {
    Figure f = {.value = value, .unit = "GB/s", .limit = limit, .bar = bar};
    snprintf(f.against, sizeof f.against, "%s", against);
    if (bits > 0)
        snprintf(f.name, sizeof f.name, "%s %d bit, %s, %d threads", what, bits, list,
                 omp_get_max_threads());
    else
        snprintf(f.name, sizeof f.name, "%s, %s, %d threads", what, list, omp_get_max_threads());
    f.ratio = limit > 0 ? value / limit : 0;
    bench_figure(&f);
}

// Everything at one width, in the same rounds.
static void measure(Work *w, int bits, const char *list, int rounds) {
    enum {
        QUANTIZE,
        SEVEN,
        NARROW,
        NEAREST,
        QUANTIZE_AVX2,
        DECODE,
        DECODE_AVX2,
        COPY,
        DECODE_COPY,
        CASES
    };
    bool wide = vectors_there("avx512");
    const char *narrow = wide ? "avx2" : "auto";
    Job job = {w, "auto", bits, false, {0}}, job_avx2 = {w, narrow, bits, false, {0}};
    Job nearest = {w, "auto", bits, true, {0}};
    Job seven = {w, "auto", bits, false, {.seven = true}};
    Job few = {w, "auto", bits, false, {.seven = true, .narrow = true}};
    const BenchCase cases[CASES] = {
        [QUANTIZE] = {"quantize", quantize, &job},
        [SEVEN] = {"quantize, philox7", quantize, &seven},
        [NARROW] = {"quantize, philox7 of 8 bits", quantize, &few},
        [NEAREST] = {"nearest", quantize, &nearest},
        [QUANTIZE_AVX2] = {"quantize avx2", quantize, &job_avx2},
        [DECODE] = {"dequantize", dequantize, &job},
        [DECODE_AVX2] = {"dequantize avx2", dequantize, &job_avx2},
        [COPY] = {"memcpy", copy_listed, &job},
        [DECODE_COPY] = {"copy as decoded", copy_in_order, &job},
    };
    double rate[CASES], table = (double)rows_bytes(w->count, w->x.columns) * 1e-9;
    bench_compare(cases, CASES, rounds, rate);
    for (int i = 0; i < CASES; i++)
        rate[i] = table / rate[i];
    double bar = wide ? 0.85 : 0;
    const char *none = "no random numbers";
    say("quantize", bits, list, rate[QUANTIZE], none, rate[NEAREST], 0);
    bool in_order = w->count == w->x.count;
    say("quantize, philox7", bits, list, rate[SEVEN], none, rate[NEAREST],
        wide && in_order ? 0.82 : 0);
    say("quantize, philox7 of 8 bits", bits, list, rate[NARROW], none, rate[NEAREST],
        wide && in_order ? 0.85 : 0);
    say("dequantize", bits, list, rate[DECODE],
        is_around_cache(w) ? "copy around the cache" : "memcpy in order", rate[DECODE_COPY], bar);
    if (wide) {
        say("quantize avx2", bits, list, rate[QUANTIZE_AVX2], "avx512", rate[QUANTIZE], 0.5);
        say("dequantize avx2", bits, list, rate[DECODE_AVX2], "avx512", rate[DECODE], 0.5);
    }
    say("memcpy", 0, list, rate[COPY], "", 0, 0);
}

BENCH(message) {
    int64_t rows = bench_option("--rows", 200000);
    int64_t columns = bench_option("--columns", 256);
    int rounds = (int)bench_option("--rounds", 9);
    Work work = work_new(rows, columns);
    printf("%lld rows of %lld, %s\n", (long long)rows, (long long)columns, backend_cpu.describe());
    int only = (int)bench_option("--threads", 0); // 0: one, then two
    for (int threads = only > 0 ? only : 1; threads <= (only > 0 ? only : 2); threads++)
        for (int part = 0; part < 2; part++) {
            omp_set_num_threads(threads);
            list_make(&work, part == 0 ? 2 : 0.3f);
            check(&work);
            for (int i = 0; i < WIDTHS; i++)
                measure(&work, widths[i], part == 0 ? "in order" : "list of 30 %", rounds);
        }
}
