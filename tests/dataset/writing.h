// Makes datasets in a test, writes them in another format and reads them again.
#pragma once

#include "loading.h"

// ---- datasets

// More than one piece of every array and table; under the sanitizers of the long ones.
enum { NODES = UNDER_SANITIZERS(8000, 40000), FEATURES = 3, CLASSES = 5 };
typedef enum Trait {
    DIRECTED = 1,
    WEIGHTED = 2,
    SEVERAL = 4,
    BARE = 8,
    SPARSE = 16,
    SIGNED = 32,
    NUMERIC = 64
} Trait;

// A number that depends on i and j only, and on their order if `directed`.
static inline uint32_t mixed(int64_t i, int64_t j, bool directed) {
    uint64_t low = (uint64_t)(i < j || directed ? i : j),
             high = (uint64_t)(i < j || directed ? j : i);
    uint64_t x = (low * 1000003 + high) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(x >> 32);
}

static inline bool has_edge(int64_t i, int64_t j, int traits) {
    int64_t apart = i < j ? j - i : i - j;
    return apart > 0 && apart <= 10 && i % 100 != 99 && j % 100 != 99 && // some have no edges
           mixed(i, j, traits & DIRECTED) % 4 == 0;
}

static inline void make_edges(Dataset *d, int traits) {
    d->nodes = NODES;
    d->offset = ALLOC(int64_t, NODES + 1, "a test");
    d->target = ALLOC(int32_t, NODES * 20, "a test");
    d->weight = traits & WEIGHTED ? ALLOC(float, NODES * 20, "a test") : NULL;
    for (int64_t i = 0; i < NODES; i++) {
        for (int64_t j = i < 10 ? 0 : i - 10; j <= i + 10 && j < NODES; j++) {
            if (!has_edge(i, j, traits))
                continue;
            if (d->weight != NULL)
                d->weight[d->edges] = (float)(1 + mixed(i, j, traits & DIRECTED) % 1000) / 7;
            d->target[d->edges++] = (int32_t)j;
        }
        d->offset[i + 1] = d->edges;
    }
}

// A float of any size: of random bits, but finite.
static inline float any_float(int64_t k) {
    uint32_t bits = mixed(k, 77, true);
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : (float)k;
}

static inline void make_features(Dataset *d, bool sparse, bool sign) {
    d->features = FEATURES;
    d->x = ALLOC(float, NODES *FEATURES, "a test");
    for (int64_t k = 0; k < NODES * FEATURES; k++)
        d->x[k] = sparse && k % 5 != 0 ? 0 : sparse || k % 3 == 0 ? any_float(k) : (float)(k % 10);
    if (sign)
        d->x[8] = -0.0f;
}

static inline void make_numbers(Dataset *d) {
    d->classes = CLASSES;
    d->numeric = true;
    d->numbers = ALLOC(float, NODES *CLASSES, "a test");
    for (int64_t i = 0; i < NODES; i++) {
        for (int64_t k = 0; k < CLASSES; k++)
            d->numbers[i * CLASSES + k] = i % 7 == 6 && k == 2 ? NAN : any_float(i * CLASSES + k);
        d->split[i] = i % 7 == 6 ? SPLIT_NONE : (uint8_t)(1 + mixed(i, 9, true) % 3);
    }
}

static inline void make_labels(Dataset *d, bool several) {
    d->classes = CLASSES;
    d->multilabel = several;
    if (several)
        d->labels = ALLOC(uint8_t, NODES * CLASSES, "a test");
    else
        d->label = ALLOC(int32_t, NODES, "a test");
    for (int64_t i = 0; i < NODES; i++) {
        for (int64_t k = 0; several && k < CLASSES; k++)
            d->labels[i * CLASSES + k] = mixed(i, k, true) % 2;
        if (!several)
            d->label[i] = i % 7 == 6 ? -1 : (int32_t)(i % CLASSES);
        d->split[i] = i % 7 == 6 ? SPLIT_NONE : (uint8_t)(1 + mixed(i, 9, true) % 3);
    }
}

static inline Dataset make(int traits) {
    Dataset d = {.name = "made"};
    make_edges(&d, traits);
    d.split = ALLOC(uint8_t, NODES, "a test");
    if (!(traits & BARE)) {
        make_features(&d, traits & SPARSE, traits & SIGNED);
        if (traits & NUMERIC)
            make_numbers(&d);
        else
            make_labels(&d, traits & SEVERAL);
    }
    assert_ok(dataset_check(&d, "made", &err));
    return d;
}

// ---- converting

static inline bool convert_as(const Dataset *d, const char *format, const char *path,
                              Warnings *remarks, Error *err) {
    Conversion to = {.path = path, .format = format, .replace = true};
    *remarks = (Warnings){""};
    *err = (Error){0};
    return dataset_convert(d, &to, remarks, err);
}

// Writes it and reads it again.
static inline void pass(Dataset *back, const Dataset *d, const char *format, const char *name,
                        const char *remark) {
    char path[1024];
    Warnings remarks;
    snprintf(path, sizeof path, "%s", test_path(name));
    assert_ok(convert_as(d, format, path, &remarks, &err));
    if (remark == NULL)
        assert_string_equal(remarks.text, "");
    else
        assert_non_null(strstr(remarks.text, remark));
    assert_ok(load(back, path, &err));
}

static inline void assert_same(const Dataset *a, const Dataset *b) {
    assert_string_equal(hashed(a), hashed(b));
}

static inline void assert_same_edges(const Dataset *a, const Dataset *b) {
    size_t edges = (size_t)a->edges;
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->hyperedges, b->hyperedges);
    assert_int_equal(a->edges, b->edges);
    assert_memory_equal(a->offset, b->offset, (size_t)(a->nodes + 1) * sizeof *a->offset);
    assert_memory_equal(a->target, b->target, edges * sizeof *a->target);
    assert_true((a->weight == NULL) == (b->weight == NULL));
    if (a->weight != NULL)
        assert_memory_equal(a->weight, b->weight, edges * sizeof *a->weight);
}
