// Configs that name a file, and the hash of what one makes of it and of a dataset, as texts of the
// test.
#pragma once

#include "support.h"

#include "fringe/dataset.h"

static inline Config config_at(const char *path) {
    Config config = {0};
    snprintf(config.data.path, sizeof config.data.path, "%.*s", (int)sizeof config.data.path - 1,
             path);
    return config;
}

static inline const char *hashed(const Dataset *d) {
    char hash[33];
    dataset_hash(d, hash);
    return test_text("%s", hash);
}
static inline const char *source_hashed(const Config *config) {
    char hash[33];
    assert_ok(dataset_source_hash(config, hash, &err));
    return test_text("%s", hash);
}
