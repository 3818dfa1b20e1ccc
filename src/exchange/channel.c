// A channel: the rows of one layer and direction on their way to their readers. The idea: three
// buffers and a life of four states, each step asserting the one before it.
//
//   x --encode--> outbox ==flight==> inbox --check, decode--> landed --> the halo part
//
//   idle -pack-> packed -post-> flying -receive 0, 1, ... P-2-> landed -finish-> idle
//
// Landed rows are copies even where the codec is fp32: the next message may fly into the inbox
// while they are being read.

#include "channel.h"

#include <stdio.h>

static int64_t rows_of(const int64_t *offset, int group) {
    return offset[group + 1] - offset[group];
}

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

static size_t box_bytes(const Pattern *pattern, const int64_t *offset, const Codec *codec,
                        int64_t columns) {
    size_t bytes = 0;
    for (int g = 0; g + 1 < pattern->size; g++)
        bytes += aligned(codec->bytes(rows_of(offset, g), columns));
    return bytes;
}

static const int64_t *offsets(const Pattern *pattern, int side) {
    return side == INCOMING ? pattern->receive_offset : pattern->send_offset;
}

// --- making

// What stays the same in every header. A group without rows has no message.
static void lay_out(Channel *channel, int side, unsigned char *box) {
    const Pattern *p = channel->pattern;
    for (int g = 0; g < channel->flight.rounds; g++) {
        Stream *stream = &channel->flight.stream[g][side];
        int64_t rows = rows_of(offsets(p, side), g);
        stream->bytes = (int64_t)channel->codec->bytes(rows, channel->columns);
        stream->payload = box;
        if (side == OUTGOING)
            stream->header = (MessageHeader){.layer = (uint8_t)channel->layer,
                                             .direction = (uint8_t)channel->direction,
                                             .source = (uint32_t)p->rank,
                                             .target = (uint32_t)stream->peer,
                                             .columns = (uint32_t)channel->columns,
                                             .rows = (uint64_t)rows,
                                             .bytes = (uint64_t)stream->bytes};
        box += aligned((size_t)stream->bytes);
    }
}

Channel *channel_new(const Pattern *pattern, const Codec *codec, int64_t columns, int layer,
                     int direction, int64_t piece) {
    assert(columns > 0 && layer >= 0 && layer < 256);
    assert(direction == FORWARD || direction == BACKWARD);
    Channel *channel = TAKE(Channel, 1, "channel");
    *channel = (Channel){.pattern = pattern,
                         .codec = codec,
                         .columns = columns,
                         .layer = layer,
                         .direction = direction,
                         .poll = {channel_progress, channel}};
    channel->outbox = memory_take(box_bytes(pattern, pattern->send_offset, codec, columns),
                                  "messages on their way out");
    channel->inbox = memory_take(box_bytes(pattern, pattern->receive_offset, codec, columns),
                                 "messages on their way in");
    channel->landed = rows_take(pattern->halo_count, columns, "halo rows");
    flight_init(&channel->flight, pattern->comm, piece);
    lay_out(channel, OUTGOING, channel->outbox);
    lay_out(channel, INCOMING, channel->inbox);
    return channel;
}

void channel_free(Channel *channel) {
    if (channel == NULL)
        return;
    assert(channel->state == CHANNEL_IDLE || channel->state == CHANNEL_PACKED);
    flight_clear(&channel->flight);
    rows_give(&channel->landed);
    memory_give(channel->inbox);
    memory_give(channel->outbox);
    memory_give(channel);
}

void channel_plan(MemoryPlan *plan, const Pattern *pattern, const Codec *codec, int64_t columns) {
    memory_plan_add(plan, "messages",
                    box_bytes(pattern, pattern->send_offset, codec, columns) +
                        box_bytes(pattern, pattern->receive_offset, codec, columns) +
                        flight_bytes(pattern->size));
    memory_plan_add(plan, "halo rows", rows_bytes(pattern->halo_count, columns));
}

// --- time

static double begin_step(Channel *channel) {
    span_begin(channel->spans);
    return clock_seconds();
}

static void end_step(Channel *channel, double since, double *seconds, SpanKind kind) {
    span_end(channel->spans, kind);
    *seconds += clock_seconds() - since;
}

// --- the steps

