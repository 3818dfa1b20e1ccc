// An operator on a small graph that is spread over the ranks of a test: what programs of tests are
// made of, and the dense matrix that they are compared with.
#pragma once

#include "../oracle.h"
#include "../rows.h"
#include "../small_graph.h"

enum { WIDTH = 3 }; // columns of all rows

typedef struct Applied {
    TestGraph graph;
    OracleGraph dense;
    Block forward;
    DeviceFloat *left, *right; // of `used`, mirrors
    Block used;
    Operators operators;
    ExchangeBuffers *buffers;
    Propagation over;
} Applied;

// The block of that normalisation, or its transpose, on a graph with that cover, for such rows.
// Collective.
static inline void applied_init_rows(Applied *a, TestGraphKind kind, Cover cover,
                                     const char *normalisation, bool transposed, RowsType rows) {
    *a = (Applied){.operators = {.backend = device(), .panels = "rows", .rows = rows}};
    a->graph = test_graph(kind, 42, &test_comm);
    test_graph_cover(&a->graph, cover);
    a->dense = oracle_graph(&a->graph.dataset);
    assert_ok(block_init(&a->forward, normalisation, a->graph.forward, &a->graph.shard, &err));
    a->used = transposed ? block_transpose(&a->forward, a->graph.backward) : a->forward;
    const Pattern *p = a->used.pattern;
    size_t bytes = (size_t)a->graph.shard.set[NODES].own * sizeof(float);
    a->left = mirror_alloc(device(), a->used.left, bytes, "test");
    a->right = mirror_alloc(device(), a->used.right, bytes, "test");
    OperatorForm of_block = {a->used, a->left, a->right, p, p->plan.sources, WIDTH};
    PropagationForm form = {
        .pattern = p,
        .options = {.codec = assert_ok(codec_find("fp32", &err)), .chunk = 100, .rows = rows},
        .columns = WIDTH};
    a->buffers = exchange_buffers_new(device());
    propagation_init(&a->over, operator_find(&a->operators, &of_block), &form, a->buffers);
    operators_alloc(&a->operators);
}
static inline void applied_init(Applied *a, TestGraphKind kind, Cover cover,
                                const char *normalisation, bool transposed) {
    applied_init_rows(a, kind, cover, normalisation, transposed, ROWS_FP32);
}

static inline void applied_clear(Applied *a) {
    propagation_clear(device(), &a->over);
    exchange_buffers_free(a->buffers);
    operators_clear(&a->operators);
    mirror_free(device(), a->right);
    mirror_free(device(), a->left);
    block_clear(&a->forward);
    test_graph_clear(&a->graph);
}

// out = the method on `in`, both [own rows, WIDTH].
static inline void applied_run(const Applied *a, const Operator *method, const char *schedule,
                               Rows in, Rows out) {
    OperatorRun run = {.schedule = assert_ok(schedule_find(schedule, &err)),
                       .full_precision = true};
    operator_run(&run, &(OperatorCall){.method = method, .over = &a->over, .in = in, .out = out});
    device()->finish(NULL);
}

// Some value of a node and column.
static inline double start_value(int64_t node, int64_t column) {
    return (double)((node * 7 + column * 3) % 11) - 4;
}

static inline Rows start_rows(const Applied *a) {
    const RowSet *set = &a->graph.shard.set[NODES];
    Rows rows = zeroed_rows(set->own, WIDTH);
    float *host = TEST_ARRAY(float, set->own *WIDTH);
    for (int64_t i = 0; i < set->own * WIDTH; i++)
        host[i] = (float)start_value(set->gid[i / WIDTH], i % WIDTH);
    device()->upload_rows(rows, host);
    device()->finish(NULL);
    return rows;
}

// How far the rows are from those of the dense matrix [nodes, WIDTH], at most; NaN counts as far.
static inline double distance_to(const Applied *a, Rows rows, const double *dense) {
    const RowSet *set = &a->graph.shard.set[NODES];
    float *host = host_rows(rows);
    double most = 0;
    for (int64_t i = 0; i < set->own * WIDTH; i++) {
        double off = fabs((double)host[i] - dense[set->gid[i / WIDTH] * WIDTH + i % WIDTH]);
        most = off <= most ? most : isnan(off) ? INFINITY : off;
    }
    return comm_max_double(&test_comm, most);
}
