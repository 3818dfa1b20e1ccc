// The row memories of one channel: a block of memory for each message of both sides, and buffers
// for encoding. A channel without a RowMemory allocates none of it.
#ifndef FRINGE_SRC_EXCHANGE_ROW_MEMORIES_H
#define FRINGE_SRC_EXCHANGE_ROW_MEMORIES_H

#include "fringe/exchange.h"

typedef struct RowMemories {
    const RowMemory *of;       // NULL: nothing is remembered
    bool used;                 // by the current exchange, which is one of training
    size_t *place[SIDES];      // [rounds + 1] owned: where the memory of a group begins, in bytes
    DeviceByte *memory[SIDES]; // [place[rounds]] owned
    Rows rows;                 // [rows of the longest message sent, columns] owned
    int32_t *row;              // owned: 0, 1, 2, ... as the send list of `rows`
    int64_t *gid;              // [rows sent] owned: their ids, by place in the send list
    DeviceInt32 *device_row;   // owned: both on the device
    DeviceInt64 *device_gid;
} RowMemories;

void row_memories_alloc(RowMemories *memories, const Channel *channel, const Allocator *allocator);
void row_memories_fill(RowMemories *memories, const Channel *channel);
void row_memories_clear(RowMemories *memories, const Backend *backend);

// The following do nothing without a RowMemory.
// Replaces the rows of *source by the rows that the RowMemory encodes instead. Uses the message's
// place in the send buffer as scratch.
void row_memories_before_encode(Channel *channel, int group, MessageSource *source,
                                const Poll *poll);
// The sender decodes its own message, so that its memory equals that of the reader.
void row_memories_after_encode(Channel *channel, int group, const MessageLayout *layout,
                               const Poll *poll);
void row_memories_after_decode(Channel *channel, int group);

#endif
