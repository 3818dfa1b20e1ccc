// The model with data: takes every buffer of an epoch once, in one walk that either plans or takes,
// so that the plan cannot drift from what is used.
#include "internal.h"
#include <stdio.h>
#include <string.h>

static void find_parameters(Model *m) {
    for (int i = 0; i < m->shape.parameter_windows; i++) {
        const Parameter *p = &m->shape.parameter[i];
        m->layer[p->layer].parameter[p->role] = p;
    }
}

Rows gradient_rows(const Model *m, int64_t width, int turn) {
    for (int i = 0; i < m->widths; i++)
        if (m->gradient_width[i] == width)
            return m->gradient_slot[i][(m->slot + turn) % GRADIENT_SLOTS];
    assert(!"a width without gradient rows");
    return (Rows){0};
}

// ---- taking or planning

void take_rows(const Taker *taker, Rows *rows, int64_t count, int64_t columns, const char *what) {
    if (taker->plan != NULL)
        memory_plan_add(taker->plan, what, rows_bytes(count, columns));
    else
        *rows = rows_take(count, columns, what);
}

void *take_bytes(const Taker *taker, size_t bytes, const char *what) {
    if (taker->plan == NULL)
        return memory_take(bytes, what);
    memory_plan_add(taker->plan, what, bytes);
    return NULL;
}

// Inference reads a layer's input where the layer below has left it, and so does a layer behind one
// without post.
static bool keeps_input(const ModelShape *shape, int l) {
    return !shape->inference && shape->weights[l] && shape->kind->keeps_input(shape, l);
}

void take_aggregate(Model *m, const Taker *taker, int l) {
    if (is_made_once(&m->shape, l))
        m->layer[l].a = m->features;
    else
        take_rows(taker, &m->layer[l].a, m->rows, m->shape.width[l], "aggregated rows");
}

static void take_layer(Model *m, const Taker *taker, int l) {
    const ModelShape *shape = &m->shape;
    Layer *layer = &m->layer[l];
    int64_t n = m->rows, in = shape->width[l], out = shape->width[l + 1];
    bool dropped = l == 0 && shape->input_keep < 1;
    if (dropped || (l > 0 && shape->posted[l - 1] && keeps_input(shape, l)))
        take_rows(taker, &layer->h, n, in, dropped ? "features after dropout" : "layer inputs");
    if (shape->weights[l])
        shape->kind->buffers(m, taker, l);
    take_rows(taker, &layer->z, n, out, "layer outputs");
    if (!shape->posted[l])
        return;
    size_t bits = (size_t)(n * rows_stride(out) / 8);
    layer->saved.mean = take_bytes(taker, (size_t)n * sizeof(float), "norm statistics");
    layer->saved.inverse = take_bytes(taker, (size_t)n * sizeof(float), "norm statistics");
    layer->saved.kept = take_bytes(taker, bits, "dropout and activation bits");
    layer->saved.positive = take_bytes(taker, bits, "dropout and activation bits");
}

// What is made of the features once.
static void take_features(Model *m, const Taker *taker) {
    const ModelShape *shape = &m->shape;
    take_rows(taker, &m->x, m->rows, shape->width[0], "features");
    if (shape->leading > 0)
        take_rows(taker, &m->features, m->rows, shape->width[0], "aggregated features");
    if (shape->leading > 1)
        take_rows(taker, &m->entering, m->rows, shape->width[0], "aggregated features");
}

// Layers that need not keep their input share one buffer as wide as the widest of them; its padding
// is zero only where the widths agree, so a width of its own gets a buffer of its own.
static bool shares_input(const ModelShape *shape, int l) {
    return shape->posted[l - 1] && !keeps_input(shape, l);
}

static void take_inputs(Model *m, const Taker *taker) {
    for (int l = 1; l < m->shape.layers; l++) {
        if (!shares_input(&m->shape, l))
            continue;
        int same = 1;
        while (same < l &&
               (!shares_input(&m->shape, same) || m->shape.width[same] != m->shape.width[l]))
            same++;
        if (same == l)
            take_rows(taker, &m->layer[l].h, m->rows, m->shape.width[l], "layer inputs");
        else
            m->layer[l].h = m->layer[same].h;
    }
}

