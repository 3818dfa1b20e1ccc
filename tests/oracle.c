#include "oracle.h"
#include "support.h"

double *oracle_matrix(int64_t rows, int64_t columns) {
    return TEST_ARRAY(double, (rows * columns) + 1);
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
                     .numbers = d->numbers,
                     .split = d->split};
    if (d->hyperedges > 0)
        fill_incidence(&g, d);
    else
        fill_adjacency(&g, d);
    return g;
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
    return shape->stages > 1 && level % 2 == 1 && level < shape->layers ? g->m : g->n;
}

typedef struct OracleLayer {
    double *h, *agg, *z; // h: level l
    double *u;           // gin: the middle of its perceptron; agg then has ε h added
    double *plain;       // level l without its dropout
    double *dh, *dplain; // the gradients of the two
} OracleLayer;

static OracleWindows windows(const ModelShape *shape, const double *p, double *g, int layer) {
    OracleWindows out = {.running = p + shape->statistics[layer]};
    for (int i = 0; i < shape->parameter_spans; i++) {
        const Parameter *q = &shape->parameter[i];
        const double *at = p + q->begin;
        double *d = g != NULL ? g + q->begin : NULL;
        if (q->layer != layer)
            continue;
        if (strcmp(q->name, "label.weight") == 0)
            out.wy = at, out.dwy = d;
        else if (strstr(q->name, "nn.2.weight"))
            out.w2 = at, out.dw2 = d;
        else if (strstr(q->name, "nn.2.bias"))
            out.bias2 = at, out.dbias2 = d;
        else if (strstr(q->name, ".eps"))
            out.epsilon = at, out.depsilon = d;
        else if (strstr(q->name, "lin_r.weight") || strstr(q->name, "self_lins."))
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
    for (int i = 0; i < shape->parameter_spans; i++)
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

static double squares_and_g(const OracleGraph *graph, const ModelShape *shape,
                            const OracleTime *time, const double *z, double *g) {
    int64_t k = shape->width[shape->layers];
    double loss = 0;
    (void)time;
    for (int64_t i = 0; i < graph->n * k; i++) {
        g[i] = z[i] - graph->wanted[i];
        loss += g[i] * g[i] / 2;
    }
    return loss;
}

static bool counts(const OracleGraph *graph, const ModelShape *shape, const OracleTime *time,
                   int v) {
    return graph->split[v] == SPLIT_TRAIN && !oracle_is_input(graph, shape, time, v);
}

static double loss_and_g(const OracleGraph *graph, const ModelShape *shape, const OracleTime *time,
                         const double *z, double *g) {
    int64_t k = shape->width[shape->layers];
    double loss = 0, train = 0;
    for (int v = 0; v < graph->n; v++)
        train += counts(graph, shape, time, v);
    if (graph->sum > 0)
        train = graph->sum;
    for (int v = 0; v < graph->n; v++) {
        if (!counts(graph, shape, time, v))
            continue;
        const double *o = z + v * k;
        double top = o[0], sum = 0, row = graph->row != NULL ? graph->row[v] : 1;
        for (int64_t c = 1; c < k; c++)
            top = o[c] > top ? o[c] : top;
        for (int64_t c = 0; c < k; c++)
            sum += exp(o[c] - top);
        bool hinge = strcmp(shape->loss->name, "hinge") == 0;
        for (int64_t c = 0; c < k && hinge; c++) {
            bool has = graph->labels != NULL ? graph->labels[v * k + c] : graph->label[v] == c;
            double y = has ? 1 : -1;
            loss += fmax(0, 1 - y * o[c]) * row / train;
            g[v * k + c] = y * o[c] < 1 ? -y * row / train : 0;
        }
        for (int64_t c = 0; c < k && graph->numbers != NULL; c++) { // mse
            double miss = o[c] - (double)graph->numbers[v * k + c];
            loss += miss * miss * row / train / (double)k;
            g[v * k + c] = 2 * miss * row / train / (double)k;
        }
        if (hinge || graph->numbers != NULL)
            continue;
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
static void perceptron(OracleLayer *layer, const OracleWindows *w, int64_t n, int64_t out) {
    double *r = oracle_matrix(n, out);
    for (int64_t i = 0; i < n * out; i++) {
        layer->u[i] = layer->z[i];
        r[i] = fmax(0, layer->u[i]);
        layer->z[i] = w->bias2 != NULL ? w->bias2[i % out] : 0;
    }
    oracle_product(layer->z, r, false, w->w2, false, n, out, out);
}

// The gradient of u in place of that of z.
static void perceptron_back(const OracleLayer *layer, const OracleWindows *w, double *g, int64_t n,
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
}

// What a layer reads: level l, its rows that others read again (h0: the anchor), and how.
static bool is_anchored(const ModelShape *shape, int l) {
    return shape->anchor > 0 && !is_linear(shape, l);
}

static double beta_of(const ModelShape *shape, int l) { return log((double)shape->theta / l + 1); }

static void scale_add(double *out, double a, double b, const double *x, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        out[i] = a * out[i] + b * x[i];
}

static bool is_jump(const ModelShape *shape, int l) {
    return shape->jump != JUMP_NONE && l == shape->layers - 1;
}

// All hidden levels of nodes side by side, or their maximum; `back`: the gradient of that, added to
// those of the levels.
static void jump(const ModelShape *shape, OracleLayer *layer, double *x, int64_t n, int64_t in,
                 bool back) {
    int first = shape->jump == JUMP_LAST ? shape->layers - 1 : shape->stages;
    for (int64_t v = 0; v < n; v++) {
        int64_t at = 0;
        for (int k = first; k < shape->layers; k += shape->stages) {
            int64_t width = shape->width[k];
            double *h = layer[k].h + v * width, *dh = layer[k].dh + v * width;
            for (int64_t c = 0; c < width; c++) {
                double *to = x + v * in + (shape->jump == JUMP_CAT ? at + c : c);
                bool top = true;
                for (int j = shape->stages; j < shape->layers && shape->jump == JUMP_MAX;
                     j += shape->stages) {
                    double other = layer[j].h[v * width + c];
                    top = top && (j < k ? other < h[c] : other <= h[c]);
                }
                if (top && back)
                    dh[c] += *to;
                else if (top)
                    *to = h[c];
            }
            at += width;
        }
    }
}

static int64_t width_read(const ModelShape *shape, int l) {
    int64_t sum = 0;
    for (int k = shape->stages; k < shape->layers; k += shape->stages)
        sum += shape->width[k];
    return is_jump(shape, l) && shape->jump == JUMP_CAT ? sum : shape->width[l];
}

// A of a layer: its aggregate, with what kinds add to it.
static void aggregate(const OracleGraph *graph, const ModelShape *shape, const double *stage,
                      OracleLayer *layer, int l, const double *epsilon) {
    int64_t n = level_count(graph, shape, l + 1), in = width_read(shape, l);
    double *agg = layer[l].agg;
    if (is_jump(shape, l)) {
        jump(shape, layer, agg, n, in, false);
        return;
    }
    oracle_product(agg, stage, false, layer[l].h, false, n, level_count(graph, shape, l), in);
    if (epsilon != NULL)
        scale_add(agg, 1, *epsilon, layer[l].h, n * in);
    if (is_anchored(shape, l))
        scale_add(agg, 1 - (double)shape->alpha, (double)shape->alpha, layer[shape->anchor].plain,
                  n * in);
    if (shape->mixes == 0 || l + 2 != shape->mixes)
        return;
    scale_add(agg, shape->mix[l + 1], shape->mix[l], layer[l].h, n * in);
    for (int k = 0; k < l; k++)
        scale_add(agg, 1, shape->mix[k], layer[k].h, n * in);
}

static void features(const OracleGraph *graph, const ModelShape *shape, double *h,
                     const OracleTime *time) {
    for (int64_t i = 0; i < graph->n; i++)
        for (int64_t c = 0; c < shape->width[0]; c++) {
            double x = (double)graph->x[i * shape->width[0] + c];
            if (time->training && shape->input_keep < 1)
                x *= oracle_mask((double)shape->input_keep, time, 0, i, c);
            h[i * shape->width[0] + c] = x;
        }
}

// The next level from Z.
static void next_level(const OracleGraph *graph, const ModelShape *shape, const OracleWindows *w,
                       OracleLayer *layer, int l, const OracleTime *time) {
    int64_t n = level_count(graph, shape, l + 1), out = shape->width[l + 1];
    if (!has_post(shape, l)) {
        memcpy(layer[l + 1].h, layer[l].z, (size_t)(n * out) * sizeof(double));
        memcpy(layer[l + 1].plain, layer[l].z, (size_t)(n * out) * sizeof(double));
        return;
    }
    OracleTime still = *time;
    still.training = false; // no dropout
    oracle_post(shape, w, l, n, layer[l].z, layer[l + 1].plain, &still);
    oracle_post(shape, w, l, n, layer[l].z, layer[l + 1].h, time);
    if (shape->skips[l])
        scale_add(layer[l + 1].h, 1, 1, layer[l + 1 - shape->stages].h, n * out);
}

static void forward(const OracleGraph *graph, const ModelShape *shape, const double *p,
                    double *const *stage, OracleLayer *layer, const OracleTime *time) {
    features(graph, shape, layer[0].h, time);
    for (int l = 0; l < shape->layers; l++) {
        int64_t in = width_read(shape, l), out = shape->width[l + 1];
        int64_t n = level_count(graph, shape, l + 1);
        OracleWindows w = windows(shape, p, NULL, l);
        double *z = layer[l].z;
        aggregate(graph, shape, stage[l], layer, l, w.epsilon);
        if (w.w == NULL)
            memcpy(z, layer[l].agg, (size_t)(n * in) * sizeof(double));
        else
            oracle_product(z, layer[l].agg, false, w.w, false, n, in, out);
        if (w.w != NULL && is_anchored(shape, l))
            scale_add(z, beta_of(shape, l), 1 - beta_of(shape, l), layer[l].agg, n * in);
        if (w.ws != NULL)
            oracle_product(z, layer[l].h, false, w.ws, false, n, in, out);
        for (int64_t i = 0; i < n * out && w.bias != NULL; i++)
            z[i] += w.bias[i % out];
        if (w.wy != NULL) {
            double *a = oracle_label_aggregate(graph, shape, time, stage[l]);
            oracle_product(z, a, false, w.wy, false, n, shape->width[shape->layers], out);
        }
        if (w.w2 != NULL)
            perceptron(&layer[l], &w, n, out);
        next_level(graph, shape, &w, layer, l, time);
    }
}

// The gradients of what a layer reads, from da, that of its A.
static void aggregate_back(const OracleGraph *graph, const ModelShape *shape, const double *stage,
                           OracleLayer *layer, int l, double *da, const OracleWindows *w) {
    int64_t n = level_count(graph, shape, l + 1), below = level_count(graph, shape, l);
    int64_t in = width_read(shape, l);
    if (is_jump(shape, l)) {
        jump(shape, layer, da, n, in, true);
        return;
    }
    if (is_anchored(shape, l)) {
        scale_add(layer[shape->anchor].dplain, 1, (double)shape->alpha, da, n * in);
        scale_add(da, 1 - (double)shape->alpha, 0, da, n * in);
    }
    oracle_product(layer[l].dh, stage, true, da, false, below, n, in);
    for (int64_t i = 0; i < n * in && w->epsilon != NULL; i++) {
        layer[l].dh[i] += *w->epsilon * da[i];
        *w->depsilon += da[i] * layer[l].h[i];
    }
}

// The gradients of a layer's parameters, and of what it reads, from g, that of its Z.
static void layer_back(const OracleGraph *graph, const ModelShape *shape, const double *stage,
                       OracleLayer *layer, int l, double *g, const OracleWindows *w) {
    int64_t in = width_read(shape, l), out = shape->width[l + 1];
    int64_t n = level_count(graph, shape, l + 1);
    double *da = oracle_matrix(n, in),
           beta = is_anchored(shape, l) && l > 0 ? beta_of(shape, l) : 1;
    if (w->w2 != NULL)
        perceptron_back(&layer[l], w, g, n, out);
    if (w->w == NULL) {
        memcpy(da, g, (size_t)(n * in) * sizeof(double));
    } else {
        oracle_product(w->dw, layer[l].agg, true, g, false, in, n, out);
        scale_add(w->dw, beta, 0, w->dw, in * out);
        oracle_product(da, g, false, w->w, true, n, out, in);
        if (is_anchored(shape, l))
            scale_add(da, beta, 1 - beta, g, n * in);
    }
    if (w->ws != NULL) {
        oracle_product(w->dws, layer[l].h, true, g, false, in, n, out);
        oracle_product(layer[l].dh, g, false, w->ws, true, n, out, in);
    }
    for (int64_t i = 0; i < n * out && w->bias != NULL; i++)
        w->dbias[i % out] += g[i];
    if (shape->mixes == 0) // of mixed aggregates nobody needs the gradient
        aggregate_back(graph, shape, stage, layer, l, da, w);
}

static void backward(const OracleGraph *graph, const ModelShape *shape, const double *p,
                     double *const *stage, OracleLayer *layer, double *gradient,
                     const OracleTime *time) {
    for (int l = shape->layers - 1; l >= 0; l--) {
        int64_t n = level_count(graph, shape, l + 1), out = shape->width[l + 1];
        OracleWindows w = windows(shape, p, gradient, l);
        double *g = layer[l + 1].dh;
        if (shape->skips[l])
            scale_add(layer[l + 1 - shape->stages].dh, 1, 1, g, n * out);
        if (has_post(shape, l))
            oracle_post_back(shape, &w, l, n, layer[l].z, g, layer[l + 1].dplain, time);
        else
            scale_add(g, 1, 1, layer[l + 1].dplain, n * out);
        layer_back(graph, shape, stage[l], layer, l, g, &w);
        if (w.wy != NULL) {
            double *a = oracle_label_aggregate(graph, shape, time, stage[l]);
            oracle_product(w.dwy, a, true, g, false, shape->width[shape->layers], n, out);
        }
    }
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
    const void *before = test_last();
    OracleLayer layer[MODEL_LAYERS + 1] = {0};
    OracleTime time = {training, training, seed, epoch, shape->random};
    double *stage[MODEL_LAYERS];
    for (int l = 0; l < shape->layers; l++)
        stage[l] = stage_of(graph, shape, l);
    for (int l = 0; l <= shape->layers; l++) {
        int64_t at = level_count(graph, shape, l), to = level_count(graph, shape, l + 1);
        int64_t in = shape->width[l], out = l < shape->layers ? shape->width[l + 1] : 0;
        layer[l] = (OracleLayer){oracle_matrix(at, in),  oracle_matrix(to, width_read(shape, l)),
                                 oracle_matrix(to, out), oracle_matrix(to, out),
                                 oracle_matrix(at, in),  oracle_matrix(at, in),
                                 oracle_matrix(at, in)};
    }
    forward(graph, shape, p, stage, layer, &time);
    const double *z = layer[shape->layers - 1].z;
    double loss = (graph->wanted != NULL ? squares_and_g : loss_and_g)(graph, shape, &time, z,
                                                                       layer[shape->layers].dh);
    if (logits != NULL)
        memcpy(logits, z, (size_t)(n * k) * sizeof(double));
    if (gradient != NULL) {
        memset(gradient, 0, (size_t)shape->parameter_count * sizeof(double));
        time.training = true;
        backward(graph, shape, p, stage, layer, gradient, &time);
    }
    test_clear_since(before); // the matrices: the next ones lie where these did
    return loss;
}
