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
    if (l == 0 && shape->layer0 != LAYER0_EXCHANGED)
        take_rows(taker, &m->features, n, in, "aggregated features");
    if (shape->transform_first[l])
        take_rows(taker, &layer->y, n, out, "transformed rows");
    else if (l == 0 && shape->layer0 == LAYER0_ONCE)
        layer->a = m->features;
    else
        take_rows(taker, &layer->a, n, in, "aggregated rows");
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

static void take_kept(Model *m, const Taker *taker) {
    if (m->shape.layer0 != LAYER0_KEPT)
        return;
    int64_t count = m->parts.patterns->of[0][FORWARD]->halo_count;
    take_rows(taker, &m->kept, count, m->shape.width[0], "features of the halo");
    take_rows(taker, &m->masked, count, m->shape.width[0], "features of the halo");
}

static void take_buffers(Model *m, const Taker *taker) {
    int64_t classes = m->shape.width[m->shape.layers];
    take_rows(taker, &m->x, m->rows, m->shape.width[0], "features");
    take_kept(m, taker);
    for (int l = 0; l < m->shape.layers; l++)
        take_layer(m, taker, l);
    take_inputs(m, taker);
    take_gradients(m, taker);
    m->scratch = take(taker, (size_t)scratch_floats(m) * sizeof(float), "partial sums");
    m->counts =
        take(taker, (size_t)(4 * metric_counts(classes)) * sizeof(int64_t), "metric counts");
}

// ---- operators and channels

// Floats of a row that is aggregated there, in training or evaluation; 0: none is.
static int64_t aggregated(const ModelShape *shape, int l, int direction) {
    if (l == 0 && direction == FORWARD && shape->layer0 == LAYER0_KEPT)
        return shape->width[0];
    return model_exchanged(shape, l, direction);
}

// The widest rows that an operator on these own edges will see.
static int64_t widest(const ModelShape *shape, const ModelParts *parts, const Pattern *pattern) {
    int64_t most = 0;
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++) {
            const Pattern *used[] = {parts->patterns->of[l][d],
                                     d == FORWARD ? parts->patterns->full : NULL};
            for (int i = 0; i < 2; i++)
                if (used[i] != NULL && used[i]->own.offset == pattern->own.offset)
                    most = max64(most, aggregated(shape, l, d));
        }
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

// The Pattern with the same own edges that has the most rows.
static const Pattern *most_rows_of(const ModelPatterns *patterns, const Pattern *pattern) {
    for (int i = 0; i < patterns->count; i++)
        if (patterns->made[i]->own.offset == pattern->own.offset &&
            patterns->made[i]->rows > pattern->rows)
            pattern = patterns->made[i];
    return pattern;
}

// Operators on the same own edges (a symmetric graph's forward and backward differ in their
// diagonals, a layer's rows may be the first ones of another's) share the kernel and its scratch:
// only one exchange runs at a time.
static Operator *operator_find(Model *m, const Block *block) {
    const Backend *b = m->parts.backend;
    const Pattern *p = block->pattern;
    Aggregate *shared = NULL;
    for (int i = 0; i < m->operators; i++) {
        Operator *op = &m->operator[i];
        if (op->block.pattern->own.offset != p->own.offset)
            continue;
        if (op->block.pattern == p && op->block.left == block->left &&
            op->block.right == block->right)
            return op;
        shared = op->aggregate;
    }
    Operator *op = &m->operator[m->operators++];
    int64_t most = widest(&m->shape, &m->parts, p);
    *op = (Operator){.block = *block, .aggregate = shared, .owns_aggregate = shared == NULL};
    if (shared == NULL) {
        const Pattern *whole = most_rows_of(m->parts.patterns, p);
        op->aggregate = b->aggregate_new(&whole->own, whole->sources, most, m->panels);
    }
    op->pre = b->aggregate_new(&p->pre, p->sources, most, "rows");
    operator_ready(op);
    return op;
}

