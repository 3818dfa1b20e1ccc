// Forward and backward through the layers (ALGORITHMS A.3).
//
//   aggregate first   A = L·M·R·H     Z = A W + H Ws + b       dW = Aᵀ G    dH = (L·M·R)ᵀ (G Wᵀ) +
//   G Wsᵀ transform first   Y = H W         Z = L·M·R·Y + H Ws + b   dY = (L·M·R)ᵀ G   dW = Hᵀ dY
//   dH = dY Wᵀ + G Wsᵀ both              dWs = Hᵀ G      db = column sums of G    G of the layer
//   below = post'(Z) ∘ dH
//
// Each exchange is told to its schedule as two pieces of work: `own` needs no message and hides it,
// `halo` waits for it. Both schedules do the same work on the same rows, so they give the same
// bits.
#include "internal.h"
#include <string.h>

typedef struct Work { // the exchange that is running
    Model *m;
    int l;
    Operator *op;
    Rows in, out;                                        // rows aggregated and their sums
    void (*beside)(struct Work *work, const Poll *poll); // more work for `own`; may be NULL
    void (*finish)(struct Work *work, Range range, const Poll *poll); // rows whose sum is complete
} Work;

static void aggregate_own(Work *work, const Range *range, int ranges, const Poll *poll) {
    const Operator *op = work->op;
    span_begin(work->m->spans);
    for (int i = 0; i < ranges; i++)
        work->m->parts.backend->aggregate_rows(op->aggregate, work->out, range[i], op->block.self,
                                               op->left_own, poll);
    span_end(work->m->spans, SPAN_AGGREGATE_OWN);
}

// Rows that are complete are finished only when all own sums are made: finishing may overwrite rows
// that those sums read.
static void work_own(void *context, OwnPart part, const Poll *poll) {
    Work *work = context;
    Model *m = work->m;
    const Pattern *pattern = work->op->block.pattern;
    if (part != OWN_MARGINAL) {
        span_begin(m->spans);
        m->parts.backend->aggregate_prepare(work->op->aggregate, work->in, work->op->block.right,
                                            poll);
        span_end(m->spans, SPAN_AGGREGATE_OWN);
    }
    if (part == OWN_CENTRAL) {
        aggregate_own(work, pattern->central, pattern->range_count, poll);
        return;
    }
    if (part == OWN_MARGINAL)
        aggregate_own(work, work->op->rest, work->op->rest_count, poll);
    else
        aggregate_own(work, &(Range){0, m->rows}, 1, poll);
    for (int i = 0; i < pattern->range_count; i++)
        work->finish(work, pattern->central[i], poll);
    if (work->beside != NULL)
        work->beside(work, poll);
}

static void work_halo(void *context, Rows landed, int begin, int end, bool last, const Poll *poll) {
    Work *work = context;
    Model *m = work->m;
    const Block *block = &work->op->block;
    const Pattern *pattern = block->pattern;
    span_begin(m->spans);
    if (begin < end || last)
        m->parts.backend->aggregate_halo(work->out, &pattern->halo, pattern->halo_row,
                                         work->op->cursor, landed, pattern->receive_offset[end],
                                         last ? block->left : NULL, poll);
    span_end(m->spans, SPAN_AGGREGATE_HALO);
    for (int i = 0; last && i < work->op->rest_count; i++)
        work->finish(work, work->op->rest[i], poll);
}

static void exchange(Work *work, int direction) {
    Model *m = work->m;
    const Pattern *pattern = work->op->block.pattern;
    memcpy(work->op->cursor, pattern->halo.offset, (size_t)pattern->halo.rows * sizeof(int64_t));
    const Schedule *schedule = m->training ? m->parts.schedule : m->blocking;
    schedule->run(m->layer[work->l].channel[direction], work->in, work->op->block.right,
                  (Occasion){.seed = m->seed, .epoch = m->epoch, .exact = !m->training},
                  &(ExchangeWork){work_own, work_halo, work});
}

static Rows layer_input(Model *m, int l) {
    if (l > 0)
        return m->training ? m->layer[l].h : m->layer[l - 1].z;
    return m->training && m->shape.input_keep < 1 ? m->layer[0].h : m->x;
}

