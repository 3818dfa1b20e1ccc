// A program of the tests: two steps of a random walk. The mass of a node goes to those that it
// reads, in equal parts: the transpose of the mean.
#include "applied.h"

static Rows random_walk(const Applied *a, const char *schedule) {
    Rows x = start_rows(a), y = zeroed_rows(x.count, WIDTH);
    applied_run(a, &operator_aggregate, schedule, x, y);
    applied_run(a, &operator_aggregate, schedule, y, x);
    return x;
}

// The same with a dense matrix; the caller frees it.
static double *random_walk_dense(const Applied *a) {
    int n = a->dense.n;
    double *mean = oracle_aggregation(&a->dense, "mean");
    double *x = oracle_matrix(n, WIDTH), *y = oracle_matrix(n, WIDTH);
    double *z = oracle_matrix(n, WIDTH);
    for (int i = 0; i < n * WIDTH; i++)
        x[i] = start_value(i / WIDTH, i % WIDTH);
    oracle_product(y, mean, true, x, false, n, n, WIDTH);
    oracle_product(z, mean, true, y, false, n, n, WIDTH);
    return z;
}