// The Block of a layer and direction over one of its Patterns.
static Block block_on(const Model *m, const Pattern *pattern, int direction) {
    Block block = direction == FORWARD ? m->block : block_transpose(&m->block);
    block.pattern = pattern;
    return block;
}

static void route_make(Model *m, Route *route, const Pattern *pattern, int l, int direction,
                       const MessageForm *form) {
    Block block = block_on(m, pattern, direction);
    int64_t columns = aggregated(&m->shape, l, direction);
    route->op = operator_find(m, &block);
    if (model_exchanged(&m->shape, l, direction) == 0)
        return;
    route->channel = channel_new(pattern, form, columns, l, direction);
    route->sums = rows_take(pattern->pre.rows, columns, "partial sums");
}

static MessageForm exact_form(const Model *m) {
    Error none = {0};
    return (MessageForm){.codec = codec_find("fp32", &none), .piece = m->parts.form.piece};
}

static void make_routes(Model *m, int l) {
    const ModelPatterns *patterns = m->parts.patterns;
    Layer *layer = &m->layer[l];
    for (int d = 0; d < 2; d++)
        if (patterns->of[l][d] != NULL)
            route_make(m, &layer->route[d], patterns->of[l][d], l, d, &m->parts.form);
    if (l == 0 && m->shape.layer0 != LAYER0_EXCHANGED)
        return;
    MessageForm exact = exact_form(m);
    if (patterns->of[l][FORWARD] == patterns->full)
        layer->infer = layer->route[FORWARD];
    else
        route_make(m, &layer->infer, patterns->full, l, FORWARD, &exact);
}

static void operator_clear(const Model *m, Operator *op) {
    if (op->owns_aggregate)
        m->parts.backend->aggregate_free(op->aggregate);
    m->parts.backend->aggregate_free(op->pre);
    memory_give(op->left_own);
    memory_give(op->cursor);
}

// ---- what is made of the features once (lossless.layer0)

// Their aggregate, with an operator and a channel that go again.
static void features_once(Model *m) {
    const Backend *b = m->parts.backend;
    const Pattern *p = m->parts.patterns->full;
    MessageForm exact = exact_form(m);
    int64_t columns = m->shape.width[0];
    Operator op = {.block = block_on(m, p, FORWARD), .owns_aggregate = true};
    op.aggregate = b->aggregate_new(&p->own, p->sources, columns, "rows");
    op.pre = b->aggregate_new(&p->pre, p->sources, columns, "rows");
    operator_ready(&op);
    Route *route = &m->layer[0].infer;
    *route = (Route){.op = &op,
                     .channel = channel_new(p, &exact, columns, 0, FORWARD),
                     .sums = rows_take(p->pre.rows, columns, "partial sums")};
    model_features_once(m);
    rows_give(&route->sums);
    channel_free(route->channel);
    *route = (Route){0};
    operator_clear(m, &op);
}

// The halo's features, for masks that both ends make.
static void features_kept(Model *m) {
    const Pattern *p = m->parts.patterns->of[0][FORWARD];
    MessageForm exact = exact_form(m);
    Channel *channel = channel_new(p, &exact, m->shape.width[0], 0, FORWARD);
    SentRows rows = {.x = first_rows(m->x, p->sources), .right = m->block.right};
    channel_pack(channel, &rows, (Occasion){.exact = true});
    channel_post(channel);
    for (int group = 0; group + 1 < p->size; group++)
        channel_receive(channel, group);
    channel_finish(channel);
    Rows landed = channel_rows(channel);
    memcpy(m->kept.at, landed.at, rows_bytes(landed.count, landed.columns));
    channel_free(channel);
}

