// Half a million values by the codec grid with entropy codes (rule max), on one core: normal and
// Laplace values in rows of 512. Rates are GB/s of floats. The codec is held against the halo codec
// of the same width, whose codes are planes; then come the entropy codes alone (src/codec/rans.h),
// libdeflate's fastest level on the same codes, and memcpy of them. Lengths are bits a value, held
// against the entropy of the codes.
//
//   entropy [--strict] [--values=500000] [--rounds=31]
//
// smoke: --values=20000 --rounds=1
#include "bench.h"
#include "codec/rans.h"
#include "device.h"
#include "fringe/codec.h"
#include "quantize.h"
#include <libdeflate.h>

enum { COLUMNS = 512 };

typedef struct Bytes {
    unsigned char *at;
    size_t room, bytes;
} Bytes;

typedef struct Work {
    const char *values; // "normal"
    int bits;
    int64_t n;
    Rows x, out;
    uint8_t *code, *back; // [n]
    Bytes rans, deflated;
    struct libdeflate_compressor *compressor;
    struct libdeflate_decompressor *decompressor;
    Quantized halo; // the halo codec's message of x
    MessageSource source;
    MessageLayout layout; // of the codec grid
    Bytes message;
} Work;

static uint8_t zero_of(int bits) { return (uint8_t)((1 << (bits - 1)) - 1); }

static Bytes bytes_new(size_t room) {
    return (Bytes){.at = memory_alloc(room, "bytes"), .room = room};
}

static void halo_start(Work *w) {
    int32_t *row = ALLOC(int32_t, w->x.count, "row");
    int64_t *gid = ALLOC(int64_t, w->x.count, "gid");
    for (int32_t r = 0; r < w->x.count; r++)
        row[r] = r, gid[r] = r;
    unsigned char *message = memory_alloc((size_t)(w->n + 8 * w->x.count), "message");
    w->source = (MessageSource){.x = w->x,
                                .row = on_device(row),
                                .random = random_key(2, RANDOM_ROUNDING, 0, 0, 0),
                                .gid = on_device(gid),
                                .peer = 1};
    w->halo = (Quantized){.count = w->x.count,
                          .place = on_device(row),
                          .minimum = on_device(message),
                          .step = on_device(message + 4 * w->x.count),
                          .payload = on_device(message + 8 * w->x.count)};
}

static void grid_start(Work *w) {
    w->layout = (MessageLayout){.rows = w->x.count, .columns = COLUMNS};
    grid_set(&w->layout.values, (GridOptions){.rule = GRID_MAX, .bits = 8});
    w->message = bytes_new(codec_grid_entropy.bytes_most(&w->layout));
    w->layout.scratch = on_device(memory_alloc(codec_grid_entropy.scratch(&w->layout), "scratch"));
}

static Work work_new(int64_t values) {
    int64_t rows = (values + COLUMNS - 1) / COLUMNS;
    Work w = {.n = rows * COLUMNS,
              .x = rows_alloc(device(), rows, COLUMNS, "x"),
              .out = rows_alloc(device(), rows, COLUMNS, "out")};
    w.code = ALLOC(uint8_t, w.n, "codes");
    w.back = ALLOC(uint8_t, w.n, "codes that came back");
    w.rans = bytes_new((size_t)w.n + 1000);
    w.compressor = libdeflate_alloc_compressor(1);
    w.decompressor = libdeflate_alloc_decompressor();
    CHECK(w.compressor != NULL && w.decompressor != NULL, EXIT_MEMORY, "no libdeflate");
    w.deflated = bytes_new(libdeflate_deflate_compress_bound(w.compressor, (size_t)w.n));
    halo_start(&w);
    grid_start(&w);
    return w;
}

static double draw(bool laplace, RandomKey key, int64_t r, int64_t c) {
    double u = random_uniform32(key, r, 1, c);
    if (laplace)
        return u < 0.5 ? log(2 * u) : -log(2 - 2 * u);
    return random_normal(key, r, 0, c);
}

