// The buffers of a model. One walk with an Allocator either plans or allocates every buffer of an
// epoch, so the plan cannot differ from what is used.
#include "errors.h"

// Inference, and a layer behind one without post, read their input from the output of the layer
// below.
static bool keeps_input(const ModelShape *shape, int l) {
    bool has = !shape->aggregates[l] || shape->kind->keeps_input(shape, l); // A = H
    return !shape->inference && (is_read_again(shape, l) || (uses_weights(shape, l) && has));
}

static Allocator of_level(Allocator allocator, const ModelShape *shape, int level) {
    allocator.rows = level_type(shape, level);
    return allocator;
}

Rows alloc_level(const Model *m, const Allocator *allocator, int level, int64_t count,
                 const char *what) {
    Allocator typed = of_level(*allocator, &m->shape, level);
    return alloc_rows(&typed, count, m->shape.width[level], what);
}

void alloc_aggregate(Model *m, const Allocator *allocator, int l) {
    if (is_made_once(&m->shape, l))
        m->layer[l].a = m->features;
    else
        m->layer[l].a =
            alloc_rows(allocator, own_rows(m, l + 1), m->shape.width[l], "aggregated rows");
}

static void alloc_layer(Model *m, const Allocator *allocator, int l) {
    const ModelShape *shape = &m->shape;
    Layer *layer = &m->layer[l];
    int64_t n = own_rows(m, l + 1);
    Allocator below = of_level(*allocator, shape, l);
    bool dropped = l == 0 && shape->input_keep < 1 && !shape->sparse;
    if (dropped || (l > 0 && shape->posted[l - 1] && keeps_input(shape, l)))
        layer->h = alloc_level(m, allocator, l, own_rows(m, l),
                               dropped ? "features after dropout" : "layer inputs");
    if (multiplies_first(shape, l))
        layer->y = alloc_level(m, allocator, l + 1, own_rows(m, l), "transformed rows");
    if (shape->weights[l])
        rule_of(shape, l)->buffers(m, &below, l);
    layer->z = alloc_level(m, allocator, l + 1, n, "layer outputs");
    if (!shape->posted[l])
        return;
    size_t bits = (size_t)(n * rows_stride(shape->width[l + 1]) / 8);
    alloc_column_norm(m, allocator, l);
    for (int i = 0; !shape->inference && post_in_steps(shape) && i < post_mids(shape); i++)
        layer->mid[i] = alloc_level(m, allocator, l + 1, n, "layer outputs");
    layer->saved.mean = alloc_device(allocator, (size_t)n * sizeof(float), "norm statistics");
    layer->saved.inverse = alloc_device(allocator, (size_t)n * sizeof(float), "norm statistics");
    layer->saved.kept = alloc_device(allocator, bits, "dropout and activation bits");
    layer->saved.positive = alloc_device(allocator, bits, "dropout and activation bits");
}

// The features and their precomputed aggregates.
static void alloc_features(Model *m, const Allocator *allocator) {
    const ModelShape *shape = &m->shape;
    const char *what = "aggregated features";
    if (shape->sparse)
        m->x = (Rows){.count = own_rows(m, 0),
                      .columns = shape->width[0],
                      .stride = rows_stride(shape->width[0])};
    else
        m->x = alloc_level(m, allocator, 0, own_rows(m, 0), "features");
    if (shape->feature_layers > 0)
        m->features = alloc_level(m, allocator, 0, own_rows(m, shape->feature_layers), what);
    if (shape->mixes > 0 && shape->layer0 != LAYER0_ONCE)
        m->mixed = alloc_level(m, allocator, 0, own_rows(m, 0), what);
    if (shape->feature_layers > 1)
        m->aggregate_input =
            alloc_level(m, allocator, 0, own_rows(m, shape->feature_layers - 1), what);
}

// Layers that need not keep their input share a buffer with the layers of the same set of rows and
// the same width: padding stays zero only if all rows of a buffer are equally wide.
static bool shares_input(const ModelShape *shape, int l) {
    return shape->posted[l - 1] && !keeps_input(shape, l);
}

static bool share_one(const ModelShape *shape, int k, int l) {
    return shares_input(shape, k) && shape->width[k] == shape->width[l] &&
           level_set(shape, k) == level_set(shape, l);
}

static void alloc_inputs(Model *m, const Allocator *allocator) {
    for (int l = 1; l < m->shape.layers; l++) {
        if (!shares_input(&m->shape, l))
            continue;
        int same = 1;
        while (same < l && !share_one(&m->shape, same, l))
            same++;
        if (same == l)
            m->layer[l].h = alloc_level(m, allocator, l, own_rows(m, l), "layer inputs");
        else
            m->layer[l].h = m->layer[same].h;
    }
}

int gradient_slot(const Model *m, int level) {
    int i = 0;
    while (i < m->widths && (m->gradient_slot[i][0].columns != m->shape.width[level] ||
                             m->gradient_slot[i][0].type != level_type(&m->shape, level)))
        i++;
    return i;
}

Rows gradient_rows(const Model *m, int level, int turn) {
    int i = gradient_slot(m, level);
    assert(i < m->widths);
    return m->gradient_slot[i][(m->slot + turn) % GRADIENT_SLOTS];
}

static void alloc_gradients(Model *m, const Allocator *allocator) {
    for (int l = 1; l <= m->shape.layers; l++) {
        if (!wants_input_gradient(&m->shape, l) || gradient_slot(m, l) < m->widths)
            continue;
        for (int slot = 0; slot < GRADIENT_SLOTS; slot++)
            m->gradient_slot[m->widths][slot] =
                alloc_level(m, allocator, l, m->rows, "gradients of rows");
        m->widths++;
    }
}

