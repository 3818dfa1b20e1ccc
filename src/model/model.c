// The model with data: takes every buffer of an epoch once, in one walk that either plans or takes,
// so that the plan cannot drift from what is used.
#include "internal.h"
#include <stdio.h>
#include <string.h>

LayerWindows layer_windows(const ModelShape *shape, const float *flat, int layer) {
    LayerWindows w = {0};
    bool ws_next = shape->self_weight, bias_next = shape->bias, first = true;
    for (int i = 0; i < shape->parameter_windows; i++) {
        const Parameter *p = &shape->parameter[i];
        float *at =
            (float *)flat + p->begin; // windows are views; who passes a const array only reads
        if (p->layer != layer)
            continue;
        if (first)
            w.w = at, first = false;
        else if (ws_next)
            w.ws = at, ws_next = false;
        else if (bias_next)
            w.bias = at, bias_next = false;
        else if (w.gamma == NULL)
            w.gamma = at;
        else
            w.beta = at;
    }
    return w;
}

Rows gradient_rows(const Model *m, int64_t width, int turn) {
    for (int i = 0; i < m->widths; i++)
        if (m->gradient_width[i] == width)
            return m->gradient_slot[i][(m->slot + turn) % GRADIENT_SLOTS];
    assert(!"a width without gradient rows");
    return (Rows){0};
}

// ---- taking or planning

typedef struct Taker {
    MemoryPlan *plan; // NULL: take
} Taker;

static void take_rows(const Taker *taker, Rows *rows, int64_t count, int64_t columns,
                      const char *what) {
    if (taker->plan != NULL)
        memory_plan_add(taker->plan, what, rows_bytes(count, columns));
    else
        *rows = rows_take(count, columns, what);
}

static void *take(const Taker *taker, size_t bytes, const char *what) {
    if (taker->plan == NULL)
        return memory_take(bytes, what);
    memory_plan_add(taker->plan, what, bytes);
    return NULL;
}

static bool keeps_input(const ModelShape *shape, int l) {
    return shape->self_weight || shape->transform_first[l];
}

static void take_layer(Model *m, const Taker *taker, int l) {
    const ModelShape *shape = &m->shape;
    Layer *layer = &m->layer[l];
    int64_t n = m->rows, in = shape->width[l], out = shape->width[l + 1];
    bool dropped = l == 0 && shape->input_keep < 1;
    if (dropped || (l > 0 && keeps_input(shape, l)))
        take_rows(taker, &layer->h, n, in, dropped ? "features after dropout" : "layer inputs");
    if (shape->transform_first[l])
        take_rows(taker, &layer->y, n, out, "transformed rows");
    else
        take_rows(taker, &layer->a, n, in, l == 0 ? "aggregated features" : "aggregated rows");
    take_rows(taker, &layer->z, n, out, "layer outputs");
    if (l == shape->layers - 1)
        return;
    size_t bits = (size_t)(n * rows_stride(out) / 8);
    layer->saved.mean = take(taker, (size_t)n * sizeof(float), "norm statistics");
    layer->saved.inverse = take(taker, (size_t)n * sizeof(float), "norm statistics");
    layer->saved.kept = take(taker, bits, "dropout and activation bits");
    layer->saved.positive = take(taker, bits, "dropout and activation bits");
}

// Layers that need not keep their input share one buffer as wide as the widest of them; its padding
// is zero only where the widths agree, so a width of its own gets a buffer of its own.
static void take_inputs(Model *m, const Taker *taker) {
    for (int l = 1; l < m->shape.layers; l++) {
        if (keeps_input(&m->shape, l))
            continue;
        int same = 1;
        while (same < l &&
               (keeps_input(&m->shape, same) || m->shape.width[same] != m->shape.width[l]))
            same++;
        if (same == l)
            take_rows(taker, &m->layer[l].h, m->rows, m->shape.width[l], "layer inputs");
        else
            m->layer[l].h = m->layer[same].h;
    }
}

static void take_gradients(Model *m, const Taker *taker) {
    for (int l = 1; l <= m->shape.layers; l++) {
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
    const Backend *b = m->parts.backend;
    int64_t most = 0;
    for (int l = 0; l < m->shape.layers; l++) {
        int64_t in = m->shape.width[l], out = m->shape.width[l + 1];
        most = max64(most, b->dense_gradient_scratch(m->rows, in, out));
        most = max64(most, b->column_sums_scratch(m->rows, out));
        most = max64(most, b->post_scratch(m->rows, out));
    }
    return most;
}

static void take_buffers(Model *m, const Taker *taker) {
    int64_t classes = m->shape.width[m->shape.layers];
    take_rows(taker, &m->x, m->rows, m->shape.width[0], "features");
    for (int l = 0; l < m->shape.layers; l++)
        take_layer(m, taker, l);
    take_inputs(m, taker);
    take_gradients(m, taker);
    m->scratch = take(taker, (size_t)scratch_floats(m) * sizeof(float), "partial sums");
    m->counts =
        take(taker, (size_t)(4 * metric_counts(classes)) * sizeof(int64_t), "metric counts");
}

// ---- operators and channels

// Width of the rows that layer l exchanges; 0: it does not.
static int64_t exchanged(const ModelShape *shape, int l, int direction) {
    if (l == 0 && shape->layer0_once)
        return 0;
    if (shape->transform_first[l])
        return shape->width[l + 1];
    return direction == FORWARD || l > 0 ? shape->width[l] : 0;
}

static int64_t widest(const ModelShape *shape, const ModelParts *parts, const Pattern *pattern) {
    int64_t most = 0;
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++)
            if (parts->patterns[l][d] == pattern)
                most = max64(most, exchanged(shape, l, d));
    return most;
}

