// How fast this machine is at the work of an epoch: the kernels that the config runs, with all
// threads, on rows and edges of a real shard. Each kernel runs a few times, and the median counts.
// Before each time the caches are filled with other memory, as an epoch does between two uses.
#include "fringe/plan.h"

enum { TIMES = 5, ROWS_MOST = 16384, PACKED = 4096, EVICTED = 128 << 20 };

static const char *const what = "measuring";

typedef struct Bench {
    const Backend *backend;
    const Shard *shard;
    const Config *config;
    const ModelShape *shape;
    int64_t rows;
    Allocator plain, model; // model: rows as the config keeps them between layers (run.precision)
    void *work;             // of the kernel that is measured
    char *other;            // [EVICTED]
} Bench;

// Writes a byte of every cache line: the lines that were there before leave the caches.
static void evict(const Bench *bench) {
    for (size_t i = 0; i < EVICTED; i += 64)
        bench->other[i]++;
}

// The median seconds of work(bench); once before, to touch all memory.
static double median_of(void (*work)(const Bench *), const Bench *bench) {
    double seconds[TIMES];
    work(bench);
    bench->backend->finish(NULL);
    for (int i = 0; i < TIMES; i++) {
        evict(bench);
        double since = clock_seconds();
        work(bench);
        bench->backend->finish(NULL);
        seconds[i] = clock_seconds() - since;
    }
    return sort_median(seconds, TIMES);
}

// Numbers of both signs: what rows of zeros take tells little of what activations take.
static void fill(const Backend *k, Rows rows) {
    int64_t count = rows.count * rows.columns;
    FREED float *value = ALLOC(float, count, what);
    for (int64_t i = 0; i < count; i++)
        value[i] = (float)((i * 2654435761u) % 2048) / 1024 - 1;
    k->upload_rows(rows, value);
    k->finish(NULL);
}

// ---- dense products: forward, and both gradients

typedef struct Dense {
    Rows in, out;
    DeviceFloat *w, *dw, *scratch;
} Dense;

static void run_dense(const Bench *b) {
    const Dense *d = b->work;
    Range all = {0, d->in.count};
    b->backend->dense(d->out, all, d->in, d->w, NULL, false, NULL);
    b->backend->dense_transposed(d->in, all, d->out, d->w, false, NULL);
    b->backend->dense_gradient(d->dw, d->in, d->out, d->scratch, NULL);
}

static double measure_dense(Bench *b) {
    const Backend *k = b->backend;
    int64_t in = b->shape->width[b->shape->layers > 1], out = b->shape->width[1];
    size_t bytes = memory_product(in * out, sizeof(float));
    int64_t scratch = k->dense_gradient_scratch(b->rows, in, out);
    Dense d = {.in = alloc_rows(&b->model, b->rows, in, what),
               .out = alloc_rows(&b->model, b->rows, out, what),
               .w = alloc_device(&b->plain, bytes, what),
               .dw = alloc_device(&b->plain, bytes, what),
               .scratch = alloc_device(&b->plain, (size_t)scratch * sizeof(float), what)};
    fill(k, d.in);
    b->work = &d;
    double seconds = median_of(run_dense, b);
    taken_free(b->plain.taken);
    return 3 * 2.0 * (double)b->rows * (double)in * (double)out / seconds;
}

// ---- the aggregate of the shard's own rows, with what they read of others beside them

typedef struct Gather {
    Aggregate *aggregate;
    Rows in, out;
} Gather;

static void run_gather(const Bench *b) {
    const Gather *g = b->work;
    b->backend->aggregate_prepare(g->aggregate, g->in, NULL, NULL);
    b->backend->aggregate_rows(g->aggregate, g->out, (Range){0, g->out.count}, true, NULL, NULL);
}

static int64_t widest(const ModelShape *shape) {
    int64_t most = 1;
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++) {
            int64_t columns = model_exchanged(shape, l, d);
            most = columns > most ? columns : most;
        }
    return most;
}