// What levels that are read again need (levels.c).
static void alloc_levels(Model *m, const Allocator *allocator) {
    const ModelShape *shape = &m->shape;
    int anchor = shape->anchor;
    if (anchor > 0)
        m->anchor_gradient =
            alloc_level(m, allocator, anchor, own_rows(m, anchor), "gradients of rows");
    if (anchor > 0 && shape->posted[anchor - 1] && posts(shape, POST_DROPOUT))
        m->anchor = alloc_level(m, allocator, anchor, own_rows(m, anchor), "layer inputs");
    for (int l = 0; l < shape->layers; l++) {
        int i = gradient_slot(m, l + 1);
        Rows *late = &m->gradient_late[i < m->widths ? i : 0][level_set(shape, l + 1)];
        if (shape->skips[l] && i < m->widths && late->columns == 0)
            *late = alloc_level(m, allocator, l + 1, own_rows(m, l + 1), "gradients of rows");
    }
}

static void alloc_column_scratch(Model *m, const Allocator *allocator) {
    int64_t most = 0;
    for (int l = 0; l < m->shape.layers; l++)
        most =
            max64(most, m->parts.backend->column_products_scratch(m->rows, m->shape.width[l + 1]));
    if (m->shape.columns)
        m->column_scratch =
            alloc_device(allocator, (size_t)most * sizeof(double), "scratch of gradients");
}

static int64_t scratch_floats(const Model *m) {
    int64_t most = 0;
    for (int l = 0; l < m->shape.layers; l++) {
        if (!uses_weights(&m->shape, l))
            continue;
        most = max64(most, rule_of(&m->shape, l)->scratch(m, l));
        most = max64(most, m->parts.backend->post_scratch(m->rows, m->shape.width[l + 1]));
    }
    return most;
}

static void alloc_kept(Model *m, const Allocator *allocator) {
    if (m->shape.layer0 != LAYER0_KEPT)
        return;
    int64_t count = m->parts.patterns->of[0][FORWARD]->plan.halo_count;
    m->halo_features = alloc_level(m, allocator, 0, count, "features of the halo");
    m->halo_dropped = alloc_level(m, allocator, 0, count, "features of the halo");
}

size_t counts_bytes(const Model *m) {
    return (size_t)(SPLITS * split_counts(classes_of(m))) * sizeof(int64_t);
}

static void alloc_counts(Model *m, const Allocator *allocator) {
    const char *what = "metric counts";
    m->counts = alloc_mirrored(allocator, &m->device_counts, counts_bytes(m), what);
    m->loss = alloc_mirrored(allocator, &m->device_loss, LOSS_BYTES, what);
    if (m->parts.shard->numeric)
        alloc_errors(m, allocator);
}

// Constant arrays of the shard and the blocks that operations read.
static void alloc_diagonals(Model *m, const Allocator *allocator, int stage) {
    const Block *block = &m->forward[stage].block;
    size_t to = (size_t)own_rows(m, stage + 1), from = (size_t)own_rows(m, stage);
    if (block->pattern == NULL) // no layer aggregates
        return;
    m->forward[stage].left = alloc_mirror(allocator, block->left, to * sizeof(float), "diagonals");
    m->forward[stage].right =
        alloc_mirror(allocator, block->right, from * sizeof(float), "diagonals");
}

static void alloc_mirrors(Model *m, const Allocator *allocator) {
    const Shard *s = m->parts.shard;
    size_t n = (size_t)own_rows(m, 0), classes = (size_t)s->classes;
    for (int stage = 0; stage < m->shape.stages; stage++)
        alloc_diagonals(m, allocator, stage);
    for (int set = 0; set < m->shape.stages; set++)
        m->on.gid[set] = alloc_mirror(allocator, s->set[set].gid,
                                      (size_t)s->set[set].own * sizeof(int64_t), "node ids");
    m->on.labels.label = alloc_mirror(allocator, s->label, n * sizeof(int32_t), "labels");
    m->on.labels.labels = alloc_mirror(allocator, s->labels, n * classes, "labels");
    m->on.labels.numbers =
        alloc_mirror(allocator, s->numbers, n * classes * sizeof(float), "labels");
    m->on.labels.split = alloc_mirror(allocator, s->split, n, "splits");
    if (m->shape.layer0 != LAYER0_KEPT)
        return;
    const HaloPlan *kept = &m->parts.patterns->of[0][FORWARD]->plan;
    m->on.halo_id = alloc_mirror(allocator, kept->halo_id,
                                 (size_t)kept->halo_count * sizeof(int64_t), "node ids");
}

void alloc_buffers(Model *m, const Allocator *allocator) {
    alloc_mirrors(m, allocator);
    alloc_features(m, allocator);
    alloc_kept(m, allocator);
    alloc_sparse(m, allocator);
    alloc_label_input(m, allocator);
    for (int l = first_layer(&m->shape); l < m->shape.layers; l++)
        alloc_layer(m, allocator, l);
    if (!m->shape.inference) {
        alloc_inputs(m, allocator);
        alloc_gradients(m, allocator);
        alloc_loss_weights(m, allocator);
        alloc_levels(m, allocator);
        alloc_column_scratch(m, allocator);
        m->scratch = alloc_device(allocator, (size_t)scratch_floats(m) * sizeof(float),
                                  "scratch of gradients");
    }
    alloc_counts(m, allocator);
}

void free_buffers(Model *m) {
    for (int l = 0; l < m->shape.layers; l++)
        m->parts.backend->event_free(m->layer[l].columns.there);
    free_sparse(m);
    taken_free(&m->taken);
}
