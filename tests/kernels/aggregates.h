// Graphs and rows for the tests of the aggregate, and its sums by plain loops.
#pragma once

#include "kernels.h"

static const char *const vectors[] = {"plain", "avx2", "avx512"};
static const char *const panels[] = {"rows", "128", "64", "32", "16", "auto"};
enum { VECTORS = 3, PANELS = 6 };

static inline bool vectors_start(const char *name) {
    return backend_cpu.start(&(BackendStart){.vectors = name}, &(Error){0});
}

// ---- a graph and its numbers

// In [-0.5, 0.5), from a hash of where it stands (lowbias32, C. Wellons).
static inline float number(int64_t row, int64_t column, uint32_t what) {
    uint32_t x = (uint32_t)row * 0x9e3779b9U ^ (uint32_t)column * 0x85ebca6bU ^ what << 28;
    x = (x ^ x >> 16) * 0x7feb352dU;
    x = (x ^ x >> 15) * 0x846ca68bU;
    return (float)((x ^ x >> 16) >> 8) * 0x1p-24F - 0.5F;
}

// degree[i] ascending columns, spread over `sources`.
static inline Csr csr_make(int64_t rows, const int64_t *degree, int64_t sources, bool weighted) {
    Csr csr = {.rows = rows, .offset = TEST_ARRAY(int64_t, rows + 1)};
    for (int64_t i = 0; i < rows; i++)
        csr.offset[i + 1] = csr.offset[i] + degree[i];
    csr.column = TEST_ARRAY(int32_t, csr.offset[rows]);
    for (int64_t i = 0; i < rows; i++) {
        int64_t e = csr.offset[i], need = degree[i];
        for (int64_t j = 0; j < sources && need > 0; j++) // selection sampling: need of sources - j
            if ((number(i, j, 1) + 0.5) * (double)(sources - j) < (double)need) {
                csr.column[e++] = (int32_t)j;
                need--;
            }
        assert_int_equal(e, csr.offset[i + 1]);
    }
    if (weighted) {
        csr.weight = TEST_ARRAY(float, csr.offset[rows]);
        for (int64_t e = 0; e < csr.offset[rows]; e++)
            csr.weight[e] = number(e, 0, 2);
    }
    return csr;
}

static inline Rows rows_make(int64_t count, int64_t columns, uint32_t what) {
    Rows x = test_rows(count, columns);
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < columns; c++)
            floats(x)[i * x.stride + c] = number(i, c, what);
    return x;
}

static inline float *factors_make(int64_t count, uint32_t what) {
    float *factor = TEST_ARRAY(float, count);
    for (int64_t i = 0; i < count; i++)
        factor[i] = number(i, 0, what) + 1;
    return factor;
}

typedef struct Problem {
    Csr csr;
    Rows x;
    const float *left, *right;
    bool self;
} Problem;

// The promise of backend.h, written down: the same additions in the same order.
static inline void plain_reference(Rows out, const Problem *p) {
    for (int64_t i = 0; i < p->csr.rows; i++)
        for (int64_t c = 0; c < out.columns; c++) {
            float sum = 0;
            if (p->self)
                sum = (p->right != NULL ? p->right[i] : 1) * floats(p->x)[i * p->x.stride + c];
            for (int64_t e = p->csr.offset[i]; e < p->csr.offset[i + 1]; e++) {
                int64_t j = p->csr.column[e];
                float term =
                    (p->right != NULL ? p->right[j] : 1) * floats(p->x)[j * p->x.stride + c];
                sum += (p->csr.weight != NULL ? p->csr.weight[e] : 1) * term;
            }
            floats(out)[i * out.stride + c] = (p->left != NULL ? p->left[i] : 1) * sum;
        }
}

// Every element of out against the formula in double. The error of n additions and 3 products in
// any order is below (n + 4) * 2^-24 times the sum of the absolute terms.
static inline void assert_near_oracle(Rows out, const Problem *p) {
    for (int64_t i = 0; i < p->csr.rows; i++)
        for (int64_t c = 0; c < out.columns; c++) {
            double sum = 0, size = 0, left = p->left != NULL ? p->left[i] : 1;
            int64_t begin = p->csr.offset[i], end = p->csr.offset[i + 1];
            for (int64_t e = begin - (p->self ? 1 : 0); e < end; e++) {
                int64_t j = e < begin ? i : p->csr.column[e];
                double term = (double)floats(p->x)[j * p->x.stride + c];
                term *= p->right != NULL ? (double)p->right[j] : 1;
                term *= e >= begin && p->csr.weight != NULL ? (double)p->csr.weight[e] : 1;
                sum += term;
                size += fabs(term);
            }
            double bound = (double)(end - begin + 4) * ldexp(1, -24) * size * fabs(left);
            assert_true(fabs((double)floats(out)[i * out.stride + c] - left * sum) <= bound);
        }
}

static inline void assert_same_bits(Rows a, Rows b, const char *what) {
    if (!rows_equal(a, b))
        fail_msg("other bits: %s", what);
}

static inline Aggregate *aggregate_ready(const Problem *p, const char *width, Rows out) {
    Aggregate *aggregate =
        backend_cpu.aggregate_new(&p->csr, p->x.count, p->x.columns, ROWS_FP32, width);
    if (strcmp(width, "auto") == 0) { // tuning may overwrite its rows
        Rows scratch = test_rows(p->x.count, p->x.columns);
        backend_cpu.aggregate_tune(aggregate, out, scratch);
    }
    backend_cpu.aggregate_prepare(aggregate, p->x, on_device(p->right), NULL);
    return aggregate;
}

static inline void run(Rows out, const Problem *p, const char *width) {
    Aggregate *aggregate = aggregate_ready(p, width, out);
    rows_dirty(out);
    backend_cpu.aggregate_rows(aggregate, out, (Range){0, p->csr.rows}, p->self, on_device(p->left),
                               NULL);
    backend_cpu.aggregate_free(aggregate);
}

enum { ROWS = 24, SOURCES = 1100 };
static const int64_t degrees[ROWS] = {0, 1, 1000, 3, 0,  0, 17, 2, 5, 40, 1, 8,
                                      9, 0, 70,   4, 11, 6, 30, 1, 7, 12, 0, 0};

// Problem number `combination` of 16: weights, left, right, self.
static inline Problem problem_make(int combination, int64_t columns) {
    return (Problem){.csr = csr_make(ROWS, degrees, SOURCES, combination & 1),
                     .x = rows_make(SOURCES, columns, 3),
                     .left = combination & 2 ? factors_make(ROWS, 4) : NULL,
                     .right = combination & 4 ? factors_make(SOURCES, 5) : NULL,
                     .self = combination & 8};
}

// Enough rows for several blocks of several threads, and for aggregate_tune to measure.
enum { MANY = 3000 };
static inline Problem large_problem(int64_t columns) {
    int64_t *degree = TEST_ARRAY(int64_t, MANY);
    for (int64_t i = 0; i < MANY; i++)
        degree[i] = i % 5 * (i % 7);
    Problem p = {.csr = csr_make(MANY, degree, MANY, true),
                 .x = rows_make(MANY, columns, 3),
                 .left = factors_make(MANY, 4),
                 .right = factors_make(MANY, 5),
                 .self = true};
    return p;
}
