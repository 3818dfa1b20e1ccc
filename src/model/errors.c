// How far logits are from labels that are numbers: RMSE, MAE and R2, of every split.
//
// The one idea: the own rows are added up on the host, in double and in their order, so that
// nothing depends on threads or backend; sums of the ranks are then added. A regression has few
// columns, so its logits are a small download.
#include "errors.h"

typedef struct ErrorSums { // of a column, over the rows of a split
    double rows, absolute, square;
    double sum, spread; // of the numbers y, and of (y - their mean)^2
} ErrorSums;

void alloc_errors(Model *m, const Allocator *allocator) {
    size_t values = (size_t)(own_rows(m, 0) * classes_of(m));
    m->host_logits = alloc_host(allocator, values * sizeof(float), "logits on the host");
    m->errors =
        alloc_host(allocator, SPLITS * (size_t)classes_of(m) * sizeof *m->errors, "sums of errors");
}

static void add_row(ErrorSums *sums, const float *logits, const float *numbers, int64_t columns) {
    for (int64_t k = 0; k < columns; k++) {
        double miss = (double)logits[k] - (double)numbers[k];
        sums[k].rows++;
        sums[k].absolute += fabs(miss);
        sums[k].square += miss * miss;
        sums[k].sum += (double)numbers[k];
    }
}

static void add_spread(ErrorSums *sums, const float *numbers, int64_t columns) {
    for (int64_t k = 0; k < columns; k++) {
        double off = (double)numbers[k] - sums[k].sum / sums[k].rows;
        sums[k].spread += off * off;
    }
}

// Of the means of all ranks. Collective.
static void sum_spreads(Model *m) {
    const Shard *shard = m->parts.shard;
    int64_t columns = classes_of(m);
    FREED double *spread = ALLOC(double, SPLITS *columns, "sums of errors");
    for (int64_t r = 0; r < shard->set[NODES].own; r++)
        if (shard->split[r] != SPLIT_NONE)
            add_spread(m->errors + shard->split[r] * columns, shard->numbers + r * columns,
                       columns);
    for (int64_t i = 0; i < SPLITS * columns; i++)
        spread[i] = m->errors[i].spread;
    comm_sum_double(m->parts.comm, spread, (int)(SPLITS * columns));
    for (int64_t i = 0; i < SPLITS * columns; i++)
        m->errors[i].spread = spread[i];
}

void measure_errors(Model *m, Rows logits) {
    const Shard *shard = m->parts.shard;
    const Backend *b = m->parts.backend;
    int64_t columns = classes_of(m), doubles = SPLITS * columns * 5;
    memset(m->errors, 0, SPLITS * (size_t)columns * sizeof *m->errors);
    b->download_rows(m->host_logits, logits);
    b->finish(NULL);
    for (int64_t r = 0; r < logits.count; r++) {
        int split = shard->split[r];
        if (split == SPLIT_NONE)
            continue;
        m->counts[split * split_counts(columns)]++;
        add_row(m->errors + split * columns, m->host_logits + r * columns,
                shard->numbers + r * columns, columns);
    }
    comm_sum_double(m->parts.comm, (double *)m->errors, (int)doubles);
    sum_spreads(m);
}

static const ErrorSums *errors_of(const Evaluated *e) {
    return e->model->errors + e->split * e->classes;
}

// Over the rows and all their columns, as torch's mse_loss and scikit-learn's of all columns.
double score_rmse(const Evaluated *e) {
    double square = 0;
    for (int64_t k = 0; k < e->classes; k++)
        square += errors_of(e)[k].square;
    return sqrt(square / (double)(e->rows > 0 ? e->rows : 1) / (double)e->classes);
}

double score_mae(const Evaluated *e) {
    double absolute = 0;
    for (int64_t k = 0; k < e->classes; k++)
        absolute += errors_of(e)[k].absolute;
    return absolute / (double)(e->rows > 0 ? e->rows : 1) / (double)e->classes;
}

// The mean over the columns, as scikit-learn's r2_score; of a column that does not vary 1 if it is
// met, else 0.
double score_r2(const Evaluated *e) {
    double sum = 0;
    for (int64_t k = 0; k < e->classes; k++) {
        const ErrorSums *s = &errors_of(e)[k];
        sum += s->spread > 0 ? 1 - s->square / s->spread : s->square == 0 ? 1 : 0;
    }
    return sum / (double)e->classes;
}
