// One walk that plans memory or allocates it (backend.h).
#include "internal.h"

static bool plans(const Allocator *allocator, size_t bytes, const char *what) {
    if (allocator->plan != NULL)
        memory_plan_add(allocator->plan, what, bytes);
    return allocator->plan != NULL;
}

void *alloc_host(const Allocator *allocator, size_t bytes, const char *what) {
    return memory_or_plan(allocator->plan, bytes, what);
}

void *alloc_device(const Allocator *allocator, size_t bytes, const char *what) {
    return plans(allocator, bytes, what) ? NULL : allocator->backend->alloc(bytes, what);
}

void *alloc_pinned(const Allocator *allocator, size_t bytes, const char *what) {
    return plans(allocator, bytes, what) ? NULL : allocator->backend->alloc_pinned(bytes, what);
}

void *alloc_pinned_side(const Allocator *allocator, void *device, size_t bytes, const char *what) {
    return allocator->backend->host_is_device ? device : alloc_pinned(allocator, bytes, what);
}

const void *alloc_mirror(const Allocator *allocator, const void *host, size_t bytes,
                         const char *what) {
    if (allocator->plan == NULL)
        return mirror_alloc(allocator->backend, host, bytes, what);
    if (host != NULL && !allocator->backend->host_is_device)
        memory_plan_add(allocator->plan, what, bytes);
    return NULL;
}

Rows alloc_rows(const Allocator *allocator, int64_t count, int64_t columns, const char *what) {
    if (plans(allocator, rows_bytes(count, columns), what))
        return (Rows){NULL, count, columns, rows_stride(columns)};
    return rows_alloc(allocator->backend, count, columns, what);
}
