// ranks: 1 4, once
// If this failed, the savings would drift from plain training on a real graph: along the path that
// plain training takes, their loss and gradient are compared at every epoch from the same weights.
#include "../device.h"
#include "../support.h"
#include "fringe/model.h"

enum { EPOCHS = 50 };

typedef struct Variant {
    Config config;
    Shard shard;
    ModelShape shape;
    ModelPatterns patterns;
    Model *model;
    GradSync *sync;
    float *gradient;
} Variant;

static void variant_init(Variant *variant, const char *mode, const char *layer) {
    const char *file = test_text("%s/configs/cora-gcn.json", getenv("FRINGE_SOURCE"));
    assert_ok(
        config_load(&variant->config, file,
                    SETTINGS(test_text("mode=%s", mode), test_text("model.layer=%s", layer),
                             test_text("data.cache=%s", test_folder()),
                             test_text("lossless.order=%s",
                                       strcmp(mode, "vanilla") == 0 ? "aggregate-first" : "auto"),
                             "model.layers=3"),
                    &err));
    assert_ok(partition_load(&variant->shard, &variant->config, &test_comm, &(Warnings){0}, &err));
    const Shard *s = &variant->shard;
    assert_ok(model_shape(&variant->shape, &variant->config, s->features, s->classes, false, &err));
    model_patterns_init(&variant->patterns, &variant->shape, s, &test_comm);
    ModelParts parts = {.shard = s,
                        .patterns = &variant->patterns,
                        .comm = &test_comm,
                        .backend = device(),
                        .options = {.codec = assert_ok(codec_find("fp32", &err)), .chunk = 65280},
                        .schedule = assert_ok(schedule_find(variant->config.comm.schedule, &err))};
    variant->sync =
        gradsync_new(&test_comm, device(), &(GradForm){.count = variant->shape.parameter_count});
    parts.sync = variant->sync;
    variant->model = assert_ok(model_new(&variant->shape, &parts, &variant->config, &err));
    variant->gradient = TEST_ARRAY(float, variant->shape.parameter_count);
}

static void variant_clear(Variant *variant) {
    model_free(variant->model);
    gradsync_free(variant->sync);
    model_patterns_clear(&variant->patterns);
    shard_clear(&variant->shard);
}

static double variant_epoch(Variant *variant, const float *p, uint32_t epoch) {
    double loss = model_loss_and_gradient(variant->model, on_device(p),
                                          on_device(variant->gradient), 5, epoch);
    gradsync_finish(variant->sync, on_device(variant->gradient));
    comm_sum_double(&test_comm, &loss, 1);
    return loss;
}

static void variants_agree(const Variant *plain, const Variant *saving, double loss, double other) {
    assert_near(other, loss, 1e-5 * loss);
    for (int i = 0; i < plain->shape.parameter_spans; i++) {
        const Parameter *w = &plain->shape.parameter[i];
        assert_close(saving->gradient + w->begin, plain->gradient + w->begin, w->rows * w->columns,
                     1e-5);
    }
}

static void follow(const char *layer) {
    CLEARED(variant_clear) Variant plain = {0}, saving = {0};
    data_path_or_skip("cora/cora.npz");
    variant_init(&plain, "vanilla", layer);
    variant_init(&saving, "overlap", layer);
    int64_t count = plain.shape.parameter_count;
    float *p = TEST_ARRAY(float, count);
    model_initial(&plain.shape, 5, p);
    for (uint32_t epoch = 1; epoch <= EPOCHS; epoch++) {
        double loss = variant_epoch(&plain, p, epoch);
        variants_agree(&plain, &saving, loss, variant_epoch(&saving, p, epoch));
        for (int64_t k = 0; k < count; k++)
            p[k] -= 0.5f * plain.gradient[k];
    }
}

TEST(gcn_follows) { follow("gcn"); }

TEST(sage_follows) { follow("sage-mean"); }
