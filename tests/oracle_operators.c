// The matrices of the oracle: what each normalisation multiplies rows by.
#include "oracle.h"

// The aggregation matrix by its definition.
double *oracle_aggregation(const OracleGraph *g, const char *name) {
    int n = g->n;
    bool self = strcmp(name, "mean") != 0, gcn = strncmp(name, "gcn", 3) == 0;
    double *m = oracle_matrix(n, n), *in = oracle_matrix(n, 1), *out = oracle_matrix(n, 1);
    memcpy(m, g->a, (size_t)n * (size_t)n * sizeof(double));
    for (int v = 0; self && v < n; v++)
        m[v * n + v] += 1;
    for (int v = 0; v < n; v++)
        for (int u = 0; u < n; u++) {
            in[v] += m[v * n + u];
            out[u] += m[v * n + u];
        }
    const double *other = strcmp(name, "gcn-in") == 0 ? in : out;
    for (int v = 0; v < n; v++)
        for (int u = 0; u < n; u++)
            if (m[v * n + u] != 0 && strcmp(name, "sum") != 0)
                m[v * n + u] /= gcn ? sqrt(in[v] * other[u]) : in[v];
    return m;
}

// a_h: sources of a hyperedge; d_v: the weights of the hyperedges with v as target.
static double arity(const OracleGraph *g, int h) {
    double sum = 0;
    for (int v = 0; v < g->n; v++)
        sum += g->source[v * g->m + h];
    return sum;
}

static double degree(const OracleGraph *g, int v) {
    double sum = 0;
    for (int h = 0; h < g->m; h++)
        sum += g->w[h] * g->target[v * g->m + h];
    return sum;
}

static double power(double x, double exponent) { return x > 0 ? pow(x, exponent) : 0; }

// M of a convolution without weights of its own, by the papers' formulas:
//   sym   D_v^-1/2 H W D_e^-1 H^T D_v^-1/2      row   D_v^-1 H W D_e^-1 H^T
double *oracle_hyper_operator(const OracleGraph *g, const char *name) {
    bool sym = strcmp(name, "hyper-sym") == 0;
    double *m = oracle_matrix(g->n, g->n), *share = oracle_matrix(g->m, 1);
    double *scale = oracle_matrix(g->n, 1);
    for (int h = 0; h < g->m; h++)
        share[h] = power(arity(g, h), -1);
    for (int v = 0; v < g->n; v++)
        scale[v] = power(degree(g, v), sym ? -0.5 : -1);
    for (int v = 0; v < g->n; v++)
        for (int u = 0; u < g->n; u++) {
            double sum = 0;
            for (int h = 0; h < g->m; h++)
                sum += g->target[v * g->m + h] * g->w[h] * share[h] * g->source[u * g->m + h];
            m[v * g->n + u] = sum * scale[v] * (sym ? scale[u] : 1);
        }
    return m;
}

double *oracle_hyper_stage(const OracleGraph *g, const char *name, int stage) {
    double *m = oracle_matrix(g->n, g->m);
    bool sym = strcmp(name, "hyper-sym") == 0, mean = strcmp(name, "hyper-mean") == 0;
    double *share = oracle_matrix(g->m, 1);
    for (int h = 0; h < g->m; h++)
        share[h] = power(arity(g, h), -1);
    for (int v = 0; v < g->n; v++) {
        double root = power(degree(g, v), -0.5), whole = power(degree(g, v), -1);
        for (int h = 0; h < g->m; h++) {
            double in = g->source[v * g->m + h] * share[h];
            if (stage == 0)
                m[h * g->n + v] = in * (mean ? 1 : g->w[h]) * (sym ? root : 1);
            else
                m[v * g->m + h] =
                    g->target[v * g->m + h] * (mean ? g->w[h] : 1) * (sym ? root : whole);
        }
    }
    return m;
}

double *oracle_hyper_stages(const OracleGraph *g, const char *name) {
    double *there = oracle_hyper_stage(g, name, 0), *back = oracle_hyper_stage(g, name, 1);
    double *m = oracle_matrix(g->n, g->n);
    oracle_product(m, back, false, there, false, g->n, g->m, g->n);
    return m;
}

// ---- labels as input

bool oracle_is_input(const OracleGraph *graph, const ModelShape *shape, const OracleTime *time,
                     int64_t v) {
    RandomKey s = random_key(time->seed, RANDOM_LABEL_INPUT, time->epoch, 0, 0);
    if (shape->label_rate == 0 || graph->split[v] != SPLIT_TRAIN)
        return false;
    return !time->training || random_uniform32(s, v, 0, 0) < shape->label_rate;
}

double *oracle_label_aggregate(const OracleGraph *graph, const ModelShape *shape,
                               const OracleTime *time, const double *stage) {
    int64_t n = graph->n, k = shape->width[shape->layers];
    double *y = oracle_matrix(n, k), *a = oracle_matrix(n, k);
    for (int64_t v = 0; v < n; v++)
        for (int64_t c = 0; c < k; c++)
            y[v * k + c] = oracle_is_input(graph, shape, time, v) &&
                           (graph->label != NULL ? graph->label[v] == c : graph->labels[v * k + c]);
    oracle_product(a, stage, false, y, false, n, n, k);
    return a;
}
