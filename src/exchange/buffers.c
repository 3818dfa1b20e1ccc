// The memory of one exchange at a time. Messages and received rows, with their padding, are always
// written completely, so channels whose exchanges run one after the other can share it.
#include "buffers.h"
#include <string.h>

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

static bool device_memory; // exchange_use_device_memory

void exchange_use_device_memory(bool use) { device_memory = use; }

bool exchange_uses_device_memory(const Backend *backend) {
    return device_memory && !backend->host_is_device;
}

const Codec *exact_codec(void) {
    Error none = {0};
    return codec_find("fp32", &none);
}

size_t message_room(const CodecOptions *options, int64_t rows, int64_t columns) {
    MessageLayout layout = {.rows = rows, .columns = columns, .values = options->values};
    return aligned(most(exact_codec()->bytes(&layout), options->codec->bytes_most(&layout)));
}

BufferSizes buffer_sizes(const HaloPlan *plan, const CodecOptions *options, int64_t columns) {
    BufferSizes size = {.received = rows_bytes(plan->halo_count, columns)};
    for (int side = 0; side < SIDES; side++)
        for (int g = 0; g + 1 < plan->size; g++)
            size.message[side] += message_room(options, channel_group_rows(plan, side, g), columns);
    return size;
}

void buffer_sizes_add(BufferSizes *size, const BufferSizes *more) {
    for (int side = 0; side < SIDES; side++)
        size->message[side] = most(size->message[side], more->message[side]);
    size->received = most(size->received, more->received);
}

ExchangeBuffers *exchange_buffers_new(const Backend *backend) {
    ExchangeBuffers *buffers = ALLOC(ExchangeBuffers, 1, "messages");
    *buffers = (ExchangeBuffers){.backend = backend,
                                 .rows_ready = backend->event_new(),
                                 .rows_read = backend->event_new(),
                                 .decoded = backend->event_new()};
    return buffers;
}

static void alloc_buffers(ExchangeBuffers *buffers, const Allocator *allocator) {
    for (int side = 0; side < SIDES; side++) {
        size_t bytes = buffers->size.message[side];
        DeviceByte *device = alloc_device(allocator, bytes, "messages");
        buffers->device_message[side] = device;
        buffers->message[side] = exchange_uses_device_memory(allocator->backend)
                                     ? (void *)device
                                     : alloc_pinned_side(allocator, device, bytes, "messages");
    }
    buffers->received = alloc_device(allocator, buffers->size.received, "halo rows");
}

static void free_buffers(ExchangeBuffers *buffers) {
    for (int side = 0; side < SIDES; side++) {
        if ((void *)buffers->message[side] != buffers->device_message[side])
            pinned_side_free(buffers->backend, buffers->message[side]);
        buffers->backend->free(buffers->device_message[side]);
    }
    buffers->backend->free(buffers->received);
}

void exchange_buffers_free(ExchangeBuffers *buffers) {
    if (buffers == NULL)
        return;
    free_buffers(buffers);
    buffers->backend->event_free(buffers->decoded);
    buffers->backend->event_free(buffers->rows_read);
    buffers->backend->event_free(buffers->rows_ready);
    memory_free(buffers);
}

void buffers_fit(ExchangeBuffers *buffers, const BufferSizes *size) {
    assert(buffers_are_free(buffers));
    BufferSizes before = buffers->size;
    buffer_sizes_add(&buffers->size, size);
    buffers->user = NULL;
    if (buffers->received != NULL && memcmp(&before, &buffers->size, sizeof before) == 0)
        return;
    free_buffers(buffers);
    alloc_buffers(buffers, &(Allocator){.backend = buffers->backend});
}

void exchange_buffers_plan(MemoryPlan *plan, const Backend *backend, const BufferSizes *size) {
    ExchangeBuffers buffers = {.size = *size};
    alloc_buffers(&buffers, &(Allocator){.backend = backend, .plan = plan});
}
