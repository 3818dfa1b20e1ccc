// Forward and backward through the layers of any kind: the order of the work, and which computation
// overlaps which exchange. LayerKind has the rules of each kind.
//
//   aggregate first   A = L·M·R·H, then Z of rows whose A is complete
//                     dA from G; dH = (L·M·R)ᵀ dA, beside it the gradients of the parameters
//   transform first   Y = H W, then L·M·R·Y into Z, then the rest of Z of complete rows
//                     dY = (L·M·R)ᵀ G, beside it the gradients that need no dY; then dW, dH = dY
//                     Wᵀ. In a run of layers the first one multiplies; the others aggregate only
//   without edges     A = H: no exchange, Z of all rows at once; dA is dH
//   all               G of the layer below = post'(Z) ∘ dH
#include "internal.h"

static LayerRun run_of(Model *m, int l) {
    bool anchored = reads_anchor(&m->shape, l);
    Rows h = level_at(m, l);
    return (LayerRun){.m = m,
                      .l = l,
                      .layer = &m->layer[l],
                      .transformed = m->shape.transform_first[l] && !features_ready(m, l),
                      .h = h,
                      .anchor =
                          anchored ? rows_first(anchor_rows(m), level_rows(m, l + 1)) : (Rows){0},
                      .danchor = anchored ? m->anchor_gradient : (Rows){0},
                      .a = !m->shape.aggregates[l] ? h
                           : features_ready(m, l)  ? m->features
                                                   : m->layer[l].a};
}

// ---- forward

// Adds rows of an aggregate of the features to the sum of model.mix; the last one becomes that sum.
static void mix_rows(const LayerRun *run, Range rows, const Poll *poll) {
    const Model *m = run->m;
    bool last = run->l + 2 == m->shape.mixes;
    add_mixed(m, run->l, last ? run->a : m->mixed, rows, run->l == 0 ? run->h : m->mixed,
              last ? run->a : run->layer->z, poll);
}

// What follows Z of rows: the next level.
static void level_rows_of(const LayerRun *run, Range rows, const Poll *poll) {
    Model *m = run->m;
    const Layer *layer = run->layer;
    Rows out = m->training ? layer[1].h : layer->z;
    post_rows(run, out, rows, poll);
    if (m->shape.skips[run->l])
        m->parts.backend->add_scaled(out, rows, (RowFactor){.plain = 1}, out,
                                     (RowFactor){.plain = 1},
                                     level_at(m, run->l + 1 - m->shape.stages), poll);
}

// Computes rows of the next layer from rows whose aggregate is complete.
static void forward_rows(void *context, Range rows, const Poll *poll) {
    const LayerRun *run = context;
    Model *m = run->m;
    if (m->shape.mixes > 0 && !features_ready(m, run->l))
        mix_rows(run, rows, poll);
    if (!m->shape.weights[run->l] && !reads_anchor(&m->shape, run->l))
        return;
    rule_of(&m->shape, run->l)->forward(run, rows, poll);
    if (run->l == 0 && m->shape.label_rate > 0)
        add_label_input(m, rows, poll);
    if (m->shape.posted[run->l] && !m->shape.columns)
        level_rows_of(run, rows, poll);
}

// Y = H W of all rows.
static Rows transform(const LayerRun *run) {
    input_times(run, run->layer->y, (Range){0, run->h.count}, run->h, weights_of(run, ROLE_WEIGHT),
                NULL, false, NULL);
    return rows_first(run->layer->y, run->h.count);
}

// Halo rows that were sent before post become what their owner's own are in its aggregate: dropout
// is keyed by ids and columns, and everything is done row by row, so they have the same bits.
static void post_halo(void *context, Rows halo, Rows received, Range rows, const Poll *poll) {
    const LayerRun *run = context;
    const Backend *b = run->m->parts.backend;
    const BeforePost *before = &run->layer->before;
    LayerRun below = run_of(run->m, run->l - 1);
    post_received(&below, halo, received, rows, before->halo_id, poll);
    if (before->halo_right != NULL)
        b->add_scaled(halo, rows, (RowFactor){0}, halo,
                      (RowFactor){.times = 1, .at = before->halo_right, .each = true}, halo, poll);
}

