// ranks: 1 3
// If this failed, an epoch on a device would compute another loss or other gradients than on the
// CPU, or not the same ones each time.
//
// From the same weights on both: the CPU's run goes on by steps of its gradient, and each epoch
// starts again on the device from the weights that the CPU's run has reached. The device is the
// emulated one, and a real one where there is one.
#include "../device.h"
#include "fringe/gradsync.h"
#include "internal.h"
#include "scene.h"

typedef struct Kind {
    const char *layer, *schedule, *spmm;
    bool multilabel;
    const char *setting;
} Kind;
static const Kind kinds[] = {{"gcn", "overlap", "own", false, NULL},
                             {"gcn", "overlap", "cusparse", false, NULL},
                             {"sage-mean", "central", "own", true, NULL},
                             {"gcn", "stale", "own", false, NULL},
                             {"gcn", "skip", "own", false, NULL},
                             {"sage-mean", "overlap", "own", false, "comm.sample=0.5"},
                             {"gcn", "overlap", "own", false, "run.precision=bf16"},
                             {"sage-mean", "central", "own", true, "run.precision=bf16"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void scene_init(Scene *s, const Kind *kind) {
    TestGraphKind graph = {
        .nodes = 90, .degree = 5, .features = 9, .classes = 5, .multilabel = kind->multilabel};
    const char *settings[] = {"comm.smooth=both", "comm.skip=hybrid:0.05,4", kind->setting};
    assert_ok(config_load(&s->config, NULL, settings, kind->setting != NULL ? 3 : 2, &err));
    scene_make(s, graph, kind->layer, kind->schedule);
}

// A model on one backend.
typedef struct Placed {
    const Backend *b;
    GradSync *sync;
    Model *model;
    DeviceFloat *parameters, *gradient;
    float *pinned; // what gradsync and the host read of the gradient
    double loss;
} Placed;

static size_t bytes_of(const Scene *s) { return (size_t)s->shape.parameter_count * sizeof(float); }

static void placed_init(Placed *placed, const Scene *s, const Kind *kind, const Backend *b) {
    placed->b = b;
    placed->sync = gradsync_new(&test_comm, b, &(GradForm){.count = s->shape.parameter_count});
    ModelParts parts = {.shard = &s->graph.shard,
                        .patterns = &s->patterns,
                        .comm = &test_comm,
                        .backend = b,
                        .options = {.codec = assert_ok(codec_find("fp32", &err)), .chunk = 4096},
                        .schedule = assert_ok(schedule_find(kind->schedule, &err)),
                        .sync = placed->sync};
    assert_ok(schedule_configure(parts.schedule, &s->config, &parts.options, &err) &&
              sample_configure(&s->config, parts.schedule, &parts.options, &err));
    placed->model = assert_ok(model_new(&s->shape, &parts, &s->config, &err));
    placed->parameters = b->alloc(bytes_of(s), "test");
    placed->gradient = b->alloc(bytes_of(s), "test");
    placed->pinned = TEST_ARRAY(float, s->shape.parameter_count);
}

static void placed_clear(Placed *placed) {
    placed->b->free(placed->gradient);
    placed->b->free(placed->parameters);
    model_free(placed->model);
    gradsync_free(placed->sync);
}

static void run_epoch(Placed *placed, const Scene *s, uint32_t epoch) {
    placed->b->upload(placed->parameters, s->parameters, bytes_of(s));
    placed->loss =
        model_loss_and_gradient(placed->model, placed->parameters, placed->gradient, 3, epoch);
    gradsync_finish(placed->sync, placed->gradient);
    placed->b->download(placed->pinned, placed->gradient, bytes_of(s));
    placed->b->finish(NULL);
}

static void step(Scene *s, const float *gradient) {
    for (int64_t i = 0; i < s->shape.parameter_count; i++)
        s->parameters[i] -= 0.5f * gradient[i];
}

// Sums that another order has made a little larger or smaller are rounded to another bf16.
static double tolerance_of(const Scene *s) {
    return strcmp(s->config.run.precision, "bf16") == 0 ? 1e-2 : 1e-5;
}

static void compare_epochs(const Backend *b, const Kind *kind) {
    CLEARED(scene_clear) Scene s = {0};
    CLEARED(placed_clear) Placed cpu = {0}, device = {0};
    double first = 0;
    scene_init(&s, kind);
    placed_init(&cpu, &s, kind, &backend_cpu);
    placed_init(&device, &s, kind, b);
    for (uint32_t epoch = 1; epoch <= (uint32_t)test_turns(12, 50); epoch++) {
        run_epoch(&cpu, &s, epoch);
        run_epoch(&device, &s, epoch);
        first = epoch == 1 ? cpu.loss : first;
        assert_near(device.loss, cpu.loss, tolerance_of(&s));
        assert_close(device.pinned, cpu.pinned, s.shape.parameter_count, tolerance_of(&s));
        step(&s, cpu.pinned);
    }
    assert_true(cpu.loss < first); // what was compared has trained
}

// Each time it is the first one, or reads no rows but its own.
static void repeat_epoch(const Backend *b, const Kind *kind) {
    if (schedule_find(kind->schedule, &(Error){0})->changes_result)
        return;
    CLEARED(scene_clear) Scene s = {0};
    CLEARED(placed_clear) Placed device = {0};
    scene_init(&s, kind);
    placed_init(&device, &s, kind, b);
    run_epoch(&device, &s, 7);
    float *gradient = TEST_ARRAY(float, s.shape.parameter_count);
    memcpy(gradient, device.pinned, bytes_of(&s));
    double loss = device.loss;
    for (int i = 0; i < test_turns(3, 20); i++) {
        run_epoch(&device, &s, 7);
        assert_memory_equal(gradient, device.pinned, bytes_of(&s));
        assert_true(loss == device.loss);
    }
}

static void on(const Backend *b) {
    config_learn_keys((const Family *const[]){&schedule_family}, 1);
    setenv("FRINGE_EMULATED_STREAMS", "random", 1);
    for (int k = 0; k < KINDS; k++) {
        const char *setting = kinds[k].setting, *precision = "run.precision=";
        const bool names_one = setting != NULL && strstr(setting, precision) == setting;
        BackendStart how = {.spmm = kinds[k].spmm,
                            .precision = names_one ? setting + strlen(precision) : NULL,
                            .node_rank = test_comm.node_rank,
                            .node_size = test_comm.node_size};
        assert_true(b->start(&how, &(Error){0}) && backend_cpu.start(&how, &(Error){0}));
        b->spmm_set(kinds[k].spmm); // the model of the kind before has set its own
        compare_epochs(b, &kinds[k]);
        repeat_epoch(b, &kinds[k]);
    }
}

TEST(on_the_emulated_device) { on(ok_or_skip(emulated_device(&err))); }

TEST(on_a_device) { on(ok_or_skip(real_device(&test_comm, &err))); }
