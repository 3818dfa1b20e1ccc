// Sparse operators: a Block with the kernels that apply it. Made once for every Pattern and pair of
// diagonals, and planned by the same walk.
#include "fringe/operator.h"

// The complement of a Pattern's central ranges.
static int rest_ranges(const Pattern *p, Range rest[PATTERN_RANGES + 1]) {
    int64_t at = 0;
    int count = 0;
    for (int i = 0; i <= p->range_count; i++) {
        int64_t end = i < p->range_count ? p->central[i].begin : p->rows;
        if (at < end)
            rest[count++] = (Range){at, end};
        at = i < p->range_count ? p->central[i].end : end;
    }
    return count;
}

static int64_t rest_rows(const Pattern *p) {
    Range rest[PATTERN_RANGES + 1];
    int64_t rows = 0;
    for (int i = rest_ranges(p, rest) - 1; i >= 0; i--)
        rows += rest[i].end - rest[i].begin;
    return rows;
}

// Where in the sums of op->rest row r is.
static int32_t place_of(const SparseOperator *op, int32_t r) {
    int64_t before = 0;
    int i = 0;
    for (; i + 1 < op->rest_count && r >= op->rest[i].end; i++)
        before += op->rest[i].end - op->rest[i].begin;
    assert(r >= op->rest[i].begin && r < op->rest[i].end);
    return (int32_t)(before + r - op->rest[i].begin);
}

// ---- made, or planned

// Backends with a memory of their own copy the Csr of an aggregate.
static void plan_csr(const Allocator *allocator, const Csr *csr) {
    if (!allocator->backend->host_is_device)
        alloc_device(allocator, csr_bytes(csr), "edges of aggregates");
}

static Aggregate *make_aggregate(const Allocator *allocator, const Csr *csr, int64_t sources,
                                 int64_t columns, RowsType rows, const char *panels) {
    const Backend *b = allocator->backend;
    if (allocator->forecast == NULL)
        return b->aggregate_new(csr, sources, columns, rows, panels);
    plan_csr(allocator, csr);
    alloc_device(allocator, b->aggregate_bytes(csr, sources, columns, rows, panels),
                 "work space of aggregates");
    return NULL;
}

static HaloAggregate *make_halo(const Allocator *allocator, const Pattern *p, const int32_t *row) {
    const Backend *b = allocator->backend;
    if (allocator->forecast == NULL)
        return b->aggregate_halo_new(&p->halo, row);
    plan_csr(allocator, &p->halo);
    if (!b->host_is_device)
        alloc_device(allocator, (size_t)p->halo.rows * sizeof *row, "edges of aggregates");
    alloc_device(allocator, b->aggregate_halo_bytes(&p->halo), "halo cursors");
    return NULL;
}

static void make_places(SparseOperator *op, const Allocator *allocator) {
    const Pattern *p = op->block.pattern;
    op->place = alloc_host(allocator, (size_t)p->halo.rows * sizeof *op->place, "halo cursors");
    for (int64_t k = 0; op->place != NULL && k < p->halo.rows; k++)
        op->place[k] = place_of(op, p->halo_row[k]);
}

// `left` is only for rows that are complete after the own part.
static DeviceFloat *make_left_own(const Allocator *allocator, const Block *block) {
    const Backend *b = allocator->backend;
    const Pattern *p = block->pattern;
    const char *what = "diagonals";
    size_t bytes = (size_t)p->rows * sizeof(float);
    DeviceFloat *device = alloc_device(allocator, bytes + sizeof(float), what);
    if (allocator->forecast != NULL)
        return NULL;
    float *own = pinned_mirror(b, device, bytes, what);
    memcpy(own, block->left, bytes);
    for (int64_t k = 0; k < p->halo.rows; k++)
        own[p->halo_row[k]] = 1;
    b->upload(device, own, bytes);
    pinned_mirror_free(b, own);
    return device;
}

