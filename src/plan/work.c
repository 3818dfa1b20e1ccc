// The work of a rank in one phase of an epoch, and the bytes of its messages.
#include "internal.h"

static int64_t level_rows(const Planning *p, int rank, int level) {
    return set_reach(&p->cut->shard[rank].set[level_set(&p->shape, level)], p->kinds.hops[level]);
}

// How that exchange sends its rows, but for refreshes.
static BoxStep step_of(const Planning *p, int l, int d) {
    CodecOptions options = schedule_options(p->schedule, &p->options, d);
    options.rows = model_exchanged_rows(&p->shape, l, d);
    if (p->full_precision[l][d])
        return box_step(&options, 0);
    return (BoxStep){.codec = options.codec, .rows_are = box_rows_are(&options)};
}

double message_bytes(const Planning *p, int l, int d, double rows) {
    const double *share = p->share[l][d];
    const BoxStep step = step_of(p, l, d);
    const Codec *codec = step.codec;
    int64_t columns = model_exchanged(&p->shape, l, d);
    Widths widths = {.count = (int64_t)ceil(rows)};
    int64_t left = widths.count;
    for (int bits = 1; bits < WIDTH_MOST && codec->has_widths; bits++) {
        widths.of[bits] = (int64_t)(share[bits] * (double)widths.count);
        left -= widths.of[bits];
    }
    int widest = WIDTH_MOST;
    while (widest > 1 && share[widest] <= 0)
        widest--;
    widths.of[widest] += left; // what rounding has left
    const MessageLayout layout = {.rows = widths.count,
                                  .columns = columns,
                                  .widths = codec->has_widths ? &widths : NULL,
                                  .rows_are = step.rows_are,
                                  .values = p->options.values};
    if (rows <= 0)
        return 0;
    double sample = p->config->comm.sample; // the mean: a message without rows is none
    return MESSAGE_HEADER_BYTES * (1 - pow(1 - sample, rows)) +
           sample * (double)codec->bytes(&layout);
}

static double sum_rows(const int64_t *round, int size) {
    double rows = 0;
    for (int g = 0; g + 1 < size; g++)
        rows += (double)round[g];
    return rows;
}

static double all_messages(const Planning *p, int l, int d, const int64_t *round, int size) {
    double bytes = 0;
    for (int g = 0; g + 1 < size; g++)
        bytes += message_bytes(p, l, d, (double)round[g]);
    return bytes;
}

// One aggregate: y = A x over rows of `columns` floats.
static void add_aggregate(Work *w, const Planning *p, int rank, int l, int d) {
    int kind = p->kinds.of[l][d];
    if (kind < 0)
        return;
    const PatternCounts *c = &p->counts[kind][rank];
    int64_t exchanged = model_exchanged(&p->shape, l, d);
    double columns = (double)(exchanged > 0 ? exchanged : p->shape.width[0]), row = 4 * columns;
    double own = row * ((double)c->own_entries + 2 * (double)c->rows);
    w->of[GATHER_OWN] += own;
    w->of[GATHER] += own + row * ((double)c->halo_entries + 2 * (double)c->halo_rows);
    if (exchanged == 0) // the halo rows are kept
        return;
    w->of[GATHER] += row * (double)(c->partial_entries + c->partials);
    double sent = p->config->comm.sample * sum_rows(c->sent, c->size),
           received = sum_rows(c->received, c->size);
    w->sent = all_messages(p, l, d, c->sent, c->size);
    w->rows = sent;
    w->of[PACK] += row * sent + w->sent;
    w->of[UNPACK] += row * received + all_messages(p, l, d, c->received, c->size);
}

// The share of a layer's input that its products read: of sparse features what is not 0.
static double filled(const Planning *p, int rank, int l) {
    const Shard *shard = &p->cut->shard[rank];
    double all = (double)shard->set[NODES].own * (double)shard->features;
    return l == 0 && p->shape.sparse && all > 0 ? (double)shard->feature_entries / all : 1;
}

// Products with matrices: forward, the gradient of the matrix, and that of its input unless nothing
// below has weights.
static void add_dense(Work *w, const Planning *p, int rank, int l, int d) {
    for (int i = 0; i < p->shape.parameter_spans; i++) {
        const Parameter *q = &p->shape.parameter[i];
        if (!q->matrix || q->layer != l)
            continue;
        bool before = p->shape.transform_first[l] && q->role == ROLE_WEIGHT;
        double rows = (double)level_rows(p, rank, before ? l : l + 1);
        double product = 2 * rows * (double)q->rows * (double)q->columns * filled(p, rank, l);
        if (d == FORWARD) {
            w->of[FLOPS] += product;
            continue;
        }
        bool below = q->layer > p->shape.parameter[0].layer;
        w->of[FLOPS] += below ? 2 * product : product;
        w->of[FLOPS_BESIDE] += before ? 0 : product;
    }
}

// Of the rows that a layer reads in training.
static double halo_rows(const Planning *p, int rank, int l) {
    return sum_rows(p->counts[p->kinds.of[l][FORWARD]][rank].received, p->cut->parts);
}

// What follows a layer: read z, write h; back: read dh and z, write dz.
static void add_pointwise(Work *w, const Planning *p, int rank, int l, int d) {
    double out = 4 * (double)level_rows(p, rank, l + 1) * (double)p->shape.width[l + 1];
    if (p->shape.posted[l])
        w->of[POINT] += d == FORWARD ? 2 * out : 3 * out;
    if (p->shape.before_post[l] && d == FORWARD) // post of halo rows
        w->of[POINT] += 8 * (double)p->shape.width[l] * halo_rows(p, rank, l);
    if (l == p->shape.layers - 1 && d == BACKWARD)
        w->of[LOSS] += 2 * out;
    if (l > 0 || d == BACKWARD)
        return;
    if (p->shape.input_keep < 1) // dropout of the features, and of those that are kept of others
        w->of[POINT] += 8 * filled(p, rank, 0) * (double)p->shape.width[0] *
                        ((double)level_rows(p, rank, 0) +
                         (p->shape.layer0 == LAYER0_KEPT ? halo_rows(p, rank, 0) : 0));
    w->of[POINT] += 5 * 4 * (double)p->shape.parameter_count; // the optimizer's step
}

Work work_of(const Planning *p, int rank, int l, int d) {
    Work w = {0};
    bool ready = p->shape.layer0 == LAYER0_ONCE && l < p->shape.feature_layers - 1;
    if (ready) // made at set-up
        return w;
    add_aggregate(&w, p, rank, l, d);
    add_dense(&w, p, rank, l, d);
    add_pointwise(&w, p, rank, l, d);
    return w;
}
