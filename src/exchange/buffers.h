// The contents of ExchangeBuffers, for channels and for tests that overwrite them.
#pragma once

#include "channel.h"

struct ExchangeBuffers {
    const Backend *backend; // borrowed
    BufferSizes size;
    Taken *taken; // owned: the blocks
    MessageBlock message[FLOWS];
    DeviceFloat *received;
    DeviceEvent *rows_ready; // owned: the rows to send are computed
    DeviceEvent *rows_read;  // owned: received rows have been read
    DeviceEvent *decoded;    // owned: received messages are uploaded and decoded
    const Channel *user;     // the channel whose messages and rows they hold, or NULL
};

// True if no exchange is running on them.
static inline bool buffers_are_free(const ExchangeBuffers *buffers) {
    return buffers->user == NULL || buffers->user->state == CHANNEL_IDLE;
}

// The sizes that a channel needs.
BufferSizes buffer_sizes(const HaloPlan *plan, const CodecOptions *options, int64_t columns);
// Sets each part of *size to the larger of both.
void buffer_sizes_add(BufferSizes *size, const BufferSizes *more);
// Enlarges them if necessary; their contents are lost. No exchange may be running on them.
void buffers_fit(ExchangeBuffers *buffers, const BufferSizes *size);
