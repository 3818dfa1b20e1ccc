// The names that a prepared dataset carries: ids of nodes, and names of classes.

#include "entry.h"

static void *copy_of(const void *from, size_t bytes) {
    return from == NULL ? NULL : memcpy(memory_alloc(bytes, "names of nodes"), from, bytes);
}

static NodeIds copy_names(const NodeIds *from) {
    size_t count = (size_t)from->count;
    NodeIds out = {.count = from->count, .is_unsigned = from->is_unsigned};
    if (count == 0)
        return (NodeIds){0};
    out.number = copy_of(from->number, count * sizeof *out.number);
    out.offset = copy_of(from->offset, (count + 1) * sizeof *out.offset);
    out.bytes = from->offset != NULL ? copy_of(from->bytes, (size_t)from->offset[count]) : NULL;
    return out;
}

bool partition_names(const Config *config, NodeIds *ids, NodeIds *classes, Error *err) {
    CLEARED(prepared_clear) Prepared prepared = {0};
    *ids = *classes = (NodeIds){0};
    if (!prepared_init(&prepared, config, &(Warnings){0}, err) || !prepared_need(&prepared, err))
        return false;
    *ids = copy_names(&prepared.dataset.ids);
    *classes = copy_names(&prepared.dataset.names);
    return true;
}
