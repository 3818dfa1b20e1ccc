// harmonic: every column is 1 on the training nodes of its class and 0 on the others, and elsewhere
// the mean of what is around it: f = R f, where R averages over neighbours. It is the minimum of
// 1/2 sum w (f(x) - f(y))^2, found by conjugate gradients for all columns at once. In the inner
// product weighted by degrees 1 - R is symmetric, and that weight is the preconditioner: so the
// recursion has rows of means alone.
#include "internal.h"

typedef struct Harmonic {
    ProgramRun *run;
    NodeOperator op;
    int64_t columns;
    Rows f, r, p, q, t;    // solution, residual, direction, its image, and one more
    DeviceFloat *degree;   // [own nodes]
    DeviceFloat *factors;  // [columns, columns] on the diagonal
    DeviceFloat *products; // [columns, columns]
    DeviceFloat *scratch;
    float *host;                // [columns, columns]
    double *rr, *last, *pq, *b; // [columns] inner products; b: the square of the right-hand side
} Harmonic;

static Rows *rows_at(Harmonic *h, int i) {
    Rows *all[] = {&h->f, &h->r, &h->p, &h->q, &h->t};
    return all[i];
}
enum { ROWS = 5 };

// ---- columns

// out[c] = sum over all ranks of a[i, c] b[i, c]. Collective.
static void column_products(Harmonic *h, double *out, Rows a, Rows b) {
    const Backend *device = h->run->parts->backend;
    size_t bytes = (size_t)(h->columns * h->columns) * sizeof(float);
    if (a.count > 0)
        device->dense_gradient(h->products, a, b, h->scratch, NULL);
    else
        device->zero(h->products, bytes);
    device->download(h->host, h->products, bytes);
    device->finish(NULL);
    for (int64_t c = 0; c < h->columns; c++)
        out[c] = (double)h->host[c * h->columns + c];
    comm_sum_double(h->run->parts->comm, out, (int)h->columns);
}

// t = d x, row by row.
static void weigh(Harmonic *h, Rows x) {
    const Backend *device = h->run->parts->backend;
    device->add_scaled(h->t, (Range){0, x.count}, (RowFactor){0}, x,
                       (RowFactor){.times = 1, .at = h->degree, .each = true}, x, NULL);
}

// out += x diag(top / bottom), or minus that; a column whose bottom is 0 stays.
static void add_columns(Harmonic *h, Rows out, Rows x, const double *top, const double *bottom,
                        double sign) {
    const Backend *device = h->run->parts->backend;
    size_t bytes = (size_t)(h->columns * h->columns) * sizeof(float);
    memset(h->host, 0, bytes);
    for (int64_t c = 0; c < h->columns; c++)
        h->host[c * h->columns + c] = bottom[c] > 0 ? (float)(sign * top[c] / bottom[c]) : 0;
    device->upload(h->factors, h->host, bytes);
    device->dense(out, (Range){0, out.count}, x, h->factors, NULL, true, NULL);
    device->finish(NULL); // the host's factors may change from here on
}

static void zero_training(Harmonic *h, Rows rows) {
    int64_t known = nodes_of(h->run->parts)->reach[0];
    h->run->parts->backend->zero(rows.at, rows_bytes(known, rows.columns));
}

// q = p - R p outside of the training nodes, where it is 0.
static void apply(Harmonic *h) {
    const Backend *device = h->run->parts->backend;
    node_operator_apply(&h->op, h->q, h->p);
    device->add_scaled(h->q, (Range){0, h->q.count}, (RowFactor){.plain = 1}, h->p,
                       (RowFactor){.plain = -1}, h->q, NULL);
    zero_training(h, h->q);
}

// ---- set-up

static void clamp(Harmonic *h) {
    const Shard *shard = h->run->parts->shard;
    FREED float *f = ALLOC(float, h->f.count * h->columns, "classes");
    FREED float *degree = ALLOC(float, h->f.count, "degrees");
    for (int64_t i = 0; i < h->f.count; i++) {
        degree[i] = (float)shard->set[NODES].degree_in[i];
        if (i < shard->set[NODES].reach[0] && shard->label[i] >= 0)
            f[i * h->columns + shard->label[i]] = 1;
    }
    h->run->parts->backend->upload_rows(h->f, f);
    h->run->parts->backend->upload(h->degree, degree, (size_t)h->f.count * sizeof(float));
    h->run->parts->backend->finish(NULL);
}

// Allocates what it has beside its operator, or plans it.
static void harmonic_alloc(Harmonic *h, const ProgramParts *parts, const Allocator *a) {
    int64_t rows = nodes_of(parts)->own, columns = h->columns;
    size_t square = memory_product(columns * columns, sizeof(float));
    int64_t scratch = parts->backend->dense_gradient_scratch(rows, columns, columns);
    double **sums[] = {&h->rr, &h->last, &h->pq, &h->b};
    for (int i = 0; i < ROWS; i++)
        *rows_at(h, i) = alloc_rows(a, rows, columns, "rows of the program");
    h->degree = alloc_device(a, (size_t)(rows + 1) * sizeof(float), "degrees");
    h->factors = alloc_device(a, square, "column factors");
    h->products = alloc_device(a, square, "column products");
    h->scratch = alloc_device(a, (size_t)scratch * sizeof(float), "scratch of products");
    h->host = alloc_host(a, square, "column factors");
    for (int i = 0; i < 4; i++)
        *sums[i] = alloc_host(a, (size_t)columns * sizeof(double), "inner products");
}

