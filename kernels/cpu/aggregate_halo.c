// The halo part of the sparse aggregate: the edges whose columns have arrived continue the stored,
// unscaled own sums.
//
// Columns are grouped by sender in the order of arrival (invariant 4), and ascend inside a
// row; so a call per sender and one call for all add the same terms in the same order.
#include "aggregate.h"
#include "cpu.h"

enum { BLOCK = 64 };

struct HaloAggregate {
    const Csr *csr;      // borrowed
    const int32_t *rows; // [csr->rows] borrowed: which row of out each is
    int64_t *cursor;     // [csr->rows] the first edge that is not added yet
};

// First edge in begin .. end whose column is at least column_end.
static int64_t edges_until(const int32_t *column, int64_t begin, int64_t end, int64_t column_end) {
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (column[middle] < column_end)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static void halo_block(const AggregateTask *all, const Csr *csr, int64_t *cursor, int64_t first,
                       int64_t last, int64_t column_end) {
    int64_t stop[BLOCK];
    AggregateTask task = *all;
    task.row += first;
    task.begin = cursor + first;
    task.end = stop;
    for (int64_t k = first; k < last; k++)
        stop[k - first] = edges_until(csr->column, cursor[k], csr->offset[k + 1], column_end);
    ROWS_PICK(aggregate_block, task.x.type)(&task, 0, last - first);
    for (int64_t k = first; k < last; k++)
        cursor[k] = stop[k - first];
}

HaloAggregate *cpu_aggregate_halo_new(const Csr *csr, const int32_t *rows) {
    HaloAggregate *aggregate = ALLOC(HaloAggregate, 1, "halo aggregate");
    *aggregate = (HaloAggregate){csr, rows, ALLOC(int64_t, csr->rows + 1, "halo cursors")};
    return aggregate;
}

size_t cpu_aggregate_halo_bytes(const Csr *csr) {
    return sizeof(HaloAggregate) + (size_t)(csr->rows + 1) * sizeof(int64_t);
}

void cpu_aggregate_halo_free(HaloAggregate *aggregate) {
    if (aggregate == NULL)
        return;
    MEMORY_FREE(aggregate->cursor, aggregate);
}

void cpu_aggregate_halo_begin(HaloAggregate *aggregate) {
    const Csr *csr = aggregate->csr;
    memcpy(aggregate->cursor, csr->offset, (size_t)csr->rows * sizeof *aggregate->cursor);
}

void cpu_aggregate_halo(HaloAggregate *aggregate, Rows out, Rows halo, const DeviceFloat *right,
                        int64_t column_end, const DeviceFloat *left, const Poll *poll) {
    const Csr *csr = aggregate->csr;
    assert(out.stride == halo.stride && column_end <= halo.count);
    const AggregateTask task = {.out = cpu_rows(out), // rounded, it could not go on
                                .x = cpu_rows_of_any(halo),
                                .columns = out.stride,
                                .row = aggregate->rows,
                                .column = csr->column,
                                .weight = csr->weight,
                                .left = floats_of(left),
                                .right = floats_of(right),
                                .resume = true,
                                .ahead = aggregate_ahead(out.stride)};
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t first = 0; first < csr->rows; first += BLOCK) {
        int64_t last = least(first + BLOCK, csr->rows);
        halo_block(&task, csr, aggregate->cursor, first, last, column_end);
        pace_call(&pace);
    }
}
