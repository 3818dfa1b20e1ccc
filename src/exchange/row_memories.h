// What one channel remembers of its rows: for each message of both sides the memory of its
// RowMemory, and what encoding from it needs. Nothing of it is taken where there is no memory.
#ifndef FRINGE_SRC_EXCHANGE_ROW_MEMORIES_H
#define FRINGE_SRC_EXCHANGE_ROW_MEMORIES_H

#include "fringe/exchange.h"
#include "ring_transfer.h"

typedef struct RowMemories {
    const RowMemory *of;       // NULL: nothing is remembered
    bool used;                 // by the exchange that runs: it is one of training
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

// These do nothing where nothing is remembered.
// Makes the rows of *source, asks the memory what is encoded in their place, and lets *source name
// that. The place of the message is scratch.
void row_memories_before_encode(Channel *channel, int group, MessageSource *source,
                                const Poll *poll);
// The sender decodes its own message, because its memory must be that of the reader.
void row_memories_after_encode(Channel *channel, int group, const MessageLayout *layout,
                               const Poll *poll);
void row_memories_after_decode(Channel *channel, int group);

#endif
