// The model with data: made from a shape, planned, freed, and its public functions.
#include "internal.h"

static void find_parameters(Model *m) {
    for (int i = 0; i < m->shape.parameter_spans; i++) {
        const Parameter *p = &m->shape.parameter[i];
        m->layer[p->layer].parameter[p->role] = p;
    }
}

// The own rows of the largest set.
static int64_t most_rows(const ModelShape *shape, const Shard *shard) {
    int64_t most = 0;
    for (int set = 0; set < shape->stages; set++)
        most = max64(most, shard->set[set].own);
    return most;
}

static void make_blocks(Model *m, const Config *config, Error *err) {
    snprintf(m->panels, sizeof m->panels, "%s", config->run.panels);
    m->operators =
        (Operators){.backend = m->parts.backend, .panels = m->panels, .rows = m->shape.rows};
    bool edges = model_reads_edges(&m->shape);
    for (int stage = 0; edges && stage < m->shape.stages && err->code == 0; stage++)
        block_init(&m->forward[stage].block, m->shape.normalisation, m->parts.patterns->full[stage],
                   m->parts.shard, err);
}

static void clear_blocks(Model *m) {
    for (int stage = 0; stage < m->shape.stages; stage++)
        block_clear(&m->forward[stage].block);
}

// What tuning found on one machine may be another kernel than on the next: rank 0's serves all.
static void agree_on_spmm(const Model *m) {
    const Backend *b = m->parts.backend;
    char choice[16];
    if (b->spmm == NULL)
        return;
    snprintf(choice, sizeof choice, "%s", b->spmm());
    comm_broadcast(m->parts.comm, choice, sizeof choice, 0);
    b->spmm_set(choice);
}

Model *model_new(const ModelShape *shape, const ModelParts *parts, const Config *config,
                 Error *err) {
    const Schedule *blocking = schedule_find("blocking", err);
    if (blocking == NULL)
        return NULL;
    Model *m = ALLOC(Model, 1, "model");
    *m = (Model){.shape = *shape,
                 .parts = *parts,
                 .blocking = blocking,
                 .rows = most_rows(shape, parts->shard)};
    m->sync = parts->schedule->hides ? parts->sync : NULL;
    m->gradient_poll = background_poll(m);
    m->results = parts->backend->event_new();
    find_parameters(m);
    make_blocks(m, config, err);
    if (!comm_agree(parts->comm,
                    err)) { // one rank's degrees may be bad; making channels is collective
        model_free(m);
        return NULL;
    }
    alloc_buffers(m, &(Allocator){.backend = parts->backend, .taken = &m->taken});
    propagations_make(m);
    agree_on_spmm(m);
    upload_features(m);
    propagations_features(m);
    make_loss_weights(m, config);
    make_label_input(m);
    parts->backend->finish(NULL); // the host's features may change from here on
    return m;
}

void model_forecast(MemoryForecast *forecast, const ModelShape *shape, const ModelParts *parts,
                    const Config *config) {
    FREED Model *m = ALLOC(Model, 1, "model"); // too large for the stack
    Error later = {0};                         // model_new has the same
    *m = (Model){.shape = *shape, .parts = *parts, .rows = most_rows(shape, parts->shard)};
    make_blocks(m, config, &later);
    forecast_add(forecast, "model", sizeof *m);
    if (later.code == 0) {
        alloc_buffers(m, &(Allocator){.backend = parts->backend, .forecast = forecast});
        propagations_forecast(forecast, m);
    }
    clear_blocks(m);
}

void model_free(Model *m) {
    if (m == NULL)
        return;
    propagations_clear(m);
    m->parts.backend->event_free(m->results);
    free_buffers(m);
    clear_blocks(m);
    memory_free(m);
}

// ---- what the public header shows

void model_describe(const Model *m, char *out, size_t size) {
    out[0] = 0;
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            const SparseOperator *op = m->layer[l].propagation[d].op;
            int64_t columns = aggregated(&m->shape, l, d);
            if (op != NULL)
                text_add(out, size, "; ", "layer %d %s (%ld wide): %s", l, direction_name(d),
                         columns,
                         m->parts.backend->aggregate_describe(
                             op->aggregate, columns, model_exchanged_rows(&m->shape, l, d)));
        }
}

bool model_skips(const Model *m) { return m->parts.schedule->skips; }

const Block *model_block(const Model *m, ExchangeId id) {
    const SparseOperator *op = m->layer[id.layer].propagation[id.direction].op;
    return op != NULL ? &op->block : NULL;
}

void download_results(Model *m) {
    const Backend *b = m->parts.backend;
    b->download(m->counts, m->device_counts, counts_bytes(m));
    b->download(m->loss, m->device_loss, LOSS_BYTES);
    b->event_record(m->results, STREAM_COMPUTE);
}

double model_loss_and_gradient(Model *m, const DeviceFloat *parameters, DeviceFloat *gradient,
                               uint64_t seed, uint32_t epoch) {
    m->parameters = parameters;
    m->gradient = gradient;
    m->seed = seed;
    m->epoch = epoch;
    m->training = true;
    model_forward(m);
    m->slot = 0;
    int last = m->shape.layers;
    m->g = rows_first(gradient_rows(m, last, 0), level_rows(m, last));
    training_loss(m, double_at(m->device_loss, SPLIT_TRAIN), m->g,
                  rows_first(m->layer[last - 1].z, m->g.count), (float)(1 / m->weigh.sum),
                  m->weigh.has_rows ? m->weigh.rows : NULL);
    download_results(m);
    model_backward(m);
    m->parts.backend->event_wait(m->results, gradient_poll(m));
    return m->loss[SPLIT_TRAIN] / m->weigh.sum;
}

Rows model_infer(Model *m, const DeviceFloat *parameters) {
    model_drain(m);
    m->parameters = parameters;
    m->training = false;
    model_forward(m);
    return m->layer[m->shape.layers - 1].z;
}

void model_renew_statistics(Model *m, DeviceFloat *parameters) {
    assert(m->shape.columns && !m->shape.inference);
    m->renews = true;
    model_infer(m, parameters);
    m->renews = false;
}

Rows model_embedding(const Model *m, int level) {
    assert(level >= 1 && level >= m->shape.feature_layers - 1 && level <= m->shape.layers);
    return level == m->shape.feature_layers - 1 ? m->aggregate_input : m->layer[level - 1].z;
}

// Rows beyond those that training computes reach no training node, so they are none themselves.
void model_loss_norms(Model *m, float *norm, float *gradient) {
    int last = m->shape.layers;
    int64_t classes = m->shape.width[last];
    Rows g = rows_first(gradient_rows(m, last, 0), level_rows(m, last));
    training_loss(m, double_at(m->device_loss, SPLIT_NONE), g,
                  rows_first(m->layer[last - 1].z, g.count), 1, NULL);
    m->parts.backend->download_rows(gradient, g);
    m->parts.backend->finish(NULL);
    memset(norm, 0, (size_t)own_rows(m, 0) * sizeof *norm);
    for (int64_t r = 0; r < g.count; r++) {
        double squares = 0;
        for (int64_t c = 0; c < classes; c++)
            squares += (double)gradient[r * classes + c] * (double)gradient[r * classes + c];
        norm[r] = (float)sqrt(squares);
    }
}
