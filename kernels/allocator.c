// One walk that plans memory or allocates it (backend.h).
#include "internal.h"

// In the memory that alloc takes it from.
static void plan_block(const Allocator *allocator, size_t bytes, const char *what) {
    if (allocator->backend->device_free != NULL)
        forecast_add_device(allocator->forecast, what, bytes);
    else
        forecast_add(allocator->forecast, what, bytes);
}

void *alloc_host(const Allocator *allocator, size_t bytes, const char *what) {
    return memory_or_forecast(allocator->forecast, bytes, what);
}

void *alloc_device(const Allocator *allocator, size_t bytes, const char *what) {
    if (allocator->forecast == NULL)
        return allocator->backend->alloc(bytes, what);
    plan_block(allocator, bytes, what);
    return NULL;
}

void *alloc_pinned(const Allocator *allocator, size_t bytes, const char *what) {
    if (allocator->forecast == NULL)
        return allocator->backend->alloc_pinned(bytes, what);
    forecast_add(allocator->forecast, what, bytes);
    return NULL;
}

void *alloc_pinned_mirror(const Allocator *allocator, void *device, size_t bytes,
                          const char *what) {
    return allocator->backend->host_is_device ? device : alloc_pinned(allocator, bytes, what);
}

const void *alloc_mirror(const Allocator *allocator, const void *host, size_t bytes,
                         const char *what) {
    if (allocator->forecast == NULL)
        return mirror_alloc(allocator->backend, host, bytes, what);
    if (host != NULL && !allocator->backend->host_is_device)
        plan_block(allocator, bytes, what);
    return NULL;
}

bool device_fits(const MemoryForecast *forecast, const Backend *backend, Error *err) {
    return backend->device_free == NULL ||
           forecast_check_device(forecast, backend->device_free(),
                                 "use more ranks on more devices, or a narrower model", err);
}
