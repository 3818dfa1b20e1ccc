// The fenced backend: the table, and what works during its call.
#include "../../kernels/timed.h"
#include "fenced.h"

#include <stdio.h>

static bool start(const BackendStart *how, Error *err) { return backend_cpu.start(how, err); }

static const char *describe(void) {
    static char text[200];
    snprintf(text, sizeof text, "fenced, %s", backend_cpu.describe());
    return text;
}

void *fenced_alloc_pinned(size_t bytes, const char *what) {
    return backend_cpu.alloc_pinned(bytes, what);
}

// Commands may still name it.
void fenced_free_pinned(void *pinned) {
    if (pinned != NULL)
        fenced_finish(NULL);
    backend_cpu.free_pinned(pinned);
}

int64_t fenced_dense_gradient_scratch(int64_t rows, int64_t a_columns, int64_t g_columns) {
    return backend_cpu.dense_gradient_scratch(rows, a_columns, g_columns);
}

int64_t fenced_column_products_scratch(int64_t rows, int64_t columns) {
    return backend_cpu.column_products_scratch(rows, columns);
}

int64_t fenced_column_sums_scratch(int64_t rows, int64_t columns) {
    return backend_cpu.column_sums_scratch(rows, columns);
}

int64_t fenced_post_scratch(int64_t rows, int64_t columns) {
    return backend_cpu.post_scratch(rows, columns);
}

#define FUNCTION(type, name, parameters)
#define OPERATION(name, ...) TIMED(fenced, name, __VA_ARGS__)
#include "fringe/operations.def"

const Backend backend_fenced = {
    .name = "fenced",
    .start = start,
    .describe = describe,
#define FUNCTION(type, name, parameters) .name = fenced_##name,
#define OPERATION(name, ...) .name = timed_##name,
#include "fringe/operations.def"
};
