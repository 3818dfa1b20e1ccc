// Building a trainer, and one epoch. Replicated state (parameters, moments) is the same on every
// rank because gradients are summed to the same bits everywhere; replicas.c asks whether it is.
#include "internal.h"

// ---- building

// train.weight_decay is one factor per convolution, for its matrices; the last one serves those
// after it.
static void fill_decay(Trainer *t) {
    const ConfigDoubles *decay = &t->config->train.weight_decay;
    for (int i = 0; i < t->shape.parameter_spans; i++) {
        const Parameter *p = &t->shape.parameter[i];
        int which = p->conv < decay->count ? p->conv : decay->count - 1;
        for (int64_t k = 0; p->matrix && decay->count > 0 && k < p->rows * p->columns; k++)
            t->decay[p->begin + k] = (float)decay->value[which];
    }
}

static void model_parts(const Trainer *t, ModelParts *parts) {
    parts->patterns = &t->patterns;
    parts->shard = t->shard;
    parts->comm = t->comm;
    parts->backend = t->backend;
}

static bool find_families(Trainer *t, ModelParts *parts, Error *err) {
    const Config *c = t->config;
    t->backend = backend_of(c, t->comm, err);
    t->optimizer = family_find(&optimizer_family, c->train.optimizer, NULL, err);
    t->rate_schedule = family_find(&rate_schedule_family, c->train.lr_schedule, NULL, err);
    const Loss *loss = loss_find(c->train.loss, shard_labels(t->shard), err);
    t->judge = loss != NULL ? loss_score(loss, c->train.metric, shard_labels(t->shard), err) : NULL;
    return err->code == 0 && sampler_configure(&t->sampler, c, err) &&
           gradsync_configure(&t->gradients, c, err) &&
           exchange_configure(c, &parts->schedule, &parts->options, err);
}

static bool check_data(const Trainer *t, Error *err) {
    const Shard *s = t->shard;
    if (!loss_weights_fit(t->config, s->classes, shard_labels(s), err))
        return false;
    if (s->train_nodes == 0)
        return dataset_needs_split(s->dataset_name, err);
    return sampler_fits(&t->sampler, s, err);
}

// Room for the events of the epochs that are traced, if any: timers and messages of every exchange.
static int64_t trace_room(const Trainer *t) {
    const int64_t *epoch = t->config->run.trace.value;
    if (t->config->run.trace.count != 2)
        return 0;
    int64_t exchange = 24 + 2 * (int64_t)t->comm->size, most = 1 << 20;
    int64_t room = (epoch[1] - epoch[0] + 1) * (2 * t->shape.layers + 1) * exchange;
    return room < most ? room : most;
}

static void plan_assigner(Trainer *t, const ModelParts *parts) {
    for (int l = 0; l < t->shape.layers && parts->options.codec->has_widths; l++)
        for (int d = 0; d < 2; d++)
            if (model_exchanged(&t->shape, l, d) > 0)
                assigner_forecast(&t->forecast, &t->patterns.of[l][d]->plan, t->config, t->comm);
}

bool memory_fits(const MemoryForecast *forecast, const Backend *backend, const Config *config,
                 const Comm *comm, Error *err) {
    double wanted = config->run.memory_limit;
    size_t limit = wanted > 0 ? (size_t)(wanted * 1024 * 1024 * 1024)
                              : memory_available() / (size_t)comm->node_size + memory_in_use();
    forecast_check(forecast, limit,
                   wanted > 0 ? "use more ranks, a narrower model, or a larger run.memory_limit"
                              : "use more ranks on more machines, or a narrower model",
                   err);
    if (backend != NULL)
        device_fits(forecast, backend, err);
    return comm_agree(comm, err);
}

bool patterns_build(ModelPatterns *patterns, const ModelShape *shape, const Shard *shard,
                    const Config *config, const Comm *comm, Error *err) {
    MemoryForecast bound = {0};
    if (!model_fits(shape, shard, err)) // the same on all ranks
        return false;
    model_patterns_bound(&bound, shape, shard, comm);
    if (!memory_fits(&bound, NULL, config, comm, err))
        return false;
    model_patterns_init(patterns, shape, shard, comm);
    return true;
}

