// What layers run on: for every layer and direction a propagation; what the features need once
// (lossless.input_features); all of it planned and given back.
#include "internal.h"

// Of rows of a level in full precision.
static CodecOptions exact_options(const Model *m, int level) {
    return (CodecOptions){.codec = codec_find("fp32", &(Error){0}),
                          .chunk = m->parts.options.chunk,
                          .rows = level_type(&m->shape, level)};
}

// The Pattern of all rows that the layer reads.
static const Pattern *full_of(const Model *m, int l) {
    return m->parts.patterns->full[l % m->shape.stages];
}

// One of the propagations of a layer: forward and backward of training, and of evaluation.
typedef struct PropagationSpec {
    const Pattern *pattern;
    ExchangeId id;
    bool of_training;
} PropagationSpec;
enum { PROPAGATIONS = 3 };

// May evaluation use the channel of training? Not while messages of training may be in flight.
static bool evaluates_on_training(const Model *m, int l) {
    return m->parts.patterns->of[l][FORWARD] == full_of(m, l) &&
           !m->parts.schedule->keeps_in_flight;
}

// False if the layer has no such propagation, or evaluation uses that of training.
static bool spec_of(PropagationSpec *spec, const Model *m, int l, int which) {
    const ModelPatterns *patterns = m->parts.patterns;
    bool of_training = which < 2;
    int direction = of_training ? which : FORWARD;
    const Pattern *full = full_of(m, l);
    *spec = (PropagationSpec){.pattern = of_training ? patterns->of[l][direction] : full,
                              .id = {l, direction},
                              .of_training = of_training};
    if (!of_training &&
        (!m->shape.aggregates[l] || l < m->shape.feature_layers || evaluates_on_training(m, l)))
        return false;
    return spec->pattern != NULL;
}

static Block block_at(const Model *m, const PropagationSpec *spec) {
    const Block *forward = &m->forward[spec->id.layer % m->shape.stages].block;
    return spec->id.direction == FORWARD ? block_on(forward, spec->pattern)
                                         : block_transpose(forward, spec->pattern);
}

static PropagationForm form_at(const Model *m, const PropagationSpec *spec) {
    int l = spec->id.layer, direction = spec->id.direction;
    PropagationForm form = {.pattern = spec->pattern,
                            .options = exact_options(m, l + m->shape.transform_first[l]),
                            .columns = model_exchanged(&m->shape, l, direction),
                            .id = spec->id,
                            .in_flight = spec->of_training && m->parts.schedule->keeps_in_flight};
    if (spec->of_training) {
        form.options = schedule_options(m->parts.schedule, &m->parts.options, direction);
        form.options.sample.relation = l % m->shape.stages;
        form.options.rows = model_exchanged_rows(&m->shape, l, direction);
    }
    return form;
}

// ---- operators

// The widest rows on these own edges.
static int64_t widest(const Model *m, const Pattern *pattern) {
    int64_t most = 0;
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            const Pattern *used[] = {m->parts.patterns->of[l][d],
                                     d == FORWARD ? full_of(m, l) : NULL};
            for (int i = 0; i < 2; i++)
                if (used[i] != NULL && used[i]->own.offset == pattern->own.offset)
                    most = max64(most, aggregated(&m->shape, l, d));
        }
    const Pattern *labels = m->parts.patterns->labels;
    if (labels != NULL && labels->own.offset == pattern->own.offset)
        most = max64(most, classes_of(m));
    return most;
}

static const DeviceFloat *diagonal_of(const Model *m, const float *of_block) {
    for (int stage = 0; of_block != NULL && stage < m->shape.stages; stage++) {
        if (of_block == m->forward[stage].block.left)
            return m->forward[stage].left;
        if (of_block == m->forward[stage].block.right)
            return m->forward[stage].right;
    }
    assert(of_block == NULL);
    return NULL;
}

// An operator on its own Pattern.
static OperatorForm form_on_own(const Model *m, const Block *block, int64_t columns) {
    return (OperatorForm){.block = *block,
                          .left = diagonal_of(m, block->left),
                          .right = diagonal_of(m, block->right),
                          .largest = block->pattern,
                          .sources = block->pattern->plan.sources,
                          .columns = columns};
}

// The operator of a Block, on all that the model's Patterns have in common with its own.
static SparseOperator *operator_of(Model *m, const Block *block) {
    const ModelPatterns *patterns = m->parts.patterns;
    OperatorForm form = form_on_own(m, block, widest(m, block->pattern));
    for (int i = 0; i < patterns->count; i++) {
        const Pattern *other = patterns->made[i];
        if (other->own.offset != block->pattern->own.offset)
            continue;
        form.sources = max64(form.sources, other->plan.sources);
        form.largest = other->rows > form.largest->rows ? other : form.largest;
    }
    return operator_find(&m->operators, &form);
}

