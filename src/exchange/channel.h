// What a Channel is made of: for channel.c, and for tests that damage a message on its way.
#ifndef FRINGE_SRC_EXCHANGE_CHANNEL_H
#define FRINGE_SRC_EXCHANGE_CHANNEL_H

#include "flight.h"
#include "fringe/exchange.h"

typedef enum ChannelState {
    CHANNEL_IDLE,
    CHANNEL_PACKED,
    CHANNEL_FLYING,
    CHANNEL_LANDED
} ChannelState;

struct Channel {
    const Pattern *pattern; // borrowed
    const Codec *codec;
    int64_t columns;
    int layer, direction;
    ChannelState state;
    int received;                  // groups, in order
    uint32_t epoch;                // of the exchange
    uint64_t sequence;             // number of the exchange
    unsigned char *outbox, *inbox; // owned; the groups one after the other, each 64-byte aligned
    Rows landed;                   // [H, columns] owned
    Flight flight;
    Poll poll;        // channel_progress on this channel
    double next_beat; // clock_seconds() from which channel_progress answers for this rank again
    Spans *spans;     // borrowed; may be NULL
    ChannelSeconds seconds;
};

#endif
