// The operations that bench/kernels/gpu.c measures one by one: each first compares its result with
// the CPU's, then says its time against the bytes or operations that it needs.
#pragma once

#include "bench.h"
#include "cpu.h"
#include "internal.h"
#include "plugin.h"

enum { WIDTH = 256, ROUNDS = 5, CHECKED = 500 }; // CHECKED: rows that are compared with the CPU's

typedef struct Job { // what all measurements share
    const Backend *b;
    FILE *rows;         // --rows
    bool is_tiny;       // one call a measurement
    RowsType precision; // that is measured now: of rows, and of the inputs of products
    Csr csr;            // of the dataset; borrowed
    bool is_clustered;  // its rows are in a training's order
    int64_t features, classes;
    double bandwidth, flops; // bytes and operations a second that the device reached
} Job;

static const char *precision_name(RowsType type) { return type == ROWS_BF16 ? "bf16" : "fp32"; }

// ---- rows

// What is measured in bf16, or on rows that lie cluster by cluster, says so.
static const char *named(const Job *job, const char *what, char name[96]) {
    snprintf(name, 96, "%.64s%s%s", what, job->is_clustered ? ", clustered" : "",
             job->precision == ROWS_BF16 ? ", bf16" : "");
    return name;
}

static void put_row(Job *job, const char *row, const char *value, const char *unit, const char *bar,
                    const char *met) {
    if (job->rows == NULL)
        return;
    fprintf(job->rows, "speed\t%s\t%s\t%s\t%s\t%s\n", row, value, unit, bar, met);
    fflush(job->rows); // what is cut off loses nothing
}

static void not_run(Job *job, const char *row, const char *why) {
    char text[400];
    snprintf(text, sizeof text, "did not run: %s", why);
    printf("%s: %s\n", row, text);
    put_row(job, row, text, "", "", "no");
}

// The value, and behind it the ratio to what it is held against, with its bar.
static void say(Job *job, Figure f) {
    char value[40], bar[40], name[200];
    bench_figure(&f);
    snprintf(value, sizeof value, "%.4g", f.value);
    put_row(job, f.name, value, f.unit, "", "");
    if (f.ratio <= 0)
        return;
    snprintf(name, sizeof name, "%s: of %s", f.name, f.against);
    snprintf(value, sizeof value, "%.3g", f.ratio);
    snprintf(bar, sizeof bar, "%s %g", f.at_most ? "≤" : "≥", f.bar);
    bool is_met = f.at_most ? f.ratio <= f.bar : f.ratio >= f.bar;
    put_row(job, name, value, "", f.bar > 0 ? bar : "", f.bar <= 0 ? "" : is_met ? "yes" : "no");
}

// A time against the least that memory allows: the share of the bound that it reaches.
static void say_bound(Job *job, const char *name, double seconds, double bytes, double bar) {
    double bound = bytes / job->bandwidth;
    Figure f = {.value = seconds * 1e3,
                .unit = "ms",
                .against = "bytes / bandwidth",
                .limit = bound * 1e3,
                .ratio = bound / seconds,
                .bar = bar};
    snprintf(f.name, sizeof f.name, "%s", name);
    say(job, f);
}

// ---- times

typedef void Call(void *context);

static double seconds_of(const Backend *b, DeviceStream stream, Call *call, void *context,
                         int calls) {
    DeviceEvent *begin = b->event_new(), *end = b->event_new();
    b->finish(NULL);
    b->event_record(begin, stream);
    for (int i = 0; i < calls; i++)
        call(context);
    b->event_record(end, stream);
    b->event_wait(end, NULL);
    double seconds = (b->event_time(end) - b->event_time(begin)) / calls;
    b->event_free(end);
    b->event_free(begin);
    return seconds;
}

// The median over rounds of some 20 ms each; one unmeasured call first.
static double measure(const Job *job, DeviceStream stream, Call *call, void *context) {
    double seconds[ROUNDS];
    seconds_of(job->b, stream, call, context, 1);
    double first = seconds_of(job->b, stream, call, context, 1);
    double calls = job->is_tiny ? 1 : ceil(0.02 / (first > 1e-6 ? first : 1e-6));
    for (int i = 0; i < ROUNDS; i++)
        seconds[i] = seconds_of(job->b, stream, call, context, calls < 1000 ? (int)calls : 1000);
    double median = bench_median(seconds, ROUNDS);
    return median > 1e-9 ? median : 1e-9;
}

static Rows empty_rows(const Backend *b, int64_t count, int64_t columns, RowsType type) {
    Rows rows = rows_alloc(b, count, columns, "rows of the bench"); // those of bf16 fit, too
    rows.type = type;
    return rows;
}

