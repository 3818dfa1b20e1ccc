// One walk that plans memory or allocates it (backend.h).
#include "internal.h"

// ---- freeing

struct Taken {
    void *block;
    void (*give_back)(void *block);
    Taken *before;
};

static void *take(const Allocator *allocator, void *block, void (*give_back)(void *block)) {
    if (allocator->taken == NULL || block == NULL)
        return block;
    Taken *taken = malloc(sizeof *taken); // not counted: the plan of memory knows nothing of it
    CHECK(taken != NULL, EXIT_MEMORY, "no memory to remember a block by");
    *taken = (Taken){block, give_back, *allocator->taken};
    *allocator->taken = taken;
    return block;
}

void taken_free(Taken **taken) {
    while (*taken != NULL) {
        Taken *last = *taken;
        *taken = last->before;
        last->give_back(last->block);
        free(last);
    }
}

// ---- planning or allocating

// In the memory that alloc takes it from.
static void plan_block(const Allocator *allocator, size_t bytes, const char *what) {
    if (allocator->backend->device_free != NULL)
        forecast_add_device(allocator->forecast, what, bytes);
    else
        forecast_add(allocator->forecast, what, bytes);
}

void *alloc_host(const Allocator *allocator, size_t bytes, const char *what) {
    return take(allocator, memory_or_forecast(allocator->forecast, bytes, what), memory_free);
}

void *alloc_device(const Allocator *allocator, size_t bytes, const char *what) {
    const Backend *b = allocator->backend;
    if (allocator->forecast == NULL)
        return take(allocator, b->alloc(bytes, what), b->free);
    plan_block(allocator, bytes, what);
    return NULL;
}

void *alloc_pinned(const Allocator *allocator, size_t bytes, const char *what) {
    const Backend *b = allocator->backend;
    if (allocator->forecast == NULL)
        return take(allocator, b->alloc_pinned(bytes, what), b->free_pinned);
    forecast_add(allocator->forecast, what, bytes);
    return NULL;
}

void *alloc_pinned_mirror(const Allocator *allocator, void *device, size_t bytes,
                          const char *what) {
    return allocator->backend->host_is_device ? device : alloc_pinned(allocator, bytes, what);
}

void *alloc_mirrored(const Allocator *allocator, void *device, size_t bytes, const char *what) {
    void *block = alloc_device(allocator, bytes, what);
    memcpy(device, &block, sizeof block);
    return alloc_pinned_mirror(allocator, block, bytes, what);
}

const void *alloc_mirror(const Allocator *allocator, const void *host, size_t bytes,
                         const char *what) {
    const Backend *b = allocator->backend;
    if (host == NULL || b->host_is_device)
        return allocator->forecast == NULL ? host : NULL;
    if (allocator->forecast == NULL)
        return take(allocator, mirror_alloc(b, host, bytes, what), b->free);
    plan_block(allocator, bytes, what);
    return NULL;
}

// Not the padding.
static void poison(const Backend *backend, Rows rows) {
    size_t bytes = (size_t)(rows.count * rows.columns) * sizeof(float);
    float *nothing = malloc(bytes + 1); // not counted: the plan of memory knows nothing of it
    CHECK(nothing != NULL, EXIT_MEMORY, "no memory to poison rows with");
    backend->upload_rows(rows, memory_poisoned(nothing, bytes));
    backend->finish(NULL);
    free(nothing);
}

Rows alloc_rows(const Allocator *allocator, int64_t count, int64_t columns, const char *what) {
    assert(count >= 0 && columns >= 0);
    const Backend *b = allocator->backend;
    Rows rows = {NULL, count, columns, rows_stride(columns), allocator->rows};
    if (allocator->forecast != NULL) {
        plan_block(allocator, rows_size(rows), what);
        return rows;
    }
    rows.at = take(allocator, b->alloc_zeroed(rows_size(rows), what), b->free);
    if (memory_is_poisoned())
        poison(b, rows);
    return rows;
}

bool device_fits(const MemoryForecast *forecast, const Backend *backend, Error *err) {
    return backend->device_free == NULL ||
           forecast_check_device(forecast, backend->device_free(),
                                 "use more ranks on more devices, or a narrower model", err);
}
