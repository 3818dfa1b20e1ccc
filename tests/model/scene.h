// A model on a small graph, and all that it needs, for tests that train it on two backends.
#pragma once

#include "../small_graph.h"
#include "../support.h"
#include "fringe/model.h"

typedef struct Scene {
    TestGraph graph;
    Config config;
    ModelShape shape;
    ModelPatterns patterns;
    float *parameters;
} Scene;

// Two layers of such a kind for a config that is loaded. What skips rows drops none out.
static inline void scene_make(Scene *s, TestGraphKind graph, const char *layer,
                              const char *schedule) {
    s->graph = test_graph(graph, 17, &test_comm);
    snprintf(s->config.model.layer, CONFIG_WORD, "%s", layer);
    s->config.model.layers = 2;
    s->config.model.hidden = (ConfigInts){1, {12}};
    if (strcmp(schedule, "skip") == 0) {
        snprintf(s->config.lossless.cover, CONFIG_WORD, "sources");
        s->config.model.dropout = 0;
    }
    assert_ok(
        model_shape(&s->shape, &s->config, graph.features, graph.classes, graph.multilabel, &err));
    model_patterns_init(&s->patterns, &s->shape, &s->graph.shard, &test_comm);
    s->parameters = TEST_ARRAY(float, s->shape.parameter_count);
    model_initial(&s->shape, 5, s->parameters);
}

static inline void scene_clear(Scene *s) {
    model_patterns_clear(&s->patterns);
    test_graph_clear(&s->graph);
}
