// Forward and backward through the layers (ALGORITHMS A.3).
//
//   aggregate first   A = L·M·R·H    Z = A W + H Ws + b
//                     dW = Aᵀ G      dH = (L·M·R)ᵀ (G Wᵀ) + G Wsᵀ
//   transform first   Y = H W        Z = L·M·R·Y + H Ws + b
//                     dY = (L·M·R)ᵀ G    dW = Hᵀ dY    dH = dY Wᵀ + G Wsᵀ
//   both              dWs = Hᵀ G    db = column sums of G    G of the layer below = post'(Z) ∘ dH
#include "internal.h"
#include <string.h>

typedef struct LayerRun { // the layer that is running
    Model *m;
    int l;
    Rows out; // backward: dH
} LayerRun;

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
    Post post = {.count = m->shape.post_count,
                 .keep = m->shape.keep,
                 .training = m->training,
                 .gamma = weights_of(m, l, ROLE_GAMMA),
                 .beta = weights_of(m, l, ROLE_BETA),
                 .stream = random_stream(m->seed, RANDOM_DROPOUT, m->epoch, l + 1, 0)};
    memcpy(post.step, m->shape.post, sizeof post.step);
    return post;
}

// Dense part and post of rows whose aggregate is complete: they become rows of the next layer.
static void forward_finish(void *context, Range range, const Poll *poll) {
    const LayerRun *run = context;
    Model *m = run->m;
    const Backend *b = m->parts.backend;
    Layer *layer = &m->layer[run->l];
    Rows h = layer_input(m, run->l);
    Rows a = features_ready(m, run->l) ? m->features : layer->a;
    bool sum_ready = m->shape.transform_first[run->l]; // z holds the aggregate
    span_begin(m->spans);
    if (!sum_ready)
        b->dense(layer->z, range, a, weights_of(m, run->l, ROLE_WEIGHT),
                 weights_of(m, run->l, ROLE_BIAS), false, poll);
    if (weights_of(m, run->l, ROLE_SELF_WEIGHT) != NULL)
        b->dense(layer->z, range, h, weights_of(m, run->l, ROLE_SELF_WEIGHT),
                 sum_ready ? weights_of(m, run->l, ROLE_BIAS) : NULL, true, poll);
    else if (sum_ready && weights_of(m, run->l, ROLE_BIAS) != NULL)
        b->add_bias(layer->z, range, weights_of(m, run->l, ROLE_BIAS), poll);
    span_end(m->spans, SPAN_DENSE);
    if (run->l == m->shape.layers - 1)
        return;
    Post post = layer_post(m, run->l);
    span_begin(m->spans);
    b->post_forward(m->training ? layer[1].h : layer->z, range, layer->z, &post, layer->saved,
                    m->parts.shard->gid, poll);
    span_end(m->spans, SPAN_POINTWISE);
}

static void forward_layer(Model *m, int l) {
    Layer *layer = &m->layer[l];
    const Backend *b = m->parts.backend;
    LayerRun run = {.m = m, .l = l};
    Rows h = layer_input(m, l);
    PropagationCall call = {.over = m->training ? &layer->propagation[FORWARD] : &layer->infer,
                            .in = h,
                            .out = layer->a,
                            .received = m->masked,
                            .context = &run,
                            .finish = forward_finish};
    spans_place(m->spans, l, FORWARD);
    if (features_ready(m, l)) {
        forward_finish(&run, (Range){0, level_rows(m, 1)}, NULL);
        return;
    }
    if (m->shape.transform_first[l]) {
        span_begin(m->spans);
        b->dense(layer->y, (Range){0, h.count}, h, weights_of(m, l, ROLE_WEIGHT), NULL, false,
                 NULL);
        span_end(m->spans, SPAN_DENSE);
        call.in = first_rows(layer->y, h.count);
        call.out = layer->z;
    }
    propagate(m, &call);
}