static bool harmonic_init(Harmonic *h, ProgramRun *run) {
    const ProgramParts *parts = run->parts;
    const Backend *device = parts->backend;
    *h = (Harmonic){.run = run, .columns = parts->shard->classes};
    const char *mean = shard_is_hypergraph(parts->shard) ? "hyper-row" : "mean";
    if (!node_operator_init(&h->op, parts, mean, h->columns, run->err))
        return false;
    harmonic_alloc(h, parts, &(Allocator){.backend = device, .taken = &h->op.taken});
    for (int i = 0; i < ROWS; i++)
        device->zero(rows_at(h, i)->at, rows_bytes(nodes_of(parts)->own, h->columns));
    clamp(h);
    return true;
}

static void harmonic_clear(Harmonic *h) { node_operator_clear(&h->op); }

// ---- conjugate gradients

// The residual of zeros: what the training nodes give to the others.
static void first_residual(Harmonic *h) {
    const Backend *device = h->run->parts->backend;
    node_operator_apply(&h->op, h->r, h->f);
    zero_training(h, h->r);
    device->copy(h->p.at, h->r.at, rows_bytes(h->r.count, h->columns));
    weigh(h, h->r);
    column_products(h, h->rr, h->r, h->t);
    column_products(h, h->b, h->t, h->t);
}

// |d r| / |b|, of the column where it is largest.
static double residual(Harmonic *h) {
    double most = 0;
    weigh(h, h->r);
    column_products(h, h->pq, h->t, h->t);
    for (int64_t c = 0; c < h->columns; c++)
        if (h->b[c] > 0)
            most = fmax(most, sqrt(h->pq[c] / h->b[c]));
    return most;
}

static void step(Harmonic *h) {
    const Backend *device = h->run->parts->backend;
    apply(h);
    weigh(h, h->q);
    column_products(h, h->pq, h->p, h->t);
    add_columns(h, h->f, h->p, h->rr, h->pq, 1);
    add_columns(h, h->r, h->q, h->rr, h->pq, -1);
    memcpy(h->last, h->rr, (size_t)h->columns * sizeof *h->last);
    weigh(h, h->r);
    column_products(h, h->rr, h->r, h->t);
    device->copy(h->t.at, h->r.at, rows_bytes(h->r.count, h->columns));
    add_columns(h, h->t, h->p, h->rr, h->last, 1);
    Rows direction = h->t;
    h->t = h->p;
    h->p = direction;
}

static double iterate(Harmonic *h) {
    ProgramRun *run = h->run;
    int64_t most = program_iterations(run, &program_harmonic);
    double left = 1;
    first_residual(h);
    for (int64_t i = 1; i <= most && left > run->parts->config->program.tolerance; i++) {
        step(h);
        left = residual(h);
        if (!program_goes_on(run, i, "residual", left))
            break;
    }
    return left;
}

static void run(ProgramRun *run) {
    CLEARED(harmonic_clear) Harmonic h = {0};
    if (!harmonic_init(&h, run))
        return;
    double since = clock_seconds(), left = iterate(&h);
    run->seconds = clock_seconds() - since;
    node_operator_report(run, &h.op);
    if (run->err->code == 0) {
        FREED uint8_t *reached = components_reached(run->components, run->parts);
        program_figure(run, "residual", left);
        if (!(left <= run->parts->config->program.tolerance))
            snprintf(run->result->warning, sizeof run->result->warning,
                     "harmonic ended after %ld iterations with a residual of %.3g", run->iterations,
                     left);
        scores_report(run, h.f, reached);
    }
}

static int64_t row_bytes(const ProgramParts *parts) {
    return parts->shard->classes * (int64_t)sizeof(float);
}

static void plan(ProgramPlan *plan) {
    const ProgramParts *parts = plan->parts;
    Harmonic h = {.columns = parts->shard->classes};
    plan_node_operator(plan, h.columns);
    harmonic_alloc(&h, parts, &plan->allocator);
    size_t row = (size_t)row_bytes(parts) + sizeof(float); // with degrees, or who is reached
    alloc_host(&plan->allocator, memory_product(nodes_of(parts)->own, row), "result");
}

const Program program_harmonic = {.name = "harmonic",
                                  .keys = "iterations tolerance codec",
                                  .labels = true,
                                  .undirected = true,
                                  .ignores_zeros = true,
                                  .iterations = 1000,
                                  .plan = plan,
                                  .row_bytes = row_bytes,
                                  .run = run};