// Measures panel widths on the real Patterns, with buffers of the right width as scratch.
static void tune(Model *m) {
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            Operator *op = m->layer[l].route[d].op;
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
    block_init(&m->block, shape->normalisation, parts->patterns->full, NULL, parts->shard, err);
    if (!comm_agree(parts->comm, err)) { // degrees may be bad on one rank only; channels need all
        model_free(m);
        return NULL;
    }
    take_buffers(m, &(Taker){NULL});
    for (int l = 0; l < shape->layers; l++)
        make_routes(m, l);
    tune(m);
    for (int64_t r = 0; r < m->rows; r++)
        memcpy(m->x.at + r * m->x.stride, parts->shard->x + r * shape->width[0],
               (size_t)shape->width[0] * sizeof(float));
    if (shape->layer0 != LAYER0_EXCHANGED)
        features_once(m);
    if (shape->layer0 == LAYER0_KEPT)
        features_kept(m);
    return m;
}

static void route_plan(MemoryPlan *plan, const Pattern *pattern, const MessageForm *form,
                       int64_t columns) {
    channel_plan(plan, pattern, form, columns);
    memory_plan_add(plan, "messages", rows_bytes(pattern->pre.rows, columns));
}

// Does a Pattern before the i-th have the same own edges?
static bool shares_kernel(const ModelPatterns *patterns, int i) {
    for (int k = 0; k < i; k++)
        if (patterns->made[k]->own.offset == patterns->made[i]->own.offset)
            return true;
    return false;
}

void model_plan(MemoryPlan *plan, const ModelShape *shape, const ModelParts *parts,
                const Config *config) {
    Model *m = TAKE(Model, 1, "model"); // large for a stack; gives the walk its sizes
    *m = (Model){.shape = *shape, .parts = *parts, .rows = parts->shard->own};
    take_buffers(m, &(Taker){plan});
    MessageForm exact = exact_form(m);
    const ModelPatterns *patterns = parts->patterns;
    if (shape->layer0 != LAYER0_EXCHANGED) // at set-up
        route_plan(plan, patterns->full, &exact, shape->width[0]);
    for (int l = 0; l < shape->layers; l++) {
        for (int d = 0; d < 2; d++)
            if (model_exchanged(shape, l, d) > 0)
                route_plan(plan, patterns->of[l][d], &parts->form, model_exchanged(shape, l, d));
        if (model_exchanged(shape, l, FORWARD) > 0 && patterns->of[l][FORWARD] != patterns->full)
            route_plan(plan, patterns->full, &exact, model_exchanged(shape, l, FORWARD));
    }
    for (int i = 0; i < patterns->count; i++) {
        const Pattern *p = patterns->made[i];
        if (!shares_kernel(patterns, i))
            memory_plan_add(plan, "repacked columns",
                            parts->backend->aggregate_bytes(p->sources, widest(shape, parts, p),
                                                            config->run.panels));
    }
    memory_give(m);
}

// ---- freeing, in reverse

static void route_clear(Route *route) {
    channel_free(route->channel);
    rows_give(&route->sums);
}

static void free_layer(Model *m, int l) {
    Layer *layer = &m->layer[l];
    if (layer->infer.channel != layer->route[FORWARD].channel)
        route_clear(&layer->infer);
    route_clear(&layer->route[FORWARD]);
    route_clear(&layer->route[BACKWARD]);
    memory_give(layer->saved.mean);
    memory_give(layer->saved.inverse);
    memory_give(layer->saved.kept);
    memory_give(layer->saved.positive);
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
    rows_give(&m->masked);
    rows_give(&m->kept);
    rows_give(&m->features);
    rows_give(&m->x);
    memory_give(m);
}

// ---- the door

// All channels, one after the other; NULL after the last.
static Channel *channel_at(const Model *m, int i) {
    for (int l = 0; l < m->shape.layers; l++) {
        const Layer *layer = &m->layer[l];
        Channel *infer = layer->infer.channel, *forward = layer->route[FORWARD].channel;
        Channel *all[] = {forward, layer->route[BACKWARD].channel, infer != forward ? infer : NULL};
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
            const Operator *op = m->layer[l].route[d].op;
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
    return m->layer[layer].route[direction].channel;
}

const float *model_left(const Model *m, int layer, int direction) {
    const Operator *op = m->layer[layer].route[direction].op;
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
    assert(layer >= 1 && layer <= m->shape.layers);
    return m->layer[layer - 1].z;
}