// Every value is dropped by a mask that is a function of its place, so halo rows that are kept are
// dropped here as they are at their owner.
static void drop_features(Model *m) {
    const Backend *b = m->parts.backend;
    RandomStream stream = random_stream(m->seed, RANDOM_DROPOUT, m->epoch, 0, 0);
    float keep = m->shape.input_keep;
    span_begin(m->spans);
    b->dropout(m->layer[0].h, (Range){0, level_rows(m, 0)}, m->x, keep, stream, m->parts.shard->gid,
               NULL);
    if (m->shape.layer0 == LAYER0_KEPT)
        b->dropout(m->masked, (Range){0, m->kept.count}, m->kept, keep, stream,
                   m->layer[0].propagation[FORWARD].op->block.pattern->halo_gid, NULL);
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
static void parameter_gradients(void *context, const Poll *poll) {
    const LayerRun *run = context;
    Model *m = run->m;
    span_begin(m->spans);
    if (gradient_of(m, run->l, ROLE_BIAS) != NULL)
        m->parts.backend->column_sums(gradient_of(m, run->l, ROLE_BIAS), m->g, m->scratch);
    if (gradient_of(m, run->l, ROLE_SELF_WEIGHT) != NULL)
        weight_gradient(m, gradient_of(m, run->l, ROLE_SELF_WEIGHT), layer_input(m, run->l), m->g,
                        poll);
    if (!m->shape.transform_first[run->l])
        weight_gradient(m, gradient_of(m, run->l, ROLE_WEIGHT), m->layer[run->l].a, m->g, poll);
    span_end(m->spans, SPAN_DENSE);
}

// Aggregate first: rows of dH whose aggregate is complete get the self term, if they have a G.
static void backward_finish(void *context, Range range, const Poll *poll) {
    const LayerRun *run = context;
    Model *m = run->m;
    range.end = range.end < m->g.count ? range.end : m->g.count;
    if (weights_of(m, run->l, ROLE_SELF_WEIGHT) == NULL || range.begin >= range.end)
        return;
    span_begin(m->spans);
    m->parts.backend->dense_transposed(run->out, range, m->g,
                                       weights_of(m, run->l, ROLE_SELF_WEIGHT), true, poll);
    span_end(m->spans, SPAN_DENSE);
}

// dH into the next slot, by pulling rows of dA = G Wᵀ over the transposed Block.
static void backward_aggregate_first(Model *m, int l) {
    int64_t in = m->shape.width[l];
    LayerRun run = {.m = m, .l = l};
    if (l == 0) { // no gradient of the features is wanted
        parameter_gradients(&run, gradient_poll(m));
        return;
    }
    Rows da = first_rows(gradient_rows(m, in, 2), m->g.count);
    run.out = first_rows(gradient_rows(m, in, 1), level_rows(m, l));
    span_begin(m->spans);
    m->parts.backend->dense_transposed(da, (Range){0, m->g.count}, m->g,
                                       weights_of(m, l, ROLE_WEIGHT), false, gradient_poll(m));
    span_end(m->spans, SPAN_DENSE);
    propagate(m, &(PropagationCall){.over = &m->layer[l].propagation[BACKWARD],
                                    .in = da,
                                    .out = run.out,
                                    .context = &run,
                                    .beside = parameter_gradients,
                                    .finish = backward_finish});
}

// dY by pulling rows of G; then dW = Hᵀ dY and dH = dY Wᵀ + G Wsᵀ.
static void backward_transform_first(Model *m, int l) {
    const Backend *b = m->parts.backend;
    Rows h = layer_input(m, l);
    Rows dy = first_rows(gradient_rows(m, m->shape.width[l + 1], 2), h.count);
    LayerRun run = {.m = m, .l = l};
    propagate(m, &(PropagationCall){.over = &m->layer[l].propagation[BACKWARD],
                                    .in = m->g,
                                    .out = dy,
                                    .context = &run,
                                    .beside = parameter_gradients});
    span_begin(m->spans);
    weight_gradient(m, gradient_of(m, l, ROLE_WEIGHT), h, dy, gradient_poll(m));
    if (l > 0) {
        Rows dh = gradient_rows(m, m->shape.width[l], 1);
        b->dense_transposed(dh, (Range){0, h.count}, dy, weights_of(m, l, ROLE_WEIGHT), false,
                            gradient_poll(m));
        if (weights_of(m, l, ROLE_SELF_WEIGHT) != NULL)
            b->dense_transposed(dh, (Range){0, m->g.count}, m->g,
                                weights_of(m, l, ROLE_SELF_WEIGHT), true, gradient_poll(m));
    }
    span_end(m->spans, SPAN_DENSE);
}

// G of layer l-1, in place of dH.
static void backward_post(Model *m, int l) {
    Layer *below = &m->layer[l - 1];
    Post post = layer_post(m, l - 1);
    Rows dh = first_rows(gradient_rows(m, m->shape.width[l], 1), level_rows(m, l));
    span_begin(m->spans);
    m->parts.backend->post_backward(dh, dh, first_rows(below->z, dh.count), &post, below->saved,
                                    gradient_of(m, l - 1, ROLE_GAMMA),
                                    gradient_of(m, l - 1, ROLE_BETA), m->scratch, gradient_poll(m));
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
