// Packing the rows of an exchange into messages, and posting them.

#include "buffers.h"

// Encoding waits until the compute stream has made the rows.
static void wait_for_rows(Channel *channel) {
    const ExchangeBuffers *buffers = channel->buffers;
    buffers->backend->event_record(buffers->rows_ready, STREAM_COMPUTE);
    buffers->backend->stream_wait(STREAM_MESSAGE, buffers->rows_ready);
}

static MessageSource source_of(const Channel *channel, int round, const RowSource *rows,
                               ExchangeContext context) {
    return (MessageSource){
        .x = rows->x,
        .scale = channel->step.rows_are == ROWS_BF16 ? NULL : rows->right,
        .partials = rows->partials,
        .row = channel_send_list(channel, round).device_row,
        .random = random_of_kind(random_key(context.seed, RANDOM_ROUNDING, context.epoch,
                                            channel->id.layer, channel->id.direction),
                                 context.random),
        .gid = channel->source_id,
        .peer = channel->ring.transfer[round][OUTGOING].peer,
        .partial_peer = channel->plan->rank};
}

static void encode(Channel *channel, int round, const RowSource *rows, ExchangeContext context,
                   const Poll *beat) {
    const HaloPlan *p = channel->plan;
    MessageBox *box = &channel->box[OUTGOING];
    Transfer *transfer = &channel->ring.transfer[round][OUTGOING];
    MessageSource source = source_of(channel, round, rows, context);
    int64_t begin = p->send_offset[round], count = p->send_offset[round + 1] - begin;
    // Rows come before partial aggregates in every round, since its list ascends.
    int64_t own = sort_below(p->send_row + begin, count, p->sources);
    transfer->bytes = box_encode(box, round, channel->step, source, own, beat);
    transfer->header.bytes = (uint64_t)transfer->bytes;
    box_download(box, round, transfer->bytes, beat);
}

// A row that cannot be sent ends the job.
static void check_rows(const Channel *channel, int round) {
    const HaloPlan *p = channel->plan;
    int64_t bad = channel->box[OUTGOING].bad[round] - 1;
    int64_t id = bad < 0 ? 0 : p->source_id[channel_send_list(channel, round).row[bad]];
    CHECK(bad < 0, EXIT_DIVERGED,
          "layer %d, %s, epoch %u: the row %s node %ld holds a value that is not finite, or too "
          "wide a range; lower train.lr or set train.clip_norm",
          channel->id.layer, direction_name(channel->id.direction), channel->epoch,
          id < 0 ? "of the partial aggregate for" : "of", id < 0 ? -1 - id : id);
}

// Of a message that is left out a header goes, without a payload.
static void leave_out(Channel *channel, int round) {
    Transfer *transfer = &channel->ring.transfer[round][OUTGOING];
    transfer->bytes = 0;
    transfer->header.bytes = 0;
    message_seal(&transfer->header);
    channel->skipped++;
}

// Waits until the message is made and fills in its header.
static void seal(Channel *channel, int round, const Poll *beat) {
    Transfer *transfer = &channel->ring.transfer[round][OUTGOING];
    MessageBox *box = &channel->box[OUTGOING];
    if (box_rows(box, round) == 0)
        return;
    if (!channel_sends(channel, round)) {
        leave_out(channel, round);
        return;
    }
    box_wait_made(box, round, beat);
    check_rows(channel, round);
    transfer->header.payload = box_checksum(box, round, transfer->bytes, beat);
    message_seal(&transfer->header);
}

// The next message is encoded while the host seals one.
static void make_messages(Channel *channel, const RowSource *rows, ExchangeContext context,
                          const Poll *beat) {
    int rounds = channel->ring.rounds;
    wait_for_rows(channel);
    box_encode_begin(&channel->box[OUTGOING]);
    for (int g = 0; g < rounds; g++) {
        if (box_rows(&channel->box[OUTGOING], g) > 0 && channel_sends(channel, g))
            encode(channel, g, rows, context, beat);
        if (g > 0)
            seal(channel, g - 1, beat);
    }
    if (rounds > 0)
        seal(channel, rounds - 1, beat);
}

static BoxStep next_step(Channel *channel, ExchangeContext context) {
    bool exact = context.full_precision || channel->never_coded;
    BoxStep step = box_step(&channel->options, exact ? 0 : ++channel->exchanges);
    step.direct = !exact && channel->direct;
    return step;
}

// Polls that answer heartbeats: the channel's own messages are not posted yet.
static Poll begin(Channel *channel, UNUSED const RowSource *rows) {
    assert(channel->state == CHANNEL_IDLE && buffers_are_free(channel->buffers));
    assert(rows->x.count == channel->plan->sources && rows->x.columns == channel->columns);
    assert(rows->partials.count == channel->plan->partials);
    assert(rows->partials.count == 0 || rows->partials.type == rows->x.type);
    assert(channel->options.rows == ROWS_FP32 || rows->x.type == ROWS_BF16);
    channel->buffers->user = channel;
    return (Poll){channel_progress, channel};
}

const double *channel_measure(Channel *channel, const RowSource *rows, ExchangeContext context) {
    assert(channel->options.skips);
    double since = channel_begin_step();
    Poll beat = begin(channel, rows);
    MessageBox *box = &channel->box[OUTGOING];
    wait_for_rows(channel);
    for (int g = 0; g < channel->ring.rounds; g++)
        if (box_rows(box, g) > 0)
            box_measure(box, g, source_of(channel, g, rows, context), &beat);
    box_download_distances(box, &beat);
    channel_end_step(since, &channel->seconds.pack, TIMER_PACK);
    return box->distance;
}

// Whoever has never got a message needs one.
static void choose(Channel *channel, const bool *send) {
    for (int g = 0; channel_may_skip(channel) && g < channel->ring.rounds; g++) {
        channel->sends[g] = send == NULL || send[g];
        assert(channel->sends[g] || channel->age[g] > 0);
        channel->age[g] = channel->sends[g] ? 1 : channel->age[g] + 1;
    }
}

void channel_pack_some(Channel *channel, const RowSource *rows, ExchangeContext context,
                       const bool *send) {
    double since = channel_begin_step();
    Poll beat = begin(channel, rows);
    channel->epoch = context.epoch;
    channel->sequence++;
    channel_draw(channel, context, &beat);
    channel_lay_out(channel, next_step(channel, context));
    choose(channel, send);
    make_messages(channel, rows, context, &beat);
    if (channel->step.codec->has_widths)
        channel_add_ranges(channel, &beat);
    channel->state = CHANNEL_PACKED;
    channel_end_step(since, &channel->seconds.pack, TIMER_PACK);
}

void channel_pack(Channel *channel, const RowSource *rows, ExchangeContext context) {
    channel_pack_some(channel, rows, context, NULL);
}

void channel_post(Channel *channel) {
    assert(channel->state == CHANNEL_PACKED);
    channel_wait_decoded(channel);
    channel->posted_at = clock_seconds();
    ring_transfer_post(&channel->ring);
    channel->traced = 0;
    for (int g = 0; g < channel->ring.rounds; g++)
        channel_trace(channel, g, OUTGOING, channel->posted_at);
    for (int g = 0; g < channel->ring.rounds; g++)
        channel->rows_sent += channel_sends(channel, g) ? box_rows(&channel->box[OUTGOING], g) : 0;
    channel->received = 0;
    channel->state = CHANNEL_POSTED;
    if (channel->ring.rounds == 0)
        channel->state = CHANNEL_RECEIVED;
    in_flight_add(&channel->in_flight);
}
