// What propagations run on: for every layer and direction a sparse operator (operators.c) and a
// channel; what the features need once (lossless.input_features); all of it planned and given back.
#include "internal.h"
#include <string.h>

static CodecOptions exact_options(const Model *m) {
    Error none = {0};
    return (CodecOptions){.codec = codec_find("fp32", &none), .chunk = m->parts.options.chunk};
}

// One of the propagations of a layer: forward and backward of training, and of evaluation.
typedef struct Site {
    const Pattern *pattern;
    ExchangeId id;
    bool of_training;
} Site;
enum { SITES = 3 };

// May evaluation use the channel of training? Not while messages of training may be in flight.
static bool evaluates_on_training(const Model *m, int l) {
    return m->parts.patterns->of[l][FORWARD] == full_of(&m->shape, &m->parts, l) &&
           !m->parts.schedule->keeps_in_flight;
}

// False if the layer has no such propagation, or evaluation uses that of training.
static bool site_of(Site *site, const Model *m, int l, int which) {
    const ModelPatterns *patterns = m->parts.patterns;
    bool of_training = which < 2;
    int direction = of_training ? which : FORWARD;
    const Pattern *full = full_of(&m->shape, &m->parts, l);
    *site = (Site){.pattern = of_training ? patterns->of[l][direction] : full,
                   .id = {l, direction},
                   .of_training = of_training};
    if (!of_training && (l < m->shape.leading || evaluates_on_training(m, l)))
        return false;
    return site->pattern != NULL;
}

static CodecOptions options_at(const Model *m, const Site *site) {
    if (!site->of_training)
        return exact_options(m);
    CodecOptions options =
        schedule_options(m->parts.schedule, &m->parts.options, site->id.direction);
    options.sample.relation = site->id.layer % m->shape.stages;
    return options;
}

// Messages that stay in flight need buffers of their own.
static bool has_own_buffers(const Model *m, const Site *site) {
    return site->of_training && m->parts.schedule->keeps_in_flight;
}

static Block block_at(const Model *m, const Site *site) {
    const Block *forward = &m->forward[site->id.layer % m->shape.stages].block;
    return site->id.direction == FORWARD ? block_on(forward, site->pattern)
                                         : block_transpose(forward, site->pattern);
}

// Are the rows of that exchange sent before post?
static bool is_before_post(const Model *m, const Site *site) {
    return site->of_training && site->id.direction == FORWARD &&
           m->shape.before_post[site->id.layer];
}

// What post_halo needs, planned or allocated: halo rows of their own where the schedule keeps the
// received ones, which are those before post.
static void alloc_before_post(Propagation *over, const Model *m, const Allocator *allocator,
                              const Site *site, const Block *block) {
    const HaloPlan *p = &site->pattern->plan;
    if (!is_before_post(m, site))
        return;
    over->halo_id =
        alloc_mirror(allocator, p->halo_id, (size_t)p->halo_count * sizeof(int64_t), "node ids");
    if (block->right != NULL)
        over->halo_right =
            alloc_device(allocator, (size_t)p->halo_count * sizeof(float), "diagonals");
    if (m->parts.schedule->keeps_in_flight)
        over->posted = alloc_rows(allocator, p->halo_count,
                                  model_exchanged(&m->shape, site->id.layer, FORWARD), "halo rows");
}

// The owners' right of the halo rows. Collective.
static void fill_halo_right(const Propagation *over, const Model *m, const Block *block) {
    const Backend *b = m->parts.backend;
    const HaloPlan *p = &block->pattern->plan;
    size_t bytes = (size_t)p->halo_count * sizeof(float);
    int64_t sent = p->send_offset[p->size - 1];
    float *mine = ALLOC(float, sent, "diagonals");
    float *halo = pinned_side(b, over->halo_right, bytes, "diagonals");
    for (int64_t k = 0; k < sent; k++)
        mine[k] = block->right[p->send_row[k]];
    ring_to_readers(p, mine, halo, sizeof *mine);
    b->upload(over->halo_right, halo, bytes);
    pinned_side_free(b, halo);
    memory_free(mine);
}

