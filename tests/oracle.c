#include "oracle.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 1 << 16 }; // columns of a row

double *oracle_matrix(int64_t rows, int64_t columns) {
    return calloc((size_t)(rows * columns) + 1, sizeof(double));
}

static void fill_incidence(OracleGraph *g, const Dataset *d) {
    for (int64_t h = 0; h < g->m; h++)
        g->w[h] = d->hyperedge_weight != NULL ? (double)d->hyperedge_weight[h] : 1.0;
    for (int64_t v = 0; v < d->nodes; v++)
        for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++) {
            int role = d->pin_role != NULL ? d->pin_role[e] : PIN_BOTH;
            g->source[v * g->m + d->target[e]] = (role & PIN_SOURCE) != 0;
            g->target[v * g->m + d->target[e]] = (role & PIN_TARGET) != 0;
        }
}

static void fill_adjacency(OracleGraph *g, const Dataset *d) {
    for (int64_t u = 0; u < d->nodes; u++)
        for (int64_t e = d->offset[u]; e < d->offset[u + 1]; e++)
            g->a[d->target[e] * d->nodes + u] += d->weight != NULL ? (double)d->weight[e] : 1.0;
}

OracleGraph oracle_graph(const Dataset *d) {
    OracleGraph g = {.n = (int)d->nodes,
                     .m = (int)d->hyperedges,
                     .a = oracle_matrix(d->nodes, d->nodes),
                     .source = oracle_matrix(d->nodes, d->hyperedges),
                     .target = oracle_matrix(d->nodes, d->hyperedges),
                     .w = oracle_matrix(d->hyperedges, 1),
                     .x = d->x,
                     .label = d->label,
                     .labels = d->labels,
                     .split = d->split};
    if (d->hyperedges > 0)
        fill_incidence(&g, d);
    else
        fill_adjacency(&g, d);
    return g;
}

void oracle_clear(OracleGraph *g) {
    free(g->a);
    free(g->source);
    free(g->target);
    free(g->w);
}

// out [m, n] += op(a) op(b), inner length k
void oracle_product(double *out, const double *a, bool ta, const double *b, bool tb, int64_t m,
                    int64_t k, int64_t n) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t t = 0; t < k; t++)
                out[i * n + j] +=
                    (ta ? a[t * m + i] : a[i * k + t]) * (tb ? b[j * k + t] : b[t * n + j]);
}

// Rows of a level: nodes, or on a hypergraph hyperedges after every first stage.
static int64_t level_count(const OracleGraph *g, const ModelShape *shape, int level) {
    return shape->stages > 1 && level % 2 == 1 ? g->m : g->n;
}

static double mask(double keep, uint64_t seed, uint32_t epoch, int layer, int64_t row,
                   int64_t column) {
    RandomStream s = random_stream(seed, RANDOM_DROPOUT, epoch, layer, 0);
    return (double)random_uniform16(s, row, 0, column) < keep ? 1 / keep : 0;
}

typedef struct OracleLayer {
    double *h, *agg, *z, *mean, *sigma;
    double *u; // gin: the middle of its perceptron; agg then has ε h added
} OracleLayer;

typedef struct Windows {
    const double *w, *ws, *bias, *gamma, *beta, *w2, *bias2, *epsilon;
    double *dw, *dws, *dbias, *dgamma, *dbeta, *dw2, *dbias2, *depsilon;
} Windows;

static Windows windows(const ModelShape *shape, const double *p, double *g, int layer) {
    Windows out = {0};
    for (int i = 0; i < shape->parameter_windows; i++) {
        const Parameter *q = &shape->parameter[i];
        const double *at = p + q->begin;
        double *d = g != NULL ? g + q->begin : NULL;
        if (q->layer != layer)
            continue;
        if (strstr(q->name, "nn.2.weight"))
            out.w2 = at, out.dw2 = d;
        else if (strstr(q->name, "nn.2.bias"))
            out.bias2 = at, out.dbias2 = d;
        else if (strstr(q->name, ".eps"))
            out.epsilon = at, out.depsilon = d;
        else if (strstr(q->name, "lin_r.weight"))
            out.ws = at, out.dws = d;
        else if (strstr(q->name, "norms.") && strstr(q->name, "weight"))
            out.gamma = at, out.dgamma = d;
        else if (strstr(q->name, "norms."))
            out.beta = at, out.dbeta = d;
        else if (strstr(q->name, "bias"))
            out.bias = at, out.dbias = d;
        else
            out.w = at, out.dw = d;
    }
    return out;
}