static double measure_gather(Bench *b) {
    const Backend *k = b->backend;
    const ShardRelation *in = &b->shard->relation[IN_EDGES];
    int64_t rows = b->shard->set[in->to].own, sources = b->shard->set[in->from].own + in->remote;
    int64_t columns = widest(b->shape);
    const Csr csr = {rows, (int64_t *)(uintptr_t)in->offset, (int32_t *)(uintptr_t)in->column,
                     (float *)(uintptr_t)in->weight};
    Gather g = {.aggregate =
                    k->aggregate_new(&csr, sources, columns, b->shape->rows, b->config->run.panels),
                .in = alloc_rows(&b->model, sources > rows ? sources : rows, columns, what),
                .out = alloc_rows(&b->model, rows, columns, what)};
    g.in.count = sources;
    fill(k, g.in);
    b->work = &g;
    k->aggregate_tune(g.aggregate, g.out, g.in);
    double seconds = median_of(run_gather, b);
    k->aggregate_free(g.aggregate);
    taken_free(b->plain.taken);
    return 4.0 * (double)columns * (double)(in->edges + 2 * rows) / seconds;
}

// ---- what follows a layer, forward and back

typedef struct Point {
    Rows z, h;
    Post post;
    PostSaved saved;
    DeviceInt64 *gid;
    DeviceFloat *flat, *scratch; // gamma, beta and their gradients
} Point;

static void run_point(const Bench *b) {
    const Point *p = b->work;
    int64_t columns = p->z.columns;
    b->backend->post_forward(p->h, (Range){0, p->z.count}, p->z, &p->post, p->saved, p->gid, NULL);
    b->backend->post_backward(p->h, p->h, p->z, &p->post, p->saved, flat_at(p->flat, 2 * columns),
                              flat_at(p->flat, 3 * columns), p->scratch, NULL);
}

static void point_alloc(Point *p, const Bench *b, int64_t columns) {
    const Backend *k = b->backend;
    size_t bits = (size_t)(b->rows * rows_stride(columns) / 8), row = sizeof(float);
    p->z = alloc_rows(&b->model, b->rows, columns, what);
    p->h = alloc_rows(&b->model, b->rows, columns, what);
    p->saved = (PostSaved){.mean = alloc_device(&b->plain, (size_t)b->rows * row, what),
                           .inverse = alloc_device(&b->plain, (size_t)b->rows * row, what),
                           .kept = alloc_device(&b->plain, bits, what),
                           .positive = alloc_device(&b->plain, bits, what)};
    fill(k, p->z);
    p->gid = alloc_device(&b->plain, (size_t)b->rows * sizeof(int64_t), what);
    p->flat = alloc_device(&b->plain, (size_t)(4 * columns) * row, what);
    p->scratch = alloc_device(&b->plain, (size_t)k->post_scratch(b->rows, columns) * row, what);
    p->post = (Post){.count = b->shape->post_count,
                     .keep = b->shape->keep,
                     .training = true,
                     .gamma = p->flat,
                     .beta = flat_at(p->flat, columns)};
    memcpy(p->post.step, b->shape->post, sizeof p->post.step);
}

static double measure_point(Bench *b) {
    int64_t columns = b->shape->width[1];
    Point p;
    point_alloc(&p, b, columns);
    b->work = &p;
    double seconds = median_of(run_point, b);
    taken_free(b->plain.taken);
    return 5.0 * 4 * (double)b->rows * (double)columns / seconds;
}

// ---- the loss, on the shard's own labels

typedef struct LossWork {
    DeviceDouble *sum;
    Rows logits, gradient;
    Labels labels;
} LossWork;

static void run_loss(const Bench *b) {
    const LossWork *l = b->work;
    b->backend->loss(l->sum, l->gradient, l->logits, l->labels, SPLIT_TRAIN, 1, NULL,
                     LOSS_PLAIN(b->shape->loss->kind));
}

static double measure_loss(Bench *b) {
    const Backend *k = b->backend;
    int64_t rows = b->shard->set[NODES].own, classes = b->shard->classes;
    size_t n = (size_t)rows;
    LossWork l = {
        .sum = alloc_device(&b->plain, sizeof(double), what),
        .logits = alloc_rows(&b->plain, rows, classes, what),
        .gradient = alloc_rows(&b->plain, rows, classes, what),
        .labels = {.label = alloc_mirror(&b->plain, b->shard->label, n * sizeof(int32_t), what),
                   .labels = alloc_mirror(&b->plain, b->shard->labels, n * (size_t)classes, what),
                   .numbers = alloc_mirror(&b->plain, b->shard->numbers,
                                           n * (size_t)classes * sizeof(float), what),
                   .split = alloc_mirror(&b->plain, b->shard->split, n, what)}};
    fill(k, l.logits);
    b->work = &l;
    double seconds = median_of(run_loss, b);
    taken_free(b->plain.taken);
    return 2.0 * 4 * (double)rows * (double)classes / seconds;
}

