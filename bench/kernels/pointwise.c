// Dropout, LayerNorm and ReLU fused, forward and backward, against memcpy in the same rounds.
//
// They are bound by memory: forward reads z and writes h, backward reads z and dh and writes dz, so
// the figure is bytes moved per second over that of memcpy (read and written bytes counted). The
// orders are those that configs use, which have kernels of their own.
//
//   pointwise [--strict] [--rows=100000] [--columns=256] [--rounds=15]
//
// smoke: --rows=2000 --rounds=1
#include "bench.h"
#include "cpu.h"
#include "device.h"

typedef struct Work {
    Rows z, dh, h, dz;
    Post post;
    PostSaved saved;
    int64_t *gid;
    float *dgamma, *dbeta, *scratch;
} Work;

static Rows rows_random(int64_t count, int64_t columns, uint32_t which) {
    Rows rows = rows_alloc(device(), count, columns, "rows of the bench");
    RandomKey key = random_key(1, RANDOM_FEATURES, which, 0, 0);
#pragma omp parallel for
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < columns; c++)
            floats(rows)[r * rows.stride + c] = random_uniform16(key, r, 0, c) * 2 - 1;
    return rows;
}

static Work work_new(int64_t rows, int64_t columns) {
    Work w = {.z = rows_random(rows, columns, 0),
              .dh = rows_random(rows, columns, 1),
              .h = rows_alloc(device(), rows, columns, "h"),
              .dz = rows_alloc(device(), rows, columns, "dz"),
              .gid = ALLOC(int64_t, rows, "gid"),
              .dgamma = ALLOC(float, columns, "dgamma"),
              .dbeta = ALLOC(float, columns, "dbeta"),
              .scratch = ALLOC(float, backend_cpu.post_scratch(rows, columns), "scratch")};
    w.saved =
        (PostSaved){on_device(ALLOC(float, rows, "mean")), on_device(ALLOC(float, rows, "inverse")),
                    on_device(ALLOC(uint8_t, rows * w.z.stride / 8, "kept")),
                    on_device(ALLOC(uint8_t, rows * w.z.stride / 8, "positive"))};
    float *gamma = ALLOC(float, columns, "gamma"), *beta = ALLOC(float, columns, "beta");
    for (int64_t c = 0; c < columns; c++)
        gamma[c] = 1 + (float)c / 1000, beta[c] = (float)c / 500;
    for (int64_t r = 0; r < rows; r++)
        w.gid[r] = r * 3;
    w.post = (Post){.count = 3,
                    .keep = 0.5f,
                    .training = true,
                    .gamma = on_device(gamma),
                    .beta = on_device(beta)};
    w.post.random = random_key(2, RANDOM_DROPOUT, 0, 0, 0);
    return w;
}

static void forward(void *context) {
    Work *w = (Work *)context;
    backend_cpu.post_forward(w->h, (Range){0, w->z.count}, w->z, &w->post, w->saved,
                             on_device(w->gid), NULL);
}
static void backward(void *context) {
    Work *w = (Work *)context;
    backend_cpu.post_backward(w->dz, w->dh, w->z, &w->post, w->saved, on_device(w->dgamma),
                              on_device(w->dbeta), on_device(w->scratch), NULL);
}
static void backward_in_place(void *context) {
    Work *w = (Work *)context;
    backend_cpu.post_backward(w->dh, w->dh, w->z, &w->post, w->saved, on_device(w->dgamma),
                              on_device(w->dbeta), on_device(w->scratch), NULL);
}
static void copy(void *context) {
    Work *w = (Work *)context;
#pragma omp parallel
    {
        int64_t rank = omp_get_thread_num(), size = omp_get_num_threads();
        int64_t begin = w->z.count * rank / size, end = w->z.count * (rank + 1) / size;
        memcpy(floats(w->h) + begin * w->z.stride, floats(w->z) + begin * w->z.stride,
               (size_t)((end - begin) * w->z.stride) * sizeof(float));
    }
}

// The plain C rows are the reference: every bit of a sample.
static void check(Work *w) {
    Work sample = *w;
    sample.z.count = 1000;
    sample.h = rows_alloc(device(), 1000, w->z.columns, "h of the reference");
    need(cpu_choose_lanes("plain", &err));
    forward(&sample);
    need(cpu_choose_lanes("auto", &err));
    forward(w);
    CHECK(memcmp(floats(sample.h), floats(w->h), rows_bytes(1000, w->z.columns)) == 0, EXIT_BUG,
          "the vector kernels differ from plain C");
    rows_free(device(), &sample.h);
}

static void measure(Work *w, const char *order, int rounds) {
    static const struct {
        const char *name;
        int passes; // over a table, read or written
        double bar;
    } what[] = {{"forward", 2, 0.7}, {"backward", 3, 0.8}, {"backward in place", 3, 0}};
    check(w);
    const BenchCase cases[] = {{"forward", forward, w},
                               {"backward", backward, w},
                               {"in place", backward_in_place, w},
                               {"memcpy", copy, w}};
    double seconds[4], table = (double)rows_bytes(w->z.count, w->z.columns) * 1e-9;
    bench_compare(cases, 4, rounds, seconds);
    for (int i = 0; i < 3; i++)
        bench_at_least(what[i].passes * table / seconds[i], "GB/s", what[i].bar, "memcpy",
                       2 * table / seconds[3], "%s, %s, %d threads", order, what[i].name,
                       omp_get_max_threads());
}

BENCH(pointwise) {
    int64_t rows = bench_option("--rows", 100000);
    int64_t columns = bench_option("--columns", 256);
    int rounds = (int)bench_option("--rounds", 15);
    static const struct { // most of configs/, and OGB's; as kernels/orders.h writes them
        const char *name;
        int count;
        PostStep step[3];
    } orders[] = {{"0231 dropout norm relu", 3, {POST_DROPOUT, POST_NORM, POST_ACTIVATION}},
                  {"012 relu dropout", 2, {POST_ACTIVATION, POST_DROPOUT}},
                  {"0123 norm relu dropout", 3, {POST_NORM, POST_ACTIVATION, POST_DROPOUT}}};
    const int count = sizeof orders / sizeof *orders;
    Work work = work_new(rows, columns);
    printf("%lld rows of %lld, %s\n", (long long)rows, (long long)columns, backend_cpu.describe());
    for (int threads = 1; threads <= 2; threads++)
        for (int o = 0; o < count; o++) {
            omp_set_num_threads(threads);
            work.post.count = orders[o].count;
            memcpy(work.post.step, orders[o].step, sizeof work.post.step);
            measure(&work, orders[o].name, rounds);
        }
}