static Rows filled_rows(const Backend *b, int64_t count, int64_t columns, int number,
                        RowsType type) {
    Rows rows = empty_rows(b, count, columns, type);
    float *host = ALLOC(float, count *columns, "rows of the bench");
    RandomKey key = random_key(3, RANDOM_FEATURES, 0, number, 0);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < columns; c++)
            host[i * columns + c] = random_uniform16(key, i, 0, c) - 0.5F;
    b->upload_rows(rows, host);
    b->finish(NULL);
    memory_free(host);
    return rows;
}

static void *on_device_too(const Backend *b, const void *host, size_t bytes) {
    void *device = b->alloc(bytes, "bench");
    b->upload(device, host, bytes);
    b->finish(NULL);
    return device;
}

// ---- the copy

typedef struct CopyJob {
    const Backend *b;
    void *to, *from;
    size_t bytes;
} CopyJob;
static void copy_call(void *context) {
    CopyJob *c = context;
    c->b->copy(c->to, c->from, c->bytes);
}

static void copy_measure(Job *job) {
    CopyJob c = {.b = job->b, .bytes = job->is_tiny ? 1 << 16 : (size_t)1 << 30};
    c.to = job->b->alloc(c.bytes, "copy");
    c.from = job->b->alloc(c.bytes, "copy");
    double seconds = measure(job, STREAM_COMPUTE, copy_call, &c);
    job->bandwidth = 2 * (double)c.bytes / seconds;
    say(job, (Figure){.name = "copy from device to device, read and written",
                      .value = job->bandwidth * 1e-9,
                      .unit = "GB/s"});
    job->b->free(c.from);
    job->b->free(c.to);
}

// ---- the aggregate

typedef struct SpmmJob {
    const Backend *b;
    Aggregate *aggregate;
    Rows x, out;
    Range range;
} SpmmJob;
static void spmm_call(void *context) {
    SpmmJob *s = context;
    s->b->aggregate_prepare(s->aggregate, s->x, NULL, NULL);
    s->b->aggregate_rows(s->aggregate, s->out, s->range, false, NULL, NULL);
}

static float *downloaded(const Backend *b, Rows rows, int64_t count) {
    float *host = ALLOC(float, count *rows.columns, "rows of the bench");
    b->download_rows(host, rows_first(rows, count));
    b->finish(NULL);
    return host;
}

// |out - CPU's| / |CPU's| over the first rows.
static double spmm_distance(const Job *job, const SpmmJob *device) {
    const int64_t rows = device->x.count, checked = rows < CHECKED ? rows : CHECKED;
    SpmmJob cpu = {.b = &backend_cpu, .range = {0, checked}};
    cpu.x = filled_rows(&backend_cpu, rows, WIDTH, 0, job->precision);
    cpu.out = empty_rows(&backend_cpu, rows, WIDTH, job->precision);
    cpu.aggregate = backend_cpu.aggregate_new(&job->csr, rows, WIDTH, job->precision, "rows");
    spmm_call(&cpu);
    float *want = downloaded(&backend_cpu, cpu.out, checked);
    float *got = downloaded(device->b, device->out, checked);
    double away = 0, norm = 0;
    for (int64_t i = 0; i < checked * WIDTH; i++) {
        away += pow((double)want[i] - (double)got[i], 2);
        norm += pow((double)want[i], 2);
    }
    memory_free(got);
    memory_free(want);
    backend_cpu.aggregate_free(cpu.aggregate);
    rows_free(&backend_cpu, &cpu.out);
    rows_free(&backend_cpu, &cpu.x);
    return norm > 0 ? sqrt(away / norm) : sqrt(away);
}

// Starts the backend with that aggregate and measures it; 0 with a sentence where there is none.
static double spmm_measure(Job *job, const char *spmm, char why[300]) {
    Error err = {0};
    const int64_t rows = job->csr.rows;
    BackendStart how = {.spmm = spmm, .precision = precision_name(job->precision)};
    if (!job->b->start(&how, &err)) {
        snprintf(why, 300, "%.299s", err.text);
        return 0;
    }
    SpmmJob s = {.b = job->b, .range = {0, rows}};
    s.x = filled_rows(job->b, rows, WIDTH, 0, job->precision);
    s.out = empty_rows(job->b, rows, WIDTH, job->precision);
    s.aggregate = job->b->aggregate_new(&job->csr, rows, WIDTH, job->precision, "auto");
    Rows scratch = empty_rows(job->b, rows, WIDTH, job->precision);
    job->b->aggregate_tune(s.aggregate, s.out, scratch);
    rows_free(job->b, &scratch);
    double seconds = measure(job, STREAM_COMPUTE, spmm_call, &s);
    const char *what = job->b->aggregate_describe(s.aggregate, WIDTH, job->precision);
    bool is_own = strcmp(spmm, "own") == 0;
    double away = spmm_distance(job, &s);
    printf("# spmm %s: %s, distance to the CPU %.2g\n", spmm, what, away);
    CHECK(away <= (is_own ? 0 : 1e-5), EXIT_BUG, "the aggregate %s differs from the CPU's by %.2g",
          what, away);
    if (!is_own && strcasestr(what, "cusparse") == NULL) {
        snprintf(why, 300, "run.spmm cusparse runs as '%s'", what);
        seconds = 0;
    }
    job->b->aggregate_free(s.aggregate);
    rows_free(job->b, &s.out);
    rows_free(job->b, &s.x);
    return seconds;
}

