// What ExchangeBuffers are made of: for channels, and for tests that dirty them.
#ifndef FRINGE_SRC_EXCHANGE_BUFFERS_H
#define FRINGE_SRC_EXCHANGE_BUFFERS_H

#include "channel.h"

struct ExchangeBuffers {
    const Backend *backend; // borrowed
    BufferSizes size;
    unsigned char *message[SIDES];     // owned: what MPI reads and writes
    DeviceByte *device_message[SIDES]; // owned: what is encoded and decoded, at the same places
    DeviceFloat *received;             // owned
    Event *rows_ready;                 // owned: the rows that are sent are made
    Event *rows_read;                  // owned: the work that reads received rows is done
    Event *decoded;                    // owned: what has arrived is uploaded and decoded
    const Channel *user;               // whose messages and rows are in them, or NULL
};

// Does no exchange run on them?
static inline bool buffers_are_free(const ExchangeBuffers *buffers) {
    return buffers->user == NULL || buffers->user->state == CHANNEL_IDLE;
}
// What exact exchanges are written with: fp32.
const Codec *exact_codec(void);
// Bytes that a group's message may take, at the widest or exact, so that the next one is aligned.
size_t message_room(const CodecOptions *options, int64_t rows, int64_t columns);
// What a channel needs.
BufferSizes buffer_sizes(const HaloPlan *plan, const CodecOptions *options, int64_t columns);
// As large as the larger of both, part by part.
void buffer_sizes_add(BufferSizes *size, const BufferSizes *more);
// Makes them large enough, while no exchange runs on them. What is in them is lost.
void buffers_fit(ExchangeBuffers *buffers, const BufferSizes *size);

#endif
