// Moving the messages of a channel, and receiving them round by round.

#include "buffers.h"

void channel_trace(Channel *channel, int round, int flow, double end) {
    const Transfer *transfer = &channel->ring.transfer[round][flow];
    const Timers *timers = timers_in_use();
    if (timers == NULL || transfer->bytes == 0)
        return;
    trace_add(timers->trace, (TraceEvent){.begin = channel->posted_at,
                                          .end = end,
                                          .peer = transfer->peer,
                                          .kind = flow == OUTGOING ? TRACE_POST : TRACE_MESSAGE,
                                          .layer = (int16_t)channel->id.layer,
                                          .direction = (int16_t)channel->id.direction});
}

// Messages complete roughly in ring order; one that completes early is recorded when its
// predecessor completes.
static void note_messages_done(Channel *channel) {
    if (channel->posted_at == 0)
        return;
    for (; channel->traced < channel->ring.rounds; channel->traced++) {
        const Transfer *transfer = &channel->ring.transfer[channel->traced][INCOMING];
        if (transfer->done < transfer->pieces)
            return;
        channel_trace(channel, channel->traced, INCOMING, clock_seconds());
    }
    channel->seconds.transfer += clock_seconds() - channel->posted_at;
    channel->posted_at = 0;
}

void channel_move(void *owner) {
    Channel *channel = owner;
    ring_transfer_progress(&channel->ring);
    note_messages_done(channel);
}

void channel_progress(void *context) {
    const Channel *channel = context;
    wire_progress((void *)channel->plan->comm);
}

// A header is checked as soon as it has arrived, because the rest of a message that is too short
// would never arrive. `checksum` of the payload; NULL: checks only the header.
static void check_message(const Transfer *transfer, const uint64_t *checksum) {
    Error err = {0};
    MessageHeader expected = transfer->expected;
    expected.bytes = (uint64_t)transfer->bytes;
    CHECK(message_check(&transfer->header, &expected, checksum, &err), EXIT_INTEGRITY, "%s",
          err.text);
}

// Each piece is a wait of its own, so that the time limit tells a slow network from a hung rank.
typedef struct MessageWait {
    RingTransfer *ring;
    const Transfer *transfer;
    int64_t done;
} MessageWait;

static bool one_more(void *context) {
    MessageWait *waiting = context;
    ring_transfer_progress(waiting->ring);
    return waiting->transfer->done > waiting->done ||
           waiting->transfer->done == waiting->transfer->pieces;
}

void channel_wait_for(Channel *channel, int round, int flow) {
    RingTransfer *ring = &channel->ring;
    const Transfer *transfer = &ring->transfer[round][flow];
    char what[128];
    snprintf(what, sizeof what, "the message of layer %d, %s, epoch %u %s rank %d",
             channel->id.layer, direction_name(channel->id.direction), channel->epoch,
             flow == INCOMING ? "from" : "to", transfer->peer);
    while (transfer->done < transfer->pieces) {
        MessageWait waiting = {ring, transfer, transfer->done};
        comm_wait_until(channel->plan->comm, one_more, &waiting, what);
        if (flow == INCOMING && transfer->header_done && channel->state == CHANNEL_POSTED)
            check_message(transfer, NULL);
    }
}

// Decoding waits until the rows of the previous exchange, which it overwrites, have been read.
static void wait_for_readers(Channel *channel) {
    const ExchangeBuffers *buffers = channel->buffers;
    buffers->backend->stream_wait(STREAM_MESSAGE, buffers->rows_read);
}

static void decode(Channel *channel, int round) {
    const Transfer *transfer = &channel->ring.transfer[round][INCOMING];
    MessageBox *box = &channel->box[INCOMING];
    uint64_t checksum = box_checksum(box, round, transfer->bytes, &channel->poll);
    check_message(transfer, &checksum);
    box_decode(box, round, channel->step, channel_rows(channel),
               channel->plan->receive_offset[round], transfer->bytes, &channel->poll);
}

