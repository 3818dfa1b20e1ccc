// What a channel has on the device beside its buffers: the ranges that encoding makes, and mirrors
// of the send list and its ids.

#include "buffers.h"

static int64_t rows_sent(const Channel *channel) {
    return channel->plan->send_offset[channel->plan->size - 1];
}

static size_t range_bytes(const Channel *channel) {
    return (size_t)rows_sent(channel) * sizeof(float);
}

void channel_alloc_device(Channel *channel) {
    const Backend *b = channel->buffers->backend;
    const HaloPlan *p = channel->plan;
    size_t ids = (size_t)(p->sources + p->partials) * sizeof(int64_t);
    channel->send_row =
        mirror_alloc(b, p->send_row, (size_t)rows_sent(channel) * sizeof(int32_t), "send lists");
    channel->source_id = mirror_alloc(b, p->source_id, ids, "send lists");
    if (!channel->options.codec->has_widths)
        return;
    channel->device_range = b->alloc(range_bytes(channel), "ranges of messages");
    channel->range =
        pinned_side(b, channel->device_range, range_bytes(channel), "ranges of messages");
}

void channel_free_device(Channel *channel) {
    const Backend *b = channel->buffers->backend;
    pinned_side_free(b, channel->range);
    b->free(channel->device_range);
    mirror_free(b, channel->source_id);
    mirror_free(b, channel->send_row);
}

void channel_download_ranges(Channel *channel) {
    channel->buffers->backend->download(channel->range, channel->device_range,
                                        range_bytes(channel));
}

DeviceByte *channel_message(const Channel *channel, int side, int group) {
    return byte_window(channel->buffers->device_message[side],
                       (int64_t)channel->side[side].place[group]);
}