int rest_ranges(const Pattern *p, Range rest[PATTERN_RANGES + 1]) {
    int64_t at = 0;
    int count = 0;
    for (int i = 0; i <= p->range_count; i++) {
        int64_t end = i < p->range_count ? p->central[i].begin : p->rows;
        if (at < end)
            rest[count++] = (Range){at, end};
        at = i < p->range_count ? p->central[i].end : end;
    }
    return count;
}

// `left` is only for rows that are complete after the own part.
static void operator_ready(Operator *op) {
    const Pattern *p = op->block.pattern;
    op->rest_count = rest_ranges(p, op->rest);
    op->cursor = TAKE(int64_t, p->halo.rows + 1, "halo cursors");
    if (op->block.left == NULL)
        return;
    op->left_own = TAKE(float, p->rows + 1, "diagonals");
    memcpy(op->left_own, op->block.left, (size_t)p->rows * sizeof(float));
    for (int64_t k = 0; k < p->halo.rows; k++)
        op->left_own[p->halo_row[k]] = 1;
}

// Two operators on one Pattern (a symmetric graph's forward and backward differ in their diagonals)
// share the kernel and its scratch: only one exchange runs at a time.
static Operator *operator_find(Model *m, const Block *block) {
    Aggregate *shared = NULL;
    for (int i = 0; i < m->operators; i++) {
        Operator *op = &m->operator[i];
        if (op->block.pattern != block->pattern)
            continue;
        if (op->block.left == block->left && op->block.right == block->right)
            return op;
        shared = op->aggregate;
    }
    Operator *op = &m->operator[m->operators++];
    *op = (Operator){.block = *block, .aggregate = shared, .owns_aggregate = shared == NULL};
    const Pattern *p = block->pattern;
    if (shared == NULL)
        op->aggregate = m->parts.backend->aggregate_new(&p->own, p->sources,
                                                        widest(&m->shape, &m->parts, p), m->panels);
    operator_ready(op);
    return op;
}

static void make_layer_exchange(Model *m, int l, const Block *base) {
    for (int d = 0; d < 2; d++) {
        int64_t columns = exchanged(&m->shape, l, d);
        if (columns == 0)
            continue;
        const Pattern *pattern = m->parts.patterns[l][d];
        Block block = d == FORWARD ? *base : block_transpose(base);
        assert(block.pattern == pattern);
        m->layer[l].operator[d] = operator_find(m, &block);
        m->layer[l].channel[d] = channel_new(pattern, &m->parts.form, columns, l, d);
    }
}

static void operator_clear(const Model *m, Operator *op) {
    if (op->owns_aggregate)
        m->parts.backend->aggregate_free(op->aggregate);
    memory_give(op->left_own);
    memory_give(op->cursor);
}

// The features' one exchange and aggregate, with an operator and a channel that go again.
static void features_once(Model *m) {
    const Pattern *p = m->block.pattern;
    int64_t columns = m->shape.width[0];
    Operator op = {.block = m->block, .owns_aggregate = true};
    op.aggregate = m->parts.backend->aggregate_new(&p->own, p->sources, columns, "rows");
    operator_ready(&op);
    m->layer[0].channel[FORWARD] = channel_new(p, &m->parts.form, columns, 0, FORWARD);
    model_features_once(m, &op);
    channel_free(m->layer[0].channel[FORWARD]);
    m->layer[0].channel[FORWARD] = NULL;
    operator_clear(m, &op);
}

// Measures panel widths on the real Patterns, with buffers of the right width as scratch.
static void tune(Model *m) {
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            Operator *op = m->layer[l].operator[d];
            if (op == NULL)
                continue;
            bool first = m->shape.transform_first[l];
            Rows out = first ? m->layer[l].z : m->layer[l].a;
            Rows in = first ? m->layer[l].y : l == 0 ? m->x : m->layer[l].h;
            m->parts.backend->aggregate_tune(op->aggregate, out, in);
        }
}