static void forward_until_z(Model *m, int l) {
    LayerRun run = run_of(m, l);
    bool weights = m->shape.weights[l];
    bool more = weights || reads_anchor(&m->shape, l) || m->shape.mixes > 0;
    timers_place(timers_in_use(), l, FORWARD);
    if (features_ready(m, l) || !m->shape.aggregates[l]) {
        forward_rows(&run, (Range){0, level_rows(m, l + 1)}, NULL);
        return;
    }
    bool before = m->training && m->shape.before_post[l];
    propagate(m,
              (OperatorCall){
                  .over = m->training ? &run.layer->propagation[FORWARD] : &run.layer->infer,
                  .in = run.transformed && multiplies_first(&m->shape, l) ? transform(&run) : run.h,
                  .out = run.transformed || !weights ? run.layer->z : run.a,
                  .sent = before ? rows_first(m->layer[l - 1].z, run.h.count) : (Rows){0},
                  .received = m->halo_dropped,
                  .arrived = run.layer->before.posted,
                  .context = &run,
                  .arrive = before ? post_halo : NULL,
                  .finish = more ? forward_rows : NULL});
}

// A norm of columns waits for all rows of Z.
static void forward_layer(Model *m, int l) {
    forward_until_z(m, l);
    LayerRun run = run_of(m, l);
    if (m->shape.posted[l] && m->shape.columns)
        level_rows_of(&run, (Range){0, level_rows(m, l + 1)}, gradient_poll(m));
}

// The dropout mask of a value is a function of its node id and column, so cached halo rows get the
// same mask here as at their owner.
static void drop_features(Model *m) {
    const Backend *b = m->parts.backend;
    RandomKey key = layer_dropout(m, 0);
    float keep = m->shape.input_keep;
    b->dropout(m->layer[0].h, (Range){0, level_rows(m, 0)}, m->x, keep, key, m->on.gid[NODES],
               NULL);
    if (m->shape.layer0 == LAYER0_KEPT)
        b->dropout(m->halo_dropped, (Range){0, m->halo_features.count}, m->halo_features, keep, key,
                   m->on.halo_id, NULL);
}

void model_forward(Model *m) {
    if (m->shape.sparse)
        sparse_begin(m);
    else if (m->training && m->shape.input_keep < 1)
        drop_features(m);
    if (m->shape.label_rate > 0)
        draw_label_input(m);
    int ready = m->shape.feature_layers - 1;
    for (int l = ready > 0 && features_ready(m, ready) ? ready : 0; l < m->shape.layers; l++)
        forward_layer(m, l);
}

// ---- backward: the gradients of parameters
//
// Their order is fixed: the flat gradient is made from its end to its beginning, so that gradsync
// sums finished spans over ranks while the rest is computed (gradsync.h). The flat array holds
// the spans layer by layer, and inside a layer W first and gamma and beta last (shape.c). So
// backward goes from the last layer to the first, and in each layer from the norm behind it to W.

static void made(Model *m, const Parameter *p) {
    m->made--;
    assert(p == &m->shape.parameter[m->made]);
}

// Rows of a matrix gradient [in, out] that one call makes: whole tiles of the library; all rows if
// there is only one rank.
static int64_t strip_rows(const Model *m, int64_t in, int64_t out) {
    int64_t rows = STRIP_FLOATS / out / 64 * 64;
    rows = rows > 64 ? rows : 64;
    return m->parts.comm->size == 1 || rows > in ? in : rows;
}

int64_t matrix_gradient_scratch(const Model *m, int64_t in, int64_t out) {
    return m->parts.backend->dense_gradient_scratch(m->rows, strip_rows(m, in, out), out);
}

// Strip by strip, the last one first.
void matrix_gradient_from(const Model *m, const Parameter *p, int64_t first, Rows a, Rows g,
                          const Poll *poll) {
    int64_t most = strip_rows(m, a.columns, g.columns);
    a = rows_first(a, g.count);
    for (int64_t end = a.columns, begin; end > 0; end = begin) {
        begin = (end - 1) / most * most;
        int64_t at = p->begin + (first + begin) * g.columns;
        m->parts.backend->dense_gradient(flat_at(m->gradient, at),
                                         rows_columns(a, (Range){begin, end}), g, m->scratch, poll);
        if (m->sync != NULL)
            gradsync_made(m->sync, m->gradient, at);
    }
}

void matrix_gradient(const Model *m, const Parameter *p, Rows a, Rows g, const Poll *poll) {
    if (m->shape.sparse && p->layer == 0 && p->role != ROLE_LABEL) {
        sparse_gradient(m, p, g, poll);
        return;
    }
    matrix_gradient_from(m, p, 0, a, g, poll);
}

// The remaining parameter gradients of the layer; W of a transform-first layer waits for dY.
static void parameter_gradients(void *context, const Poll *poll) {
    const LayerRun *run = context;
    Model *m = run->m;
    while (m->made > 0 && m->shape.parameter[m->made - 1].layer == run->l) {
        const Parameter *p = &m->shape.parameter[m->made - 1];
        if (p->role == ROLE_WEIGHT && run->transformed && run->dy.at == NULL)
            break;
        if (p->role == ROLE_LABEL)
            matrix_gradient(m, p, m->label.a, run->g, poll);
        else
            rule_of(&m->shape, run->l)->parameter_gradient(run, p, poll);
        made(m, p);
    }
}

