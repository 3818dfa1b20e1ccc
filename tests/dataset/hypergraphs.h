// Loads hypergraphs from texts in a test, and applies steps of data.transforms to them.
#pragma once

#include "loading.h"

static inline Dataset text_dataset(const char *name, const char *text) {
    Dataset d = {0};
    test_write_text(test_path(name), text);
    assert_ok(load(&d, test_path(name), &err));
    return d;
}

static inline bool prepare(Dataset *d, const char *step, double limit, Error *said) {
    ConfigWords words = {.count = 1};
    *said = (Error){0};
    strcpy(words.word[0], step);
    bool ok = dataset_prepare(d, &words, 0, limit, said);
    if (ok)
        assert_ok(dataset_check(d, "prepared", &err));
    return ok;
}

static inline void apply(Dataset *d, const char *step) { assert_ok(prepare(d, step, 0, &err)); }
