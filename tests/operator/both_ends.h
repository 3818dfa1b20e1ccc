// A method of the tests that reads both ends of an edge: y[i] = sum over j of w[i, j] |x[j] -
// x[i]|. It keeps what it needs on the host, so it works with the memory of any device.
#include "applied.h"

static struct { float *in, *out; } both_ends_host; // of the call that runs

static void both_ends_prepare(const OperatorStep *step, const Poll *poll) {
    (void)poll;
    both_ends_host.in = host_rows(step->in);
    both_ends_host.out = TEST_ARRAY(float, step->out.count *WIDTH);
}

// Adds the edges of row k of the Csr whose columns are in [begin, end).
static void both_ends_row(const Csr *csr, int64_t k, int64_t target, const float *from,
                          int64_t begin, int64_t end) {
    for (int64_t e = csr->offset[k]; e < csr->offset[k + 1]; e++)
        for (int c = 0; csr->column[e] >= begin && csr->column[e] < end && c < WIDTH; c++)
            both_ends_host.out[target * WIDTH + c] +=
                (csr->weight != NULL ? csr->weight[e] : 1) *
                fabsf(from[csr->column[e] * WIDTH + c] - both_ends_host.in[target * WIDTH + c]);
}

static void both_ends_own(const OperatorStep *step, Range rows, const Poll *poll) {
    const Pattern *p = step->op->block.pattern;
    (void)poll;
    for (int64_t i = rows.begin; i < rows.end; i++) {
        memset(both_ends_host.out + i * WIDTH, 0, WIDTH * sizeof(float));
        both_ends_row(&p->own, i, i, both_ends_host.in, 0, p->plan.sources);
    }
}

static void both_ends_halo(const OperatorStep *step, Rows halo, int begin, int end, bool last,
                           const Poll *poll) {
    const Pattern *p = step->op->block.pattern;
    const int64_t *offset = p->plan.receive_offset;
    float *from = begin < end ? host_rows(halo) : NULL;
    (void)poll;
    for (int64_t k = 0; from != NULL && k < p->halo.rows; k++)
        both_ends_row(&p->halo, k, p->halo_row[k], from, offset[begin], offset[end]);
    if (!last)
        return;
    device()->upload_rows(step->out, both_ends_host.out);
    device()->finish(NULL);
}

static const Operator both_ends = {
    .prepare = both_ends_prepare, .own = both_ends_own, .halo = both_ends_halo};

static Rows both_ends_run(const Applied *a, const char *schedule) {
    Rows x = start_rows(a), y = zeroed_rows(x.count, WIDTH);
    applied_run(a, &both_ends, schedule, x, y);
    return y;
}

static double *both_ends_dense(const Applied *a) {
    int n = a->dense.n;
    double *y = oracle_matrix(n, WIDTH);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int c = 0; c < WIDTH; c++)
                y[i * WIDTH + c] +=
                    a->dense.a[i * n + j] * fabs(start_value(j, c) - start_value(i, c));
    return y;
}