// Makes the halo rows of a round.
static void make_rows(Channel *channel, int round) {
    const ExchangeBuffers *buffers = channel->buffers;
    double since = clock_seconds();
    if (box_rows(&channel->box[INCOMING], round) > 0)
        decode(channel, round);
    if (channel->sample.on)
        channel_spread(channel, channel_rows(channel), round);
    buffers->backend->event_record(buffers->decoded, STREAM_MESSAGE);
    buffers->backend->stream_wait(STREAM_COMPUTE, buffers->decoded);
    channel->seconds.unpack += clock_seconds() - since;
}

// Not where there are no rows, or those of an exchange before are kept.
static bool arrived(const Channel *channel, int round) {
    bool left_out = channel_may_skip(channel) && channel->ring.transfer[round][INCOMING].bytes == 0;
    return box_rows(&channel->box[INCOMING], round) > 0 && !left_out;
}

void channel_note_read(Channel *channel) {
    channel->buffers->backend->event_record(channel->buffers->rows_read, STREAM_COMPUTE);
}

void channel_wait_decoded(Channel *channel) {
    channel->buffers->backend->event_wait(channel->buffers->decoded, &channel->poll);
}

void channel_receive(Channel *channel, int round) {
    assert(channel->state == CHANNEL_POSTED && round == channel->received);
    double since = channel_begin_step();
    channel_wait_for(channel, round, INCOMING);
    note_messages_done(channel);
    channel_end_step(since, &channel->seconds.wait, TIMER_WAIT);

    if (round == 0) { // it may have no rows
        wait_for_readers(channel);
        channel->rows_are = channel->step.rows_are;
    }
    if (arrived(channel, round) || channel->sample.on)
        make_rows(channel, round);
    channel->received++;
    if (channel->received == channel->ring.rounds)
        channel->state = CHANNEL_RECEIVED;
}

Rows channel_rows(const Channel *channel) {
    assert(channel->buffers->user == channel);
    return (Rows){.at = channel->buffers->received,
                  .count = channel->plan->halo_count,
                  .columns = channel->columns,
                  .stride = rows_stride(channel->columns),
                  .type = channel->rows_are};
}

void channel_finish(Channel *channel) {
    assert(channel->state == CHANNEL_RECEIVED);
    double since = channel_begin_step();
    for (int g = 0; g < channel->ring.rounds; g++)
        channel_wait_for(channel, g, OUTGOING);
    channel_end_step(since, &channel->seconds.wait, TIMER_WAIT);
    in_flight_remove(&channel->in_flight);
    channel->has_rows = true;
    channel->state = CHANNEL_IDLE;
}

// --- in flight

bool channel_in_flight(const Channel *channel) {
    return channel->state == CHANNEL_POSTED || channel->state == CHANNEL_RECEIVED;
}

bool channel_has_rows(const Channel *channel) {
    assert(channel->state == CHANNEL_IDLE);
    return channel->has_rows && channel->buffers->user == channel;
}

void channel_receive_all(void *owner) {
    Channel *channel = owner;
    for (int round = channel->received; round < channel->ring.rounds; round++)
        channel_receive(channel, round);
    channel_finish(channel);
}

void channel_rows_zero(Channel *channel) {
    ExchangeBuffers *buffers = channel->buffers;
    assert(channel->state == CHANNEL_IDLE && buffers_are_free(buffers));
    buffers->user = channel;
    wait_for_readers(channel);
    buffers->backend->message_zero(buffers->received, buffers->size.received);
    buffers->backend->event_record(buffers->decoded, STREAM_MESSAGE);
    buffers->backend->stream_wait(STREAM_COMPUTE, buffers->decoded);
    channel->has_rows = true;
}

void channel_drain(Channel *channel) {
    if (channel_in_flight(channel))
        channel_receive_all(channel);
}
