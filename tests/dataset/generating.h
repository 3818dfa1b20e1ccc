// Makes a dataset in a test with a number of threads.
#pragma once

#include "hashes.h"

#include <omp.h>

// What *d held before is cleared. Returns its hash.
static inline const char *generate(Dataset *d, const char *name, int64_t seed, int threads) {
    omp_set_num_threads(threads);
    dataset_clear(d);
    assert_ok(dataset_generate(d, name, seed, &err));
    assert_ok(dataset_check(d, name, &err));
    return hashed(d);
}
static inline Dataset generated(const char *name, int64_t seed) { // by two threads
    Dataset d = {0};
    generate(&d, name, seed, 2);
    return d;
}
