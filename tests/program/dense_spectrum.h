// Theta as a dense matrix in double, by its definition, and its eigenvalues by Jacobi's rotations.
#pragma once

#include "../oracle.h"

static double dense_arity(const OracleGraph *g, int h) {
    double arity = 0;
    for (int p = 0; p < g->n; p++)
        arity += g->source[p * g->m + h];
    return arity;
}

static double dense_weight(const OracleGraph *g, int v, int u) {
    double sum = g->m == 0 ? g->a[v * g->n + u] : 0;
    for (int h = 0; h < g->m; h++)
        if (g->target[v * g->m + h] != 0 && g->source[u * g->m + h] != 0)
            sum += g->w[h] / dense_arity(g, h);
    return sum;
}

// D^-1/2 A D^-1/2, or D_v^-1/2 H W D_e^-1 HT D_v^-1/2, whose rows sum up to the degrees, too.
// degree: [n].
static double *dense_theta(const OracleGraph *g, double *degree) {
    double *theta = oracle_matrix(g->n, g->n);
    for (int v = 0; v < g->n; v++) {
        degree[v] = 0;
        for (int u = 0; u < g->n; u++) {
            theta[v * g->n + u] = dense_weight(g, v, u);
            degree[v] += theta[v * g->n + u];
        }
    }
    for (int v = 0; v < g->n; v++)
        for (int u = 0; u < g->n; u++)
            if (theta[v * g->n + u] != 0)
                theta[v * g->n + u] /= sqrt(degree[v] * degree[u]);
    return theta;
}

static void dense_rotate(double *a, int n, int p, int q) {
    double half = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = copysign(1, half) / (fabs(half) + sqrt(half * half + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
}

static int dense_descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// value [n], descending, of a symmetric matrix, which is overwritten.
static void dense_eigenvalues(double *value, double *a, int n) {
    for (double off = 1; off > 1e-20;) {
        off = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                off += a[p * n + q] * a[p * n + q];
                if (fabs(a[p * n + q]) > 1e-14)
                    dense_rotate(a, n, p, q);
            }
    }
    for (int p = 0; p < n; p++)
        value[p] = a[p * n + p];
    qsort(value, (size_t)n, sizeof *value, dense_descending);
}
