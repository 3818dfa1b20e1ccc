// What a channel does on the device: its blocks there beside the buffers (ranges and bad rows of
// the encoding, mirrors of the send list and its ids), and the waits between the two streams and
// the host.
//
//   compute   rows made --rows_ready-->                              --> halo part of the aggregate
//   message                  encode, download --made-->  upload, decode --decoded--^
//   host                                    checksum, send ... receive, check
//
// Where MPI reads the device's memory, a checksum made there takes the place of the download and of
// the upload.

#include "buffers.h"

static int64_t rows_sent(const Channel *channel) {
    return channel->plan->send_offset[channel->plan->size - 1];
}

static size_t range_bytes(const Channel *channel) {
    return (size_t)rows_sent(channel) * sizeof(float);
}

static size_t bad_bytes(const Channel *channel) {
    return (size_t)channel->ring.rounds * sizeof(int64_t);
}

void channel_alloc_device(Channel *channel, const Allocator *allocator) {
    const HaloPlan *p = channel->plan;
    size_t ids = (size_t)(p->sources + p->partials) * sizeof(int64_t);
    size_t places = (size_t)rows_sent(channel) * sizeof(int32_t);
    channel->send_row = alloc_mirror(allocator, p->send_row, places, "send lists");
    channel->source_id = alloc_mirror(allocator, p->source_id, ids, "send lists");
    channel->device_bad = alloc_device(allocator, bad_bytes(channel), "messages");
    channel->bad =
        alloc_pinned_side(allocator, channel->device_bad, bad_bytes(channel), "messages");
    if (exchange_uses_device_memory(allocator->backend)) {
        size_t bytes = (size_t)channel->ring.rounds * sizeof(int64_t);
        channel->device_checksum = alloc_device(allocator, bytes, "messages");
        channel->checksum =
            alloc_pinned_side(allocator, channel->device_checksum, bytes, "messages");
    }
    if (!channel->options.codec->has_widths)
        return;
    const char *what = "ranges of messages";
    channel->device_range = alloc_device(allocator, range_bytes(channel), what);
    channel->range =
        alloc_pinned_side(allocator, channel->device_range, range_bytes(channel), what);
    channel->ranges.square = alloc_host(allocator, range_bytes(channel), what);
}

void channel_free_device(Channel *channel) {
    const Backend *b = channel->buffers->backend;
    memory_free(channel->ranges.square);
    pinned_side_free(b, channel->range);
    b->free(channel->device_range);
    for (int i = 0; i < 2; i++)
        b->event_free(channel->made[i]);
    pinned_side_free(b, channel->checksum);
    b->free(channel->device_checksum);
    pinned_side_free(b, channel->bad);
    b->free(channel->device_bad);
    mirror_free(b, channel->source_id);
    mirror_free(b, channel->send_row);
}

// Encoding waits until the compute stream has made the rows.
void channel_encode_begin(Channel *channel) {
    const ExchangeBuffers *buffers = channel->buffers;
    buffers->backend->event_record(buffers->rows_ready, STREAM_COMPUTE);
    buffers->backend->stream_wait(STREAM_MESSAGE, buffers->rows_ready);
    buffers->backend->message_zero(channel->device_bad, bad_bytes(channel));
}

static bool stays_on_device(const Channel *channel) {
    return exchange_uses_device_memory(channel->buffers->backend);
}

// The device adds up the message, and the host is given the sum.
static void download_checksum(Channel *channel, int side, int group, const Poll *poll) {
    const Backend *b = channel->buffers->backend;
    DeviceInt64 *sum = int64_window(channel->device_checksum, group);
    b->message_checksum(sum, channel_message(channel, side, group),
                        (size_t)channel->ring.transfer[group][side].bytes, poll);
    b->message_download(&channel->checksum[group], sum, sizeof *channel->checksum);
}

uint64_t channel_checksum(Channel *channel, int side, int group, const Poll *poll) {
    const Backend *b = channel->buffers->backend;
    const Transfer *transfer = &channel->ring.transfer[group][side];
    if (!stays_on_device(channel))
        return message_payload_checksum(transfer->payload, (size_t)transfer->bytes, poll);
    if (side == INCOMING) { // that of a message to send came with it
        download_checksum(channel, side, group, poll);
        b->event_record(channel->made[0], STREAM_MESSAGE);
        b->event_wait(channel->made[0], poll);
    }
    return (uint64_t)channel->checksum[group];
}

void channel_download_message(Channel *channel, int group, const Poll *poll) {
    const Backend *b = channel->buffers->backend;
    const Transfer *transfer = &channel->ring.transfer[group][OUTGOING];
    if (stays_on_device(channel))
        download_checksum(channel, OUTGOING, group, poll);
    else
        b->message_download(transfer->payload, channel_message(channel, OUTGOING, group),
                            (size_t)transfer->bytes);
    b->message_download(&channel->bad[group], int64_window(channel->device_bad, group),
                        sizeof *channel->bad);
    b->event_record(channel->made[group % 2], STREAM_MESSAGE);
}

void channel_wait_made(Channel *channel, int group, const Poll *poll) {
    channel->buffers->backend->event_wait(channel->made[group % 2], poll);
}

void channel_download_ranges(Channel *channel, const Poll *poll) {
    const Backend *b = channel->buffers->backend;
    b->message_download(channel->range, channel->device_range, range_bytes(channel));
    b->event_record(channel->made[0], STREAM_MESSAGE);
    b->event_wait(channel->made[0], poll);
}

// Decoding waits until the rows of the previous exchange, which it overwrites, have been read.
void channel_decode_begin(Channel *channel) {
    const ExchangeBuffers *buffers = channel->buffers;
    buffers->backend->stream_wait(STREAM_MESSAGE, buffers->rows_read);
}

void channel_decode(Channel *channel, int group, const MessageLayout *layout) {
    const ExchangeBuffers *buffers = channel->buffers;
    const Backend *b = buffers->backend;
    const Transfer *transfer = &channel->ring.transfer[group][INCOMING];
    DeviceByte *message = channel_message(channel, INCOMING, group);
    if (!stays_on_device(channel))
        b->message_upload(message, transfer->payload, (size_t)transfer->bytes);
    channel->codec->decode(b, channel_rows(channel), channel->plan->receive_offset[group], layout,
                           message, &channel->poll);
    row_memories_after_decode(channel, group);
    b->event_record(buffers->decoded, STREAM_MESSAGE);
    b->stream_wait(STREAM_COMPUTE, buffers->decoded);
}

void channel_note_read(Channel *channel) {
    channel->buffers->backend->event_record(channel->buffers->rows_read, STREAM_COMPUTE);
}

void channel_wait_decoded(Channel *channel) {
    channel->buffers->backend->event_wait(channel->buffers->decoded, &channel->poll);
}

DeviceByte *channel_message(const Channel *channel, int side, int group) {
    return byte_window(channel->buffers->device_message[side],
                       (int64_t)channel->side[side].place[group]);
}
