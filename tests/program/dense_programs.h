// What programs must find, from dense matrices in double, written from docs/programs.md without
// looking at the product. A graph has the messages a[v, u] of u to v; a hypergraph its incidence
// matrices.
#pragma once

#include "../oracle.h"
#include "../support.h"

static bool dense_joins(const OracleGraph *g, int v, int u, bool zeros) {
    if (g->m == 0)
        return g->a[v * g->n + u] != 0 || g->a[u * g->n + v] != 0;
    for (int h = 0; h < g->m; h++) {
        bool has_v = g->source[v * g->m + h] != 0 || g->target[v * g->m + h] != 0;
        bool has_u = g->source[u * g->m + h] != 0 || g->target[u * g->m + h] != 0;
        if (has_v && has_u && (zeros || g->w[h] != 0))
            return true;
    }
    return false;
}

// The smallest id that each node reaches.
static int64_t *dense_components(const OracleGraph *g) {
    int64_t *label = TEST_ARRAY(int64_t, g->n + 1);
    for (int i = 0; i < g->n; i++)
        label[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int v = 0; v < g->n; v++)
            for (int u = 0; u < g->n; u++)
                if (label[u] < label[v] && dense_joins(g, v, u, true)) {
                    label[v] = label[u];
                    changed = true;
                }
    }
    return label;
}

// ---- linear programs: the matrix from nodes to nodes

// Pins of hyperedge h on one side.
static double dense_pins(const OracleGraph *g, const double *side, int h) {
    double pins = 0;
    for (int v = 0; v < g->n; v++)
        pins += side[v * g->m + h];
    return pins;
}

// [v, u]: what u gives to v, of all that u gives: A D_out^-1, or sum over h of (w / targets) times
// source / d_out. Or, where v `receives`, of all that it takes: means of neighbours, or of
// hyperedges of means of pins. Rows and columns without any are 0.
static double *dense_shares(const OracleGraph *g, bool receives) {
    int n = g->n, m = g->m;
    const double *own = receives ? g->target : g->source;
    const double *others = receives ? g->source : g->target;
    double *shares = oracle_matrix(n, n);
    for (int i = 0; i < n; i++) {
        double total = 0;
        for (int j = 0; m == 0 && j < n; j++)
            total += receives ? g->a[i * n + j] : g->a[j * n + i];
        for (int h = 0; h < m; h++)
            total += g->w[h] * own[i * m + h];
        for (int j = 0; j < n && total > 0; j++) {
            int at = receives ? i * n + j : j * n + i;
            double sum = m == 0 ? g->a[at] : 0;
            for (int h = 0; h < m; h++)
                if (own[i * m + h] != 0 && others[j * m + h] != 0)
                    sum += g->w[h] / dense_pins(g, others, h);
            shares[at] = sum / total;
        }
    }
    return shares;
}

// [n, classes]: 1 / (number of such nodes) on the training nodes of a class.
static double *dense_start(const OracleGraph *g, int classes) {
    double *start = oracle_matrix(g->n, classes);
    for (int c = 0; c < classes; c++) {
        int count = 0;
        for (int i = 0; i < g->n; i++)
            count += g->split[i] == SPLIT_TRAIN && g->label[i] == c;
        for (int i = 0; i < g->n; i++)
            if (g->split[i] == SPLIT_TRAIN && g->label[i] == c)
                start[i * classes + c] = 1.0 / count;
    }
    return start;
}

static double *dense_random_walk(const OracleGraph *g, int classes, double restart,
                                 int iterations) {
    int n = g->n;
    double *walk = dense_shares(g, false), *start = dense_start(g, classes);
    double *at = dense_start(g, classes);
    for (int k = 0; k < iterations; k++) {
        double *next = oracle_matrix(n, classes);
        oracle_product(next, walk, false, at, false, n, n, classes);
        for (int c = 0; c < classes; c++) {
            double lost = 0; // on nodes without a way out, and in hyperedges without targets
            for (int i = 0; i < n; i++)
                lost += at[i * classes + c] - next[i * classes + c];
            for (int i = 0; i < n; i++)
                next[i * classes + c] =
                    restart * start[i * classes + c] +
                    (1 - restart) * (next[i * classes + c] + lost * start[i * classes + c]);
        }
        at = next;
    }
    return at;
}