static void propagation_make(Model *m, Propagation *over, const Site *site) {
    const Pattern *pattern = site->pattern;
    Block block = block_at(m, site);
    int64_t columns = aggregated(&m->shape, site->id.layer, site->id.direction);
    over->op = operator_find(m, &block);
    if (model_exchanged(&m->shape, site->id.layer, site->id.direction) == 0)
        return;
    if (has_own_buffers(m, site))
        over->buffers = exchange_buffers_new(m->parts.backend);
    CodecOptions options = options_at(m, site);
    over->channel = channel_new(over->buffers != NULL ? over->buffers : m->buffers, &pattern->plan,
                                &options, columns, site->id);
    over->partials = rows_alloc(m->parts.backend, pattern->partial.rows, columns, "partial sums");
    alloc_before_post(over, m, &(Allocator){.backend = m->parts.backend}, site, &block);
    if (is_before_post(m, site) && block.right != NULL)
        fill_halo_right(over, m, &block);
}

static void make_layer(Model *m, int l) {
    Layer *layer = &m->layer[l];
    Propagation *over[SITES] = {
        [FORWARD] = &layer->propagation[FORWARD], &layer->propagation[BACKWARD], &layer->infer};
    Site site;
    for (int which = 0; which < SITES; which++)
        if (site_of(&site, m, l, which))
            propagation_make(m, over[which], &site);
    if (l >= m->shape.leading && evaluates_on_training(m, l))
        layer->infer = layer->propagation[FORWARD];
}

static void propagation_clear(const Backend *backend, Propagation *over) {
    rows_free(backend, &over->posted);
    backend->free(over->halo_right);
    mirror_free(backend, over->halo_id);
    channel_free(over->channel);
    exchange_buffers_free(over->buffers);
    rows_free(backend, &over->partials);
}

// ---- what is made of the features once (lossless.input_features)

// The aggregates of one stage with a temporary operator and channel, on the full Pattern.
typedef struct OnceStage {
    SparseOperator op;
    Propagation over;
} OnceStage;

// The stages of the leading layers.
static int once_stages(const ModelShape *shape) {
    return shape->leading < shape->stages ? shape->leading : shape->stages;
}

static void once_init(OnceStage *once, const Model *m, ExchangeBuffers *buffers, int stage) {
    const Backend *b = m->parts.backend;
    const Pattern *p = m->parts.patterns->full[stage];
    CodecOptions exact = exact_options(m);
    int64_t columns = m->shape.width[0];
    operator_init(&once->op, m, &m->forward[stage].block, columns);
    once->over = (Propagation){
        .op = &once->op,
        .channel = channel_new(buffers, &p->plan, &exact, columns, (ExchangeId){stage, FORWARD}),
        .partials = rows_alloc(b, p->partial.rows, columns, "partial sums")};
}

// The aggregate of the features, and the aggregate of that for every leading layer. The last one
// ends in m->features, the one before it in m->entering.
static void features_once(Model *m, ExchangeBuffers *buffers) {
    OnceStage once[SHARD_SETS];
    int stages = once_stages(&m->shape);
    for (int stage = 0; stage < stages; stage++)
        once_init(&once[stage], m, buffers, stage);
    Rows in = m->x;
    for (int l = 0; l < m->shape.leading; l++) {
        Rows out = (m->shape.leading - l) % 2 == 1 ? m->features : m->entering;
        propagate(
            m, &(PropagationCall){.over = &once[l % m->shape.stages].over, .in = in, .out = out});
        in = out;
    }
    for (int stage = 0; stage < stages; stage++) {
        propagation_clear(m->parts.backend, &once[stage].over);
        operator_clear(m, &once[stage].op);
    }
}

// The halo's features, for masks that both ends make.
static void features_kept(Model *m, ExchangeBuffers *buffers) {
    const Pattern *p = m->parts.patterns->of[0][FORWARD];
    CodecOptions exact = exact_options(m);
    Channel *channel =
        channel_new(buffers, &p->plan, &exact, m->shape.width[0], (ExchangeId){0, FORWARD});
    RowSource rows = {.x = rows_first(m->x, p->plan.sources), .right = m->forward[0].right};
    channel_pack(channel, &rows, (ExchangeContext){.exact = true});
    channel_post(channel);
    for (int group = 0; group + 1 < p->plan.size; group++)
        channel_receive(channel, group);
    channel_finish(channel);
    Rows received = channel_rows(channel);
    m->parts.backend->copy(m->kept.at, received.at, rows_bytes(received.count, received.columns));
    channel_free(channel);
}

