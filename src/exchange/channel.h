// What a Channel is made of: for channel.c, and for tests that damage a message on its way.
#ifndef FRINGE_SRC_EXCHANGE_CHANNEL_H
#define FRINGE_SRC_EXCHANGE_CHANNEL_H

#include "fringe/exchange.h"
#include "ring_transfer.h"
#include "row_memories.h"

typedef enum ChannelState {
    CHANNEL_IDLE,
    CHANNEL_PACKED,
    CHANNEL_FLYING,
    CHANNEL_RECEIVED
} ChannelState;

// One side's messages: where they lie, and the widths of their rows, where the codec has any.
typedef struct Side {
    size_t *place;  // [rounds + 1] owned; of each group in its buffer
    uint8_t *bits;  // [rows] owned; NULL without widths
    Widths *widths; // [rounds] owned; NULL without widths
} Side;

struct Channel {
    ExchangeBuffers *buffers; // borrowed
    const HaloPlan *plan;     // borrowed
    CodecOptions options;
    const Codec *exact; // fp32
    const Codec *codec; // of the exchange that runs: form.codec or exact
    int64_t columns;
    ExchangeId id;
    ChannelState state;
    int received;      // groups, in order
    uint32_t epoch;    // of the exchange
    uint64_t sequence; // number of the exchange
    Side side[SIDES];
    const DeviceInt32 *send_row; // mirrors of the plan's send list and ids
    const DeviceInt64 *source_id;
    RangeStatistics ranges;
    DeviceFloat *device_range; // [rows sent] owned: of the exchange that runs; NULL without widths
    float *range;              // the same on the host, when the exchange is packed
    DeviceInt64 *device_bad;   // [rounds] owned: 1 + place of a row that cannot be sent, or 0
    int64_t *bad;              // the same on the host, message by message
    Event *made[2];            // owned: messages are made and downloaded, in turn
    RingTransfer ring;
    RowMemories memories;
    Channel *next_flying; // the one that was posted after it and is in flight, too
    bool has_rows;        // those of an exchange that has ended, or of channel_restore
    Poll poll;            // channel_progress on this channel
    double posted_at;     // clock_seconds() of channel_post; 0: all have arrived since
    int traced;           // messages that were seen to have arrived, in the order of the ring
    StreamTimer *timer;   // borrowed; may be NULL
    ChannelSeconds seconds;
};

// Offsets of the groups of one side's list.
static inline const int64_t *channel_offsets(const HaloPlan *plan, int side) {
    return side == INCOMING ? plan->receive_offset : plan->send_offset;
}
static inline int64_t channel_group_rows(const HaloPlan *plan, int side, int group) {
    const int64_t *offset = channel_offsets(plan, side);
    return offset[group + 1] - offset[group];
}

static inline int64_t channel_side_rows(const HaloPlan *plan, int side) {
    return channel_offsets(plan, side)[plan->size - 1];
}

// ---- widths.c
void channel_add_ranges(Channel *channel, const Poll *poll); // of the exchange that was just packed

// ---- device.c
void channel_alloc_device(Channel *channel, const Allocator *allocator);
void channel_free_device(Channel *channel);
void channel_encode_begin(Channel *channel);                // before the first message is encoded
void channel_download_message(Channel *channel, int group); // behind its encoding
void channel_wait_made(Channel *channel, int group, const Poll *poll); // until that is over
void channel_download_ranges(Channel *channel, const Poll *poll);      // of all messages; waits
void channel_decode_begin(Channel *channel); // once, before the first message is decoded
void channel_decode(Channel *channel, int group, const MessageLayout *layout);
void channel_note_read(Channel *channel); // behind work that reads the received rows
// Until no message that has arrived is read any more: before new ones may arrive.
void channel_wait_decoded(Channel *channel);
// Where a group's message lies on the device.
DeviceByte *channel_message(const Channel *channel, int side, int group);

// ---- flying.c
void flying_add(Channel *channel);
void flying_remove(Channel *channel);

// ---- channel.c
void channel_move(Channel *channel); // its messages along
// Where the messages lie in the buffers and how long they are with a codec, the one in use from now
// on.
void channel_lay_out(Channel *channel, const Codec *codec);
// Waits until a message has arrived or left.
void channel_wait_for(Channel *channel, int group, int side);

#endif
