// Sparse operators: a Block with the kernels that apply it. Made once for every Pattern and pair of
// diagonals that the model uses, and planned by the same walk.
#include "internal.h"
#include <string.h>

int64_t aggregated(const ModelShape *shape, int l, int direction) {
    if (l == 0 && direction == FORWARD && shape->layer0 == LAYER0_KEPT)
        return shape->width[0];
    return model_exchanged(shape, l, direction);
}

const Pattern *full_of(const ModelShape *shape, const ModelParts *parts, int l) {
    return parts->patterns->full[l % shape->stages];
}

// The widest rows that an operator on these own edges will see.
static int64_t widest(const ModelShape *shape, const ModelParts *parts, const Pattern *pattern) {
    int64_t most = 0;
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++) {
            const Pattern *used[] = {parts->patterns->of[l][d],
                                     d == FORWARD ? full_of(shape, parts, l) : NULL};
            for (int i = 0; i < 2; i++)
                if (used[i] != NULL && used[i]->own.offset == pattern->own.offset)
                    most = max64(most, aggregated(shape, l, d));
        }
    return most;
}

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

static const DeviceFloat *diagonal_of(const Model *m, const float *of_block) {
    for (int stage = 0; of_block != NULL && stage < m->shape.stages; stage++) {
        if (of_block == m->forward[stage].block.left)
            return m->forward[stage].left;
        if (of_block == m->forward[stage].block.right)
            return m->forward[stage].right;
    }
    assert(of_block == NULL);
    return NULL;
}

static size_t left_own_bytes(const Pattern *p) { return (size_t)(p->rows + 1) * sizeof(float); }

// `left` is only for rows that are complete after the own part.
static DeviceFloat *make_left_own(const Backend *b, const Block *block) {
    const Pattern *p = block->pattern;
    const char *what = "diagonals";
    size_t bytes = (size_t)p->rows * sizeof(float);
    DeviceFloat *device = b->alloc(left_own_bytes(p), what);
    float *own = pinned_side(b, device, bytes, what);
    memcpy(own, block->left, bytes);
    for (int64_t k = 0; k < p->halo.rows; k++)
        own[p->halo_row[k]] = 1;
    b->upload(device, own, bytes);
    pinned_side_free(b, own);
    return device;
}

// All but its aggregate.
static void make_rest(const Model *m, SparseOperator *op, int64_t columns) {
    const Backend *b = m->parts.backend;
    const Pattern *p = op->block.pattern;
    op->partial = b->aggregate_new(&p->partial, p->plan.sources, columns, "rows");
    op->rest_count = rest_ranges(p, op->rest);
    op->halo = b->aggregate_halo_new(&p->halo, p->halo_row);
    op->left = diagonal_of(m, op->block.left);
    op->right = diagonal_of(m, op->block.right);
    if (op->block.left != NULL)
        op->left_own = make_left_own(b, &op->block);
}

void operator_init(SparseOperator *op, const Model *m, const Block *block, int64_t columns) {
    const Pattern *p = block->pattern;
    *op = (SparseOperator){.block = *block, .owns_aggregate = true};
    op->aggregate = m->parts.backend->aggregate_new(&p->own, p->plan.sources, columns, "rows");
    make_rest(m, op, columns);
}

void operator_clear(const Model *m, SparseOperator *op) {
    if (op->owns_aggregate)
        m->parts.backend->aggregate_free(op->aggregate);
    m->parts.backend->aggregate_free(op->partial);
    m->parts.backend->free(op->left_own);
    m->parts.backend->aggregate_halo_free(op->halo);
}

// ---- those of the model

// Of the Patterns with the same own edges: the one that has the most rows, and the most sources.
static const Pattern *most_rows_of(const ModelPatterns *patterns, const Pattern *pattern,
                                   int64_t *sources) {
    *sources = pattern->plan.sources;
    for (int i = 0; i < patterns->count; i++) {
        const Pattern *other = patterns->made[i];
        if (other->own.offset != pattern->own.offset)
            continue;
        *sources = max64(*sources, other->plan.sources);
        pattern = other->rows > pattern->rows ? other : pattern;
    }
    return pattern;
}

// Operators on the same own edges (a symmetric graph's forward and backward differ in their
// diagonals, a layer's rows may be the first ones of another's) share the kernel and its scratch:
// only one exchange runs at a time. True if the operator is new.
static bool enter(Model *m, const Block *block, SparseOperator **entered) {
    SparseOperator new = {.block = *block, .owns_aggregate = true};
    for (int i = 0; i < m->operators; i++) {
        SparseOperator *op = &m->operator[i];
        if (op->block.pattern->own.offset != block->pattern->own.offset)
            continue;
        *entered = op;
        if (op->block.pattern == block->pattern && op->block.left == block->left &&
            op->block.right == block->right)
            return false;
        new.aggregate = op->aggregate;
        new.owns_aggregate = false;
    }
    *entered = &m->operator[m->operators++];
    **entered = new;
    return true;
}

SparseOperator *operator_find(Model *m, const Block *block) {
    SparseOperator *op;
    if (!enter(m, block, &op))
        return op;
    int64_t sources, columns = widest(&m->shape, &m->parts, block->pattern);
    const Pattern *whole = most_rows_of(m->parts.patterns, block->pattern, &sources);
    if (op->owns_aggregate)
        op->aggregate = m->parts.backend->aggregate_new(&whole->own, sources, columns, m->panels);
    make_rest(m, op, columns);
    return op;
}

// ---- the plan

// Backends with a memory of their own copy the Csr of an aggregate.
static void plan_csr(const Allocator *allocator, const Csr *csr) {
    if (!allocator->backend->host_is_device)
        alloc_device(allocator, csr_bytes(csr), "edges of aggregates");
}

static void plan_aggregate(const Allocator *allocator, const Csr *csr, int64_t sources,
                           int64_t columns, const char *panels) {
    plan_csr(allocator, csr);
    alloc_device(allocator, allocator->backend->aggregate_bytes(csr, sources, columns, panels),
                 "work space of aggregates");
}

static void plan_rest(const Allocator *allocator, const Block *block, int64_t columns) {
    const Pattern *p = block->pattern;
    plan_aggregate(allocator, &p->partial, p->plan.sources, columns, "rows");
    plan_csr(allocator, &p->halo);
    if (!allocator->backend->host_is_device)
        alloc_device(allocator, (size_t)p->halo.rows * sizeof *p->halo_row, "edges of aggregates");
    alloc_device(allocator, allocator->backend->aggregate_halo_bytes(&p->halo), "halo cursors");
    if (block->left != NULL)
        alloc_device(allocator, left_own_bytes(p), "diagonals");
}

void operator_plan_once(const Allocator *allocator, const Block *block, int64_t columns) {
    plan_aggregate(allocator, &block->pattern->own, block->pattern->plan.sources, columns, "rows");
    plan_rest(allocator, block, columns);
}

void operator_plan(Model *m, const Allocator *allocator, const Block *block) {
    SparseOperator *op;
    if (!enter(m, block, &op))
        return;
    int64_t sources, columns = widest(&m->shape, &m->parts, block->pattern);
    const Pattern *whole = most_rows_of(m->parts.patterns, block->pattern, &sources);
    if (op->owns_aggregate)
        plan_aggregate(allocator, &whole->own, sources, columns, m->panels);
    plan_rest(allocator, block, columns);
}
