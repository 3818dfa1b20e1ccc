// ranks: 1 2 4
// If this failed, evaluate and predict would say something else of weights than the training that
// made them, or take what only training needs.
#include "fixture.h"

enum { MODELS = 5, LISTED = 5 };
static const char *const settings[MODELS][LISTED] = {
    {"model.layer=gcn", "model.input_dropout=0.2", "mode=adaqp", "model.norm=none",
     "train.clip_norm=1"},
    {"model.layer=sage-mean", "mode=overlap", "model.hidden=[40]", "model.dropout=0.1",
     "model.layers=2"},
    {"model.layer=gcn", "mode=vanilla", "lossless.cover=targets", "model.hidden=[5,30]",
     "model.gcn_norm=in"},
    {"model.layer=sage-gcn", "mode=adaqp-published", "model.input_dropout=0.2", "model.bias=false",
     "model.layers=1"},
    {"model.layer=gcn", "mode=quantize", "quantization.assign=replay:nowhere", "train.loss=auto",
     "model.self_loops=true"},
};

static void settle(int which) {
    const char *all[LISTED + 3] = {"train.epochs=2", "model.hidden=[20]", "run.threads=1"};
    memcpy(all + 3, settings[which], sizeof settings[which]);
    config_learn_keys((const Family *const[]){&layer_family}, 1);
    assert_ok(config_load(&config, NULL, all, LISTED + 3, &err));
}

static void open_inference(Inference *inference) {
    assert_ok(
        inference_open(inference, &config, &graph.shard, &test_comm, &(MemoryForecast){0}, &err));
}

static bool plans(const MemoryForecast *forecast, const char *what) {
    for (int i = 0; i < forecast->count; i++)
        if (strcmp(forecast->item[i].what, what) == 0 && forecast->item[i].bytes > 0)
            return true;
    return false;
}

static void begin(TestGraphKind kind) {
    kind.nodes = kind.nodes > 0 ? kind.nodes : 150;
    kind.degree = 6, kind.features = 19, kind.classes = 4;
    use_graph(kind, 8);
}

// Bit for bit: the same sums in the same order, whatever else there is room for.
TEST(it_says_what_the_training_says) {
    for (int which = 0; which < MODELS * 2; which++) {
        begin((TestGraphKind){.directed = which >= MODELS, .multilabel = which % 2 == 1});
        settle(which % MODELS);
        if (which % MODELS == MODELS - 1) // the training of that one needs the run it replays
            snprintf(config.quantization.assign, sizeof config.quantization.assign, "uniform");
        OWNED(Trainer) *t = new_trainer();
        while (!trainer_finished(t))
            assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
        Metrics trained[4], looked[4];
        memset(trained, 0, sizeof trained), memset(looked, 0, sizeof looked);
        trainer_evaluate(t, false, trained);
        CLEARED(inference_close) Inference inference = {0};
        open_inference(&inference);
        const float *parameters = trainer_parameters(t, false);
        model_metrics(inference.model, model_infer(inference.model, on_device(parameters)), looked);
        assert_memory_equal(&looked[SPLIT_TRAIN], &trained[SPLIT_TRAIN], 3 * sizeof(Metrics));
        for (int l = 1; l <= inference.shape.layers; l++) {
            Rows ours = model_embedding(inference.model, l);
            Rows theirs = model_embedding(t->model, l);
            for (int64_t r = 0; r < ours.count; r++)
                assert_memory_equal(floats(ours) + r * ours.stride,
                                    floats(theirs) + r * theirs.stride,
                                    (size_t)ours.columns * sizeof(float));
        }
    }
}

TEST(it_takes_nothing_of_training) {
    static const char *const training[] = {"gradients of rows",    "layer inputs",
                                           "scratch of gradients", "optimizer state",
                                           "features of the halo", "features after dropout"};
    for (int which = 0; which < MODELS; which++) {
        begin((TestGraphKind){.nodes = UNDER_SANITIZERS(400, 3000)});
        settle(which);
        size_t before = memory_in_use();
        Inference inference;
        open_inference(&inference);
        for (size_t i = 0; i < sizeof training / sizeof training[0]; i++)
            if (plans(&inference.forecast, training[i]))
                fail_msg("%s of %s", training[i], settings[which][0]);
        double used = (double)(memory_in_use() - before),
               planned = (double)forecast_total(&inference.forecast);
        if (planned < 0.95 * used - 50e3) // small items are not planned
            fail_msg("planned %.0f bytes, used %.0f", planned, used);
        float *parameters = TEST_ARRAY(float, inference.shape.parameter_count);
        model_infer(inference.model, on_device(parameters));
        int64_t takes = memory_allocs();
        inference_close(&inference);
        assert_int_equal(memory_allocs(), takes);
        assert_int_equal(memory_in_use(), before);
    }
}

// What the caller takes beside it counts; so does what the model needs.
TEST(what_does_not_fit_is_refused) {
    begin((TestGraphKind){0});
    settle(0);
    Inference inference;
    open_inference(&inference);
    size_t alone = forecast_total(&inference.forecast);
    inference_close(&inference);
    config.run.memory_limit = (double)(alone + 3000000) / (1 << 30);
    open_inference(&inference);
    inference_close(&inference);
    MemoryForecast beside = {0};
    forecast_add(&beside, "what is beside", (size_t)1 << 24);
    assert_refused(inference_open(&inference, &config, &graph.shard, &test_comm, &beside, &err),
                   EXIT_MEMORY, "what is beside");
}

static int no_split(int64_t node) {
    (void)node;
    return SPLIT_NONE;
}

// Who only predicts needs no training nodes.
TEST(a_graph_without_splits_is_predicted) {
    begin((TestGraphKind){.split = no_split});
    settle(1);
    CLEARED(inference_close) Inference inference = {0};
    open_inference(&inference);
    float *parameters = TEST_ARRAY(float, inference.shape.parameter_count);
    model_initial(&inference.shape, 1, parameters);
    assert_int_equal(model_infer(inference.model, on_device(parameters)).count,
                     graph.shard.set[NODES].own);
}