// E edges of a row and a column each, and N rows read and written.
static double spmm_bytes(const Csr *csr, int64_t columns, RowsType type) {
    double edges = (double)csr_entries(csr), rows = (double)csr->rows;
    double row = (double)columns * (double)rows_number(type);
    return edges * (row + 4) + 2 * rows * row;
}

static void aggregate_measure(Job *job) {
    char why[300] = "", name[96];
    double own = spmm_measure(job, "own", why);
    CHECK(own > 0, EXIT_UNAVAILABLE, "%s", why);
    say_bound(job, named(job, "aggregate, 256 wide", name), own,
              spmm_bytes(&job->csr, WIDTH, job->precision), 0.7);
    if (job->precision == ROWS_BF16) // cuSPARSE's is of floats
        return;
    double other = spmm_measure(job, "cusparse", why);
    Figure cusparse = {.value = other * 1e3,
                       .unit = "ms",
                       .against = "the own kernel's time",
                       .limit = own * 1e3,
                       .ratio = other / own,
                       .bar = 1.3};
    named(job, "aggregate, 256 wide, run.spmm=cusparse", cusparse.name);
    if (other > 0)
        say(job, cusparse);
    else
        not_run(job, cusparse.name, why);
    CHECK(job->b->start(&(BackendStart){.spmm = "own"}, &(Error){0}), EXIT_BUG, "no second start");
}

// ---- messages

typedef struct MessageJob {
    const Backend *b;
    Rows x, out;
    Quantized q;
    MessageSource source;
    DeviceInt64 *bad;
} MessageJob;
static void quantize_call(void *context) {
    MessageJob *m = context;
    m->b->quantize(&m->q, &m->source, m->bad, NULL);
}
static void dequantize_call(void *context) {
    MessageJob *m = context;
    m->b->dequantize(m->out, 0, &m->q, NULL);
}

// About every third row is sent, ascending, as the rows of a part that a peer reads.
static void message_init(MessageJob *m, const Backend *b, int64_t rows, int bits, RowsType type) {
    const int64_t count = (rows + 2) / 3;
    int32_t *row = ALLOC(int32_t, count, "send list"), *place = ALLOC(int32_t, count, "send list");
    int64_t *gid = ALLOC(int64_t, rows, "ids");
    for (int64_t i = 0; i < rows; i++)
        gid[i] = 3 * i;
    for (int64_t i = 0; i < count; i++) {
        row[i] = (int32_t)(3 * i);
        place[i] = (int32_t)i;
    }
    const size_t numbers = (size_t)count * sizeof(int32_t);
    *m = (MessageJob){.b = b, .x = filled_rows(b, rows, WIDTH, 1, type)};
    m->out = rows_alloc(b, count, WIDTH, "decoded");
    m->bad = b->alloc(sizeof(int64_t), "bad rows");
    m->q = (Quantized){.bits = bits, .count = count, .place = on_device_too(b, place, numbers)};
    m->q.minimum = b->alloc(numbers, "minimum");
    m->q.step = b->alloc(numbers, "step");
    m->q.payload = b->alloc((size_t)(count * quantized_row_bytes(WIDTH, bits)), "payload");
    m->source = (MessageSource){.x = m->x, .row = on_device_too(b, row, numbers), .peer = 1};
    m->source.random = random_key(2, RANDOM_ROUNDING, 0, 0, 0);
    m->source.gid = on_device_too(b, gid, (size_t)rows * sizeof *gid);
    memory_free(gid);
    memory_free(place);
    memory_free(row);
}

static void message_clear(MessageJob *m) {
    const void *blocks[] = {m->source.gid, m->source.row, m->q.payload, m->q.step,
                            m->q.minimum,  m->q.place,    m->bad};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        m->b->free((void *)blocks[i]);
    rows_free(m->b, &m->out);
    rows_free(m->b, &m->x);
}

