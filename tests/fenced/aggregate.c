// The sparse aggregate on the fenced backend: the CPU's, over a copy of the Csr in blocks of the
// device.
#include "fenced.h"

typedef struct FencedAggregate {
    Csr csr; // its arrays are the twins of `block`
    void *block[4];
    Aggregate *cpu; // owned; one of both
    HaloAggregate *halo;
} FencedAggregate;

static FencedAggregate *of(const Aggregate *aggregate) { return (FencedAggregate *)aggregate; }
static FencedAggregate *of_halo(const HaloAggregate *aggregate) {
    return (FencedAggregate *)aggregate;
}

Aggregate *fenced_aggregate_of_cpu(Aggregate *aggregate) { return of(aggregate)->cpu; }

HaloAggregate *fenced_halo_aggregate_of_cpu(HaloAggregate *aggregate) {
    return of_halo(aggregate)->halo;
}

// ---- making

static void *copy_to_device(FencedAggregate *aggregate, int i, const void *from, int64_t count,
                            size_t size) {
    if (from == NULL)
        return NULL;
    size_t bytes = memory_product(count, size);
    aggregate->block[i] = fenced_alloc(bytes, "sparse aggregate");
    fenced_upload(aggregate->block[i], from, bytes);
    return fenced_twin(aggregate->block[i]);
}

// With `rows` for a halo's aggregate.
static FencedAggregate *copy_csr(const Csr *csr, const int32_t *rows, int32_t **twin) {
    FencedAggregate *a = ALLOC(FencedAggregate, 1, "sparse aggregate");
    int64_t entries = csr_entries(csr);
    a->csr.rows = csr->rows;
    a->csr.offset = copy_to_device(a, 0, csr->offset, csr->rows + 1, sizeof *csr->offset);
    a->csr.column = copy_to_device(a, 1, csr->column, entries, sizeof *csr->column);
    a->csr.weight = copy_to_device(a, 2, csr->weight, entries, sizeof *csr->weight);
    *twin = copy_to_device(a, 3, rows, csr->rows, sizeof *rows);
    fenced_finish(NULL);
    return a;
}

static void free_copy(FencedAggregate *aggregate) {
    for (int i = 3; i >= 0; i--)
        fenced_free(aggregate->block[i]);
    memory_free(aggregate);
}

Aggregate *fenced_aggregate_new(const Csr *csr, int64_t sources, int64_t columns, RowsType rows,
                                const char *panels) {
    int32_t *none;
    FencedAggregate *aggregate = copy_csr(csr, NULL, &none);
    aggregate->cpu = backend_cpu.aggregate_new(&aggregate->csr, sources, columns, rows, panels);
    return (Aggregate *)aggregate;
}

size_t fenced_aggregate_bytes(const Csr *csr, int64_t sources, int64_t columns, RowsType rows,
                              const char *panels) {
    return backend_cpu.aggregate_bytes(csr, sources, columns, rows, panels) +
           sizeof(FencedAggregate);
}

void fenced_aggregate_free(Aggregate *aggregate) {
    if (aggregate == NULL)
        return;
    fenced_finish(NULL);
    backend_cpu.aggregate_free(of(aggregate)->cpu);
    free_copy(of(aggregate));
}

HaloAggregate *fenced_aggregate_halo_new(const Csr *csr, const int32_t *rows) {
    int32_t *twin;
    FencedAggregate *aggregate = copy_csr(csr, rows, &twin);
    aggregate->halo = backend_cpu.aggregate_halo_new(&aggregate->csr, twin);
    return (HaloAggregate *)aggregate;
}

size_t fenced_aggregate_halo_bytes(const Csr *csr) {
    return backend_cpu.aggregate_halo_bytes(csr) + sizeof(FencedAggregate);
}

void fenced_aggregate_halo_free(HaloAggregate *aggregate) {
    if (aggregate == NULL)
        return;
    fenced_finish(NULL);
    backend_cpu.aggregate_halo_free(of_halo(aggregate)->halo);
    free_copy(of_halo(aggregate));
}

void fenced_aggregate_tune(Aggregate *aggregate, Rows out, Rows x) {
    fenced_finish(NULL);
    backend_cpu.aggregate_tune(of(aggregate)->cpu, fenced_rows(out), fenced_rows(x));
}

const char *fenced_aggregate_describe(const Aggregate *aggregate, int64_t columns, RowsType type) {
    return backend_cpu.aggregate_describe(of(aggregate)->cpu, columns, type);
}
