// What tests of the trainer begin with: a graph, a config, and a trainer for them.
#pragma once

#include "../device.h"
#include "../small_graph.h"
#include "../support.h"
#include "trainer/internal.h"

static TestGraph graph;
static Config config;

static inline Trainer *new_trainer_on(const char *backend) {
    Error err = {0};
    snprintf(config.run.backend, sizeof config.run.backend, "%s", backend);
    Trainer *t = trainer_new(&config, &graph.shard, &test_comm, 3, NULL, &err);
    if (t == NULL)
        fail_msg("%s", err.text);
    return t;
}

static inline Trainer *new_trainer(void) { return new_trainer_on(device_name()); }
