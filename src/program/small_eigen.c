// The symmetric eigenproblem of a small dense matrix, in double: Householder's tridiagonalisation,
// then QL with implicit shifts (Wilkinson and Reinsch, Handbook for Automatic Computation II,
// contributions 2 and 4). Of the vectors some entries may do; they are kept as columns of a matrix
// of few rows, which goes through the same reflections and rotations.
#include "spectral.h"
#include <float.h>

enum { TURNS = 64 }; // of QL for one eigenvalue; two or three are usual

typedef struct Eigen {
    double *a; // [n, n]
    int64_t n, rows;
    double *value, *beside; // [n] the diagonal of the tridiagonal matrix, and what is beside it
    double *part;           // [n, rows]
    double *v, *w;          // [n] a reflector and its image
    double *sum;            // [rows]
} Eigen;

// v and *scale such that 1 - scale v vT makes (the result, 0, 0, ...) of x.
static double reflector(double *v, double *scale, const double *x, int64_t n) {
    double rest = 0;
    for (int64_t i = 1; i < n; i++)
        rest += x[i] * x[i];
    memcpy(v, x, (size_t)n * sizeof *v);
    *scale = 0;
    if (rest < DBL_MIN / DBL_EPSILON)
        return x[0];
    double norm = sqrt(x[0] * x[0] + rest), first = x[0] > 0 ? -norm : norm;
    v[0] -= first;
    *scale = 2 / (v[0] * v[0] + rest);
    return first;
}

// The rows and columns from `from` on, between two reflections: a - v wT - w vT.
static void reflect_matrix(Eigen *e, int64_t from, double scale) {
    int64_t n = e->n, rest = n - from;
    double *a = e->a + from * n + from, *v = e->v, *w = e->w, dot = 0;
    memset(w, 0, (size_t)rest * sizeof *w);
    for (int64_t i = 0; i < rest; i++)
        for (int64_t j = 0; j < rest; j++)
            w[j] += scale * v[i] * a[i * n + j];
    for (int64_t i = 0; i < rest; i++)
        dot += v[i] * w[i];
    for (int64_t i = 0; i < rest; i++)
        w[i] -= scale / 2 * dot * v[i];
    for (int64_t i = 0; i < rest; i++)
        for (int64_t j = 0; j < rest; j++)
            a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
}

static void reflect_part(Eigen *e, int64_t from, double scale) {
    double *part = e->part + from * e->rows;
    memset(e->sum, 0, (size_t)e->rows * sizeof *e->sum);
    for (int64_t i = 0; i < e->n - from; i++)
        for (int64_t r = 0; r < e->rows; r++)
            e->sum[r] += scale * e->v[i] * part[i * e->rows + r];
    for (int64_t i = 0; i < e->n - from; i++)
        for (int64_t r = 0; r < e->rows; r++)
            part[i * e->rows + r] -= e->v[i] * e->sum[r];
}

static void make_tridiagonal(Eigen *e) {
    int64_t n = e->n;
    for (int64_t k = 0; k + 1 < n; k++) {
        double scale;
        e->beside[k] = reflector(e->v, &scale, e->a + k * n + k + 1, n - k - 1);
        if (scale != 0) {
            reflect_matrix(e, k + 1, scale);
            reflect_part(e, k + 1, scale);
        }
    }
    for (int64_t k = 0; k < n; k++)
        e->value[k] = e->a[k * n + k];
    e->beside[n - 1] = 0;
}

static void rotate_part(Eigen *e, int64_t i, double c, double s) {
    double *x = e->part + i * e->rows, *y = x + e->rows;
    for (int64_t r = 0; r < e->rows; r++) {
        double of_y = y[r];
        y[r] = s * x[r] + c * of_y;
        x[r] = c * x[r] - s * of_y;
    }
}

// A step of QL with an implicit shift on rows [first, last], none of whose neighbours are apart.
static void step(Eigen *e, int64_t first, int64_t last) {
    double *d = e->value, *beside = e->beside;
    double half = (d[first + 1] - d[first]) / (2 * beside[first]);
    double g = d[last] - d[first] + beside[first] / (half + copysign(hypot(half, 1), half));
    double c = 1, s = 1, p = 0;
    for (int64_t i = last - 1; i >= first; i--) {
        double f = s * beside[i], b = c * beside[i], r = hypot(f, g);
        beside[i + 1] = r;
        if (r == 0) {
            d[i + 1] -= p;
            beside[last] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate_part(e, i, c, s);
    }
    d[first] -= p;
    beside[first] = g;
    beside[last] = 0;
}

static void make_diagonal(Eigen *e) {
    double most = 0;
    for (int64_t i = 0; i < e->n; i++)
        most = fmax(most, fabs(e->value[i]) + fabs(e->beside[i]));
    for (int64_t first = 0; first < e->n; first++)
        for (int turn = 0;; turn++) {
            int64_t last = first;
            while (last + 1 < e->n && !(fabs(e->beside[last]) <= DBL_EPSILON * most))
                last++;
            if (last == first)
                break;
            CHECK(turn < TURNS, EXIT_BUG, "an eigenvalue of a matrix of %ld rows was not found",
                  e->n);
            step(e, first, last);
        }
}

static void swap(double *a, double *b, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        double of_a = a[i];
        a[i] = b[i];
        b[i] = of_a;
    }
}

static void sort(Eigen *e) {
    for (int64_t i = 0; i < e->n; i++) {
        int64_t best = i;
        for (int64_t j = i + 1; j < e->n; j++)
            best = e->value[j] > e->value[best] ? j : best;
        if (best != i) {
            swap(&e->value[i], &e->value[best], 1);
            swap(e->part + i * e->rows, e->part + best * e->rows, e->rows);
        }
    }
}

void small_eigen(double *a, int64_t n, double *value, double *part, int64_t first) {
    int64_t rows = n - first;
    Eigen e = {.a = a, .n = n, .rows = rows, .value = value, .part = part};
    if (n == 0)
        return;
    e.beside = ALLOC(double, n, "tridiagonal matrix");
    e.v = ALLOC(double, n, "reflectors");
    e.w = ALLOC(double, n, "reflectors");
    e.sum = ALLOC(double, rows, "reflectors");
    memset(part, 0, (size_t)(n * rows) * sizeof *part);
    for (int64_t i = first; i < n; i++)
        part[i * rows + i - first] = 1;
    make_tridiagonal(&e);
    make_diagonal(&e);
    sort(&e);
    MEMORY_FREE(e.sum, e.w, e.v, e.beside);
}