// Whether a parameter of the layer has a name that begins so.
static bool has_named(const ModelShape *shape, int layer, const char *begin) {
    for (int i = 0; i < shape->parameter_windows; i++)
        if (shape->parameter[i].layer == layer &&
            strncmp(shape->parameter[i].name, begin, strlen(begin)) == 0)
            return true;
    return false;
}

// PyG's names say what a layer is: "lin..." is a linear layer, which reads no edges.
static bool is_linear(const ModelShape *shape, int layer) { return has_named(shape, layer, "lin"); }

static bool has_weights(const ModelShape *shape, int layer) {
    return has_named(shape, layer, "convs.") || is_linear(shape, layer);
}

// Post follows a layer with weights that is not the last of them.
static bool has_post(const ModelShape *shape, int layer) {
    bool later = false;
    for (int l = layer + 1; l < shape->layers; l++)
        later |= has_weights(shape, l);
    return has_weights(shape, layer) && later;
}

// One row through post; u[s] is the input of step s (u[count] the result).
static void post_row(const ModelShape *shape, const Windows *w, int layer, int64_t row,
                     int64_t width, const double *z, double u[4][WIDEST], double *mean,
                     double *sigma, bool training, uint64_t seed, uint32_t epoch) {
    memcpy(u[0], z, (size_t)width * sizeof(double));
    for (int s = 0; s < shape->post_count; s++) {
        double m = 0, v = 0;
        for (int64_t c = 0; c < width; c++)
            m += u[s][c] / (double)width;
        for (int64_t c = 0; c < width; c++)
            v += (u[s][c] - m) * (u[s][c] - m) / (double)width;
        if (shape->post[s] == POST_NORM)
            *mean = m, *sigma = sqrt(v + 1e-5);
        for (int64_t c = 0; c < width; c++) {
            double x = u[s][c];
            if (shape->post[s] == POST_NORM)
                x = w->gamma[c] * (x - m) / sqrt(v + 1e-5) + w->beta[c];
            else if (shape->post[s] == POST_ACTIVATION)
                x = x > 0 ? x : 0;
            else if (training)
                x *= mask((double)shape->keep, seed, epoch, layer + 1, row, c);
            u[s + 1][c] = x;
        }
    }
}

// d (in: of post's output, out: of z)
static void post_row_back(const ModelShape *shape, const Windows *w, int layer, int64_t row,
                          int64_t width, double u[4][WIDEST], double mean, double sigma, double *d,
                          bool training, uint64_t seed, uint32_t epoch) {
    double n = (double)width;
    for (int s = shape->post_count - 1; s >= 0; s--) {
        double sum = 0, dot = 0;
        for (int64_t c = 0; c < width && shape->post[s] == POST_NORM; c++) {
            double xhat = (u[s][c] - mean) / sigma, dx = w->gamma[c] * d[c];
            w->dgamma[c] += d[c] * xhat;
            w->dbeta[c] += d[c];
            sum += dx;
            dot += dx * xhat;
        }
        for (int64_t c = 0; c < width; c++) {
            if (shape->post[s] == POST_NORM) {
                double xhat = (u[s][c] - mean) / sigma;
                d[c] = (w->gamma[c] * d[c] - sum / n - xhat * dot / n) / sigma;
            } else if (shape->post[s] == POST_ACTIVATION) {
                d[c] = u[s][c] > 0 ? d[c] : 0;
            } else if (training) {
                d[c] *= mask((double)shape->keep, seed, epoch, layer + 1, row, c);
            }
        }
    }
}

static double squares_and_g(const OracleGraph *graph, int64_t k, const double *z, double *g) {
    double loss = 0;
    for (int64_t i = 0; i < graph->n * k; i++) {
        g[i] = z[i] - graph->wanted[i];
        loss += g[i] * g[i] / 2;
    }
    return loss;
}

static double loss_and_g(const OracleGraph *graph, int64_t k, const double *z, double *g) {
    double loss = 0, train = 0;
    for (int v = 0; v < graph->n; v++)
        train += graph->split[v] == SPLIT_TRAIN;
    if (graph->sum > 0)
        train = graph->sum;
    for (int v = 0; v < graph->n; v++) {
        if (graph->split[v] != SPLIT_TRAIN)
            continue;
        const double *o = z + v * k;
        double top = o[0], sum = 0, row = graph->row != NULL ? graph->row[v] : 1;
        for (int64_t c = 1; c < k; c++)
            top = o[c] > top ? o[c] : top;
        for (int64_t c = 0; c < k; c++)
            sum += exp(o[c] - top);
        for (int64_t c = 0; c < k && graph->labels != NULL; c++) { // bce with logits
            double y = graph->labels[v * k + c];
            double factor = row * (y > 0 && graph->positive > 0 ? graph->positive : 1) / train;
            loss += (fmax(o[c], 0) - o[c] * y + log1p(exp(-fabs(o[c])))) * factor;
            g[v * k + c] = (1 / (1 + exp(-o[c])) - y) * factor;
        }
        for (int64_t c = 0; c < k && graph->labels == NULL; c++) { // -sum_c share_c log p_c
            double share =
                (graph->label[v] == c ? 1 - graph->smoothing : 0) + graph->smoothing / (double)k;
            share *= row * (graph->classes != NULL ? graph->classes[c] : 1) / train;
            loss -= share * (o[c] - top - log(sum));
            for (int64_t d = 0; d < k; d++)
                g[v * k + d] += share * (exp(o[d] - top) / sum - (c == d));
        }
    }
    return loss;
}

