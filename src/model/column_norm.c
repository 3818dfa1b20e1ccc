// Norms of columns behind a layer (BatchNorm; Ioffe and Szegedy, ICML 2015) over the rows of all
// ranks: PyTorch's BatchNorm1d on the whole graph.
//
//   forward    xhat = (u - mean) / sqrt(variance + 1e-5), h = gamma xhat + beta
//   backward   du = gamma / sqrt(...) (g - mean(g) - xhat mean(g xhat))
//   running    = 0.9 running + 0.1 (mean, variance N / (N - 1)), for evaluation
//
// The sums of each direction are added over the ranks once: two waits of the host a layer and
// epoch.
#include "internal.h"

static const double epsilon = 1e-5, momentum = 0.1;

void alloc_column_norm(Model *m, const Allocator *allocator, int l) {
    ColumnNorm *of = &m->layer[l].columns;
    const char *what = "norm statistics";
    int64_t width = m->shape.width[l + 1];
    size_t floats = (size_t)(2 * width) * sizeof(float), doubles = 2 * floats;
    if (!m->shape.columns || !m->shape.posted[l])
        return;
    of->sums = alloc_device(allocator, doubles, what);
    of->factors = alloc_device(allocator, floats, what);
    of->means = alloc_device(allocator, floats, what);
    of->host_sums = alloc_pinned(allocator, doubles, what);
    of->host_factors = alloc_pinned(allocator, floats, what);
    of->host_means = alloc_pinned(allocator, floats, what);
    of->host_own = alloc_pinned(allocator, floats, what);
    of->host_running = alloc_pinned(allocator, floats + 2 * sizeof(float), what);
    if (allocator->forecast == NULL)
        of->there = m->parts.backend->event_new();
}

static size_t floats_of(int64_t count) { return (size_t)count * sizeof(float); }

static void wait_for(const Model *m, const ColumnNorm *of, const Poll *poll) {
    m->parts.backend->event_record(of->there, STREAM_COMPUTE);
    m->parts.backend->event_wait(of->there, poll);
}

// Rows of all ranks.
static double all_rows(const LayerRun *run) {
    const ModelShape *shape = &run->m->shape;
    return (double)run->m->parts.shard->set[level_set(shape, run->l + 1)].total;
}

// The one sum over ranks of this layer and direction, which a trace shows as such.
static void sum_over_ranks(const LayerRun *run, int64_t width, int direction) {
    double begin = clock_seconds();
    comm_sum_double(run->m->parts.comm, run->layer->columns.host_sums, (int)(2 * width));
    if (timers_in_use() != NULL)
        timers_add(timers_in_use(), TIMER_REDUCE, begin, clock_seconds(), run->l, direction);
}

static DeviceFloat *running_of(const LayerRun *run) {
    return flat_at(run->m->parameters, run->m->shape.statistics[run->l]);
}

// `share` of them enters the running ones.
static void batch_statistics(const ColumnNorm *of, int64_t width, double rows, double share) {
    float *running = of->host_running;
    for (int64_t c = 0; c < width; c++) {
        double mean = of->host_sums[c] / rows;
        double variance = fmax(0, of->host_sums[width + c] / rows - mean * mean);
        of->host_factors[c] = (float)mean;
        of->host_factors[width + c] = (float)(1 / sqrt(variance + epsilon));
        running[c] = (float)((1 - share) * (double)running[c] + share * mean);
        running[width + c] = (float)((1 - share) * (double)running[width + c] +
                                     share * variance * rows / (rows - 1));
    }
    running[2 * width] = share < 1 ? running[2 * width] + 1 : 1;
}

static void running_statistics(const ColumnNorm *of, int64_t width) {
    for (int64_t c = 0; c < width; c++) {
        of->host_factors[c] = of->host_running[c];
        of->host_factors[width + c] =
            (float)(1 / sqrt((double)of->host_running[width + c] + epsilon));
    }
}

// The factors of this call.
static void make_factors(const LayerRun *run, Rows u, const Poll *poll) {
    Model *m = run->m;
    const Backend *b = m->parts.backend;
    const ColumnNorm *of = &run->layer->columns;
    int64_t width = u.columns;
    size_t kept = floats_of(2 * width + 2);
    bool counts = m->training || m->renews;
    b->download(of->host_running, running_of(run), kept);
    if (counts) {
        b->column_products(of->sums, u, u, NULL, NULL, m->column_scratch, poll);
        b->download(of->host_sums, of->sums, 2 * floats_of(2 * width));
    }
    wait_for(m, of, poll);
    if (counts) {
        sum_over_ranks(run, width, FORWARD);
        batch_statistics(of, width, all_rows(run), m->renews ? 1 : momentum);
        b->upload(running_of(run), of->host_running, kept);
    } else {
        running_statistics(of, width);
    }
    b->upload(of->factors, of->host_factors, floats_of(2 * width));
}

void column_norm_forward(const LayerRun *run, Rows out, Rows u, const Poll *poll) {
    const ColumnNorm *of = &run->layer->columns;
    make_factors(run, u, poll);
    run->m->parts.backend->norm_columns(
        out, (Range){0, u.count}, u, of->factors, flat_at(of->factors, u.columns),
        weights_of(run, ROLE_GAMMA), weights_of(run, ROLE_BETA), poll);
}

// Of this rank: the gradients of beta and gamma, which are added over the ranks as all others.
static void put_own(const LayerRun *run, int64_t width) {
    const Model *m = run->m;
    const ColumnNorm *of = &run->layer->columns;
    const int role[] = {ROLE_BETA, ROLE_GAMMA};
    for (int64_t c = 0; c < 2 * width; c++)
        of->host_own[c] = (float)of->host_sums[c];
    for (int i = 0; i < 2; i++)
        m->parts.backend->upload(flat_at(m->gradient, run->layer->parameter[role[i]]->begin),
                                 of->host_own + i * width, floats_of(width));
}

void column_norm_back(const LayerRun *run, Rows d, Rows u, const Poll *poll) {
    Model *m = run->m;
    const Backend *b = m->parts.backend;
    const ColumnNorm *of = &run->layer->columns;
    int64_t width = u.columns;
    const DeviceFloat *factor = flat_at(of->factors, width);
    b->column_products(of->sums, d, u, of->factors, factor, m->column_scratch, poll);
    b->download(of->host_sums, of->sums, 2 * floats_of(2 * width));
    wait_for(m, of, poll);
    put_own(run, width);
    sum_over_ranks(run, width, BACKWARD);
    for (int64_t c = 0; c < 2 * width; c++)
        of->host_means[c] = (float)(of->host_sums[c] / all_rows(run));
    b->upload(of->means, of->host_means, floats_of(2 * width));
    b->norm_columns_back(d, u, of->factors, factor, weights_of(run, ROLE_GAMMA), of->means, poll);
}
