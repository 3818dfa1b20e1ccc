// A model of three layers whose messages are cut into many chunks, with any codec, schedule and
// residual; and what its epochs make.
#pragma once

#include "../codec_values.h"
#include "../device.h"
#include "../small_graph.h"
#include "../support.h"
#include "exchange/channel.h"
#include "model/internal.h"

enum { LAYERS = 3, WIDTH = 24, CLASSES = 5, CHANNELS = 2 * LAYERS - 1 };

typedef struct Ground { // what models of a test stand on
    TestGraph graph;
    Config config;
    ModelShape shape;
    ModelPatterns patterns;
    float *parameters[2]; // the first epoch's, and those of all others
} Ground;

enum { GROUND_SETTINGS = 12 };

// With settings of the test's own; unused ones are NULL.
static inline Ground ground_as(const char *const more[4]) {
    Ground s;
    const char *settings[GROUND_SETTINGS] = {"model.layers=3",
                                             "model.hidden=[24]",
                                             "model.dropout=0",
                                             "model.post=[\"activation\"]",
                                             "lossless.order=aggregate-first",
                                             "lossless.input_features=exchange",
                                             "lossless.receptive_field=all"};
    int count = 7;
    for (int i = 0; i < 4 && more[i] != NULL; i++)
        settings[count++] = more[i];
    TestGraphKind kind = {.nodes = 300, .degree = 6, .features = WIDTH, .classes = CLASSES};
    s.graph = test_graph(kind, 21, &test_comm);
    assert_ok(config_load(&s.config, NULL, settings, count, &err));
    assert_ok(model_shape(&s.shape, &s.config, WIDTH, CLASSES, false, &err));
    model_patterns_init(&s.patterns, &s.shape, &s.graph.shard, &test_comm);
    for (int i = 0; i < 2; i++) {
        s.parameters[i] = TEST_ARRAY(float, s.shape.parameter_count);
        model_initial(&s.shape, 5 + (uint64_t)i, s.parameters[i]);
    }
    return s;
}

static inline Ground ground_made(void) { return ground_as((const char *const[4]){NULL}); }

static inline void ground_clear(Ground *s) {
    model_patterns_clear(&s->patterns);
    test_graph_clear(&s->graph);
}

typedef struct Flight { // a model and what its last epoch made
    const Ground *ground;
    GradSync *sync;
    ModelParts parts;
    Model *model;
    uint32_t epoch;
    double loss;
    float *gradient; // of all ranks
    float *logits;   // of training
} Flight;

static inline int64_t logit_count(const Flight *f) {
    return f->ground->graph.shard.set[NODES].own * CLASSES;
}

static inline size_t gradient_bytes(const Flight *f) {
    return (size_t)f->ground->shape.parameter_count * sizeof(float);
}

static inline CodecOptions flight_options(const char *codec, const Residual *first,
                                          const Residual *second) {
    return (CodecOptions){.codec = assert_ok(codec_find(codec, &err)),
                          .values = integer_values(false),
                          .width = 8,
                          .chunk = 192,
                          .residual = {{.of = first}, {.of = second}}};
}

// The options of fp32 rows under a schedule with settings of its own; unused ones are NULL.
static inline CodecOptions scheduled_options(const char *name, const char *const settings[4]) {
    Config config;
    int count = 0;
    CodecOptions options = flight_options("fp32", NULL, NULL);
    while (count < 4 && settings[count] != NULL)
        count++;
    config_learn_keys((const Family *const[]){&schedule_family}, 1);
    assert_ok(config_load(&config, NULL, settings, count, &err));
    const Schedule *schedule = assert_ok(schedule_find(name, &err));
    assert_ok(schedule_configure(schedule, &config, &options, &err));
    config_learn_keys(NULL, 0);
    return options;
}