// Solves x = M x on the nodes that are not in training, with the classes clamped on the others:
// Gauss with pivots; nodes of components without a training node stay 0.
static double *dense_harmonic(const OracleGraph *g, int classes) {
    int n = g->n, width = n + classes;
    double *mean = dense_shares(g, true), *rows = oracle_matrix(n, width),
           *f = oracle_matrix(n, classes);
    for (int i = 0; i < n; i++) {
        bool known = g->split[i] == SPLIT_TRAIN;
        for (int j = 0; j < n; j++)
            rows[i * width + j] = (i == j) - (known ? 0 : mean[i * n + j]);
        if (known && g->label[i] >= 0)
            rows[i * width + n + g->label[i]] = 1;
    }
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int i = c; i < n; i++)
            best = fabs(rows[i * width + c]) > fabs(rows[best * width + c]) ? i : best;
        if (fabs(rows[best * width + c]) < 1e-12)
            continue; // a component that nobody reaches
        for (int j = 0; j < width; j++) {
            double swap = rows[c * width + j];
            rows[c * width + j] = rows[best * width + j];
            rows[best * width + j] = swap;
        }
        for (int i = 0; i < n; i++) {
            double factor = i != c ? rows[i * width + c] / rows[c * width + c] : 0;
            for (int j = c; j < width && factor != 0; j++)
                rows[i * width + j] -= factor * rows[c * width + j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int c = 0; c < classes; c++)
            f[i * classes + c] = fabs(rows[i * width + i]) < 1e-12
                                     ? 0
                                     : rows[i * width + n + c] / rows[i * width + i];
    return f;
}

// ---- label propagation

// The label that weighs most: `before` if it is among the best and kept, else the smallest of them.
static int64_t dense_winner(const double *votes, int labels, int64_t before, bool keeps) {
    double most = 0;
    int64_t best = keeps ? before : -1;
    for (int l = 0; l < labels; l++)
        most = votes[l] > most ? votes[l] : most;
    for (int l = labels - 1; l >= 0 && most > 0; l--)
        best = votes[l] == most ? l : best;
    return keeps && before >= 0 && most > 0 && votes[before] == most ? before : best;
}

static void dense_round(const OracleGraph *g, const int64_t *from, int64_t *to, bool by_labels) {
    int n = g->n, m = g->m;
    int64_t of_hyperedge[m + 1];
    double votes[n];
    for (int h = 0; h < m; h++) {
        memset(votes, 0, sizeof votes);
        for (int v = 0; v < n; v++)
            if (g->source[v * m + h] != 0 && from[v] >= 0)
                votes[from[v]] += 1;
        of_hyperedge[h] = dense_winner(votes, n, -1, false);
    }
    for (int v = 0; v < n; v++) {
        memset(votes, 0, sizeof votes);
        for (int u = 0; m == 0 && u < n; u++)
            if (g->a[v * n + u] > 0 && from[u] >= 0)
                votes[from[u]] += g->a[v * n + u];
        for (int h = 0; h < m; h++)
            if (g->target[v * m + h] != 0 && of_hyperedge[h] >= 0)
                votes[of_hyperedge[h]] += g->w[h];
        to[v] = by_labels && g->split[v] == SPLIT_TRAIN ? from[v]
                                                        : dense_winner(votes, n, from[v], true);
    }
}

static int64_t *dense_labels(const OracleGraph *g, bool by_labels, int most, int64_t *rounds) {
    size_t bytes = (size_t)g->n * sizeof(int64_t);
    int64_t *label[3];
    for (int k = 0; k < 3; k++)
        label[k] = TEST_ARRAY(int64_t, g->n + 1);
    for (int i = 0; i < g->n; i++)
        label[0][i] = !by_labels ? i : g->split[i] == SPLIT_TRAIN ? g->label[i] : -1;
    memset(label[1], 0xff, bytes);
    int64_t *kept = NULL;
    for (*rounds = 0; kept == NULL;) {
        int64_t *last = label[2];
        label[2] = label[1];
        label[1] = label[0];
        label[0] = last;
        dense_round(g, label[1], label[0], by_labels);
        ++*rounds;
        if (*rounds == most || memcmp(label[0], label[1], bytes) == 0)
            kept = label[0];
        else if (*rounds > 1 && memcmp(label[0], label[2], bytes) == 0)
            kept = *rounds % 2 == 0 ? label[0] : label[1];
    }
    return kept;
}
