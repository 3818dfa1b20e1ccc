// ranks: 1 2 4
// If this failed, something that the host writes would not reach a backend that has memory of its
// own, or what the backend makes would not come back: training there would differ from the CPU's.
// Or what a model needs on a device would not be what was planned there.
#include "../device.h"
#include "../skipping.h"
#include "scene.h"

// The CPU's backend, but no block is its own mirror: what is not copied is not there.
static Backend apart;

typedef struct Kind {
    const char *codec, *schedule, *layer, *layer0;
    double input_dropout;
    bool multilabel, directed;
    int rank; // of the sum of gradients; 0: all floats
} Kind;

static const Kind kinds[] = {
    {"fp32", "blocking", "gcn", "exchange", 0, false, false, 0},
    {"fp32", "overlap", "sage-mean", "auto", 0, false, true, 2},
    {"bf16", "overlap", "gcn", "auto", 0.3, true, false, 0},
    {"integer", "overlap", "gcn", "exchange", 0, false, true, 0},
    {"fp32", "stale", "gcn", "exchange", 0, false, false, 0},
    {"bf16", "skip", "gcn", "exchange", 0, false, false, 0},
    {"integer", "central", "sage-mean", "exchange", 0.2, true, false, 3},
};
enum { KINDS = sizeof kinds / sizeof *kinds, EPOCHS = 3 };

static void scene_init(Scene *s, const Kind *kind) {
    TestGraphKind graph = {.nodes = 90,
                           .degree = 5,
                           .features = 9,
                           .classes = 5,
                           .multilabel = kind->multilabel,
                           .directed = kind->directed};
    assert_ok(config_load(&s->config, NULL, NULL, 0, &err));
    snprintf(s->config.lossless.input_features, CONFIG_WORD, "%s", kind->layer0);
    s->config.model.input_dropout = kind->input_dropout;
    scene_make(s, graph, kind->layer, kind->schedule);
}

// What a backend makes of a few epochs and an evaluation.
typedef struct Made {
    double loss[EPOCHS];
    float *gradient, *logits;
    Metrics metrics[4];
    float square; // of the ranges that travelled; of one row sent
} Made;

static float ranges_of(Model *model) {
    Channel *channel = model_channel(model, (ExchangeId){1, FORWARD});
    const RangeStatistics *trace = channel != NULL ? channel_ranges(channel) : NULL;
    const HaloPlan *p = channel != NULL ? channel_halo_plan(channel) : NULL;
    return trace != NULL && p->send_offset[p->size - 1] > 0 ? trace->square[0] : 0;
}

static ModelParts parts_of(const Scene *s, const Kind *kind, const Backend *b) {
    Error none = {0};
    ModelParts parts = {
        .shard = &s->graph.shard,
        .patterns = &s->patterns,
        .comm = &test_comm,
        .backend = b,
        .options = {.codec = codec_find(kind->codec, &none), .width = 4, .chunk = 4096},
        .schedule = schedule_find(kind->schedule, &none)};
    if (strcmp(kind->schedule, "skip") == 0)
        skip_by(&parts.options, "hybrid:0.05,2");
    return parts;
}

static void make(Made *made, const Scene *s, const Kind *kind, const Backend *b) {
    GradSpan span[MODEL_PARAMETERS];
    GradForm form = {.rank = kind->rank, .remembers = true};
    model_spans(&form, &s->shape, span);
    OWNED(GradSync) *sync = gradsync_new(&test_comm, b, &form);
    ModelParts parts = parts_of(s, kind, b);
    parts.sync = sync;
    CLEARED(model_drop) Model *model = assert_ok(model_new(&s->shape, &parts, &s->config, &err));
    made->gradient = TEST_ARRAY(float, s->shape.parameter_count);
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        made->loss[epoch] = model_loss_and_gradient(model, on_device(s->parameters),
                                                    on_device(made->gradient), 3, epoch + 1);
        gradsync_finish(sync, on_device(made->gradient));
    }
    made->square = ranges_of(model);
    Rows logits = model_infer(model, on_device(s->parameters));
    made->logits = TEST_ARRAY(float, logits.count *logits.columns);
    b->download_rows(made->logits, logits);
    model_metrics(model, logits, made->metrics);
}