// The second half of a perceptron: z = max(0, u) W2 + b2, where u is what z was.
static void perceptron(OracleLayer *layer, const Windows *w, int64_t n, int64_t out) {
    double *r = oracle_matrix(n, out);
    for (int64_t i = 0; i < n * out; i++) {
        layer->u[i] = layer->z[i];
        r[i] = fmax(0, layer->u[i]);
        layer->z[i] = w->bias2 != NULL ? w->bias2[i % out] : 0;
    }
    oracle_product(layer->z, r, false, w->w2, false, n, out, out);
    free(r);
}

// The gradient of u in place of that of z.
static void perceptron_back(const OracleLayer *layer, const Windows *w, double *g, int64_t n,
                            int64_t out) {
    double *r = oracle_matrix(n, out), *dr = oracle_matrix(n, out);
    for (int64_t i = 0; i < n * out; i++) {
        r[i] = fmax(0, layer->u[i]);
        if (w->bias2 != NULL)
            w->dbias2[i % out] += g[i];
    }
    oracle_product(w->dw2, r, true, g, false, out, n, out);
    oracle_product(dr, g, false, w->w2, true, n, out, out);
    for (int64_t i = 0; i < n * out; i++)
        g[i] = layer->u[i] > 0 ? dr[i] : 0;
    free(r);
    free(dr);
}

static void forward(const OracleGraph *graph, const ModelShape *shape, const double *p,
                    double *const *stage, OracleLayer *layer, bool training, uint64_t seed,
                    uint32_t epoch) {
    static double u[4][WIDEST];
    for (int64_t i = 0; i < graph->n; i++)
        for (int64_t c = 0; c < shape->width[0]; c++) {
            double x = (double)graph->x[i * shape->width[0] + c];
            if (training && shape->input_keep < 1)
                x *= mask((double)shape->input_keep, seed, epoch, 0, i, c);
            layer[0].h[i * shape->width[0] + c] = x;
        }
    for (int l = 0; l < shape->layers; l++) {
        int64_t in = shape->width[l], out = shape->width[l + 1];
        int64_t n = level_count(graph, shape, l + 1);
        Windows w = windows(shape, p, NULL, l);
        oracle_product(layer[l].agg, stage[l], false, layer[l].h, false, n,
                       level_count(graph, shape, l), in);
        for (int64_t i = 0; i < n * in && w.epsilon != NULL; i++)
            layer[l].agg[i] += *w.epsilon * layer[l].h[i];
        if (w.w == NULL)
            memcpy(layer[l].z, layer[l].agg, (size_t)(n * in) * sizeof(double));
        else
            oracle_product(layer[l].z, layer[l].agg, false, w.w, false, n, in, out);
        if (w.ws != NULL)
            oracle_product(layer[l].z, layer[l].h, false, w.ws, false, n, in, out);
        for (int64_t i = 0; i < n * out && w.bias != NULL; i++)
            layer[l].z[i] += w.bias[i % out];
        if (w.w2 != NULL)
            perceptron(&layer[l], &w, n, out);
        if (!has_post(shape, l))
            memcpy(layer[l + 1].h, layer[l].z, (size_t)(n * out) * sizeof(double));
        for (int64_t i = 0; i < n && has_post(shape, l); i++) {
            post_row(shape, &w, l, i, out, layer[l].z + i * out, u, &layer[l].mean[i],
                     &layer[l].sigma[i], training, seed, epoch);
            memcpy(layer[l + 1].h + i * out, u[shape->post_count], (size_t)out * sizeof(double));
        }
    }
}

