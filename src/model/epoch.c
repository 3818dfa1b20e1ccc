// Forward and backward through the layers (ALGORITHMS A.3).
//
//   aggregate first   A = L·M·R·H    Z = A W + H Ws + b
//                     dW = Aᵀ G      dH = (L·M·R)ᵀ (G Wᵀ) + G Wsᵀ
//   transform first   Y = H W        Z = L·M·R·Y + H Ws + b
//                     dY = (L·M·R)ᵀ G    dW = Hᵀ dY    dH = dY Wᵀ + G Wsᵀ
//   both              dWs = Hᵀ G    db = column sums of G    G of the layer below = post'(Z) ∘ dH
//
// Each exchange is told to its schedule as two pieces of work: `own` needs no message and hides it,
// `halo` waits for it. All schedules do the same work on the same rows, so they give the same
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

static const Poll *sums(const Model *m) { return m->sync != NULL ? &m->sums : NULL; }

// What an exchange moves, and the sums of gradients beside it.
typedef struct Both {
    const Poll *exchange, *sums;
} Both;

static void poll_both(void *context) {
    const Both *both = context;
    poll_call(both->exchange);
    poll_call(both->sums);
}

// The diagonal ends with the sources: on the way back there are more rows than gradients.
static void aggregate_range(Work *work, Range range, const Poll *poll) {
    const Operator *op = work->op;
    const Backend *b = work->m->parts.backend;
    int64_t middle = op->block.pattern->plan.sources;
    middle = middle < range.begin ? range.begin : middle > range.end ? range.end : middle;
    if (range.begin < middle)
        b->aggregate_rows(op->aggregate, work->out, (Range){range.begin, middle}, op->block.self,
                          op->left_own, poll);
    if (middle < range.end)
        b->aggregate_rows(op->aggregate, work->out, (Range){middle, range.end}, false, op->left_own,
                          poll);
}

static void aggregate_own(Work *work, const Range *range, int ranges, const Poll *poll) {
    span_begin(work->m->spans);
    for (int i = 0; i < ranges; i++)
        aggregate_range(work, range[i], poll);
    span_end(work->m->spans, SPAN_AGGREGATE_OWN);
}

// Rows that are complete are finished only when all own sums are made: finishing may overwrite rows
// that those sums read.
static void work_own(void *context, OwnPart part, const Poll *exchange) {
    Work *work = context;
    Model *m = work->m;
    Both both = {exchange, sums(m)};
    const Poll *poll = &(Poll){poll_both, &both};
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
        aggregate_own(work, &(Range){0, pattern->rows}, 1, poll);
    for (int i = 0; i < pattern->range_count; i++)
        work->finish(work, pattern->central[i], poll);
    if (work->beside != NULL)
        work->beside(work, poll);
}

static void work_halo(void *context, Rows landed, int begin, int end, bool last,
                      const Poll *exchange) {
    Work *work = context;
    Model *m = work->m;
    Both both = {exchange, sums(m)};
    const Poll *poll = &(Poll){poll_both, &both};
    const Block *block = &work->op->block;
    const Pattern *pattern = block->pattern;
    span_begin(m->spans);
    if (begin < end || last)
        m->parts.backend->aggregate_halo(
            work->out, &pattern->halo, pattern->halo_row, work->op->cursor, landed,
            pattern->plan.receive_offset[end], last ? block->left : NULL, poll);
    span_end(m->spans, SPAN_AGGREGATE_HALO);
    for (int i = 0; last && i < work->op->rest_count; i++)
        work->finish(work, work->op->rest[i], poll);
}

// The partial sums that others read, before anything is sent.
static RowSource sent_rows(Work *work, Rows sums) {
    const Operator *op = work->op;
    const Backend *b = work->m->parts.backend;
    RowSource rows = {.x = work->in, .right = op->block.right, .sums = sums};
    if (sums.count == 0)
        return rows;
    span_begin(work->m->spans);
    b->aggregate_prepare(op->partial, work->in, op->block.right, NULL);
    b->aggregate_rows(op->partial, sums, (Range){0, sums.count}, false, NULL, NULL);
    span_end(work->m->spans, SPAN_AGGREGATE_OWN);
    return rows;
}

