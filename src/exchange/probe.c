// Measures single ring steps with a channel's ring and buffers; the assigner fits link models to
// the times. All ranks run the same step and block, because a polled overlap would hide the speed
// of a link.

#include "buffers.h"

static int64_t bytes_of(const Channel *channel, int64_t rows, int bits) {
    Widths widths = {.count = rows};
    MessageLayout layout = {.rows = rows,
                            .columns = channel->columns,
                            .values = channel->options.values,
                            .widths = &widths};
    widths.of[bits] = rows;
    return (int64_t)channel->options.codec->bytes(&layout);
}

int64_t channel_row_bytes(const Channel *channel, int bits) { return bytes_of(channel, 1, bits); }

int64_t channel_round_bytes(const Channel *channel, int round, bool sent, int bits) {
    int64_t rows = channel_round_rows(channel->plan, sent ? OUTGOING : INCOMING, round);
    return bytes_of(channel, rows, bits);
}

double channel_time_round(Channel *channel, int round, int64_t sent, int64_t received) {
    RingTransfer *ring = &channel->ring;
    wire_drain();
    assert(buffers_are_free(channel->buffers) && round < ring->rounds);
    channel_draw_all(channel);
    channel_lay_out(channel,
                    (BoxStep){.codec = channel->options.codec, .exchange = 0}); // for the places
    for (int g = 0; g < ring->rounds; g++) {
        ring->transfer[g][OUTGOING].bytes = g == round ? sent : 0;
        ring->transfer[g][INCOMING].bytes = g == round ? received : 0;
    }
    channel_wait_decoded(channel);
    comm_barrier(channel->plan->comm);
    double begin = clock_seconds();
    ring_transfer_post(ring);
    channel_wait_for(channel, round, INCOMING);
    double seconds = clock_seconds() - begin;
    channel_wait_for(channel, round, OUTGOING);
    return seconds;
}
