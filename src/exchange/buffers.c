// The memory of one exchange at a time. Messages and received rows, with their padding, are always
// written completely, so channels whose exchanges run one after the other can share it.
#include "buffers.h"

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

BufferSizes buffer_sizes(const HaloPlan *plan, const CodecOptions *options, int64_t columns) {
    Rows received = {.count = plan->halo_count,
                     .columns = columns,
                     .stride = rows_stride(columns),
                     .type = box_rows_are(options)};
    BufferSizes size = {.received = rows_size(received)};
    for (int flow = 0; flow < FLOWS; flow++)
        for (int g = 0; g + 1 < plan->size; g++)
            size.message[flow] += message_room(options, channel_round_rows(plan, flow, g), columns);
    return size;
}

void buffer_sizes_add(BufferSizes *size, const BufferSizes *more) {
    for (int flow = 0; flow < FLOWS; flow++)
        size->message[flow] = most(size->message[flow], more->message[flow]);
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
    for (int flow = 0; flow < FLOWS; flow++)
        message_block_alloc(&buffers->message[flow], allocator, buffers->size.message[flow]);
    buffers->received = alloc_device(allocator, buffers->size.received, "halo rows");
}

void exchange_buffers_free(ExchangeBuffers *buffers) {
    if (buffers == NULL)
        return;
    taken_free(&buffers->taken);
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
    taken_free(&buffers->taken);
    alloc_buffers(buffers, &(Allocator){.backend = buffers->backend, .taken = &buffers->taken});
}

void exchange_buffers_forecast(MemoryForecast *forecast, const Backend *backend,
                               const BufferSizes *size) {
    ExchangeBuffers buffers = {.size = *size};
    alloc_buffers(&buffers, &(Allocator){.backend = backend, .forecast = forecast});
}
