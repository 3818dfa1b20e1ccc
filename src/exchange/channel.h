// The contents of a Channel, for this room and for tests that damage messages.
#ifndef FRINGE_SRC_EXCHANGE_CHANNEL_H
#define FRINGE_SRC_EXCHANGE_CHANNEL_H

#include "fringe/exchange.h"
#include "row_memories.h"

typedef enum ChannelState {
    CHANNEL_IDLE,
    CHANNEL_PACKED,
    CHANNEL_POSTED,
    CHANNEL_RECEIVED
} ChannelState;

// The messages of one side: their places in the buffer, and the widths of their rows if the codec
// has widths.
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
    bool always_exact;  // channel_set_exact
    const Codec *codec; // of the current exchange: options.codec or exact
    int64_t columns;
    ExchangeId id;
    ChannelState state;
    int received;      // groups, in order
    uint32_t epoch;    // of the current exchange
    uint64_t sequence; // number of the exchange
    Side side[SIDES];
    const DeviceInt32 *send_row; // mirrors of the plan's send list and ids
    const DeviceInt64 *source_id;
    RangeStatistics ranges;
    DeviceFloat *device_range; // [rows sent] owned: of the exchange that runs; NULL without widths
    float *range;              // the same on the host, when the exchange is packed
    DeviceInt64 *device_bad;   // [rounds] owned: 1 + place of a row that cannot be sent, or 0
    int64_t *bad;              // the same on the host, message by message
    DeviceInt64 *device_checksum; // [rounds] owned: of the messages; NULL where they are downloaded
    int64_t *checksum;            // the same on the host: of what was sent or, later, received
    DeviceEvent *made[2];         // owned: a message is encoded and downloaded; two in turn
    Endpoint endpoint;            // of the ring
    RingTransfer ring;
    RowMemories memories;
    InFlight in_flight;
    bool has_rows;      // received rows of a finished exchange or of channel_restore
    Poll poll;          // channel_progress on this channel
    double posted_at;   // clock_seconds() of channel_post; 0: all have arrived since
    int traced;         // messages recorded as received, in ring order
    StreamTimer *timer; // borrowed; may be NULL
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
void channel_encode_begin(Channel *channel); // before the first message is encoded
void channel_download_message(Channel *channel, int group, const Poll *poll); // after its encoding
void channel_wait_made(Channel *channel, int group,
                       const Poll *poll);                         // until the download is complete
void channel_download_ranges(Channel *channel, const Poll *poll); // of all messages; blocks
void channel_decode_begin(Channel *channel); // once, before the first message is decoded
void channel_decode(Channel *channel, int group, const MessageLayout *layout);
// Of the payload of a message that is made or received; on the device where the message stays
// there.
uint64_t channel_checksum(Channel *channel, int side, int group, const Poll *poll);
void channel_note_read(Channel *channel); // after the work that reads the received rows
// Blocks until received messages are uploaded and decoded, so that new ones may arrive.
void channel_wait_decoded(Channel *channel);
// Where a group's message lies on the device.
DeviceByte *channel_message(const Channel *channel, int side, int group);

// ---- channel.c
// Sets the places and lengths of the messages for a codec, which becomes the current one.
void channel_lay_out(Channel *channel, const Codec *codec);
// Blocks until a message has been received or sent.
void channel_wait_for(Channel *channel, int group, int side);

#endif