Post layer_post(const Model *m, int l) {
    LayerWindows p = layer_windows(&m->shape, m->parameters, l);
    Post post = {.count = m->shape.post_count,
                 .keep = m->shape.keep,
                 .training = m->training,
                 .gamma = p.gamma,
                 .beta = p.beta,
                 .stream = random_stream(m->seed, RANDOM_DROPOUT, m->epoch, l + 1, 0)};
    memcpy(post.step, m->shape.post, sizeof post.step);
    return post;
}

// Dense part and post of rows whose aggregate is complete: they become rows of the next layer.
static void forward_finish(Work *work, Range range, const Poll *poll) {
    Model *m = work->m;
    const Backend *b = m->parts.backend;
    Layer *layer = &m->layer[work->l];
    LayerWindows p = layer_windows(&m->shape, m->parameters, work->l);
    Rows h = layer_input(m, work->l);
    bool sum_ready = m->shape.transform_first[work->l]; // z holds the aggregate
    span_begin(m->spans);
    if (!sum_ready)
        b->dense(layer->z, range, layer->a, p.w, p.bias, false, poll);
    if (p.ws != NULL)
        b->dense(layer->z, range, h, p.ws, sum_ready ? p.bias : NULL, true, poll);
    else if (sum_ready && p.bias != NULL)
        b->add_bias(layer->z, range, p.bias, poll);
    span_end(m->spans, SPAN_DENSE);
    if (work->l == m->shape.layers - 1)
        return;
    Post post = layer_post(m, work->l);
    span_begin(m->spans);
    b->post_forward(m->training ? layer[1].h : layer->z, range, layer->z, &post, layer->saved,
                    m->parts.shard->gid, poll);
    span_end(m->spans, SPAN_POINTWISE);
}

static void nothing_to_finish(Work *work, Range range, const Poll *poll) {
    (void)work, (void)range, (void)poll;
}

void model_features_once(Model *m, Operator *op) {
    Work work = {
        .m = m, .op = op, .in = m->x, .out = m->layer[0].a, .finish = nothing_to_finish};
    exchange(&work, FORWARD);
}

// The first layer from its aggregate, which is there: in the ranges of an exchange, on which the
// bits of dense products depend.
static void forward_from_features(Model *m) {
    const Pattern *pattern = m->block.pattern;
    Range rest[PATTERN_RANGES + 1];
    Work work = {.m = m};
    for (int i = 0; i < pattern->range_count; i++)
        forward_finish(&work, pattern->central[i], NULL);
    int count = rest_ranges(pattern, rest);
    for (int i = 0; i < count; i++)
        forward_finish(&work, rest[i], NULL);
}

static void forward_layer(Model *m, int l) {
    Layer *layer = &m->layer[l];
    spans_place(m->spans, l, FORWARD);
    if (l == 0 && m->shape.layer0_once) {
        forward_from_features(m);
        return;
    }
    const Backend *b = m->parts.backend;
    Work work = {.m = m,
                 .l = l,
                 .op = layer->operator[FORWARD],
                 .finish = forward_finish,
                 .in = layer_input(m, l),
                 .out = layer->a};
    if (m->shape.transform_first[l]) {
        LayerWindows p = layer_windows(&m->shape, m->parameters, l);
        span_begin(m->spans);
        b->dense(layer->y, (Range){0, m->rows}, work.in, p.w, NULL, false, NULL);
        span_end(m->spans, SPAN_DENSE);
        work.in = layer->y;
        work.out = layer->z;
    }
    exchange(&work, FORWARD);
}

void model_forward(Model *m) {
    if (m->training && m->shape.input_keep < 1) {
        span_begin(m->spans);
        m->parts.backend->dropout(m->layer[0].h, (Range){0, m->rows}, m->x, m->shape.input_keep,
                                  random_stream(m->seed, RANDOM_DROPOUT, m->epoch, 0, 0),
                                  m->parts.shard->gid, NULL);
        span_end(m->spans, SPAN_POINTWISE);
    }
    for (int l = 0; l < m->shape.layers; l++)
        forward_layer(m, l);
}

