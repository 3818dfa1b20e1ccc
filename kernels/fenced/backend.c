// The fenced backend: the table.
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

const Backend backend_fenced = {
    .name = "fenced",
    .start = start,
    .describe = describe,
#define FUNCTION(type, name, parameters) .name = fenced_##name,
#define OPERATION(name, ...) .name = fenced_##name,
#include "fringe/operations.def"
};