// Measures panel widths on the real Patterns, with buffers of the right width as scratch.
static void tune(Model *m) {
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            SparseOperator *op = m->layer[l].propagation[d].op;
            if (op == NULL)
                continue;
            bool first = m->shape.transform_first[l], weights = m->shape.weights[l];
            Rows out = first || !weights ? m->layer[l].z : m->layer[l].a;
            Rows in = multiplies_first(&m->shape, l) ? m->layer[l].y
                      : l == 0                       ? m->x
                      : m->shape.posted[l - 1]       ? m->layer[l].h
                                                     : m->layer[l - 1].z;
            bool back = d == BACKWARD; // from the rows of the next level to those of this one
            m->parts.backend->aggregate_tune(op->aggregate, back ? in : out, back ? out : in);
        }
}

void propagations_make(Model *m) {
    m->buffers = exchange_buffers_new(m->parts.backend);
    for (int l = 0; l < m->shape.layers; l++)
        make_layer(m, l);
    tune(m);
}

// Features may be far wider than what travels later, so they have buffers of their own, which are
// freed again.
void propagations_features(Model *m) {
    ExchangeBuffers *buffers = exchange_buffers_new(m->parts.backend);
    if (m->shape.layer0 != LAYER0_EXCHANGED)
        features_once(m, buffers);
    if (m->shape.layer0 == LAYER0_KEPT)
        features_kept(m, buffers);
    exchange_buffers_free(buffers);
}

// ---- the plan

static void propagation_plan(MemoryPlan *plan, BufferSizes *most, const Model *m,
                             const Pattern *pattern, const CodecOptions *options, int64_t columns) {
    channel_plan(plan, most, m->parts.backend, &pattern->plan, options, columns);
    alloc_rows(&(Allocator){.backend = m->parts.backend, .plan = plan}, pattern->partial.rows,
               columns, "partial sums");
}

static void site_plan(MemoryPlan *plan, BufferSizes *shared, Model *m, const Site *site) {
    int64_t columns = model_exchanged(&m->shape, site->id.layer, site->id.direction);
    BufferSizes own = {0};
    bool owns = has_own_buffers(m, site);
    Block block = block_at(m, site);
    operator_plan(m, &(Allocator){.backend = m->parts.backend, .plan = plan}, &block);
    if (columns == 0)
        return;
    CodecOptions options = options_at(m, site);
    propagation_plan(plan, owns ? &own : shared, m, site->pattern, &options, columns);
    alloc_before_post(&(Propagation){0}, m, &(Allocator){.backend = m->parts.backend, .plan = plan},
                      site, &block);
    if (owns)
        exchange_buffers_plan(plan, m->parts.backend, &own);
}

// What propagations_features needs at set-up.
static void features_plan(MemoryPlan *plan, const Model *m) {
    const ModelPatterns *patterns = m->parts.patterns;
    CodecOptions exact = exact_options(m);
    BufferSizes most = {0};
    for (int stage = 0; stage < once_stages(&m->shape); stage++) {
        operator_plan_once(&(Allocator){.backend = m->parts.backend, .plan = plan},
                           &m->forward[stage].block, m->shape.width[0]);
        propagation_plan(plan, &most, m, patterns->full[stage], &exact, m->shape.width[0]);
    }
    if (m->shape.layer0 == LAYER0_KEPT)
        channel_plan(plan, &most, m->parts.backend, &patterns->of[0][FORWARD]->plan, &exact,
                     m->shape.width[0]);
    exchange_buffers_plan(plan, m->parts.backend, &most);
}

void propagations_plan(MemoryPlan *plan, Model *m) {
    BufferSizes shared = {0};
    Site site;
    features_plan(plan, m);
    for (int l = 0; l < m->shape.layers; l++)
        for (int which = 0; which < SITES; which++)
            if (site_of(&site, m, l, which))
                site_plan(plan, &shared, m, &site);
    exchange_buffers_plan(plan, m->parts.backend, &shared);
}

// ---- freeing

void propagations_clear(Model *m) {
    for (int l = m->shape.layers - 1; l >= 0; l--) {
        Layer *layer = &m->layer[l];
        if (layer->infer.channel != layer->propagation[FORWARD].channel)
            propagation_clear(m->parts.backend, &layer->infer);
        propagation_clear(m->parts.backend, &layer->propagation[FORWARD]);
        propagation_clear(m->parts.backend, &layer->propagation[BACKWARD]);
    }
    exchange_buffers_free(m->buffers);
    for (int i = 0; i < m->operators; i++)
        operator_clear(m, &m->operator[i]);
}
