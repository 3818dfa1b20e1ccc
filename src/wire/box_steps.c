// The steps of a MessageBox. Two streams and the host wait for each other:
//
//   compute   rows made --rows_ready-->                              --> halo part of the aggregate
//   message                  encode, download --made-->  upload, decode --decoded--^
//   host                                    checksum, send ... receive, check
//
// Where the transport reads the device's memory, a checksum made there takes the place of the
// download and of the upload. (rows_ready and decoded are the owner's, who knows who reads rows.)

#include "internal.h"

void box_encode_begin(MessageBox *box) {
    box->backend->message_zero(box->device_bad, (size_t)box->count * sizeof(int64_t));
}

int64_t box_encode(MessageBox *box, int i, BoxStep step, MessageSource source, int64_t own,
                   const Poll *poll) {
    MessageLayout layout = box_layout(box, i);
    layout.rows_are = step.rows_are;
    if (box->device_range != NULL)
        source.range = flat_at(box->device_range, box->offset[i]);
    box_before_encode(box, i, step, &source, own, poll);
    layout.bytes = step.codec->encode(box->backend, box_device_message(box, i), &layout, &source,
                                      int64_at(box->device_bad, i), poll);
    assert(layout.bytes <= message_room(box->options, layout.rows, layout.columns));
    box_after_encode(box, i, step, &layout, poll);
    return (int64_t)layout.bytes;
}

static bool stays_on_device(const MessageBox *box) { return box->device_checksum != NULL; }

// The device adds up the message, and the host is given the sum.
static void download_checksum(MessageBox *box, int i, int64_t bytes, const Poll *poll) {
    DeviceInt64 *sum = int64_at(box->device_checksum, i);
    box->backend->message_checksum(sum, box_device_message(box, i), (size_t)bytes, poll);
    box->backend->message_download(&box->checksum[i], sum, sizeof *box->checksum);
}

static void wait_for_downloads(const MessageBox *box, const Poll *poll) {
    box->backend->event_record(box->made[0], STREAM_MESSAGE);
    box->backend->event_wait(box->made[0], poll);
}

uint64_t box_checksum(MessageBox *box, int i, int64_t bytes, const Poll *poll) {
    if (!stays_on_device(box))
        return message_payload_checksum(box_host_message(box, i), (size_t)bytes, poll);
    if (box->end == RESIDUAL_READER) { // that of a message to send came with it
        download_checksum(box, i, bytes, poll);
        wait_for_downloads(box, poll);
    }
    return (uint64_t)box->checksum[i];
}

void box_download(MessageBox *box, int i, int64_t bytes, const Poll *poll) {
    const Backend *b = box->backend;
    if (stays_on_device(box))
        download_checksum(box, i, bytes, poll);
    else
        b->message_download(box_host_message(box, i), box_device_message(box, i), (size_t)bytes);
    b->message_download(&box->bad[i], int64_at(box->device_bad, i), sizeof *box->bad);
    b->event_record(box->made[i % 2], STREAM_MESSAGE);
}

void box_wait_made(MessageBox *box, int i, const Poll *poll) {
    box->backend->event_wait(box->made[i % 2], poll);
}

void box_download_ranges(MessageBox *box, const Poll *poll) {
    size_t bytes = (size_t)box->offset[box->count] * sizeof *box->range;
    box->backend->message_download(box->range, box->device_range, bytes);
    wait_for_downloads(box, poll);
}

void box_download_distances(MessageBox *box, const Poll *poll) {
    size_t bytes = (size_t)box->count * 2 * sizeof *box->distance;
    box->backend->message_download(box->distance, box->device_distance, bytes);
    wait_for_downloads(box, poll);
}

void box_decode(MessageBox *box, int i, BoxStep step, Rows out, int64_t begin, int64_t bytes,
                const Poll *poll) {
    const Backend *b = box->backend;
    DeviceByte *message = box_device_message(box, i);
    MessageLayout layout = box_layout(box, i);
    layout.bytes = (size_t)bytes;
    layout.rows_are = step.rows_are;
    if (!stays_on_device(box))
        b->message_upload(message, box_host_message(box, i), (size_t)bytes);
    step.codec->decode(b, out, begin, &layout, message, poll);
    box_after_decode(box, i, step, rows_range(out, (Range){begin, begin + layout.rows}), poll);
}
