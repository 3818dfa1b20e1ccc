// What tests of the trainer begin with: a graph, a config, and a trainer for them.
#pragma once

#include "../device.h"
#include "../small_graph.h"
#include "../support.h"
#include "trainer/internal.h"

static TestGraph graph; // of which the arrays go when the test ends, by use_graph
static Config config;

static inline void clear_graph(void *made) { test_graph_clear(made); }

static inline void use_graph(TestGraphKind kind, uint64_t seed) {
    TestGraph *made = TEST_ARRAY(TestGraph, 1);
    *made = test_graph(kind, seed, &test_comm);
    test_later(clear_graph, made);
    graph = *made;
}

#define USUAL(...)                                                                                 \
    (TestGraphKind) { .nodes = 150, .degree = 6, .features = 19, .classes = 4, __VA_ARGS__ }
static inline int make_test_graph(void **state) {
    (void)state;
    use_graph(USUAL(), 8);
    return 0;
}
#define WORLD_TEST(name) TEST_WITH(name, make_test_graph, NULL)

static inline Trainer *new_trainer_on(const char *backend) {
    snprintf(config.run.backend, sizeof config.run.backend, "%s", backend);
    return assert_ok(trainer_new(&config, &graph.shard, &test_comm, 3, NULL, &err));
}

static inline Trainer *new_trainer(void) { return new_trainer_on(device_name()); }
// Every program has its own trainer_with, which loads such settings beside others.
#define TRAINER(...) trainer_with(SETTINGS(__VA_ARGS__))