// What post_halo needs: halo rows of their own where the schedule keeps those before post.
static void alloc_before_post(BeforePost *before, const Model *m, const Allocator *allocator,
                              const PropagationSpec *spec, const Block *block) {
    const HaloPlan *p = &spec->pattern->plan;
    before->halo_id =
        alloc_mirror(allocator, p->halo_id, (size_t)p->halo_count * sizeof(int64_t), "node ids");
    if (m->parts.schedule->keeps_in_flight)
        before->posted =
            alloc_rows(allocator, p->halo_count,
                       model_exchanged(&m->shape, spec->id.layer, FORWARD), "halo rows");
    if (block->right != NULL)
        before->halo_right = halo_right_new(allocator, block);
}

// Makes it, or plans it where the operators are planned; enlarges `shared` then.
static void make_propagation(Model *m, Propagation *over, const PropagationSpec *spec,
                             BufferSizes *shared) {
    const Allocator allocator = {
        .backend = m->parts.backend, .forecast = m->operators.forecast, .taken = &m->taken};
    Block block = block_at(m, spec);
    SparseOperator *op = operator_of(m, &block);
    PropagationForm form = form_at(m, spec);
    *over = (Propagation){.op = op};
    if (form.columns == 0)
        return;
    if (allocator.forecast != NULL)
        propagation_forecast(allocator.forecast, shared, m->parts.backend, &form);
    else
        propagation_init(over, op, &form, m->buffers);
    if (spec->of_training && spec->id.direction == FORWARD && m->shape.before_post[spec->id.layer])
        alloc_before_post(&m->layer[spec->id.layer].before, m, &allocator, spec, &block);
}

static void make_labels(Model *m) {
    PropagationSpec spec = {.pattern = m->parts.patterns->labels, .id = {0, FORWARD}};
    if (spec.pattern == NULL)
        return;
    Block block = block_at(m, &spec);
    m->label.over = (Propagation){.op = operator_of(m, &block)};
}

static void make_layer(Model *m, int l, BufferSizes *shared) {
    Layer *layer = &m->layer[l];
    Propagation *over[PROPAGATIONS] = {
        [FORWARD] = &layer->propagation[FORWARD], &layer->propagation[BACKWARD], &layer->infer};
    PropagationSpec spec;
    for (int which = 0; which < PROPAGATIONS; which++)
        if (spec_of(&spec, m, l, which))
            make_propagation(m, over[which], &spec, shared);
    if (l >= m->shape.feature_layers && evaluates_on_training(m, l))
        layer->infer = layer->propagation[FORWARD];
}

void propagate(Model *m, OperatorCall call) {
    call.method = &operator_aggregate;
    operator_run(&(OperatorRun){.schedule = m->training ? m->parts.schedule : m->blocking,
                                .beside = gradient_poll(m),
                                .seed = m->seed,
                                .random = m->shape.random,
                                .epoch = m->epoch,
                                .full_precision = !m->training},
                 &call);
}

// ---- what is made of the features once (lossless.input_features)

static int once_stages(const ModelShape *shape) {
    return shape->feature_layers < shape->stages ? shape->feature_layers : shape->stages;
}

// The features' aggregate of a stage, on the full Pattern, and how it travels.
static SparseOperator *once_operator(const Model *m, int stage, Operators *operators,
                                     PropagationForm *form) {
    OperatorForm of_block = form_on_own(m, &m->forward[stage].block, m->shape.width[0]);
    *form = (PropagationForm){.pattern = m->parts.patterns->full[stage],
                              .options = exact_options(m, 0),
                              .columns = m->shape.width[0],
                              .id = {stage, FORWARD}};
    return operator_find(operators, &of_block);
}

// The sum of model.mix takes place of the last aggregate, which then needs rows of its own.
static Rows alloc_unmixed(const Model *m, const Allocator *allocator) {
    return m->shape.mixes == 0
               ? m->features
               : alloc_level(m, allocator, 0, m->features.count, "aggregated features");
}

void add_mixed(const Model *m, int l, Rows sum, Range rows, Rows before, Rows made,
               const Poll *poll) {
    const RowFactor first = {.plain = l == 0 ? (float)m->shape.mix[0] : 1};
    const RowFactor factor = {.plain = (float)m->shape.mix[l + 1]};
    m->parts.backend->add_scaled(sum, rows, first, before, factor, made, poll);
}