static GradForm grad_form(const Trainer *t, GradSpan span[MODEL_PARAMETERS]) {
    GradForm form = t->gradients;
    form.seed = t->seed;
    model_spans(&form, &t->shape, span);
    return form;
}

static void plan_sync(Trainer *t) {
    GradSpan span[MODEL_PARAMETERS];
    GradForm form = grad_form(t, span);
    gradsync_forecast(&t->forecast, t->backend, &form, t->comm);
}

static GradSync *make_sync(const Trainer *t) {
    GradSpan span[MODEL_PARAMETERS];
    GradForm form = grad_form(t, span);
    return gradsync_new(t->comm, t->backend, &form);
}

static void alloc_arrays(Trainer *t, MemoryForecast *forecast) {
    const Allocator allocator = {.backend = t->backend, .forecast = forecast, .taken = &t->taken};
    trainer_alloc_flat(t, &allocator);
    sampler_alloc(&t->sampler, t->shard, &allocator);
    average_alloc(t, &allocator);
}

static void plan_rest(Trainer *t, const ModelParts *parts) {
    forecast_add(&t->forecast, "trainer", sizeof *t);
    model_patterns_forecast(&t->forecast, &t->patterns);
    alloc_arrays(t, &t->forecast);
    plan_sync(t);
    model_forecast(&t->forecast, &t->shape, parts, t->config);
    plan_assigner(t, parts);
    trace_alloc(&t->trace, &t->forecast, trace_room(t));
}

bool trainer_forecast_outline(MemoryForecast *forecast, const Config *config, const Shard *shard,
                              const ModelPatterns *patterns, const Comm *comm, Error *err) {
    FREED Trainer *t = ALLOC(Trainer, 1, "trainer"); // too large for the stack
    Comm alone;
    ModelParts parts = {0};
    comm_self(&alone); // finding a backend asks all ranks
    alone.node_size = comm->node_size;
    *t = (Trainer){.config = config, .shard = shard, .comm = &alone};
    bool ok = find_families(t, &parts, err) && model_shape_of_shard(&t->shape, config, shard, err);
    t->comm = comm;
    t->patterns = *patterns;
    model_parts(t, &parts);
    if (ok)
        plan_rest(t, &parts);
    *forecast = t->forecast;
    return ok;
}

static int list_channels(const Trainer *t, AssignedChannel channels[ASSIGNED_CHANNELS]) {
    int count = 0;
    for (int l = 0; l < t->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            ExchangeId id = {l, d};
            Channel *channel = model_channel(t->model, id);
            if (channel != NULL)
                channels[count++] =
                    (AssignedChannel){.channel = channel,
                                      .id = id,
                                      .block = model_block(t->model, id),
                                      .before_post = d == FORWARD && t->shape.before_post[l]};
        }
    return count;
}

// Every channel of training is chosen a codec for, and gets widths where its codec knows them.
static bool build_assigner(Trainer *t, const ModelParts *parts, Error *err) {
    AssignedChannel channels[ASSIGNED_CHANNELS];
    int count = list_channels(t, channels);
    if (count == 0)
        return true;
    if (!chooser_new(&t->chooser, t->config, t->comm, t->replay, channels, count, err))
        return false;
    if (!parts->options.codec->has_widths)
        return true;
    t->assigner = assigner_new(t->config, t->comm, t->seed, t->replay, channels, count, err);
    return comm_agree(t->comm, err);
}

