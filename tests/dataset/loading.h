// Loads a graph in a test and compares its arrays with expected numbers.
#pragma once

#include "hashes.h"

// Both clear what *dataset held before.
static inline bool load_config(Dataset *dataset, const Config *config, Error *err) {
    dataset_clear(dataset);
    *err = (Error){0};
    return dataset_load(dataset, config, err);
}

static inline bool load(Dataset *dataset, const char *path, Error *err) {
    Config config = config_at(path);
    return load_config(dataset, &config, err);
}

// Writes a text and loads it; data: further members of the config's section, or "".
static inline bool load_section(Dataset *d, const char *name, const char *text, size_t bytes,
                                const char *data, Error *err) {
    static Config config;
    static char json[2048];
    test_write(test_path(name), text, bytes);
    snprintf(json, sizeof json, "{\"data\": {\"path\": \"%s\"%s}}", name, data);
    test_write_text(test_path("c.json"), json);
    *err = (Error){0};
    dataset_clear(d);
    return config_load(&config, test_path("c.json"), NULL, 0, err) && dataset_load(d, &config, err);
}

static inline Dataset loaded(const char *path) {
    Dataset d = {0};
    assert_ok(load(&d, path, &err));
    return d;
}

static inline void assert_int32(const int32_t *found, int count, const int32_t *wanted) {
    for (int i = 0; i < count; i++)
        assert_int_equal(found[i], wanted[i]);
}
#define ASSERT_INTS(found, ...)                                                                    \
    assert_int32(found, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t),                        \
                 (int32_t[]){__VA_ARGS__})
