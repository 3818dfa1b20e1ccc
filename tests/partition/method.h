// Partition methods called by name, for the tests of what they cut.
#pragma once

#include "graphs.h"

static inline Config config_for(const char *method) {
    Config config = CONFIGURED();
    snprintf(config.partition.method, sizeof config.partition.method, "%.500s", method);
    config.partition.seed = 3;
    return config;
}

// The parts by a method, with what is usual.
static inline void cut_by(const char *method, int32_t *part, const Dataset *d, int parts) {
    Config config = config_for(method);
    assert_ok(partition_cut(part, d, parts, &config, &err, &(Warnings){0}));
}

// Bytes that a cut has in use at most, beside what is in use before.
static inline size_t bytes_of_cut(const Dataset *d, const char *method, int parts) {
    Config config = config_for(method);
    int32_t *part = TEST_ARRAY(int32_t, d->nodes + d->hyperedges);
    FREED void *filler =
        memory_alloc(memory_peak() - memory_in_use(), "test"); // now in use is the peak
    size_t before = memory_peak();
    assert_ok(partition_cut(part, d, parts, &config, &err, &(Warnings){0}));
    return memory_peak() - before;
}