// The aggregate for every feature layer: the last one's in m->features, before it aggregate_input.
static void features_once(Model *m, ExchangeBuffers *buffers) {
    Propagation once[SHARD_SETS];
    Operators operators = {.backend = m->parts.backend, .panels = "rows", .rows = m->shape.rows};
    int stages = once_stages(&m->shape);
    for (int stage = 0; stage < stages; stage++) {
        PropagationForm form;
        SparseOperator *op = once_operator(m, stage, &operators, &form);
        propagation_init(&once[stage], op, &form, buffers);
    }
    operators_alloc(&operators);
    Rows in = m->x, last = alloc_unmixed(m, &(Allocator){.backend = m->parts.backend});
    for (int l = 0; l < m->shape.feature_layers; l++) {
        Rows out = (m->shape.feature_layers - l) % 2 == 1 ? last : m->aggregate_input;
        propagate(m, (OperatorCall){.over = &once[l % m->shape.stages], .in = in, .out = out});
        if (m->shape.mixes > 0)
            add_mixed(m, l, m->features, (Range){0, out.count}, l == 0 ? in : m->features, out,
                      NULL);
        in = out;
    }
    if (m->shape.mixes > 0)
        rows_free(m->parts.backend, &last);
    for (int stage = 0; stage < stages; stage++)
        propagation_clear(m->parts.backend, &once[stage]);
    operators_clear(&operators);
}

// The halo's features, for masks that both ends make.
static void features_kept(Model *m, ExchangeBuffers *buffers) {
    const Pattern *p = m->parts.patterns->of[0][FORWARD];
    CodecOptions exact = exact_options(m, 0);
    Channel *channel =
        channel_new(buffers, &p->plan, &exact, m->shape.width[0], (ExchangeId){0, FORWARD});
    RowSource rows = {.x = rows_first(m->x, p->plan.sources), .right = m->forward[0].right};
    channel_pack(channel, &rows, (ExchangeContext){.full_precision = true});
    channel_post(channel);
    for (int round = 0; round + 1 < p->plan.size; round++)
        channel_receive(channel, round);
    channel_finish(channel);
    Rows received = channel_rows(channel);
    rows_copy(m->parts.backend, m->halo_features, received);
    channel_free(channel);
}

// Panel widths are measured on the real Patterns, in buffers of the right width.
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
        make_layer(m, l, NULL);
    make_labels(m);
    operators_alloc(&m->operators);
    tune(m);
}

// Features may be far wider than what travels later, so they have buffers of their own for a while.
void propagations_features(Model *m) {
    ExchangeBuffers *buffers = exchange_buffers_new(m->parts.backend);
    if (m->shape.layer0 != LAYER0_EXCHANGED)
        features_once(m, buffers);
    if (m->shape.layer0 == LAYER0_KEPT)
        features_kept(m, buffers);
    exchange_buffers_free(buffers);
}

// ---- the plan

// What propagations_features needs at set-up.
static void plan_features(MemoryForecast *forecast, const Model *m) {
    const Backend *b = m->parts.backend;
    Operators operators = {
        .backend = b, .forecast = forecast, .panels = "rows", .rows = m->shape.rows};
    CodecOptions exact = exact_options(m, 0);
    BufferSizes most = {0};
    if (m->shape.layer0 != LAYER0_EXCHANGED)
        alloc_unmixed(m, &(Allocator){.backend = b, .forecast = forecast});
    for (int stage = 0; stage < once_stages(&m->shape); stage++) {
        PropagationForm form;
        once_operator(m, stage, &operators, &form);
        propagation_forecast(forecast, &most, b, &form);
    }
    operators_alloc(&operators);
    if (m->shape.layer0 == LAYER0_KEPT)
        channel_forecast(forecast, &most, b, &m->parts.patterns->of[0][FORWARD]->plan, &exact,
                         m->shape.width[0]);
    exchange_buffers_forecast(forecast, b, &most);
}

void propagations_forecast(MemoryForecast *forecast, Model *m) {
    BufferSizes shared = {0};
    m->operators.forecast = forecast;
    plan_features(forecast, m);
    for (int l = 0; l < m->shape.layers; l++)
        make_layer(m, l, &shared);
    make_labels(m);
    operators_alloc(&m->operators);
    exchange_buffers_forecast(forecast, m->parts.backend, &shared);
}

// ---- freeing

static void clear_layer(const Backend *b, Layer *layer) {
    if (layer->infer.channel != layer->propagation[FORWARD].channel)
        propagation_clear(b, &layer->infer);
    propagation_clear(b, &layer->propagation[FORWARD]);
    propagation_clear(b, &layer->propagation[BACKWARD]);
}

void propagations_clear(Model *m) {
    for (int l = m->shape.layers - 1; l >= 0; l--)
        clear_layer(m->parts.backend, &m->layer[l]);
    exchange_buffers_free(m->buffers);
    operators_clear(&m->operators);
}