static void exchange(Work *work, const Route *route) {
    Model *m = work->m;
    work->op = route->op;
    const Pattern *pattern = work->op->block.pattern;
    memcpy(work->op->cursor, pattern->halo.offset, (size_t)pattern->halo.rows * sizeof(int64_t));
    if (route->channel == NULL) { // the halo rows are here already
        work_own(work, OWN_ALL, NULL);
        work_halo(work, m->masked, 0, pattern->plan.size - 1, true, NULL);
        return;
    }
    const Schedule *schedule = m->training ? m->parts.schedule : m->blocking;
    RowSource rows = sent_rows(work, route->sums);
    schedule->run(route->channel, &rows,
                  (ExchangeContext){.seed = m->seed, .epoch = m->epoch, .exact = !m->training},
                  &(ExchangeWork){work_own, work_halo, work});
}

// Input and aggregate of a layer, as many rows as the running call needs.
static Rows layer_input(Model *m, int l) {
    bool dropped = m->training && m->shape.input_keep < 1;
    Rows h = l > 0 ? (m->training ? m->layer[l].h : m->layer[l - 1].z)
                   : (dropped ? m->layer[0].h : m->x);
    return first_rows(h, level_rows(m, l));
}

// Is the first layer's aggregate made already?
static bool features_ready(const Model *m, int l) {
    return l == 0 &&
           (m->shape.layer0 == LAYER0_ONCE || (m->shape.layer0 == LAYER0_KEPT && !m->training));
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
    Rows a = features_ready(m, work->l) ? m->features : layer->a;
    bool sum_ready = m->shape.transform_first[work->l]; // z holds the aggregate
    span_begin(m->spans);
    if (!sum_ready)
        b->dense(layer->z, range, a, p.w, p.bias, false, poll);
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
                    m->parts.shard->set[NODES].gid, poll);
    span_end(m->spans, SPAN_POINTWISE);
}

static void nothing_to_finish(Work *work, Range range, const Poll *poll) {
    (void)work, (void)range, (void)poll;
}

void model_features_once(Model *m) {
    Work work = {.m = m, .in = m->x, .out = m->features, .finish = nothing_to_finish};
    exchange(&work, &m->layer[0].infer);
}

static void forward_layer(Model *m, int l) {
    Layer *layer = &m->layer[l];
    const Backend *b = m->parts.backend;
    Work work = {
        .m = m, .l = l, .finish = forward_finish, .in = layer_input(m, l), .out = layer->a};
    spans_place(m->spans, l, FORWARD);
    if (features_ready(m, l)) {
        forward_finish(&work, (Range){0, level_rows(m, 1)}, NULL);
        return;
    }
    if (m->shape.transform_first[l]) {
        LayerWindows p = layer_windows(&m->shape, m->parameters, l);
        span_begin(m->spans);
        b->dense(layer->y, (Range){0, work.in.count}, work.in, p.w, NULL, false, NULL);
        span_end(m->spans, SPAN_DENSE);
        work.in = first_rows(layer->y, work.in.count);
        work.out = layer->z;
    }
    exchange(&work, m->training ? &layer->route[FORWARD] : &layer->infer);
}

// Every value is dropped by a mask that is a function of its place, so halo rows that are kept are
// dropped here as they are at their owner.
static void drop_features(Model *m) {
    const Backend *b = m->parts.backend;
    RandomStream stream = random_stream(m->seed, RANDOM_DROPOUT, m->epoch, 0, 0);
    float keep = m->shape.input_keep;
    span_begin(m->spans);
    b->dropout(m->layer[0].h, (Range){0, level_rows(m, 0)}, m->x, keep, stream,
               m->parts.shard->set[NODES].gid, NULL);
    if (m->shape.layer0 == LAYER0_KEPT)
        b->dropout(m->masked, (Range){0, m->kept.count}, m->kept, keep, stream,
                   m->layer[0].route[FORWARD].op->block.pattern->plan.halo_id, NULL);
    span_end(m->spans, SPAN_POINTWISE);
}

void model_forward(Model *m) {
    if (m->training && m->shape.input_keep < 1)
        drop_features(m);
    for (int l = 0; l < m->shape.layers; l++)
        forward_layer(m, l);
}

int64_t strip_rows(const Model *m, int64_t in, int64_t out) {
    int64_t rows = STRIP_FLOATS / out / 64 * 64;
    rows = rows > 64 ? rows : 64;
    return m->parts.comm->size == 1 || rows > in ? in : rows;
}