// ---- messages

typedef struct Packing {
    const Codec *codec;
    MessageLayout layout;
    MessageSource source;
    Widths widths;
    DeviceByte *message;
    DeviceInt64 *bad;
    Rows received;
} Packing;

static void run_pack(const Bench *b) {
    const Packing *p = b->work;
    p->codec->encode(b->backend, p->message, &p->layout, &p->source, p->bad, NULL);
}

static void run_unpack(const Bench *b) {
    const Packing *p = b->work;
    p->codec->decode(b->backend, p->received, 0, &p->layout, p->message, NULL);
}

static bool packing_alloc(Packing *p, const Bench *b, Error *err) {
    const Backend *k = b->backend;
    int64_t columns = widest(b->shape), rows = PACKED;
    int32_t *order = ALLOC(int32_t, rows, what);
    for (int64_t i = 0; i < rows; i++)
        order[i] = (int32_t)i;
    p->codec = codec_find(b->config->quantization.codec, err);
    p->layout = (MessageLayout){.rows = rows, .columns = columns};
    bool ok = p->codec != NULL && codec_configure(p->codec, b->config, &p->layout.values, err);
    DeviceInt32 *row = alloc_device(&b->plain, (size_t)rows * sizeof *order, what);
    k->upload(row, order, (size_t)rows * sizeof *order);
    k->finish(NULL);
    memory_free(order);
    p->source =
        (MessageSource){.x = alloc_rows(&b->model, rows, columns, what),
                        .row = row,
                        .gid = alloc_device(&b->plain, (size_t)rows * sizeof(int64_t), what)};
    fill(k, p->source.x);
    widths_alloc(&p->widths, &b->plain, rows);
    widths_fill(&p->widths, (int)b->config->quantization.initial_bits);
    p->layout.widths = ok && p->codec->has_widths ? &p->widths : NULL;
    p->message = alloc_device(&b->plain, ok ? p->codec->bytes_most(&p->layout) : 64, what);
    p->bad = alloc_device(&b->plain, sizeof(int64_t), what);
    p->received = alloc_rows(&b->plain, rows, columns, what);
    return ok;
}

static bool measure_messages(Bench *b, PlanSpeed *speed, Error *err) {
    Packing p = {0};
    bool ok = packing_alloc(&p, b, err);
    b->work = &p;
    if (ok) {
        double bytes = 4.0 * (double)p.layout.rows * (double)p.layout.columns +
                       (double)p.codec->bytes(&p.layout);
        speed->pack = bytes / median_of(run_pack, b);
        speed->unpack = bytes / median_of(run_unpack, b);
    }
    taken_free(b->plain.taken);
    return ok;
}

bool plan_measure(PlanSpeed *speed, const Config *config, const Shard *shard, Error *err) {
    const BackendStart how = {.vectors = config->run.simd,
                              .spmm = config->run.spmm,
                              .precision = config->run.precision,
                              .sums = config->run.bf16_sums,
                              .node_size = 1};
    FREED ModelShape *shape = ALLOC(ModelShape, 1, "shape of a model"); // too large for the stack
    int threads = threads_set(0, 1);
    int64_t rows = shard->set[NODES].own;
    Taken *taken = NULL;
    Bench b = {.backend = backend_open(config->run.backend, &how, err),
               .shard = shard,
               .config = config,
               .shape = shape,
               .rows = rows < ROWS_MOST ? rows : ROWS_MOST,
               .other = ALLOC(char, EVICTED, what)};
    bool ok = b.backend != NULL && model_shape_of_shard(shape, config, shard, err);
    b.plain = b.model = (Allocator){.backend = b.backend, .taken = &taken};
    b.model.rows = shape->rows;
    if (ok) {
        speed->flops = measure_dense(&b) / threads;
        speed->gather = measure_gather(&b) / threads;
        speed->point = measure_point(&b) / threads;
        speed->loss = measure_loss(&b) / threads;
        ok = measure_messages(&b, speed, err);
        speed->pack /= threads;
        speed->unpack /= threads;
    }
    memory_free(b.other);
    return ok;
}
