// run.precision=auto: the fastest of fp32, bf16 and bf16x3 whose products are as exact as the user
// asks.
//
// What is measured are products of the model without its graph: some of a rank's rows of features
// go through the matrices of the first weights, layer after layer, negative values between them as
// 0. Each matrix has its three products (forward and both gradients) timed, and its forward product
// compared with sums in double. The slowest rank's time and the largest error of all ranks count,
// so that all ranks take the same.
#include "internal.h"

// NUMBERS bounds the rows where they are wide; errors are those of the first PROBED rows.
enum { ROWS_MOST = 4096, NUMBERS = 4 << 20, PROBED = 32, TURNS = 5 };

const char *const precision_names[PRECISIONS] = {"fp32", "bf16", "bf16x3"};

typedef struct Measuring {
    const Backend *backend;
    BackendStart how;
    bool starts[PRECISIONS]; // on all ranks
    ModelShape shape;
    float *weights;
    float *in, *out; // [rows, ...] of the matrix at hand
    int64_t rows;
    PrecisionChoice *choice;
} Measuring;

// ---- the rows that a matrix multiplies

static void take_features(Measuring *m, const Shard *shard) {
    int64_t columns = shard->features;
    if (!shard->is_sparse) {
        memcpy(m->in, shard->x, (size_t)(m->rows * columns) * sizeof(float));
        return;
    }
    Csr first = shard->sparse;
    first.rows = m->rows;
    memset(m->in, 0, (size_t)(m->rows * columns) * sizeof(float));
    sparse_put_rows(&first, columns, m->in);
}

// The products of one layer are what the next one multiplies; where that is wider, they repeat.
static void take_products(Measuring *m, int64_t columns, int64_t wanted) {
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < wanted; c++) {
            float value = m->out[r * columns + c % columns];
            m->in[r * wanted + c] = value > 0 ? value : 0;
        }
}

// ---- the products of one matrix

typedef struct Products {
    const Backend *k;
    Rows in, out;
    DeviceFloat *w, *dw, *scratch;
    Taken *taken; // all of it
} Products;

static Products products_new(const Measuring *m, const Parameter *q, Precision precision) {
    const Backend *k = m->backend;
    Taken *taken = NULL;
    const Allocator rows = {
        .backend = k, .taken = &taken, .rows = precision == PRECISION_BF16 ? ROWS_BF16 : ROWS_FP32};
    const Allocator logits = {.backend = k, .taken = &taken};
    size_t bytes = memory_product(q->rows * q->columns, sizeof(float));
    int64_t scratch = k->dense_gradient_scratch(m->rows, q->rows, q->columns);
    const char *what = "measuring precision";
    Products p = {.k = k,
                  .in = alloc_rows(&rows, m->rows, q->rows, what),
                  .out = alloc_rows(q->layer + 1 < m->shape.layers ? &rows : &logits, m->rows,
                                    q->columns, what),
                  .w = alloc_device(&rows, bytes, what),
                  .dw = alloc_device(&rows, bytes, what),
                  .scratch = alloc_device(&rows, (size_t)scratch * sizeof(float), what)};
    p.taken = taken;
    k->upload_rows(p.in, m->in);
    k->upload(p.w, m->weights + q->begin, bytes);
    return p;
}

static double seconds_of(const Products *p) {
    Range all = {0, p->in.count};
    double since = clock_seconds();
    p->k->dense(p->out, all, p->in, p->w, NULL, false, NULL);
    p->k->dense_gradient(p->dw, p->in, p->out, p->scratch, NULL);
    p->k->dense_transposed(p->in, all, p->out, p->w, false, NULL);
    p->k->finish(NULL);
    return clock_seconds() - since;
}

// The norm of what differs from sums in double, as a share of their norm.
static double error_of(const Measuring *m, const Parameter *q) {
    const float *w = m->weights + q->begin;
    int64_t rows = m->rows < PROBED ? m->rows : PROBED;
    double wrong = 0, whole = 0;
    FREED double *sum = ALLOC(double, q->columns, "measuring precision");
    for (int64_t r = 0; r < rows; r++) {
        memset(sum, 0, (size_t)q->columns * sizeof *sum);
        for (int64_t i = 0; i < q->rows; i++)
            for (int64_t c = 0; c < q->columns; c++)
                sum[c] += (double)m->in[r * q->rows + i] * (double)w[i * q->columns + c];
        for (int64_t c = 0; c < q->columns; c++) {
            double off = (double)m->out[r * q->columns + c] - sum[c];
            wrong += off * off;
            whole += sum[c] * sum[c];
        }
    }
    double error = wrong == 0 ? 0 : sqrt(wrong / whole);
    return isfinite(error) ? error : INFINITY;
}

// The forward product is read before the gradients overwrite its input. A matrix of sparse features
// multiplies in fp32 whatever the precision: it only gives the next layer its rows.
static void measure(Measuring *m, const Parameter *q, Precision precision) {
    Range all = {0, m->rows};
    bool counts = !(m->shape.sparse && q->layer == m->shape.parameter[0].layer);
    double least = INFINITY;
    m->how.precision = precision_names[precision];
    if (!m->starts[precision] || !m->backend->start(&m->how, &(Error){0}))
        return;
    Products p = products_new(m, q, precision);
    m->backend->dense(p.out, all, p.in, p.w, NULL, false, NULL);
    m->backend->download_rows(m->out, p.out);
    m->backend->finish(NULL);
    for (int turn = 0; turn < TURNS && counts; turn++)
        least = fmin(least, seconds_of(&p));
    taken_free(&p.taken);
    if (!counts)
        return;
    m->choice->seconds[precision] += least;
    m->choice->error[precision] = fmax(m->choice->error[precision], error_of(m, q));
}

