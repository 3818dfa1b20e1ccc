// ranks: 1 4, once
// If this failed, the savings would drift from plain training on a real graph: along the path that
// plain training takes, their loss and gradient are compared at every epoch from the same weights.
#include "../device.h"
#include "../support.h"
#include "fringe/gradsync.h"
#include "fringe/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCHS = 50 };

typedef struct Arm {
    Config config;
    Shard shard;
    ModelShape shape;
    ModelPatterns patterns;
    Model *model;
    GradSync *sync;
    float *gradient;
} Arm;

static void arm_init(Arm *arm, const char *mode, const char *layer) {
    char file[1024], setting[4][1200];
    Warnings warnings = {0};
    snprintf(file, sizeof file, "%s/configs/cora-gcn.json", getenv("FRINGE_SOURCE"));
    snprintf(setting[0], sizeof setting[0], "mode=%s", mode);
    snprintf(setting[1], sizeof setting[1], "model.layer=%s", layer);
    snprintf(setting[2], sizeof setting[2], "data.cache=%s", test_folder());
    snprintf(setting[3], sizeof setting[3], "lossless.order=%s",
             strcmp(mode, "vanilla") == 0 ? "aggregate-first" : "auto");
    const char *settings[] = {setting[0], setting[1], setting[2], setting[3], "model.layers=3"};
    assert_ok(config_load(&arm->config, file, settings, 5, &err));
    assert_ok(partition_load(&arm->shard, &arm->config, &test_comm, &warnings, &err));
    const Shard *s = &arm->shard;
    assert_ok(model_shape(&arm->shape, &arm->config, s->features, s->classes, false, &err));
    model_patterns_init(&arm->patterns, &arm->shape, s, &test_comm);
    ModelParts parts = {.shard = s,
                        .patterns = &arm->patterns,
                        .comm = &test_comm,
                        .backend = device(),
                        .options = {.codec = assert_ok(codec_find("fp32", &err)), .chunk = 65280},
                        .schedule = assert_ok(schedule_find(arm->config.comm.schedule, &err))};
    arm->sync =
        gradsync_new(&test_comm, device(), &(GradForm){.count = arm->shape.parameter_count});
    parts.sync = arm->sync;
    arm->model = assert_ok(model_new(&arm->shape, &parts, &arm->config, &err));
    arm->gradient = ALLOC(float, arm->shape.parameter_count, "test");
}

static void arm_clear(Arm *arm) {
    memory_free(arm->gradient);
    model_free(arm->model);
    gradsync_free(arm->sync);
    model_patterns_clear(&arm->patterns);
    shard_clear(&arm->shard);
}

static double arm_epoch(Arm *arm, const float *p, uint32_t epoch) {
    double loss =
        model_loss_and_gradient(arm->model, on_device(p), on_device(arm->gradient), 5, epoch);
    gradsync_finish(arm->sync, on_device(arm->gradient));
    comm_sum_double(&test_comm, &loss, 1);
    return loss;
}

static void arms_agree(const Arm *plain, const Arm *saving, double loss, double other) {
    assert_near(other, loss, 1e-5 * loss);
    for (int i = 0; i < plain->shape.parameter_spans; i++) {
        const Parameter *w = &plain->shape.parameter[i];
        assert_close(saving->gradient + w->begin, plain->gradient + w->begin, w->rows * w->columns,
                     1e-5);
    }
}

static void follow(const char *layer) {
    Arm plain = {0}, saving = {0};
    data_path_or_skip("cora/cora.npz");
    arm_init(&plain, "vanilla", layer);
    arm_init(&saving, "overlap", layer);
    int64_t count = plain.shape.parameter_count;
    float *p = ALLOC(float, count, "test");
    model_initial(&plain.shape, 5, p);
    for (uint32_t epoch = 1; epoch <= EPOCHS; epoch++) {
        double loss = arm_epoch(&plain, p, epoch);
        arms_agree(&plain, &saving, loss, arm_epoch(&saving, p, epoch));
        for (int64_t k = 0; k < count; k++)
            p[k] -= 0.5f * plain.gradient[k];
    }
    memory_free(p);
    arm_clear(&saving);
    arm_clear(&plain);
}

TEST(gcn_follows) { follow("gcn"); }

TEST(sage_follows) { follow("sage-mean"); }
