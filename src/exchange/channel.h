// The contents of a Channel, for this module and for tests that damage messages.
#pragma once

#include "fringe/exchange.h"

typedef enum ChannelState {
    CHANNEL_IDLE,
    CHANNEL_PACKED,
    CHANNEL_POSTED,
    CHANNEL_RECEIVED
} ChannelState;

// The rows of one flow that travel, of a sampled exchange.
typedef struct SampledRows {
    int64_t *offset;          // [size] owned: of the messages, in rows that travel
    uint8_t *drawn;           // [rows of the flow] owned: 1: the row travels
    uint8_t *bits;            // owned: widths of those that travel; NULL without widths
    int32_t *list;            // [rows of the flow] owned: see sample.c
    DeviceInt32 *device_list; // owned: the same on the device
} SampledRows;

typedef struct Sample { // CodecOptions.sample
    bool on;            // in the current exchange
    SampledRows rows[FLOWS];
    DeviceFloat *factor; // [rows of the longest received message] owned: 1/P each
    Rows zero;           // one row, owned: of those that do not travel
} Sample;

struct Channel {
    ExchangeBuffers *buffers; // borrowed
    const HaloPlan *plan;     // borrowed
    CodecOptions options;
    bool never_coded; // channel_set_full_precision
    bool direct;      // channel_set_direct
    BoxStep step;     // of the current exchange
    int64_t columns;
    ExchangeId id;
    ChannelState state;
    int received;      // rounds, in order
    uint32_t epoch;    // of the current exchange
    uint64_t sequence; // number of the exchange
    int64_t rows_sent; // since the start
    int64_t exchanges; // of training, coded: their number at both ends
    bool *sends;       // [rounds] owned: which messages of the exchange travel
    int64_t *age;      // [rounds] owned: how many exchanges ago, in the next one, the rows that the
                       // reader has were sent; 0: never. Both NULL where none may be left out
    int64_t skipped;   // messages since the start
    MessageBox box[FLOWS];
    const DeviceInt32 *send_row; // mirrors of the plan's send list and ids
    const DeviceInt64 *source_id;
    RangeStatistics ranges;
    Taken *taken;      // owned: all blocks of this and of its boxes
    Sample sample;     // nothing is allocated where all rows travel
    Endpoint endpoint; // of the ring
    RingTransfer ring;
    InFlight in_flight;
    bool has_rows;     // received rows of a finished exchange or of channel_restore
    RowsType rows_are; // what these are
    Poll poll;         // channel_progress on this channel
    double posted_at;  // clock_seconds() of channel_post; 0: all have arrived since
    int traced;        // messages recorded as received, in ring order
    ChannelSeconds seconds;
};

// Offsets of the rounds of one flow's list.
static inline const int64_t *channel_offsets(const HaloPlan *plan, int flow) {
    return flow == INCOMING ? plan->receive_offset : plan->send_offset;
}
static inline int64_t channel_round_rows(const HaloPlan *plan, int flow, int round) {
    const int64_t *offset = channel_offsets(plan, flow);
    return offset[round + 1] - offset[round];
}

static inline int64_t channel_flow_rows(const HaloPlan *plan, int flow) {
    return channel_offsets(plan, flow)[plan->size - 1];
}

// May messages of the current exchange be left out? Not those of one that is not coded.
static inline bool channel_may_skip(const Channel *channel) {
    return channel->options.skips && channel->step.exchange > 0;
}

static inline bool channel_sends(const Channel *channel, int round) {
    return !channel_may_skip(channel) || channel->sends[round];
}

// The time of a step, between these two.
static inline double channel_begin_step(void) {
    timer_begin(timers_in_use());
    return clock_seconds();
}
static inline void channel_end_step(double since, double *seconds, TimerKind kind) {
    timer_end(timers_in_use(), kind);
    *seconds += clock_seconds() - since;
}

// ---- channel.c
// Sets the places and lengths of the messages for an exchange, which becomes the current one.
void channel_lay_out(Channel *channel, BoxStep step);

// ---- schedule.c
void channel_do_blocking(Channel *channel, const ExchangeWork *work); // what comes after packing

// ---- widths.c
// Of the exchange that was just packed.
void channel_add_ranges(Channel *channel, const Poll *poll);

// ---- sample.c: all of it does nothing for a channel whose rows all travel
void channel_alloc_sample(Channel *channel, const Allocator *allocator);
void channel_open_sample(Channel *channel);
// Does the row of that id travel from `sender` to `reader`?
bool sample_draws(const CodecOptions *options, ExchangeContext context, int64_t id, int sender,
                  int reader);
// The rows of the exchange that begins, at both ends. The last one on these buffers is over.
void channel_draw(Channel *channel, ExchangeContext context, const Poll *poll);
void channel_draw_all(Channel *channel); // all rows, until the next exchange
// The rows of the plan's [sources | partial aggregates] that the current message holds.
typedef struct SendList {
    const int32_t *row;
    const DeviceInt32 *device_row;
} SendList;
SendList channel_send_list(const Channel *channel, int round);
// Moves the halo rows that a sampled message was decoded to where they belong, times 1/P; the
// others become zero.
void channel_spread(Channel *channel, Rows rows, int round);

// ---- receive.c
void channel_move(void *channel);        // of InFlight: progresses its messages
void channel_receive_all(void *channel); // of InFlight: what is left of an exchange
// Records a message in the trace, if there is one.
void channel_trace(Channel *channel, int round, int flow, double end);
void channel_note_read(Channel *channel); // after the work that reads the received rows
// Blocks until received messages are uploaded and decoded, so that new ones may arrive.
void channel_wait_decoded(Channel *channel);
// Blocks until a message has been received or sent.
void channel_wait_for(Channel *channel, int round, int flow);

// ---- schedules.c: the members of their family; a new one is a function in schedule.c, or a file
// of its own, a name here and a row there
extern const Schedule schedule_blocking, schedule_overlap, schedule_central, schedule_stale,
    schedule_skip;