static void fill(Work *w, bool laplace) {
    RandomKey key = random_key(3, RANDOM_FEATURES, 0, 0, 0);
    w->values = laplace ? "Laplace" : "normal";
    for (int64_t i = 0; i < w->n; i++)
        floats(w->x)[i] = (float)draw(laplace, key, i / COLUMNS, i % COLUMNS);
}

static void make_codes(Work *w) {
    RandomKey key = random_key(4, RANDOM_ROUNDING, 0, 0, 0);
    int s = zero_of(w->bits);
    for (int64_t r = 0; r < w->x.count; r++) {
        const float *x = floats(w->x) + r * COLUMNS;
        float most = 0;
        for (int c = 0; c < COLUMNS; c++)
            most = fmaxf(most, fabsf(x[c]));
        for (int c = 0; c < COLUMNS; c++) {
            int m = (int)(fabsf(x[c]) / most * (float)s + random_uniform16(key, r, 0, c));
            w->code[r * COLUMNS + c] = (uint8_t)(x[c] < 0 ? s - m : s + m);
        }
    }
}

// ---- what is measured

static void codec_write(void *context) {
    Work *w = context;
    int64_t bad = 0;
    w->layout.bytes = codec_grid_entropy.encode(device(), on_device(w->message.at), &w->layout,
                                                &w->source, on_device(&bad), NULL);
    CHECK(bad == 0, EXIT_BUG, "a row was refused");
}
static void codec_read(void *context) {
    const Work *w = context;
    codec_grid_entropy.decode(device(), w->out, 0, &w->layout, on_device(w->message.at), NULL);
}

static void rans_write(void *context) {
    Work *w = context;
    w->rans.bytes = rans_encode(w->rans.at, w->rans.room, w->code, w->n, w->bits, zero_of(w->bits));
}
static void rans_read(void *context) {
    Work *w = context;
    bool whole = rans_decode(w->back, w->n, w->bits, zero_of(w->bits), w->rans.at, w->rans.bytes);
    CHECK(whole, EXIT_BUG, "entropy codes are refused");
}
static void deflate_write(void *context) {
    Work *w = context;
    w->deflated.bytes = libdeflate_deflate_compress(w->compressor, w->code, (size_t)w->n,
                                                    w->deflated.at, w->deflated.room);
}
static void deflate_read(void *context) {
    Work *w = context;
    CHECK(libdeflate_deflate_decompress(w->decompressor, w->deflated.at, w->deflated.bytes, w->back,
                                        (size_t)w->n, NULL) == LIBDEFLATE_SUCCESS,
          EXIT_BUG, "libdeflate does not read what it wrote");
}
static void copy(void *context) {
    const Work *w = context;
    memcpy(w->back, w->code, (size_t)w->n);
}
static void halo_write(void *context) {
    Work *w = context;
    int64_t bad = 0;
    w->halo.bits = w->bits;
    cpu_quantize(&w->halo, &w->source, on_device(&bad), NULL);
    CHECK(bad == 0, EXIT_BUG, "a row was refused");
}
static void halo_read(void *context) {
    const Work *w = context;
    cpu_dequantize(w->out, 0, &w->halo, NULL);
}

static void check(Work *w) {
    rans_write(w);
    memset(w->back, 0xee, (size_t)w->n);
    rans_read(w);
    CHECK(memcmp(w->back, w->code, (size_t)w->n) == 0, EXIT_BUG, "other codes come back");
}

// ---- figures

static double entropy(const Work *w) { // bits a value
    int64_t count[256] = {0};
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++)
        count[w->code[i]]++;
    for (int s = 0; s < 256; s++)
        sum -= count[s] > 0 ? (double)count[s] * log2((double)count[s] / (double)w->n) : 0;
    return sum / (double)w->n;
}

