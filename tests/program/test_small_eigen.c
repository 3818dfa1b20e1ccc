// If this failed, the eigenvalues or vectors of a small matrix would be wrong: of one that is
// diagonal already, falls into pieces, has equal values or values of very different sizes, or where
// some entries of the vectors are asked for only.
#include "../support.h"
#include "program/spectral.h"

typedef struct Matrix {
    const char *name;
    int n;
    double (*entry)(int i, int j); // i <= j
} Matrix;

static double random_entry(int i, int j) {
    return random_normal(random_key(3, RANDOM_GENERATE, 0, 0, 0), i, 0, j);
}
static double path(int i, int j) { return i == j ? 2 : -(j - i == 1); }
static double diagonal(int i, int j) { return i == j ? (i * 7) % 5 : 0; }
static double zero(int i, int j) { return 0 * i * j; }
static double ones(int i, int j) { return 1 + 0 * i * j; }
static double pieces(int i, int j) { return i / 6 == j / 6 ? 1 + (i + j) % 4 : 0; }
static double graded(int i, int j) { return pow(10, -(i + j) / 2.0) * (1 + (i * j) % 3); }

static const Matrix matrices[] = {
    {"one", 1, ones},   {"two", 2, random_entry},  {"random", 65, random_entry},
    {"path", 50, path}, {"diagonal", 9, diagonal}, {"zero", 7, zero},
    {"ones", 20, ones}, {"pieces", 31, pieces},    {"graded", 24, graded},
};

static double *fill(const Matrix *m) {
    double *a = TEST_ARRAY(double, m->n * m->n);
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->n; j++)
            a[i * m->n + j] = i < j ? m->entry(i, j) : m->entry(j, i);
    return a;
}

// |a x - value x| of each, relative to the norm of a, and the products of the vectors.
static void check(const Matrix *m, const double *a, const double *value, const double *vector) {
    int n = m->n;
    double norm = 0;
    for (int i = 0; i < n * n; i++)
        norm += a[i] * a[i];
    for (int j = 0; j < n; j++) {
        assert_true(j == 0 || value[j] <= value[j - 1]);
        for (int i = 0; i < n; i++) {
            double off = -value[j] * vector[j * n + i], product = 0;
            for (int k = 0; k < n; k++) {
                off += a[i * n + k] * vector[j * n + k];
                product += vector[i * n + k] * vector[j * n + k];
            }
            if (!(fabs(off) <= 1e-14 * n * sqrt(norm)))
                fail_msg("%s: pair %d is off by %g", m->name, j, off);
            assert_near(product, i == j, 1e-14 * n);
        }
    }
}

static void check_part(const Matrix *m, const double *value, const double *vector, int first) {
    int rows = m->n - first;
    double *a = fill(m), *some = TEST_ARRAY(double, m->n);
    double *part = TEST_ARRAY(double, m->n *rows);
    small_eigen(a, m->n, some, part, first);
    for (int j = 0; j < m->n; j++) {
        assert_true(some[j] == value[j]);
        for (int i = 0; i < rows; i++)
            assert_true(part[j * rows + i] == vector[j * m->n + first + i]);
    }
}

TEST(pairs_solve_the_problem) {
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++) {
        const Matrix *m = &matrices[k];
        double *a = fill(m), *gone = fill(m), *value = TEST_ARRAY(double, m->n);
        double *vector = TEST_ARRAY(double, m->n * m->n);
        small_eigen(gone, m->n, value, vector, 0);
        check(m, a, value, vector);
        check_part(m, value, vector, m->n / 2);
    }
}

TEST(values_are_those_of_the_formula) {
    enum { N = 50 };
    double *a = fill(&(Matrix){"path", N, path}), value[N], vector[N];
    small_eigen(a, N, value, vector, N - 1);
    for (int j = 0; j < N; j++)
        assert_near(value[j], 2 - 2 * cos(acos(-1) * (N - j) / (N + 1)), 1e-13);
}
