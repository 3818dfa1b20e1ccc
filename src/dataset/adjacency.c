// The edges of a dataset as a Csr, and their properties.

#include "internal.h"

Csr dataset_csr(const Dataset *dataset) {
    return (Csr){dataset->nodes, dataset->offset, dataset->target, dataset->weight};
}

void dataset_set_csr(Dataset *dataset, Csr *csr) {
    dataset_free_arrays(dataset, dataset->offset);
    dataset_free_arrays(dataset, dataset->target);
    dataset_free_arrays(dataset, dataset->weight);
    dataset->nodes = csr->rows;
    dataset->edges = csr_entries(csr);
    dataset->offset = csr->offset;
    dataset->target = csr->column;
    dataset->weight = csr->weight;
    *csr = (Csr){0};
}

int64_t csr_loops(const Csr *csr) {
    int64_t loops = 0;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1]; e++)
            loops += csr->column[e] == i;
    return loops;
}

int64_t csr_duplicates(const Csr *csr) {
    int64_t duplicates = 0;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i] + 1; e < csr->offset[i + 1]; e++)
            duplicates += csr->column[e - 1] == csr->column[e];
    return duplicates;
}

bool dataset_is_symmetric(const Dataset *dataset) {
    if (dataset->hyperedges > 0)
        return dataset->pin_role == NULL;
    Csr edges = dataset_csr(dataset);
    return csr_is_symmetric(&edges);
}