Model *model_new(const ModelShape *shape, const ModelParts *parts, const Config *config,
                 Error *err) {
    const Schedule *blocking = schedule_find("blocking", err);
    if (blocking == NULL)
        return NULL;
    Model *m = TAKE(Model, 1, "model");
    *m = (Model){.shape = *shape, .parts = *parts, .blocking = blocking, .rows = parts->shard->own};
    snprintf(m->panels, sizeof m->panels, "%s", config->run.panels);
    block_init(&m->block, shape->normalisation, parts->patterns[0][FORWARD],
               parts->patterns[0][BACKWARD], parts->shard, err);
    if (!comm_agree(parts->comm, err)) { // degrees may be bad on one rank only; channels need all
        model_free(m);
        return NULL;
    }
    take_buffers(m, &(Taker){NULL});
    for (int l = 0; l < shape->layers; l++)
        make_layer_exchange(m, l, &m->block);
    tune(m);
    for (int64_t r = 0; r < m->rows; r++)
        memcpy(m->x.at + r * m->x.stride, parts->shard->x + r * shape->width[0],
               (size_t)shape->width[0] * sizeof(float));
    if (shape->layer0_once)
        features_once(m);
    return m;
}

void model_plan(MemoryPlan *plan, const ModelShape *shape, const ModelParts *parts,
                const Config *config) {
    Model *m = TAKE(Model, 1, "model"); // large for a stack; gives the walk its sizes
    *m = (Model){.shape = *shape, .parts = *parts, .rows = parts->shard->own};
    take_buffers(m, &(Taker){plan});
    memory_give(m);
    if (shape->layer0_once) // at set-up
        channel_plan(plan, parts->patterns[0][FORWARD], &parts->form, shape->width[0]);
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++) {
            const Pattern *p = parts->patterns[l][d];
            int64_t columns = exchanged(shape, l, d);
            if (columns == 0)
                continue;
            channel_plan(plan, p, &parts->form, columns);
            bool seen = d == BACKWARD && p == parts->patterns[l][FORWARD];
            for (int k = 0; k < l; k++)
                seen |= parts->patterns[k][d] == p && exchanged(shape, k, d) > 0;
            if (!seen)
                memory_plan_add(plan, "repacked columns",
                                parts->backend->aggregate_bytes(p->sources, widest(shape, parts, p),
                                                                config->run.panels));
        }
}

// ---- freeing, in reverse

static void free_layer(Model *m, int l) {
    Layer *layer = &m->layer[l];
    for (int d = 0; d < 2; d++)
        channel_free(layer->channel[d]);
    memory_give(layer->saved.mean);
    memory_give(layer->saved.inverse);
    memory_give(layer->saved.kept);
    memory_give(layer->saved.positive);
    bool shared = false;
    for (int k = 0; k < l; k++)
        shared |= m->layer[k].h.at == layer->h.at;
    if (!shared)
        rows_give(&layer->h);
    rows_give(&layer->a);
    rows_give(&layer->y);
    rows_give(&layer->z);
}

void model_free(Model *m) {
    if (m == NULL)
        return;
    memory_give(m->counts);
    memory_give(m->scratch);
    for (int i = 0; i < m->widths; i++)
        for (int slot = 0; slot < GRADIENT_SLOTS; slot++)
            rows_give(&m->gradient_slot[i][slot]);
    for (int l = m->shape.layers - 1; l >= 0; l--)
        free_layer(m, l);
    for (int i = 0; i < m->operators; i++)
        operator_clear(m, &m->operator[i]);
    block_clear(&m->block);
    rows_give(&m->x);
    memory_give(m);
}

// ---- the door

void model_set_spans(Model *m, Spans *spans) {
    m->spans = spans;
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++)
            if (m->layer[l].channel[d] != NULL)
                channel_set_spans(m->layer[l].channel[d], spans);
}

void model_describe(const Model *m, char *out, size_t size) {
    size_t at = 0;
    out[0] = 0;
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            const Operator *op = m->layer[l].operator[d];
            int64_t columns = exchanged(&m->shape, l, d);
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
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++)
            if (m->layer[l].channel[d] != NULL)
                bytes += channel_count(m->layer[l].channel[d]).bytes_sent;
    return bytes;
}

Channel *model_channel(const Model *m, int layer, int direction) {
    return m->layer[layer].channel[direction];
}

const float *model_left(const Model *m, int layer, int direction) {
    const Operator *op = m->layer[layer].operator[direction];
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
    m->g = gradient_rows(m, m->shape.width[m->shape.layers], 0);
    double train = (double)m->parts.shard->train_nodes;
    span_begin(m->spans);
    double loss =
        loss_of(m, m->g, m->layer[m->shape.layers - 1].z, SPLIT_TRAIN, (float)(1 / train));
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
    assert(layer >= 1 && layer <= m->shape.layers);
    return m->layer[layer - 1].z;
}