static bool build(Trainer *t, Error *err) {
    ModelParts parts = {0};
    if (find_families(t, &parts, err) && check_data(t, err))
        model_shape_of_shard(&t->shape, t->config, t->shard, err);
    if (!comm_agree(t->comm, err) ||
        !score_is_defined(t->judge, t->shard, t->comm, &t->left_out, err)) // on all ranks alike
        return false;
    t->threads = threads_set((int)t->config->run.threads, t->comm->node_size);
    if (!patterns_build(&t->patterns, &t->shape, t->shard, t->config, t->comm, err))
        return false;
    model_parts(t, &parts);
    plan_rest(t, &parts);
    if (!memory_fits(&t->forecast, t->backend, t->config, t->comm, err))
        return false;
    t->sync = make_sync(t);
    parts.sync = t->sync;
    t->model = model_new(&t->shape, &parts, t->config, err);
    if (!comm_agree(t->comm, err) || !build_assigner(t, &parts, err))
        return false;
    if (trace_room(t) > 0) {
        trace_init(&t->trace, t->comm, trace_room(t));
        t->timers.trace = &t->trace;
    }
    for (int split = 0; split < SPLITS; split++) {
        metrics_init(&t->now.best_metrics[split], t->shape.loss, t->judge);
        metrics_init(&t->now.last_metrics[split], t->shape.loss, t->judge);
    }
    t->timer = stream_timer_new(t->backend, &t->timers);
    alloc_arrays(t, NULL);
    t->square_ready = t->backend->event_new();
    fill_decay(t);
    plateau_begin(t);
    model_describe(t->model, t->kernels, sizeof t->kernels);
    model_initial(&t->shape, t->seed, t->parameters);
    trainer_upload(t);
    register_sections(t);
    return true;
}

Trainer *trainer_new(const Config *config, const Shard *shard, const Comm *comm, uint64_t seed,
                     const Replay *replay, Error *err) {
    Trainer *t = ALLOC(Trainer, 1, "trainer");
    *t = (Trainer){.config = config,
                   .shard = shard,
                   .comm = comm,
                   .replay = replay,
                   .seed = seed,
                   .now.best_score = -1,
                   .evaluated = -1,
                   .timers = {.layer = -1, .direction = -1}};
    if (!build(t, err)) {
        trainer_free(t);
        return NULL;
    }
    return t;
}

void trainer_free(Trainer *t) {
    if (t == NULL)
        return;
    if (t->square_ready != NULL)
        t->backend->event_free(t->square_ready);
    taken_free(&t->taken);
    trace_clear(&t->trace);
    chooser_free(t->chooser);
    assigner_free(t->assigner);
    model_free(t->model);
    stream_timer_free(t->timer);
    gradsync_free(t->sync);
    model_patterns_clear(&t->patterns);
    memory_free(t);
}

const MemoryForecast *trainer_forecast(const Trainer *t) { return &t->forecast; }
const Backend *trainer_backend(const Trainer *t) { return t->backend; }
int trainer_threads(const Trainer *t) { return t->threads; }
const char *trainer_kernels(const Trainer *t) { return t->kernels; }
int64_t trainer_epochs_done(const Trainer *t) { return t->now.epoch; }

const CodecChoice *trainer_codec_choice(const Trainer *t) {
    return t->chooser != NULL ? chooser_choice(t->chooser) : NULL;
}

int trainer_widths(Trainer *t, Tensor tensor[ASSIGNED_CHANNELS]) {
    return t->assigner != NULL ? assigner_widths(t->assigner, tensor) : 0;
}

// ---- one epoch

static double clip(Trainer *t) {
    const Backend *b = t->backend;
    b->square_sum(t->device.square, t->device.gradient, t->shape.parameter_count);
    b->download(t->square, t->device.square, sizeof *t->square);
    b->event_record(t->square_ready, STREAM_COMPUTE);
    b->event_wait(t->square_ready, NULL);
    double norm = sqrt(*t->square), most = t->config->train.clip_norm;
    if (most > 0 && norm > most)
        b->scale(t->device.gradient, t->shape.parameter_count, (float)(most / norm));
    return norm;
}

static void add_over_ranks(Trainer *t, EpochRecord *record) {
    int64_t *const counts[] = {&record->bytes,   &record->reduce_bytes, &record->eval_bytes,
                               &record->headers, &record->skipped,      &record->halo_rows,
                               &record->sampled};
    enum { COUNTS = sizeof counts / sizeof *counts };
    int64_t sum[COUNTS];
    record->seconds = comm_max_double(t->comm, record->seconds);
    record->eval_seconds = comm_max_double(t->comm, record->eval_seconds);
    if (t->assigner != NULL)
        record->assign_seconds = comm_max_double(t->comm, record->assign_seconds);
    for (int k = 0; k < TIMER_KINDS; k++)
        t->spent[k] += record->timers.seconds[k];
    t->timed++;
    for (int i = 0; i < COUNTS; i++)
        sum[i] = *counts[i];
    comm_sum_int64(t->comm, sum, COUNTS);
    for (int i = 0; i < COUNTS; i++)
        *counts[i] = sum[i];
    comm_sum_double(t->comm, record->timers.seconds, TIMER_KINDS);
    for (int k = 0; k < TIMER_KINDS; k++)
        record->timers.seconds[k] /= t->comm->size;
}