static void backward(const OracleGraph *graph, const ModelShape *shape, const double *p,
                     double *const *stage, OracleLayer *layer, double *g, double *gradient,
                     uint64_t seed, uint32_t epoch) {
    static double u[4][WIDEST];
    for (int l = shape->layers - 1; l >= 0; l--) {
        int64_t in = shape->width[l], out = shape->width[l + 1];
        int64_t n = level_count(graph, shape, l + 1), below_n = level_count(graph, shape, l);
        Windows w = windows(shape, p, gradient, l);
        double *da = oracle_matrix(n, in), *dh = oracle_matrix(below_n, in);
        if (w.w2 != NULL)
            perceptron_back(&layer[l], &w, g, n, out);
        if (w.w == NULL)
            memcpy(da, g, (size_t)(n * in) * sizeof(double));
        else
            oracle_product(w.dw, layer[l].agg, true, g, false, in, n, out);
        if (w.ws != NULL)
            oracle_product(w.dws, layer[l].h, true, g, false, in, n, out);
        for (int64_t i = 0; i < n * out && w.bias != NULL; i++)
            w.dbias[i % out] += g[i];
        if (w.w != NULL)
            oracle_product(da, g, false, w.w, true, n, out, in);
        oracle_product(dh, stage[l], true, da, false, below_n, n, in);
        for (int64_t i = 0; i < n * in && w.epsilon != NULL; i++) {
            dh[i] += *w.epsilon * da[i];
            *w.depsilon += da[i] * layer[l].h[i];
        }
        if (w.ws != NULL)
            oracle_product(dh, g, false, w.ws, true, n, out, in);
        free(g);
        free(da);
        g = dh;
        if (l == 0)
            break;
        Windows below = windows(shape, p, gradient, l - 1);
        for (int64_t i = 0; i < below_n && has_post(shape, l - 1); i++) {
            double mean, sigma;
            post_row(shape, &below, l - 1, i, in, layer[l - 1].z + i * in, u, &mean, &sigma, true,
                     seed, epoch);
            post_row_back(shape, &below, l - 1, i, in, u, layer[l - 1].mean[i],
                          layer[l - 1].sigma[i], g + i * in, true, seed, epoch);
        }
    }
    free(g);
}

// The matrix of a layer.
static double *stage_of(const OracleGraph *graph, const ModelShape *shape, int l) {
    bool hyper = graph->m > 0 && shape->stages > 1;
    int which = hyper ? l % 2 : 0;
    if (is_linear(shape, l)) { // H itself
        double *one = oracle_matrix(graph->n, graph->n);
        for (int64_t i = 0; i < graph->n; i++)
            one[i * graph->n + i] = 1;
        return one;
    }
    double *stage = hyper ? oracle_hyper_stage(graph, shape->normalisation, which)
                          : oracle_aggregation(graph, shape->normalisation);
    int64_t entries = level_count(graph, shape, l) * level_count(graph, shape, l + 1);
    for (int64_t i = 0; i < entries && graph->factor[which] != NULL && l >= graph->factor_layer;
         i++)
        stage[i] *= graph->factor[which][i];
    return stage;
}

double oracle_loss(const OracleGraph *graph, const ModelShape *shape, const double *p,
                   bool training, uint64_t seed, uint32_t epoch, double *gradient, double *logits) {
    int64_t n = graph->n, k = shape->width[shape->layers];
    OracleLayer layer[MODEL_LAYERS + 1] = {0};
    double *stage[MODEL_LAYERS], *g = oracle_matrix(n, k);
    for (int l = 0; l < shape->layers; l++)
        stage[l] = stage_of(graph, shape, l);
    for (int l = 0; l <= shape->layers; l++) {
        int64_t to = level_count(graph, shape, l + 1), at = level_count(graph, shape, l);
        int64_t in = shape->width[l], out = l < shape->layers ? shape->width[l + 1] : 0;
        assert(in <= WIDEST);
        layer[l] =
            (OracleLayer){oracle_matrix(at, in), oracle_matrix(to, in), oracle_matrix(to, out),
                          oracle_matrix(to, 1),  oracle_matrix(to, 1),  oracle_matrix(to, out)};
    }
    forward(graph, shape, p, stage, layer, training, seed, epoch);
    const double *z = layer[shape->layers - 1].z;
    double loss = (graph->wanted != NULL ? squares_and_g : loss_and_g)(graph, k, z, g);
    if (logits != NULL)
        memcpy(logits, z, (size_t)(n * k) * sizeof(double));
    if (gradient != NULL) {
        memset(gradient, 0, (size_t)shape->parameter_count * sizeof(double));
        backward(graph, shape, p, stage, layer, g, gradient, seed, epoch);
    } else {
        free(g);
    }
    for (int l = 0; l <= shape->layers; l++) {
        free(layer[l].h);
        free(layer[l].agg);
        free(layer[l].z);
        free(layer[l].u);
        free(layer[l].mean);
        free(layer[l].sigma);
    }
    for (int l = 0; l < shape->layers; l++)
        free(stage[l]);
    return loss;
}
