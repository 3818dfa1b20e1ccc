// Statistics of a dataset, for `fringe inspect` and the manifest of our own directory.

#include "internal.h"

#include <string.h>

static void count_degrees(const Dataset *dataset, Statistics *out) {
    int64_t n = dataset->nodes;
    int64_t *degree = ALLOC(int64_t, n, "degrees");
    uint8_t *reached = ALLOC(uint8_t, n, "nodes with an edge that arrives");
    for (int64_t e = 0; e < dataset->edges; e++)
        reached[dataset->target[e]] = 1;
    for (int64_t i = 0; i < n; i++) {
        degree[i] = dataset->offset[i + 1] - dataset->offset[i];
        out->isolated += degree[i] == 0 && reached[i] == 0;
    }
    sort_int64(degree, n);
    out->degree_min = degree[0];
    out->degree_median = degree[n / 2];
    out->degree_max = degree[n - 1];
    memory_free(reached);
    memory_free(degree);
}

void dataset_statistics(const Dataset *dataset, Statistics *out) {
    Csr rows = dataset_csr(dataset);
    *out = (Statistics){.loops = csr_loops(&rows),
                        .duplicates = csr_duplicates(&rows),
                        .symmetric = dataset_is_symmetric(dataset),
                        .weighted = dataset->weight != NULL};
    count_degrees(dataset, out);
    for (int64_t i = 0; i < dataset->nodes; i++) {
        out->split[dataset->split[i]]++;
        out->unlabelled += dataset->label != NULL && dataset->label[i] < 0;
    }
}