static inline Flight flight_as(const Ground *s, CodecOptions options, const char *schedule) {
    Flight f = {.ground = s};
    f.sync = gradsync_new(&test_comm, device(), &(GradForm){.count = s->shape.parameter_count});
    f.parts = (ModelParts){.shard = &s->graph.shard,
                           .patterns = &s->patterns,
                           .comm = &test_comm,
                           .backend = device(),
                           .options = options,
                           .schedule = assert_ok(schedule_find(schedule, &err)),
                           .sync = f.sync};
    f.model = assert_ok(model_new(&s->shape, &f.parts, &s->config, &err));
    f.gradient = TEST_ARRAY(float, s->shape.parameter_count);
    f.logits = TEST_ARRAY(float, logit_count(&f));
    return f;
}

static inline Flight flight_of(const Ground *s, const char *codec, const char *schedule,
                               const Residual *residual) {
    return flight_as(s, flight_options(codec, NULL, residual), schedule);
}

static inline void flight_clear(Flight *f) {
    model_free(f->model);
    gradsync_free(f->sync);
}
#define CLEARS_Flight flight_clear

// The first epoch has weights of its own, so that rows of another epoch are other rows.
static inline void fly(Flight *f) {
    const float *parameters = f->ground->parameters[f->epoch > 0];
    int64_t takes = memory_allocs();
    f->loss = model_loss_and_gradient(f->model, on_device(parameters), on_device(f->gradient), 11,
                                      ++f->epoch);
    assert_int_equal(takes, memory_allocs());
    gradsync_finish(f->sync, on_device(f->gradient));
    comm_sum_double(&test_comm, &f->loss, 1);
    device()->download_rows(f->logits, f->model->layer[f->ground->shape.layers - 1].z);
}

static inline bool everywhere(bool here) {
    int64_t others = !here;
    comm_sum_int64(&test_comm, &others, 1);
    return others == 0;
}

static inline bool same_logits(const Flight *a, const Flight *b) {
    return everywhere(memcmp(a->logits, b->logits, (size_t)logit_count(a) * sizeof(float)) == 0);
}

static inline bool same_gradient(const Flight *a, const Flight *b) {
    return everywhere(memcmp(a->gradient, b->gradient, gradient_bytes(a)) == 0);
}

static inline void fly_alike(Flight *one, Flight *other) {
    fly(one);
    fly(other);
    assert_true(same_logits(one, other) && same_gradient(one, other));
}

static inline double gradient_distance(const Flight *a, const Flight *b) {
    double error = 0, norm = 0;
    for (int64_t k = 0; k < a->ground->shape.parameter_count; k++) {
        error += pow((double)a->gradient[k] - (double)b->gradient[k], 2);
        norm += pow((double)b->gradient[k], 2);
    }
    return sqrt(error / norm);
}

static inline Channel *channel_of(const Flight *f, int i) {
    return model_channel(f->model, i < LAYERS ? (ExchangeId){i, FORWARD}
                                              : (ExchangeId){i - LAYERS + 1, BACKWARD});
}

// All rows of all channels.
static inline void set_all_widths(const Flight *f, int bits) {
    for (int i = 0; i < CHANNELS; i++) {
        Channel *channel = channel_of(f, i);
        const HaloPlan *p = channel_halo_plan(channel);
        int64_t sent = p->send_offset[p->size - 1],
                most = sent > p->halo_count ? sent : p->halo_count;
        uint8_t *all = TEST_ARRAY(uint8_t, most);
        memset(all, bits, (size_t)most);
        channel_set_widths(channel, all, all);
    }
}

typedef struct Sizes {
    size_t planned, taken;
} Sizes;

static inline Sizes sizes_of(const Ground *ground, CodecOptions options, const char *schedule) {
    MemoryForecast forecast = {0};
    OWNED(Flight) f = flight_as(ground, options, schedule);
    size_t with = memory_in_use();
    model_forecast(&forecast, &ground->shape, &f.parts, &ground->config);
    model_free(f.model);
    size_t taken = with - memory_in_use();
    f.model = NULL;
    return (Sizes){forecast_total(&forecast), taken};
}
