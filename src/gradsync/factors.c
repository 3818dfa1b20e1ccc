// The products of a low-rank sum, and its orthonormal columns. M [rows, columns] is a span of a
// gradient, P [rows, rank] and Q [columns, rank] are its factors, all of them tight. Every number
// is added up in double, one summand after the other, so that neither threads nor lanes change a
// bit.

#include "internal.h"

// out[k] += x y[k]
static void add_scaled(double *out, double x, const float *y, int rank) {
    for (int k = 0; k < rank; k++)
        out[k] += x * (double)y[k];
}

static void round_all(float *out, const double *from, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)from[i];
}

// P[i] = sum over j of M[i,j] Q[j]
void factors_left(float *p, const float *m, const float *q, LowRankSpan w, int rank) {
    for (int64_t i = 0; i < w.rows; i++) {
        double sum[RANK_MOST] = {0};
        for (int64_t j = 0; j < w.columns; j++)
            add_scaled(sum, (double)m[i * w.columns + j], q + j * rank, rank);
        round_all(p + i * rank, sum, rank);
    }
}

// Q[j] = sum over i of M[i,j] P[i]
void factors_right(float *q, const float *m, const float *p, LowRankSpan w, int rank,
                   double *scratch) {
    memset(scratch, 0, (size_t)(w.columns * rank) * sizeof *scratch);
    for (int64_t i = 0; i < w.rows; i++)
        for (int64_t j = 0; j < w.columns; j++)
            add_scaled(scratch + j * rank, (double)m[i * w.columns + j], p + i * rank, rank);
    round_all(q, scratch, w.columns * rank);
}

static double dot(const float *p, const float *q, int rank) {
    double sum = 0;
    for (int k = 0; k < rank; k++)
        sum += (double)p[k] * (double)q[k];
    return sum;
}

void factors_product(float *m, const float *p, const float *q, LowRankSpan w, int rank) {
    for (int64_t i = 0; i < w.rows; i++)
        for (int64_t j = 0; j < w.columns; j++)
            m[i * w.columns + j] = (float)dot(p + i * rank, q + j * rank, rank);
}

void factors_rest(float *e, const float *m, const float *p, const float *q, LowRankSpan w,
                  int rank) {
    for (int64_t i = 0; i < w.rows; i++)
        for (int64_t j = 0; j < w.columns; j++) {
            int64_t at = i * w.columns + j;
            e[at] = (float)((double)m[at] - dot(p + i * rank, q + j * rank, rank));
        }
}

// ---- orthonormal columns: modified Gram-Schmidt, twice

// Of two columns of a matrix whose rows have `rank` numbers.
static double dot_columns(const double *a, const double *b, int64_t rows, int rank) {
    double sum = 0;
    for (int64_t i = 0; i < rows; i++)
        sum += a[i * rank] * b[i * rank];
    return sum;
}

// Column k without what lies in the columns before it.
static void project_out(double *p, int64_t rows, int rank, int k) {
    for (int j = 0; j < k; j++) {
        double part = dot_columns(p + j, p + k, rows, rank);
        for (int64_t i = 0; i < rows; i++)
            p[i * rank + k] -= part * p[i * rank + j];
    }
}

// A column of which next to nothing is left says nothing, and becomes zero.
static bool make_unit(double *p, int64_t rows, int rank, int k) {
    double before = sqrt(dot_columns(p + k, p + k, rows, rank));
    project_out(p, rows, rank, k);
    project_out(p, rows, rank, k);
    double left = sqrt(dot_columns(p + k, p + k, rows, rank));
    double factor = left > ldexp(before, -40) ? 1 / left : 0;
    for (int64_t i = 0; i < rows; i++)
        p[i * rank + k] *= factor;
    return isfinite(before);
}

bool factors_orthonormal(float *p, int64_t rows, int rank, double *scratch) {
    bool finite = true;
    for (int64_t i = 0; i < rows * rank; i++)
        scratch[i] = (double)p[i];
    for (int k = 0; k < rank; k++)
        finite = make_unit(scratch, rows, rank, k) && finite;
    round_all(p, scratch, rows * rank);
    return finite;
}

static bool is_zero(const float *p, int64_t rows, int rank, int k) {
    for (int64_t i = 0; i < rows; i++)
        if (p[i * rank + k] != 0)
            return false;
    return true;
}

void factors_keep(float *kept, const float *q, const float *p, LowRankSpan w, int rank) {
    for (int k = 0; k < rank; k++)
        if (!is_zero(p, w.rows, rank, k))
            for (int64_t j = 0; j < w.columns; j++)
                kept[j * rank + k] = q[j * rank + k];
}
