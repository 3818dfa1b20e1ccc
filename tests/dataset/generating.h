// Makes a dataset in a test with a number of threads.
#pragma once

#include "support.h"

#include "fringe/dataset.h"

#include <omp.h>

// What *d held before is cleared.
static inline void generate(Dataset *d, const char *name, int64_t seed, int threads,
                            char hash[33]) {
    omp_set_num_threads(threads);
    dataset_clear(d);
    assert_ok(dataset_generate(d, name, seed, &err));
    assert_ok(dataset_check(d, name, &err));
    dataset_hash(d, hash);
}
static inline Dataset generated(const char *name, int64_t seed) { // by two threads
    Dataset d = {0};
    char hash[33];
    generate(&d, name, seed, 2, hash);
    return d;
}