TEST(both_sides_are_kept_alike) {
    apart = *device();
    apart.host_is_device = false;
    for (int k = 0; k < KINDS; k++) {
        CLEARED(scene_clear) Scene s = {0};
        Made one, two;
        scene_init(&s, &kinds[k]);
        make(&one, &s, &kinds[k], device());
        make(&two, &s, &kinds[k], &apart);
        size_t bytes = (size_t)s.shape.parameter_count * sizeof(float);
        assert_memory_equal(one.loss, two.loss, sizeof one.loss);
        assert_memory_equal(one.gradient, two.gradient, bytes);
        assert_memory_equal(one.logits, two.logits,
                            (size_t)(s.graph.shard.set[NODES].own * s.graph.shard.classes) *
                                sizeof(float));
        assert_memory_equal(one.metrics, two.metrics, sizeof one.metrics);
        assert_true(one.square == two.square);
    }
}

// ---- a backend with two kernels for the sparse aggregate

static char spmm[16];
static const char *spmm_of(void) { return spmm; }
static void spmm_set(const char *choice) { snprintf(spmm, sizeof spmm, "%s", choice); }

// As if the ranks had measured otherwise.
static void tune_otherwise(Aggregate *aggregate, Rows out, Rows x) {
    (void)aggregate, (void)out, (void)x;
    spmm_set(test_comm.rank == 0 ? "cusparse" : "own");
}

TEST(all_ranks_take_the_kernel_of_the_first) {
    CLEARED(scene_clear) Scene s = {0};
    Made made = {0};
    apart = *device();
    apart.aggregate_tune = tune_otherwise;
    apart.spmm = spmm_of;
    apart.spmm_set = spmm_set;
    spmm_set("own");
    scene_init(&s, &kinds[0]);
    make(&made, &s, &kinds[0], &apart);
    assert_string_equal(spmm, "cusparse");
}

// ---- a device whose blocks are counted apart from the host's

static struct { size_t now, most; } counted;
static size_t counted_free(void) { return SIZE_MAX; }

static void *counted_alloc(size_t bytes, const char *what) {
    size_t *block = memory_alloc(bytes + 64, what);
    *block = bytes;
    counted.now += bytes;
    counted.most = counted.now > counted.most ? counted.now : counted.most;
    return (char *)block + 64;
}

static void counted_release(void *block) {
    if (block == NULL)
        return;
    counted.now -= *(size_t *)((char *)block - 64);
    memory_free((char *)block - 64);
}

// Planned on the device but for what the CPU's aggregates, which serve here, take from the host.
static double planned_blocks(const MemoryForecast *forecast) {
    double bytes = (double)forecast_device_total(forecast);
    static const char *const kernels[] = {"edges of aggregates", "work space of aggregates",
                                          "halo cursors"};
    for (int i = 0; i < forecast->count; i++)
        for (int k = 0; k < 3; k++)
            if (strcmp(forecast->item[i].what, kernels[k]) == 0)
                bytes -= (double)forecast->item[i].bytes;
    return bytes;
}

TEST(what_lies_on_the_device_is_planned_there) {
    apart = *device();
    apart.host_is_device = false;
    apart.alloc = apart.alloc_zeroed = counted_alloc;
    apart.free = counted_release;
    apart.device_free = counted_free;
    for (int k = 0; k < KINDS; k++) {
        CLEARED(scene_clear) Scene s = {0};
        Made made = {0};
        MemoryForecast forecast = {0};
        scene_init(&s, &kinds[k]);
        ModelParts parts = parts_of(&s, &kinds[k], &apart);
        model_forecast(&forecast, &s.shape, &parts, &s.config);
        counted.most = 0;
        make(&made, &s, &kinds[k], &apart);
        assert_int_equal(counted.now, 0);
        double planned = planned_blocks(&forecast), most = (double)counted.most;
        if (most > planned || planned > 1.1 * most)
            fail_msg("kind %d: planned %.0f bytes on the device, used %.0f", k, planned, most);
    }
}
