// The method `aggregate`: Y = L·A·R·X. A row adds its own terms first, then those of the halo in
// ring order; left is applied once, behind the last term.
#include "fringe/operator.h"

static void prepare(const OperatorStep *step, const Poll *poll) {
    const SparseOperator *op = step->op;
    op->backend->aggregate_halo_begin(op->halo);
    op->backend->aggregate_prepare(op->aggregate, step->in, op->right, poll);
}

// The sums of rows of op->rest[i].
static Rows sums_of(const OperatorStep *step, int i, Range rows) {
    const SparseOperator *op = step->op;
    Rows sums = {
        .columns = step->out.columns, .stride = step->out.stride, .count = rows.end - rows.begin};
    int64_t before = rows.begin - op->rest[i].begin;
    for (int k = 0; k < i; k++)
        before += op->rest[k].end - op->rest[k].begin;
    sums.at = flat_at(*op->sums, before * sums.stride);
    return sums;
}

static Range common(Range a, Range b) {
    Range rows = {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
    return rows.begin < rows.end ? rows : (Range){0, 0};
}

// Rows that have their own term, or not: it ends with the sources. On the way back there are more
// rows than gradients.
static void own_of(const OperatorStep *step, Range rows, bool self, const Poll *poll) {
    const SparseOperator *op = step->op;
    const Pattern *pattern = op->block.pattern;
    const Backend *b = op->backend;
    if (op->place == NULL) {
        if (rows.begin < rows.end)
            b->aggregate_rows(op->aggregate, step->out, rows, self, op->left_own, poll);
        return;
    }
    for (int i = 0; i < pattern->range_count; i++)
        b->aggregate_rows(op->aggregate, step->out, common(rows, pattern->central[i]), self,
                          op->left_own, poll);
    for (int i = 0; i < op->rest_count; i++) {
        Range some = common(rows, op->rest[i]);
        if (some.begin < some.end)
            b->aggregate_sums(op->aggregate, sums_of(step, i, some), some, self, poll);
    }
}

static void own(const OperatorStep *step, Range rows, const Poll *poll) {
    const SparseOperator *op = step->op;
    int64_t middle = op->block.pattern->plan.sources;
    middle = middle < rows.begin ? rows.begin : middle > rows.end ? rows.end : middle;
    own_of(step, (Range){rows.begin, middle}, op->block.self, poll);
    own_of(step, (Range){middle, rows.end}, false, poll);
}

// Sums have their last term: they are multiplied, and rounded once.
static void round_sums(const OperatorStep *step, const Poll *poll) {
    const SparseOperator *op = step->op;
    for (int i = 0; i < op->rest_count; i++) {
        Range rows = op->rest[i];
        Rows out = rows_range(step->out, rows);
        RowFactor left = {.plain = 1};
        if (op->left != NULL)
            left = (RowFactor){.times = 1, .at = flat_at(op->left, rows.begin), .each = true};
        op->backend->add_scaled(out, (Range){0, out.count}, (RowFactor){0}, out, left,
                                sums_of(step, i, rows), poll);
    }
}

static void halo(const OperatorStep *step, Rows halo, int begin, int end, bool last,
                 const Poll *poll) {
    const SparseOperator *op = step->op;
    const Backend *b = op->backend;
    int64_t columns = op->block.pattern->plan.receive_offset[end];
    const DeviceFloat *right = halo.type == ROWS_BF16 ? op->halo_right : NULL;
    if (op->place == NULL) {
        if (begin < end || last)
            b->aggregate_halo(op->halo, step->out, halo, NULL, columns, last ? op->left : NULL,
                              poll);
        return;
    }
    if (begin < end && op->rest_count > 0)
        b->aggregate_halo(op->halo, sums_of(step, 0, (Range){op->rest[0].begin, op->rest[0].begin}),
                          halo, right, columns, NULL, poll);
    if (last)
        round_sums(step, poll);
}

const Operator operator_aggregate = {.linear = true, .prepare = prepare, .own = own, .halo = halo};