// Gradients that need G only: of Ws, b, and of W where the aggregate came first.
static void parameter_gradients(Work *work, const Poll *poll) {
    Model *m = work->m;
    const Backend *b = m->parts.backend;
    LayerWindows d = layer_windows(&m->shape, m->gradient, work->l);
    Rows g = m->g;
    span_begin(m->spans);
    if (!m->shape.transform_first[work->l])
        b->dense_gradient(d.w, m->layer[work->l].a, g, m->scratch, poll);
    if (d.ws != NULL)
        b->dense_gradient(d.ws, layer_input(m, work->l), g, m->scratch, poll);
    if (d.bias != NULL)
        b->column_sums(d.bias, g, m->scratch);
    span_end(m->spans, SPAN_DENSE);
}

// Aggregate first: rows of dH whose aggregate is complete get the self term.
static void backward_finish(Work *work, Range range, const Poll *poll) {
    Model *m = work->m;
    LayerWindows p = layer_windows(&m->shape, m->parameters, work->l);
    if (p.ws == NULL)
        return;
    span_begin(m->spans);
    m->parts.backend->dense_transposed(work->out, range, m->g, p.ws, true, poll);
    span_end(m->spans, SPAN_DENSE);
}

// dH into the next slot, by pulling rows of dA = G Wᵀ over the transposed Block.
static void backward_aggregate_first(Model *m, int l) {
    LayerWindows p = layer_windows(&m->shape, m->parameters, l);
    int64_t in = m->shape.width[l];
    Work work = {.m = m,
                 .l = l,
                 .op = m->layer[l].operator[BACKWARD],
                 .beside = parameter_gradients,
                 .finish = backward_finish};
    if (l == 0) { // no gradient of the features is wanted
        parameter_gradients(&work, NULL);
        return;
    }
    work.in = gradient_rows(m, in, 2);
    work.out = gradient_rows(m, in, 1);
    span_begin(m->spans);
    m->parts.backend->dense_transposed(work.in, (Range){0, m->rows}, m->g, p.w, false, NULL);
    span_end(m->spans, SPAN_DENSE);
    exchange(&work, BACKWARD);
}

// dY by pulling rows of G; then dW = Hᵀ dY and dH = dY Wᵀ + G Wsᵀ.
static void backward_transform_first(Model *m, int l) {
    const Backend *b = m->parts.backend;
    LayerWindows p = layer_windows(&m->shape, m->parameters, l);
    LayerWindows d = layer_windows(&m->shape, m->gradient, l);
    Range all = {0, m->rows};
    Rows dy = gradient_rows(m, m->shape.width[l + 1], 2);
    Work work = {.m = m,
                 .l = l,
                 .op = m->layer[l].operator[BACKWARD],
                 .in = m->g,
                 .out = dy,
                 .beside = parameter_gradients,
                 .finish = nothing_to_finish};
    exchange(&work, BACKWARD);
    span_begin(m->spans);
    b->dense_gradient(d.w, layer_input(m, l), dy, m->scratch, NULL);
    if (l > 0) {
        Rows dh = gradient_rows(m, m->shape.width[l], 1);
        b->dense_transposed(dh, all, dy, p.w, false, NULL);
        if (p.ws != NULL)
            b->dense_transposed(dh, all, m->g, p.ws, true, NULL);
    }
    span_end(m->spans, SPAN_DENSE);
}

// G of layer l-1, in place of dH.
static void backward_post(Model *m, int l) {
    LayerWindows d = layer_windows(&m->shape, m->gradient, l - 1);
    Layer *below = &m->layer[l - 1];
    Post post = layer_post(m, l - 1);
    Rows dh = gradient_rows(m, m->shape.width[l], 1);
    span_begin(m->spans);
    m->parts.backend->post_backward(dh, dh, below->z, &post, below->saved, d.gamma, d.beta,
                                    m->scratch, NULL);
    span_end(m->spans, SPAN_POINTWISE);
    m->g = dh;
    m->slot = (m->slot + 1) % GRADIENT_SLOTS;
}

void model_backward(Model *m) {
    for (int l = m->shape.layers - 1; l >= 0; l--) {
        spans_place(m->spans, l, BACKWARD);
        (m->shape.transform_first[l] ? backward_transform_first : backward_aggregate_first)(m, l);
        if (l > 0)
            backward_post(m, l);
    }
    spans_place(m->spans, -1, -1);
}
