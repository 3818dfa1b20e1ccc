// The method `aggregate`: Y = L·A·R·X. A row adds its own terms first, then those of the halo in
// ring order; left is applied once, behind the last term.
#include "fringe/operator.h"

static void prepare(const OperatorStep *step, const Poll *poll) {
    const SparseOperator *op = step->op;
    op->backend->aggregate_halo_begin(op->halo);
    op->backend->aggregate_prepare(op->aggregate, step->in, op->right, poll);
}

// The diagonal ends with the sources: on the way back there are more rows than gradients.
static void own(const OperatorStep *step, Range rows, const Poll *poll) {
    const SparseOperator *op = step->op;
    const Backend *b = op->backend;
    int64_t middle = op->block.pattern->plan.sources;
    middle = middle < rows.begin ? rows.begin : middle > rows.end ? rows.end : middle;
    if (rows.begin < middle)
        b->aggregate_rows(op->aggregate, step->out, (Range){rows.begin, middle}, op->block.self,
                          op->left_own, poll);
    if (middle < rows.end)
        b->aggregate_rows(op->aggregate, step->out, (Range){middle, rows.end}, false, op->left_own,
                          poll);
}

static void halo(const OperatorStep *step, Rows halo, int begin, int end, bool last,
                 const Poll *poll) {
    const SparseOperator *op = step->op;
    int64_t columns = op->block.pattern->plan.receive_offset[end];
    if (begin < end || last)
        op->backend->aggregate_halo(op->halo, step->out, halo, columns, last ? op->left : NULL,
                                    poll);
}

const Operator operator_aggregate = {.linear = true, .prepare = prepare, .own = own, .halo = halo};