static void say(const Work *w, const char *what, Figure f) {
    snprintf(f.name, sizeof f.name, "%s %d bit, %s values", what, w->bits, w->values);
    f.ratio = f.limit > 0 ? f.value / f.limit : 0;
    bench_figure(&f);
}

static void say_lengths(const Work *w) {
    double least = entropy(w), values = (double)w->n;
    say(w, "length, rans",
        (Figure){.value = 8 * (double)w->rans.bytes / values,
                 .unit = "bits",
                 .against = "entropy",
                 .limit = least,
                 .bar = 1.01,
                 .at_most = true});
    say(w, "length, packed",
        (Figure){.value = w->bits, .unit = "bits", .against = "entropy", .limit = least});
    say(w, "length, libdeflate 1",
        (Figure){.value = 8 * (double)w->deflated.bytes / values,
                 .unit = "bits",
                 .against = "entropy",
                 .limit = least});
}

enum {
    CODEC_WRITE,
    CODEC_READ,
    WRITE,
    READ,
    HALO_WRITE,
    HALO_READ,
    DEFLATE_WRITE,
    DEFLATE_READ,
    COPY,
    CASES
};

static void say_rates(const Work *w, const double rate[CASES]) {
    static const struct Line {
        int of, limit;
        const char *what, *against;
        double bar;
    } lines[] = {
        {CODEC_WRITE, HALO_WRITE, "write, codec", "halo codec", 0.05},
        {CODEC_READ, HALO_READ, "read, codec", "halo codec", 0.05},
        {WRITE, COPY, "write, rans", "memcpy of the codes", 0},
        {READ, COPY, "read, rans", "memcpy of the codes", 0},
        {DEFLATE_WRITE, WRITE, "write, libdeflate 1", "rans", 0},
        {DEFLATE_READ, READ, "read, libdeflate 1", "rans", 0},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Figure f = {.value = rate[lines[i].of],
                    .unit = "GB/s",
                    .limit = rate[lines[i].limit],
                    .bar = lines[i].bar};
        snprintf(f.against, sizeof f.against, "%s", lines[i].against);
        say(w, lines[i].what, f);
    }
}

static void measure(Work *w, int rounds) {
    const BenchCase cases[CASES] = {
        [CODEC_WRITE] = {"codec write", codec_write, w},
        [CODEC_READ] = {"codec read", codec_read, w},
        [WRITE] = {"rans write", rans_write, w},
        [READ] = {"rans read", rans_read, w},
        [HALO_WRITE] = {"quantize", halo_write, w},
        [HALO_READ] = {"dequantize", halo_read, w},
        [DEFLATE_WRITE] = {"libdeflate write", deflate_write, w},
        [DEFLATE_READ] = {"libdeflate read", deflate_read, w},
        [COPY] = {"memcpy", copy, w},
    };
    double rate[CASES];
    bench_compare(cases, CASES, rounds, rate);
    printf("%d bit, %s values: codec writes in %.2f ms, reads in %.2f ms\n", w->bits, w->values,
           1e3 * rate[CODEC_WRITE], 1e3 * rate[CODEC_READ]);
    for (int i = 0; i < CASES; i++)
        rate[i] = 4 * (double)w->n * 1e-9 / rate[i];
    say_rates(w, rate);
    say_lengths(w);
}

BENCH(entropy) {
    Work work = work_new(bench_option("--values", 500000));
    int rounds = (int)bench_option("--rounds", 31);
    omp_set_num_threads(1);
    printf("%lld codes, %s\n", (long long)work.n, backend_cpu.describe());
    for (int laplace = 0; laplace < 2; laplace++)
        for (work.bits = 4; work.bits <= 8; work.bits += 4) {
            grid_set(&work.layout.values, (GridOptions){.rule = GRID_MAX, .bits = work.bits});
            fill(&work, laplace);
            make_codes(&work);
            check(&work);
            measure(&work, rounds);
        }
}