// The first bytes of a payload, [CHECKED rows or fewer].
static unsigned char *payload_of(const MessageJob *m, size_t bytes) {
    unsigned char *host = memory_alloc(bytes, "payload");
    m->b->finish(NULL);
    m->b->download(host, m->q.payload, bytes);
    m->b->finish(NULL);
    return host;
}

static void check_message(const MessageJob *m, int bits) {
    MessageJob cpu;
    message_init(&cpu, &backend_cpu, m->x.count, bits, m->x.type);
    int64_t checked = m->q.count < CHECKED ? m->q.count : CHECKED;
    size_t bytes = (size_t)(checked * quantized_row_bytes(WIDTH, bits));
    quantize_call(&cpu);
    unsigned char *want = payload_of(&cpu, bytes), *got = payload_of(m, bytes);
    CHECK(memcmp(want, got, bytes) == 0, EXIT_BUG, "messages of %d bits differ from the CPU's",
          bits);
    memory_free(got);
    memory_free(want);
    message_clear(&cpu);
}

static void message_measure(Job *job, int bits) {
    MessageJob m;
    char name[96], what[80];
    message_init(&m, job->b, job->is_tiny ? 100 : job->csr.rows, bits, job->precision);
    double encode = measure(job, STREAM_MESSAGE, quantize_call, &m);
    double decode = measure(job, STREAM_MESSAGE, dequantize_call, &m);
    check_message(&m, bits);
    // a row, its bytes, Z and S; its place, number and id
    double row = (double)rows_number(job->precision) * WIDTH, decoded = 4.0 * WIDTH;
    double bytes = (double)quantized_row_bytes(WIDTH, bits) + 8, count = (double)m.q.count;
    snprintf(what, sizeof what, "quantize and pack, %d bits", bits);
    say_bound(job, named(job, what, name), encode, count * (row + bytes + 16), 0.8);
    snprintf(what, sizeof what, "unpack and dequantize, %d bits", bits);
    if (job->precision == ROWS_FP32) // into floats in any case
        say_bound(job, what, decode, count * (decoded + bytes + 4), 0.8);
    message_clear(&m);
}

// ---- dense products

typedef struct DenseJob {
    const Backend *b;
    Rows a, out;
    DeviceFloat *w, *dw, *scratch;
} DenseJob;
static void dense_call(void *context) {
    DenseJob *d = context;
    d->b->dense(d->out, (Range){0, d->out.count}, d->a, d->w, NULL, false, NULL);
}
static void transposed_call(void *context) {
    DenseJob *d = context;
    d->b->dense_transposed(d->a, (Range){0, d->a.count}, d->out, d->w, false, NULL);
}
static void gradient_call(void *context) {
    DenseJob *d = context;
    d->b->dense_gradient(d->dw, d->a, d->out, d->scratch, NULL);
}

static void dense_measure(Job *job) {
    static const struct {
        const char *name;
        Call *call;
    } calls[] = {{"dense, 256 x 256", dense_call},
                 {"dense_transposed, 256 x 256", transposed_call},
                 {"dense_gradient, 256 x 256", gradient_call}};
    const Backend *b = job->b;
    const int64_t rows = job->is_tiny ? 40 : job->csr.rows;
    DenseJob d = {.b = b, .a = filled_rows(b, rows, WIDTH, 2, job->precision)};
    d.out = empty_rows(b, rows, WIDTH, job->precision);
    d.w = filled_rows(b, WIDTH, WIDTH, 3, ROWS_FP32).at; // WIDTH is a multiple of 16: tight
    d.dw = b->alloc(WIDTH * WIDTH * sizeof(float), "gradient");
    d.scratch =
        b->alloc((size_t)b->dense_gradient_scratch(rows, WIDTH, WIDTH) * sizeof(float), "scratch");
    job->flops = 0;
    for (int i = 0; i < 3; i++) {
        char name[96];
        double seconds = measure(job, STREAM_COMPUTE, calls[i].call, &d);
        double flops = 2.0 * (double)rows * WIDTH * WIDTH / seconds;
        job->flops = flops > job->flops ? flops : job->flops;
        Figure f = {.value = flops * 1e-12, .unit = "TFLOP/s"};
        snprintf(f.name, sizeof f.name, "%s", named(job, calls[i].name, name));
        say(job, f);
    }
    b->free(d.scratch);
    b->free(d.dw);
    b->free(d.w);
    rows_free(b, &d.out);
    rows_free(b, &d.a);
}
