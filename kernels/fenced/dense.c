// Dense products on the fenced backend.
#include "fenced.h"

typedef struct Dense {
    Rows out;
    Range range;
    Rows in;
    const DeviceFloat *w, *bias;
    bool add;
} Dense;

static void run_dense(const void *arguments, const Poll *poll) {
    const Dense *c = arguments;
    backend_cpu.dense(c->out, c->range, c->in, c->w, c->bias, c->add, poll);
}

void fenced_dense(Rows out, Range range, Rows a, const DeviceFloat *w, const DeviceFloat *bias,
                  bool add, const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_dense, Dense, fenced_rows(out), range, fenced_rows(a),
               fenced_twin(w), fenced_twin(bias), add);
}

static void run_dense_transposed(const void *arguments, const Poll *poll) {
    const Dense *c = arguments;
    backend_cpu.dense_transposed(c->out, c->range, c->in, c->w, c->add, poll);
}

void fenced_dense_transposed(Rows out, Range range, Rows g, const DeviceFloat *w, bool add,
                             const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_dense_transposed, Dense, fenced_rows(out), range, fenced_rows(g),
               fenced_twin(w), NULL, add);
}

typedef struct Sums {
    DeviceFloat *out;
    Rows a, g;
    DeviceFloat *scratch;
} Sums;

static void run_dense_gradient(const void *arguments, const Poll *poll) {
    const Sums *c = arguments;
    backend_cpu.dense_gradient(c->out, c->a, c->g, c->scratch, poll);
}

void fenced_dense_gradient(DeviceFloat *dw, Rows a, Rows g, DeviceFloat *scratch,
                           const Poll *poll) {
    (void)poll;
    FENCED_PUT(STREAM_COMPUTE, run_dense_gradient, Sums, fenced_twin(dw), fenced_rows(a),
               fenced_rows(g), fenced_twin(scratch));
}

int64_t fenced_dense_gradient_scratch(int64_t rows, int64_t a_columns, int64_t g_columns) {
    return backend_cpu.dense_gradient_scratch(rows, a_columns, g_columns);
}

static void run_column_sums(const void *arguments, const Poll *poll) {
    const Sums *c = arguments;
    (void)poll;
    backend_cpu.column_sums(c->out, c->g, c->scratch);
}

void fenced_column_sums(DeviceFloat *db, Rows g, DeviceFloat *scratch) {
    FENCED_PUT(STREAM_COMPUTE, run_column_sums, Sums, .out = fenced_twin(db), .g = fenced_rows(g),
               .scratch = fenced_twin(scratch));
}

int64_t fenced_column_sums_scratch(int64_t rows, int64_t columns) {
    return backend_cpu.column_sums_scratch(rows, columns);
}