// fp32 comes last: its products are what the next layer reads.
static void measure_layers(Measuring *m, const Shard *shard) {
    const ModelShape *shape = &m->shape;
    const Parameter *before = NULL;
    take_features(m, shard);
    for (int i = 0; i < shape->parameter_spans; i++) {
        const Parameter *q = &shape->parameter[i];
        if (!q->matrix)
            continue;
        if (before != NULL && (q->layer != before->layer || q->rows != before->rows))
            take_products(m, before->columns, q->rows);
        measure(m, q, PRECISION_BF16);
        measure(m, q, PRECISION_BF16X3);
        measure(m, q, PRECISION_FP32);
        before = q;
    }
}

// ---- what all ranks take

// bf16x3 elsewhere would start, with vectors by name, but is slower than fp32.
static bool may_be_faster(const BackendStart *how, Precision precision) {
    return precision != PRECISION_BF16X3 ||
           (text_lists("auto amx", how->vectors) && text_lists("auto tiles", how->sums));
}

static void find_precisions(Measuring *m, const Comm *comm) {
    const BackendStart asked = m->how;
    for (int type = 0; type < PRECISIONS; type++) {
        m->how.precision = precision_names[type];
        bool starts = may_be_faster(&asked, type) && m->backend->start(&m->how, &(Error){0});
        m->starts[type] = comm_max_double(comm, !starts) == 0 &&
                          agree_on_sums(m->backend, &m->how, comm, &(Error){0});
    }
}

static int64_t widest(const ModelShape *shape, int64_t features) {
    int64_t most = features;
    for (int i = 0; i < shape->parameter_spans; i++) {
        const Parameter *q = &shape->parameter[i];
        most = q->rows > most ? q->rows : most;
        most = q->columns > most ? q->columns : most;
    }
    return most;
}

static void measure_all(Measuring *m, const Shard *shard, uint64_t seed) {
    int64_t columns = widest(&m->shape, shard->features), own = shard->set[NODES].own;
    int64_t fit = NUMBERS / columns > PROBED ? NUMBERS / columns : PROBED;
    fit = fit < ROWS_MOST ? fit : ROWS_MOST;
    m->rows = own < fit ? own : fit;
    if (m->rows == 0)
        return;
    m->in = ALLOC(float, m->rows *columns, "measuring precision");
    m->out = ALLOC(float, m->rows *columns, "measuring precision");
    m->weights = ALLOC(float, m->shape.state_count, "measuring precision");
    model_initial(&m->shape, seed, m->weights);
    measure_layers(m, shard);
    MEMORY_FREE(m->weights, m->out, m->in);
}

static bool refuse(const PrecisionChoice *choice, double bound, Error *err) {
    char errors[128] = "";
    for (int p = 0; p < PRECISIONS; p++)
        if (choice->seconds[p] >= 0)
            text_add(errors, sizeof errors, ", ", "%.2g in %s", choice->error[p],
                     precision_names[p]);
    return error_config(
        err,
        "run.precision_error %g: no precision is that exact: products of this model have a "
        "relative error of %s; allow more, or set run.precision=fp32",
        bound, errors);
}

bool precision_take(PrecisionChoice *choice, double bound, Error *err) {
    int taken = -1;
    choice->bound = bound;
    for (int type = 0; type < PRECISIONS; type++)
        if (choice->seconds[type] >= 0 && choice->error[type] <= bound &&
            (taken < 0 || choice->seconds[type] < choice->seconds[taken]))
            taken = type;
    if (taken < 0)
        return refuse(choice, bound, err);
    snprintf(choice->taken, sizeof choice->taken, "%s", precision_names[taken]);
    return true;
}

bool precision_measure(PrecisionChoice *choice, const Config *config, const Shard *shard,
                       const Comm *comm, Error *err) {
    FREED Measuring *m = ALLOC(Measuring, 1, "measuring precision"); // too large for the stack
    FREED Config *plain = ALLOC(Config, 1, "measuring precision");
    *plain = *config;
    snprintf(plain->run.precision, sizeof plain->run.precision, "fp32");
    *choice = (PrecisionChoice){.measured = true};
    *m = (Measuring){.backend = backend_of(plain, comm, err), .choice = choice};
    bool ok = err->code == 0 && model_shape_of_shard(&m->shape, plain, shard, err);
    ok = comm_agree(comm, err) && ok;
    if (ok) {
        m->how = backend_start_of(plain, comm);
        threads_set((int)config->run.threads, comm->node_size);
        find_precisions(m, comm);
        measure_all(m, shard, (uint64_t)config->run.seed);
        for (int type = 0; type < PRECISIONS; type++) {
            double seconds = comm_max_double(comm, choice->seconds[type]);
            choice->seconds[type] = m->starts[type] ? seconds : -1;
            choice->error[type] = comm_max_double(comm, choice->error[type]);
        }
    }
    return ok;
}
