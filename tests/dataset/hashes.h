// The hash of a dataset, and of what a config makes one of, as texts of the test.
#pragma once

#include "support.h"

#include "fringe/dataset.h"

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
