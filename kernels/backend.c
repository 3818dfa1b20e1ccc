// Finding and starting a backend; and what all of them agree on: how rows lie in memory.
#include "internal.h"
#include <string.h>

const Backend *backend_find(const char *name, Error *err) {
    return family_find(&backend_family, name, NULL, err);
}

static const Backend *device_of(const Family *family, const BackendStart *how) {
    for (int i = 0; i < family->count; i++) {
        const Backend *backend = family_member(family, i);
        if (backend->is_device && backend->start(how, &(Error){0}))
            return backend;
    }
    return NULL;
}

const Backend *backend_open_in(const Family *family, const char *name, const BackendStart *how,
                               Error *err) {
    bool automatic = strcmp(name, family->automatic) == 0;
    const Backend *device = automatic ? device_of(family, how) : NULL;
    if (device != NULL)
        return device;
    const Backend *backend = family_find(family, automatic ? "cpu" : name, NULL, err);
    return backend != NULL && backend->start(how, err) ? backend : NULL;
}

const Backend *backend_open(const char *name, const BackendStart *how, Error *err) {
    return backend_open_in(&backend_family, name, how, err);
}

size_t rows_bytes(int64_t count, int64_t columns) {
    return rows_size((Rows){.count = count, .stride = rows_stride(columns)});
}

size_t rows_size(Rows rows) {
    return memory_product(rows.count, memory_product(rows.stride, rows_number(rows.type)));
}

Rows rows_alloc(const Backend *backend, int64_t count, int64_t columns, const char *what) {
    return alloc_rows(&(Allocator){.backend = backend}, count, columns, what);
}

void rows_free(const Backend *backend, Rows *rows) {
    backend->free(rows->at);
    *rows = (Rows){0};
}

void rows_zero(const Backend *backend, Rows rows) { backend->zero(rows.at, rows_size(rows)); }

void rows_copy(const Backend *backend, Rows to, Rows from) {
    assert(to.type == from.type && to.stride == from.stride && to.count >= from.count);
    backend->copy(to.at, from.at, rows_size(from));
}

DeviceFloat *flat_at(const DeviceFloat *at, int64_t floats) {
    return (DeviceFloat *)((uintptr_t)at + (uintptr_t)floats * sizeof(float));
}

DeviceByte *byte_at(const DeviceByte *at, int64_t bytes) {
    return (DeviceByte *)((uintptr_t)at + (uintptr_t)bytes);
}

DeviceInt32 *int32_at(const DeviceInt32 *at, int64_t numbers) {
    return (DeviceInt32 *)((uintptr_t)at + (uintptr_t)numbers * sizeof(int32_t));
}

DeviceInt64 *int64_at(const DeviceInt64 *at, int64_t numbers) {
    return (DeviceInt64 *)((uintptr_t)at + (uintptr_t)numbers * sizeof(int64_t));
}

DeviceDouble *double_at(const DeviceDouble *at, int64_t numbers) {
    return (DeviceDouble *)((uintptr_t)at + (uintptr_t)numbers * sizeof(double));
}

static DeviceFloat *number_at(Rows rows, int64_t number) {
    return (DeviceFloat *)((uintptr_t)rows.at + (uintptr_t)number * rows_number(rows.type));
}

Rows rows_range(Rows rows, Range range) {
    assert(range.begin >= 0 && range.begin <= range.end && range.end <= rows.count);
    rows.at = number_at(rows, range.begin * rows.stride);
    rows.count = range.end - range.begin;
    return rows;
}

Rows rows_first(Rows rows, int64_t count) { return rows_range(rows, (Range){0, count}); }

Rows rows_columns(Rows rows, Range columns) {
    assert(columns.begin >= 0 && columns.end <= rows.columns);
    rows.at = number_at(rows, columns.begin);
    rows.columns = columns.end - columns.begin;
    return rows;
}

void *mirror_alloc(const Backend *backend, const void *host, size_t bytes, const char *what) {
    if (host == NULL || backend->host_is_device)
        return (void *)host; // a loan: operations that take it as const only read
    void *device = backend->alloc(bytes, what);
    backend->upload(device, host, bytes);
    backend->finish(NULL);
    return device;
}

void mirror_free(const Backend *backend, const void *mirror) {
    if (!backend->host_is_device)
        backend->free((void *)mirror);
}

void *pinned_mirror(const Backend *backend, void *device, size_t bytes, const char *what) {
    return backend->host_is_device ? device : backend->alloc_pinned(bytes, what);
}

void pinned_mirror_free(const Backend *backend, void *pinned) {
    if (!backend->host_is_device)
        backend->free_pinned(pinned);
}

void *host_mirror(const Backend *backend, void *device, void *pinned) {
    return backend->host_is_device ? device : pinned;
}