static void take_gradients(Model *m, const Taker *taker) {
    for (int l = 1; l <= m->shape.layers; l++) {
        if (!wants_input_gradient(&m->shape, l))
            continue;
        int i = 0;
        while (i < m->widths && m->gradient_width[i] != m->shape.width[l])
            i++;
        if (i < m->widths)
            continue;
        m->gradient_width[m->widths++] = m->shape.width[l];
        for (int slot = 0; slot < GRADIENT_SLOTS; slot++)
            take_rows(taker, &m->gradient_slot[i][slot], m->rows, m->shape.width[l],
                      "gradients of rows");
    }
}

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t scratch_floats(const Model *m) {
    int64_t most = 0;
    for (int l = 0; l < m->shape.layers; l++) {
        if (!m->shape.weights[l])
            continue;
        most = max64(most, m->shape.kind->scratch(m, l));
        most = max64(most, m->parts.backend->post_scratch(m->rows, m->shape.width[l + 1]));
    }
    return most;
}

static void take_kept(Model *m, const Taker *taker) {
    if (m->shape.layer0 != LAYER0_KEPT)
        return;
    int64_t count = m->parts.patterns->of[0][FORWARD]->halo_count;
    take_rows(taker, &m->kept, count, m->shape.width[0], "features of the halo");
    take_rows(taker, &m->masked, count, m->shape.width[0], "features of the halo");
}

static void take_buffers(Model *m, const Taker *taker) {
    int64_t classes = m->shape.width[m->shape.layers];
    take_features(m, taker);
    take_kept(m, taker);
    for (int l = first_layer(&m->shape); l < m->shape.layers; l++)
        take_layer(m, taker, l);
    if (!m->shape.inference) {
        take_inputs(m, taker);
        take_gradients(m, taker);
        m->scratch = take_bytes(taker, (size_t)scratch_floats(m) * sizeof(float), "partial sums");
    }
    m->counts =
        take_bytes(taker, (size_t)(4 * metric_counts(classes)) * sizeof(int64_t), "metric counts");
}

Model *model_new(const ModelShape *shape, const ModelParts *parts, const Config *config,
                 Error *err) {
    const Schedule *blocking = schedule_find("blocking", err);
    if (blocking == NULL)
        return NULL;
    Model *m = TAKE(Model, 1, "model");
    *m = (Model){.shape = *shape, .parts = *parts, .blocking = blocking, .rows = parts->shard->own};
    m->sync = parts->schedule->hides ? parts->sync : NULL;
    m->gradient_poll = (Poll){gradsync_progress, m->sync};
    find_parameters(m);
    snprintf(m->panels, sizeof m->panels, "%s", config->run.panels);
    block_init(&m->block, shape->normalisation, parts->patterns->full, parts->shard, err);
    if (!comm_agree(parts->comm, err)) { // degrees may be bad on one rank only; channels need all
        model_free(m);
        return NULL;
    }
    take_buffers(m, &(Taker){NULL});
    propagations_make(m);
    for (int64_t r = 0; r < m->rows; r++)
        memcpy(m->x.at + r * m->x.stride, parts->shard->x + r * shape->width[0],
               (size_t)shape->width[0] * sizeof(float));
    propagations_features(m);
    return m;
}

void model_plan(MemoryPlan *plan, const ModelShape *shape, const ModelParts *parts,
                const Config *config) {
    Model *m = TAKE(Model, 1, "model"); // large for a stack; gives the walk its sizes
    *m = (Model){.shape = *shape, .parts = *parts, .rows = parts->shard->own};
    take_buffers(m, &(Taker){plan});
    propagations_plan(plan, m, config);
    memory_give(m);
}

// ---- freeing, in reverse

static void free_layer(Model *m, int l) {
    Layer *layer = &m->layer[l];
    memory_give(layer->saved.mean);
    memory_give(layer->saved.inverse);
    memory_give(layer->saved.kept);
    memory_give(layer->saved.positive);
    memory_give(layer->bits);
    for (int i = 0; i < 2; i++)
        rows_give(&layer->own[i]);
    bool shared = false;
    for (int k = 0; k < l; k++)
        shared |= m->layer[k].h.at == layer->h.at;
    if (!shared)
        rows_give(&layer->h);
    if (layer->a.at != m->features.at)
        rows_give(&layer->a);
    rows_give(&layer->y);
    rows_give(&layer->z);
}