// Over ranks; what chooses the bits of the next gradients travels with it.
static void sum_loss(Trainer *t, EpochRecord *record) {
    struct {
        double loss;
        GradMoments moments;
    } sum = {record->loss, gradsync_moments(t->sync)};
    comm_sum_double(t->comm, (double *)&sum, gradsync_measures(t->sync) ? 1 + GRADIENT_MOMENTS : 1);
    record->loss = sum.loss;
    record->gradient_bits = gradsync_bits(t->sync);
    record->gradient_memory = gradsync_memory(&sum.moments);
    gradsync_after(t->sync, record->epoch, record->loss, &sum.moments);
}

// The loss of the epoch's weights, and the step to the next ones.
static void train(Trainer *t, EpochRecord *record) {
    ChannelCount before = model_count(t->model);
    timers_reset(&t->timers);
    stream_timer_use(t->timer);
    gradsync_begin(t->sync, (uint32_t)record->epoch);
    sampler_before(t, record);
    record->loss = model_loss_and_gradient(t->model, t->device.parameters, t->device.gradient,
                                           t->seed, (uint32_t)record->epoch);
    timer_begin(&t->timers);
    gradsync_finish(t->sync, t->device.gradient);
    sum_loss(t, record);
    timer_end(&t->timers, TIMER_REDUCE);
    sampler_after(t, record->epoch);
    record->gradient_norm = clip(t);
    record->rate = rate_of(t, record->epoch);
    t->optimizer->step(t, record->rate, record->epoch);
    stream_timer_finish(t->timer);
    ChannelCount after = model_count(t->model);
    record->bytes = after.bytes_sent - before.bytes_sent;
    record->skipped = after.skipped - before.skipped;
    if (model_skips(t->model))
        record->headers = after.messages - before.messages;
    record->halo_rows = t->shape.sampled ? after.rows_sent - before.rows_sent : -1;
    record->reduce_bytes = gradsync_bytes(t->sync);
    record->timers = t->timers;
}

bool trainer_epoch(Trainer *t, EpochRecord *record, Error *err) {
    *record = (EpochRecord){.epoch = t->now.epoch + 1};
    const ConfigInts *traced = &t->config->run.trace;
    t->trace.open = traced->count == 2 && record->epoch >= traced->value[0] &&
                    record->epoch <= traced->value[1];
    t->trace.epoch = (int32_t)record->epoch;
    if (t->chooser != NULL)
        record->fp32 = chooser_before(t->chooser, record->epoch);
    double asked = clock_seconds(), begin = asked;
    if (t->assigner != NULL) {
        if (!assigner_before(t->assigner, record->epoch, err))
            return false;
        begin = clock_seconds();
        record->assign_seconds = begin - asked;
    }
    train(t, record);
    record->seconds = clock_seconds() - begin;
    if (t->assigner != NULL)
        record->assignment = assigner_after(t->assigner, record->epoch);
    if (t->chooser != NULL)
        record->choice = chooser_after(t->chooser, record->epoch);
    if (!isfinite(record->loss) || !isfinite(record->gradient_norm))
        return error_set(err, EXIT_DIVERGED,
                         "the loss or its gradient is not finite in epoch %ld (loss %g); lower "
                         "train.lr or set train.clip_norm",
                         record->epoch, record->loss);
    t->now.epoch++;
    if (!evaluate_when_due(t, record, err))
        return false;
    add_over_ranks(t, record);
    return true;
}

const Trace *trainer_trace(const Trainer *t) {
    bool over = t->config->run.trace.count == 2 &&
                (t->now.epoch >= t->config->run.trace.value[1] || trainer_finished(t));
    return over ? &t->trace : NULL;
}

bool trainer_finished(const Trainer *t) {
    return t->stopped || t->now.epoch >= t->config->train.epochs;
}