// dw = Aᵀ G, a strip of its rows after the other, from the end of the flat gradient to its
// beginning: what is made is summed over ranks while the next strip is computed.
static void weight_gradient(Model *m, float *dw, Rows a, Rows g, const Poll *poll) {
    int64_t most = strip_rows(m, a.columns, g.columns);
    a = first_rows(a, g.count);
    for (int64_t end = a.columns, begin; end > 0; end = begin) {
        begin = (end - 1) / most * most;
        float *strip = dw + begin * g.columns;
        m->parts.backend->dense_gradient(
            strip, (Rows){a.at + begin, a.count, end - begin, a.stride}, g, m->scratch, poll);
        if (m->sync != NULL)
            gradsync_made(m->sync, m->gradient, strip - m->gradient);
    }
}

// Gradients that need G only: of b, Ws, and of W where the aggregate came first; the last of the
// flat array first.
static void parameter_gradients(Work *work, const Poll *poll) {
    Model *m = work->m;
    LayerWindows d = layer_windows(&m->shape, m->gradient, work->l);
    span_begin(m->spans);
    if (d.bias != NULL)
        m->parts.backend->column_sums(d.bias, m->g, m->scratch);
    if (d.ws != NULL)
        weight_gradient(m, d.ws, layer_input(m, work->l), m->g, poll);
    if (!m->shape.transform_first[work->l])
        weight_gradient(m, d.w, m->layer[work->l].a, m->g, poll);
    span_end(m->spans, SPAN_DENSE);
}

// Aggregate first: rows of dH whose aggregate is complete get the self term, if they have a G.
static void backward_finish(Work *work, Range range, const Poll *poll) {
    Model *m = work->m;
    LayerWindows p = layer_windows(&m->shape, m->parameters, work->l);
    range.end = range.end < m->g.count ? range.end : m->g.count;
    if (p.ws == NULL || range.begin >= range.end)
        return;
    span_begin(m->spans);
    m->parts.backend->dense_transposed(work->out, range, m->g, p.ws, true, poll);
    span_end(m->spans, SPAN_DENSE);
}

// dH into the next slot, by pulling rows of dA = G Wᵀ over the transposed Block.
static void backward_aggregate_first(Model *m, int l) {
    LayerWindows p = layer_windows(&m->shape, m->parameters, l);
    int64_t in = m->shape.width[l];
    Work work = {.m = m, .l = l, .beside = parameter_gradients, .finish = backward_finish};
    if (l == 0) { // no gradient of the features is wanted
        parameter_gradients(&work, sums(m));
        return;
    }
    work.in = first_rows(gradient_rows(m, in, 2), m->g.count);
    work.out = first_rows(gradient_rows(m, in, 1), level_rows(m, l));
    span_begin(m->spans);
    m->parts.backend->dense_transposed(work.in, (Range){0, m->g.count}, m->g, p.w, false, sums(m));
    span_end(m->spans, SPAN_DENSE);
    exchange(&work, &m->layer[l].route[BACKWARD]);
}

// dY by pulling rows of G; then dW = Hᵀ dY and dH = dY Wᵀ + G Wsᵀ.
static void backward_transform_first(Model *m, int l) {
    const Backend *b = m->parts.backend;
    LayerWindows p = layer_windows(&m->shape, m->parameters, l);
    LayerWindows d = layer_windows(&m->shape, m->gradient, l);
    Rows h = layer_input(m, l);
    Rows dy = first_rows(gradient_rows(m, m->shape.width[l + 1], 2), h.count);
    Work work = {.m = m,
                 .l = l,
                 .in = m->g,
                 .out = dy,
                 .beside = parameter_gradients,
                 .finish = nothing_to_finish};
    exchange(&work, &m->layer[l].route[BACKWARD]);
    span_begin(m->spans);
    weight_gradient(m, d.w, h, dy, sums(m));
    if (l > 0) {
        Rows dh = gradient_rows(m, m->shape.width[l], 1);
        b->dense_transposed(dh, (Range){0, h.count}, dy, p.w, false, sums(m));
        if (p.ws != NULL)
            b->dense_transposed(dh, (Range){0, m->g.count}, m->g, p.ws, true, sums(m));
    }
    span_end(m->spans, SPAN_DENSE);
}

// G of layer l-1, in place of dH.
static void backward_post(Model *m, int l) {
    LayerWindows d = layer_windows(&m->shape, m->gradient, l - 1);
    Layer *below = &m->layer[l - 1];
    Post post = layer_post(m, l - 1);
    Rows dh = first_rows(gradient_rows(m, m->shape.width[l], 1), level_rows(m, l));
    span_begin(m->spans);
    m->parts.backend->post_backward(dh, dh, first_rows(below->z, dh.count), &post, below->saved,
                                    d.gamma, d.beta, m->scratch, sums(m));
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