// ---- backward: the gradients of rows

// Completes rows of dH whose aggregate is complete, as far as they have a G.
static void backward_rows(void *context, Range rows, const Poll *poll) {
    const LayerRun *run = context;
    rows.end = rows.end < run->g.count ? rows.end : run->g.count;
    if (rows.begin >= rows.end)
        return;
    rule_of(&run->m->shape, run->l)->input_gradient(run, rows, poll);
}

static void backward_aggregate_first(LayerRun *run) {
    Model *m = run->m;
    if (!wants_input_gradient(&m->shape, run->l)) {
        parameter_gradients(run, gradient_poll(m));
        return;
    }
    run->da = rows_first(gradient_rows(m, run->l, 2), run->g.count);
    rule_of(&m->shape, run->l)->aggregate_gradient(run, gradient_poll(m));
    propagate(m, (OperatorCall){.over = &run->layer->propagation[BACKWARD],
                                .in = run->da,
                                .out = run->dh,
                                .context = run,
                                .beside = parameter_gradients,
                                .finish = backward_rows});
}

static void backward_without_edges(LayerRun *run) {
    Model *m = run->m;
    if (wants_input_gradient(&m->shape, run->l)) {
        run->da = run->dh;
        // no layer above reads these rows, only a norm of columns does: their gradient begins at 0
        rows_zero(m->parts.backend, rows_range(run->dh, (Range){run->g.count, run->dh.count}));
        rule_of(&m->shape, run->l)->aggregate_gradient(run, gradient_poll(m));
        backward_rows(run, (Range){0, run->g.count}, gradient_poll(m));
    }
    parameter_gradients(run, gradient_poll(m));
}

// The gradient of what the layer aggregates.
static void backward_aggregate(LayerRun *run, Rows out) {
    propagate(run->m, (OperatorCall){.over = &run->layer->propagation[BACKWARD],
                                     .in = run->g,
                                     .out = out,
                                     .context = run,
                                     .beside = parameter_gradients});
}

static void backward_transform_first(LayerRun *run) {
    Model *m = run->m;
    const Poll *poll = gradient_poll(m);
    Rows dy = rows_first(gradient_rows(m, run->l + 1, 2), run->h.count);
    backward_aggregate(run, dy);
    run->dy = dy;
    parameter_gradients(run, poll);
    if (!wants_input_gradient(&m->shape, run->l))
        return;
    m->parts.backend->dense_transposed(run->dh, (Range){0, dy.count}, dy,
                                       weights_of(run, ROLE_WEIGHT), false, poll);
    backward_rows(run, (Range){0, run->g.count}, poll);
}

// G of layer l, which overwrites dH of the layer above.
static void backward_post(Model *m, int l, Rows dh) {
    LayerRun run = run_of(m, l);
    const Parameter *gamma = run.layer->parameter[ROLE_GAMMA];
    const Parameter *beta = run.layer->parameter[ROLE_BETA];
    post_back(&run, dh, gradient_poll(m));
    if (gamma != NULL) {
        made(m, beta);
        made(m, gamma);
    }
}

// Takes m->g from the gradient of the layer's output to the gradient of the output below.
static void backward_layer(Model *m, int l) {
    const ModelShape *shape = &m->shape;
    LayerRun run = run_of(m, l);
    run.g = m->g;
    if (wants_input_gradient(shape, l))
        run.dh = rows_first(gradient_rows(m, l, 1), run.h.count);
    if (run.transformed && multiplies_first(shape, l))
        backward_transform_first(&run);
    else if (!shape->aggregates[l])
        backward_without_edges(&run);
    else if (run.transformed || (!shape->weights[l] && !reads_anchor(shape, l)))
        backward_aggregate(&run, run.dh);
    else
        backward_aggregate_first(&run);
    if (!wants_input_gradient(shape, l))
        return;
    level_gradient(m, l, run.dh);
    if (shape->posted[l - 1])
        backward_post(m, l - 1, run.dh);
    m->g = run.dh;
    m->slot = (m->slot + 1) % GRADIENT_SLOTS;
}

void model_backward(Model *m) {
    m->made = m->shape.parameter_spans;
    if (m->anchor_gradient.at != NULL)
        rows_zero(m->parts.backend, m->anchor_gradient);
    for (int l = m->shape.layers - 1; m->made > 0; l--) {
        timers_place(timers_in_use(), l, BACKWARD);
        backward_layer(m, l);
    }
    timers_place(timers_in_use(), -1, -1);
}
