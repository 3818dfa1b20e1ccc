// The zero space of 1 - Theta: one vector for each component, so products with it are sums over
// components. Few components reach over several ranks; their sums alone are exchanged.
#include "spectral.h"

// Sorts them, and keeps each once, or only those that are there more than once. Their number.
static int64_t sort_once(int64_t *id, int64_t count, bool repeated) {
    int64_t kept = 0;
    sort_int64(id, count);
    for (int64_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && id[end] == id[begin];)
            end++;
        if (!repeated || end - begin > 1)
            id[kept++] = id[begin];
    }
    return kept;
}

static int64_t own_components(const ProgramRun *run, int64_t *id) {
    const RowSet *set = nodes_of(run->parts);
    int64_t count = 0;
    for (int64_t i = 0; i < set->own; i++)
        if (set->degree_in[i] > 0)
            id[count++] = run->components->component[i];
    return count;
}

static void number_components(ZeroSpace *z, const ProgramRun *run) {
    const RowSet *set = nodes_of(run->parts);
    int64_t *own = ALLOC(int64_t, set->own, "components"), total;
    int64_t covered = own_components(run, own), count = sort_once(own, covered, false);
    FREED int64_t *all = program_gather(run->parts, own, count, &total);
    z->shared = sort_once(all, total, true);
    z->numbers = z->shared + count; // those of both lists are empty in the second
    z->count = 0;
    for (int64_t k = 0; k < count; k++)
        z->count += sort_find(all, z->shared, own[k]) < 0;
    z->count = z->shared + program_sum(run->parts, z->count);
    z->covered = program_sum(run->parts, covered);
    for (int64_t i = 0; i < set->own; i++) {
        int64_t id = run->components->component[i], at = sort_find(all, z->shared, id);
        if (at < 0)
            at = z->shared + sort_find(own, count, id);
        z->number[i] = set->degree_in[i] > 0 ? (int32_t)at : -1;
    }
    memory_free(own);
}

static void normalise(ZeroSpace *z, const double *degree) {
    for (int64_t i = 0; i < z->rows; i++)
        if (z->number[i] >= 0)
            z->sum[z->number[i]] += degree[i];
    comm_sum_double(z->comm, z->sum, (int)z->shared);
    for (int64_t i = 0; i < z->rows; i++)
        if (z->number[i] >= 0)
            z->entry[i] = sqrt(degree[i] / z->sum[z->number[i]]);
}

void zero_space_init(ZeroSpace *z, const ProgramRun *run) {
    const RowSet *set = nodes_of(run->parts);
    *z = (ZeroSpace){.comm = run->parts->comm, .rows = set->own};
    z->number = ALLOC(int32_t, set->own, "components");
    z->entry = ALLOC(double, set->own, "zero space");
    number_components(z, run);
    z->sum = ALLOC(double, z->numbers *BLOCK, "sums of components");
    normalise(z, set->degree_in);
}

void zero_space_clear(ZeroSpace *z) {
    MEMORY_FREE(z->sum, z->entry, z->number);
    *z = (ZeroSpace){0};
}

void zero_space_remove(ZeroSpace *z, float *block) {
    memset(z->sum, 0, (size_t)(z->numbers * BLOCK) * sizeof *z->sum);
    for (int64_t i = 0; i < z->rows; i++)
        for (int c = 0; c < BLOCK && z->number[i] >= 0; c++)
            z->sum[z->number[i] * BLOCK + c] += z->entry[i] * (double)block[i * BLOCK + c];
    comm_sum_double(z->comm, z->sum, (int)z->shared * BLOCK);
    for (int64_t i = 0; i < z->rows; i++)
        for (int c = 0; c < BLOCK && z->number[i] >= 0; c++)
            block[i * BLOCK + c] -= (float)(z->entry[i] * z->sum[z->number[i] * BLOCK + c]);
}

void zero_space_forecast(ProgramPlan *plan) {
    size_t row = sizeof(int32_t) + sizeof(double) + BLOCK * sizeof(double) / 2;
    alloc_host(&plan->allocator, memory_product(nodes_of(plan->parts)->own, row), "zero space");
}