void channel_pack(Channel *channel, Rows x, const float *right, uint32_t epoch) {
    const Pattern *p = channel->pattern;
    assert(channel->state == CHANNEL_IDLE);
    assert(x.count == p->sources && x.columns == channel->columns);
    double since = begin_step(channel);
    Poll beat = {channel_progress, channel}; // nothing flies yet; answers for this rank
    channel->epoch = epoch;
    channel->sequence++;
    for (int g = 0; g < channel->flight.rounds; g++) {
        Stream *stream = &channel->flight.stream[g][OUTGOING];
        if (stream->bytes == 0)
            continue;
        channel->codec->encode(stream->payload, x, right, p->send_row + p->send_offset[g],
                               rows_of(p->send_offset, g), &beat);
        stream->header.epoch = epoch;
        stream->header.sequence = channel->sequence;
        stream->header.payload =
            message_payload_checksum(stream->payload, (size_t)stream->bytes, &beat);
        message_seal(&stream->header);
    }
    channel->state = CHANNEL_PACKED;
    end_step(channel, since, &channel->seconds.pack, SPAN_PACK);
}

void channel_post(Channel *channel) {
    assert(channel->state == CHANNEL_PACKED);
    flight_post(&channel->flight);
    channel->received = 0;
    channel->state = CHANNEL_FLYING;
    if (channel->flight.rounds == 0)
        channel->state = CHANNEL_LANDED;
}

// Signs of life cost as much as moving messages and are needed far less often.
static const double beat_seconds = 5e-3;

void channel_progress(void *context) {
    Channel *channel = context;
    flight_progress(&channel->flight);
    double now = clock_seconds();
    if (now < channel->next_beat)
        return;
    channel->next_beat = now + beat_seconds;
    comm_beat(channel->pattern->comm);
}

// One wait ends with every piece that lands, so that slow is told from hung.
typedef struct Landing {
    Flight *flight;
    const Stream *stream;
    int64_t done;
} Landing;

static bool one_more(void *context) {
    Landing *landing = context;
    flight_progress(landing->flight);
    return landing->stream->done > landing->done ||
           landing->stream->done == landing->stream->pieces;
}

static void wait_for(Channel *channel, int group, int side) {
    Flight *flight = &channel->flight;
    const Stream *stream = &flight->stream[group][side];
    char what[128];
    snprintf(what, sizeof what, "the message of layer %d, %s, epoch %u %s rank %d", channel->layer,
             channel->direction == FORWARD ? "forward" : "backward", channel->epoch,
             side == INCOMING ? "from" : "to", stream->peer);
    while (stream->done < stream->pieces) {
        Landing landing = {flight, stream, stream->done};
        comm_wait_until(channel->pattern->comm, one_more, &landing, what);
    }
}

static void check_message(Channel *channel, const Stream *stream, int64_t rows) {
    MessageHeader expected = {.layer = (uint8_t)channel->layer,
                              .direction = (uint8_t)channel->direction,
                              .epoch = channel->epoch,
                              .source = (uint32_t)stream->peer,
                              .target = (uint32_t)channel->pattern->rank,
                              .columns = (uint32_t)channel->columns,
                              .sequence = channel->sequence,
                              .rows = (uint64_t)rows,
                              .bytes = (uint64_t)stream->bytes};
    Error err = {0};
    CHECK(message_check(&stream->header, &expected, stream->payload, &channel->poll, &err),
          EXIT_INTEGRITY, "%s", err.text);
}

void channel_receive(Channel *channel, int group) {
    const int64_t *offset = channel->pattern->receive_offset;
    assert(channel->state == CHANNEL_FLYING && group == channel->received);
    double since = begin_step(channel);
    wait_for(channel, group, INCOMING);
    end_step(channel, since, &channel->seconds.wait, SPAN_WAIT);

    const Stream *stream = &channel->flight.stream[group][INCOMING];
    if (stream->bytes > 0) {
        since = begin_step(channel);
        check_message(channel, stream, rows_of(offset, group));
        channel->codec->decode(channel->landed, offset[group], stream->payload,
                               rows_of(offset, group), &channel->poll);
        end_step(channel, since, &channel->seconds.unpack, SPAN_UNPACK);
    }
    channel->received++;
    if (channel->received == channel->flight.rounds)
        channel->state = CHANNEL_LANDED;
}

Rows channel_rows(const Channel *channel) { return channel->landed; }

void channel_finish(Channel *channel) {
    assert(channel->state == CHANNEL_LANDED);
    double since = begin_step(channel);
    for (int g = 0; g < channel->flight.rounds; g++)
        wait_for(channel, g, OUTGOING);
    end_step(channel, since, &channel->seconds.wait, SPAN_WAIT);
    channel->state = CHANNEL_IDLE;
}

// --- what it did

ChannelCount channel_count(const Channel *channel) {
    const Flight *flight = &channel->flight;
    return (ChannelCount){flight->bytes_sent, flight->bytes_received, flight->messages};
}

ChannelSeconds channel_seconds(const Channel *channel) { return channel->seconds; }

void channel_set_spans(Channel *channel, Spans *spans) { channel->spans = spans; }