void model_free(Model *m) {
    if (m == NULL)
        return;
    propagations_clear(m);
    memory_give(m->counts);
    memory_give(m->scratch);
    for (int i = 0; i < m->widths; i++)
        for (int slot = 0; slot < GRADIENT_SLOTS; slot++)
            rows_give(&m->gradient_slot[i][slot]);
    for (int l = m->shape.layers - 1; l >= 0; l--)
        free_layer(m, l);
    block_clear(&m->block);
    rows_give(&m->masked);
    rows_give(&m->kept);
    rows_give(&m->entering);
    rows_give(&m->features);
    rows_give(&m->x);
    memory_give(m);
}

// ---- the door

// All channels, one after the other; NULL after the last.
static Channel *channel_at(const Model *m, int i) {
    for (int l = 0; l < m->shape.layers; l++) {
        const Layer *layer = &m->layer[l];
        Channel *infer = layer->infer.channel, *forward = layer->propagation[FORWARD].channel;
        Channel *all[] = {forward, layer->propagation[BACKWARD].channel,
                          infer != forward ? infer : NULL};
        for (int k = 0; k < 3; k++)
            if (all[k] != NULL && i-- == 0)
                return all[k];
    }
    return NULL;
}

void model_set_spans(Model *m, Spans *spans) {
    m->spans = spans;
    for (int i = 0; channel_at(m, i) != NULL; i++)
        channel_set_spans(channel_at(m, i), spans);
}

void model_describe(const Model *m, char *out, size_t size) {
    size_t at = 0;
    out[0] = 0;
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            const SparseOperator *op = m->layer[l].propagation[d].op;
            int64_t columns = aggregated(&m->shape, l, d);
            if (op == NULL || at >= size)
                continue;
            at += (size_t)snprintf(out + at, size - at, "%slayer %d %s (%lld wide): %s",
                                   at > 0 ? "; " : "", l, d == FORWARD ? "forward" : "backward",
                                   (long long)columns,
                                   m->parts.backend->aggregate_describe(op->aggregate, columns));
        }
}

int64_t model_bytes_sent(const Model *m) {
    int64_t bytes = 0;
    for (int i = 0; channel_at(m, i) != NULL; i++)
        bytes += channel_count(channel_at(m, i)).bytes_sent;
    return bytes;
}

Channel *model_channel(const Model *m, int layer, int direction) {
    return m->layer[layer].propagation[direction].channel;
}

const float *model_left(const Model *m, int layer, int direction) {
    const SparseOperator *op = m->layer[layer].propagation[direction].op;
    return op != NULL ? op->block.left : NULL;
}

double loss_of(Model *m, Rows g, Rows logits, uint8_t which, float weight) {
    const Shard *s = m->parts.shard;
    const Backend *b = m->parts.backend;
    return s->multilabel ? b->bce_loss(g, logits, s->labels, s->split, which, weight)
                         : b->softmax_loss(g, logits, s->label, s->split, which, weight);
}

double model_loss_and_gradient(Model *m, const float *parameters, float *gradient, uint64_t seed,
                               uint32_t epoch) {
    m->parameters = parameters;
    m->gradient = gradient;
    m->seed = seed;
    m->epoch = epoch;
    m->training = true;
    model_forward(m);
    m->slot = 0;
    int last = m->shape.layers;
    m->g = first_rows(gradient_rows(m, m->shape.width[last], 0), level_rows(m, last));
    double train = (double)m->parts.shard->train_nodes;
    span_begin(m->spans);
    double loss = loss_of(m, m->g, first_rows(m->layer[last - 1].z, m->g.count), SPLIT_TRAIN,
                          (float)(1 / train));
    span_end(m->spans, SPAN_POINTWISE);
    model_backward(m);
    return loss / train;
}

Rows model_infer(Model *m, const float *parameters) {
    m->parameters = parameters;
    m->training = false;
    model_forward(m);
    return m->layer[m->shape.layers - 1].z;
}

Rows model_embedding(const Model *m, int layer) {
    assert(layer >= 1 && layer >= m->shape.leading - 1 && layer <= m->shape.layers);
    return layer == m->shape.leading - 1 ? m->entering : m->layer[layer - 1].z;
}