DeviceFloat *halo_right_new(const Allocator *allocator, const Block *block) {
    const Backend *b = allocator->backend;
    const HaloPlan *p = &block->pattern->plan;
    size_t bytes = (size_t)p->halo_count * sizeof(float);
    DeviceFloat *device = alloc_device(allocator, bytes, "diagonals");
    if (allocator->forecast != NULL)
        return NULL;
    int64_t sent = p->send_offset[p->size - 1];
    float *halo = pinned_mirror(b, device, bytes, "diagonals");
    FREED float *mine = ALLOC(float, sent, "diagonals");
    for (int64_t k = 0; k < sent; k++) // partial aggregates are sums of products
        mine[k] = p->send_row[k] < p->sources ? block->right[p->send_row[k]] : 1;
    ring_to_readers(p, mine, halo, sizeof *mine);
    b->upload(device, halo, bytes);
    pinned_mirror_free(b, halo);
    return device;
}

// All but its aggregate.
static void make_rest(SparseOperator *op, const Allocator *allocator, const OperatorForm *form,
                      RowsType rows) {
    const Pattern *p = op->block.pattern;
    op->partial =
        make_aggregate(allocator, &p->partial, p->plan.sources, form->columns, rows, "rows");
    op->rest_count = rest_ranges(p, op->rest);
    if (rows == ROWS_BF16)
        make_places(op, allocator);
    op->halo = make_halo(allocator, p, op->place != NULL ? op->place : p->halo_row);
    if (rows == ROWS_BF16 && op->block.right != NULL)
        op->halo_right = halo_right_new(allocator, &op->block);
    op->left = form->left;
    op->right = form->right;
    if (op->block.left != NULL)
        op->left_own = make_left_own(allocator, &op->block);
}

// True if the operator is new.
static bool enter(Operators *operators, const OperatorForm *form, SparseOperator **entered) {
    const Block *block = &form->block;
    SparseOperator new = {.backend = operators->backend,
                          .block = *block,
                          .owns_aggregate = true,
                          .sums = (const DeviceFloat *const *)&operators->sums};
    size_t sums = rows_bytes(rest_rows(block->pattern), form->columns);
    if (operators->rows == ROWS_BF16 && sums > operators->sum_bytes)
        operators->sum_bytes = sums;
    for (int i = 0; i < operators->count; i++) {
        SparseOperator *op = &operators->at[i];
        if (op->block.pattern->own.offset != block->pattern->own.offset)
            continue;
        *entered = op;
        if (op->block.pattern == block->pattern && op->block.left == block->left &&
            op->block.right == block->right)
            return false;
        new.aggregate = op->aggregate;
        new.owns_aggregate = false;
    }
    assert(operators->count < OPERATORS_MOST);
    *entered = &operators->at[operators->count++];
    **entered = new;
    return true;
}

static Allocator allocator_of(Operators *operators) {
    return (Allocator){
        .backend = operators->backend, .forecast = operators->forecast, .taken = &operators->taken};
}

SparseOperator *operator_find(Operators *operators, const OperatorForm *form) {
    Allocator allocator = allocator_of(operators);
    SparseOperator *op;
    if (!enter(operators, form, &op))
        return op;
    if (op->owns_aggregate)
        op->aggregate = make_aggregate(&allocator, &form->largest->own, form->sources,
                                       form->columns, operators->rows, operators->panels);
    make_rest(op, &allocator, form, operators->rows);
    return op;
}

void operators_alloc(Operators *operators) {
    Allocator allocator = allocator_of(operators);
    if (operators->sum_bytes > 0)
        operators->sums = alloc_device(&allocator, operators->sum_bytes, "sums of aggregates");
}

void operators_clear(Operators *operators) {
    const Backend *b = operators->backend;
    for (int i = 0; i < operators->count; i++) {
        SparseOperator *op = &operators->at[i];
        if (op->owns_aggregate)
            b->aggregate_free(op->aggregate);
        b->aggregate_free(op->partial);
        b->aggregate_halo_free(op->halo);
    }
    taken_free(&operators->taken);
}
