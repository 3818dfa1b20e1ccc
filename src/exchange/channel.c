// A channel: sends the rows of one layer and direction to their readers. It has a send buffer, a
// receive buffer and decoded rows, and four states; each step asserts the state before it.
//
//   x --encode--> send buffer ==transfer==> receive buffer --check, decode--> received --> the halo
//   part
//
//   idle -pack-> packed -post-> posted -receive 0, 1, ... P-2-> received -finish-> idle
//                               |------------------ in flight ----------------------|
//
// Received rows are copies even if the codec is fp32: the next message may arrive in the receive
// buffer while the rows are being read.

#include "channel.h"
#include "buffers.h"

#include <stdio.h>
#include <string.h>

// One message may be in many pieces, of which so many are under way, with as many tags in turn.
enum { ROUNDS_IN_FLIGHT = 4, PIECES_IN_FLIGHT = 16, TAGS = 30000 };

static void move(void *owner);
static void drain(void *owner);

// --- making

static RingForm ring_form(const CodecOptions *options) {
    return (RingForm){.piece = options->chunk,
                      .window = ROUNDS_IN_FLIGHT,
                      .in_flight = PIECES_IN_FLIGHT,
                      .headers = true,
                      .tags = TAGS};
}

static void alloc_widths(Channel *channel, const Allocator *allocator, int side) {
    const char *what = "widths of messages";
    Side *s = &channel->side[side];
    int rounds = channel->ring.rounds;
    s->bits = alloc_host(allocator, (size_t)channel_side_rows(channel->plan, side), what);
    s->widths = alloc_host(allocator, memory_product(rounds, sizeof *s->widths), what);
    for (int g = 0; g < rounds; g++)
        widths_alloc(s->widths != NULL ? &s->widths[g] : &(Widths){0}, allocator,
                     channel_group_rows(channel->plan, side, g));
}

// Allocates or plans everything that belongs to the channel alone.
static void alloc_channel(Channel *channel, const Allocator *allocator) {
    RingForm form = ring_form(&channel->options);
    int size = channel->plan->size;
    endpoint_alloc(&channel->endpoint, allocator->plan, ring_slots(&form, size));
    ring_transfer_alloc(&channel->ring, allocator->plan, size, form);
    size_t places = (size_t)(channel->ring.rounds + 1) * sizeof(size_t);
    for (int side = 0; side < SIDES; side++) {
        channel->side[side].place = alloc_host(allocator, places, "messages");
        if (channel->options.codec->has_widths)
            alloc_widths(channel, allocator, side);
    }
    channel_alloc_device(channel, allocator);
    row_memories_alloc(&channel->memories, channel, allocator);
}

static void fill_side(Channel *channel, int side) {
    Side *s = &channel->side[side];
    for (int g = 0; g < channel->ring.rounds; g++) {
        int64_t rows = channel_group_rows(channel->plan, side, g);
        s->place[g + 1] = s->place[g] + message_room(&channel->options, rows, channel->columns);
        if (s->widths != NULL)
            widths_fill(&s->widths[g], channel->options.width);
    }
    if (s->bits != NULL)
        memset(s->bits, channel->options.width, (size_t)channel_side_rows(channel->plan, side));
}

static void free_side(Side *side, int rounds) {
    for (int g = 0; side->widths != NULL && g < rounds; g++)
        widths_clear(&side->widths[g]);
    memory_free(side->widths);
    memory_free(side->bits);
    memory_free(side->place);
}

static MessageLayout layout_of(const Channel *channel, int side, int group) {
    const Side *s = &channel->side[side];
    return (MessageLayout){.rows = channel_group_rows(channel->plan, side, group),
                           .columns = channel->columns,
                           .values = channel->options.values,
                           .widths = s->widths != NULL ? &s->widths[group] : NULL};
}

// A group without rows has no message.
static void lay_out_side(Channel *channel, int side) {
    for (int g = 0; g < channel->ring.rounds; g++) {
        Transfer *transfer = &channel->ring.transfer[g][side];
        MessageLayout layout = layout_of(channel, side, g);
        transfer->bytes = (int64_t)channel->codec->bytes(&layout);
        transfer->payload = channel->buffers->message[side] + channel->side[side].place[g];
        if (side == OUTGOING)
            transfer->header = (MessageHeader){.layer = (uint8_t)channel->id.layer,
                                               .direction = (uint8_t)channel->id.direction,
                                               .source = (uint32_t)channel->plan->rank,
                                               .target = (uint32_t)transfer->peer,
                                               .columns = (uint32_t)channel->columns,
                                               .rows = (uint64_t)layout.rows,
                                               .bytes = (uint64_t)transfer->bytes};
    }
}

void channel_lay_out(Channel *channel, const Codec *codec) {
    channel->codec = codec;
    for (int side = 0; side < SIDES; side++)
        lay_out_side(channel, side);
}

static Channel channel_of(const HaloPlan *plan, const CodecOptions *options, int64_t columns) {
    return (Channel){.plan = plan, .options = *options, .exact = exact_codec(), .columns = columns};
}

Channel *channel_new(ExchangeBuffers *buffers, const HaloPlan *plan, const CodecOptions *options,
                     int64_t columns, ExchangeId id) {
    assert(columns > 0 && id.layer >= 0 && id.layer < 256);
    assert(id.direction == FORWARD || id.direction == BACKWARD);
    Channel *channel = ALLOC(Channel, 1, "channel");
    *channel = channel_of(plan, options, columns);
    channel->buffers = buffers;
    channel->id = id;
    channel->poll = (Poll){channel_progress, channel};
    channel->in_flight = (InFlight){.move = move, .drain = drain, .owner = channel};
    BufferSizes size = buffer_sizes(plan, options, columns);
    buffers_fit(buffers, &size);
    alloc_channel(channel, &(Allocator){.backend = buffers->backend});
    endpoint_open(&channel->endpoint, plan->comm);
    ring_transfer_open(&channel->ring, &channel->endpoint, 0);
    for (int i = 0; i < 2; i++)
        channel->made[i] = buffers->backend->event_new();
    fill_side(channel, OUTGOING);
    fill_side(channel, INCOMING);
    row_memories_fill(&channel->memories, channel);
    return channel;
}

void channel_free(Channel *channel) {
    if (channel == NULL)
        return;
    channel_drain(channel);
    if (channel->buffers->user == channel)
        channel->buffers->user = NULL;
    row_memories_clear(&channel->memories, channel->buffers->backend);
    channel_free_device(channel);
    free_side(&channel->side[INCOMING], channel->ring.rounds);
    free_side(&channel->side[OUTGOING], channel->ring.rounds);
    ring_transfer_clear(&channel->ring);
    endpoint_clear(&channel->endpoint);
    memory_free(channel);
}

void channel_plan(MemoryPlan *plan, BufferSizes *most, const Backend *backend, const HaloPlan *halo,
                  const CodecOptions *options, int64_t columns) {
    BufferSizes size = buffer_sizes(halo, options, columns);
    buffer_sizes_add(most, &size);
    Channel channel = channel_of(halo, options, columns);
    alloc_channel(&channel, &(Allocator){.backend = backend, .plan = plan});
}

// --- time

static double begin_step(Channel *channel) {
    timer_begin(stream_timer_timers(channel->timer));
    return clock_seconds();
}

static void end_step(Channel *channel, double since, double *seconds, TimerKind kind) {
    timer_end(stream_timer_timers(channel->timer), kind);
    *seconds += clock_seconds() - since;
}

// --- the steps

static void encode(Channel *channel, int group, const RowSource *rows, ExchangeContext context,
                   const Poll *beat) {
    const HaloPlan *p = channel->plan;
    Transfer *transfer = &channel->ring.transfer[group][OUTGOING];
    int64_t first = p->send_offset[group];
    MessageLayout layout = layout_of(channel, OUTGOING, group);
    MessageSource source = {
        .x = rows->x,
        .scale = rows->right,
        .sums = rows->sums,
        .row = int32_window(channel->send_row, first),
        .stream = random_stream(context.seed, RANDOM_ROUNDING, context.epoch, channel->id.layer,
                                channel->id.direction),
        .gid = channel->source_id,
        .peer = transfer->peer,
        .sum_peer = p->rank,
        .range = channel->device_range != NULL ? flat_window(channel->device_range, first) : NULL};
    row_memories_before_encode(channel, group, &source, beat);
    channel->codec->encode(channel->buffers->backend, channel_message(channel, OUTGOING, group),
                           &layout, &source, int64_window(channel->device_bad, group), beat);
    row_memories_after_encode(channel, group, &layout, beat);
    channel_download_message(channel, group, beat);
}

// A row that cannot be sent ends the job.
static void check_rows(const Channel *channel, int group) {
    const HaloPlan *p = channel->plan;
    int64_t bad = channel->bad[group] - 1;
    int64_t id = bad < 0 ? 0 : p->source_id[p->send_row[p->send_offset[group] + bad]];
    CHECK(bad < 0, EXIT_DIVERGED,
          "layer %d, %s, epoch %u: the row %s node %lld holds a value that is not finite, or too "
          "wide a range; lower train.lr or set train.clip_norm",
          channel->id.layer, direction_name(channel->id.direction), channel->epoch,
          id < 0 ? "of the partial sum for" : "of", (long long)(id < 0 ? -1 - id : id));
}

// Waits until the message is made and fills in its header.
static void seal(Channel *channel, int group, const Poll *beat) {
    Transfer *transfer = &channel->ring.transfer[group][OUTGOING];
    if (transfer->bytes == 0)
        return;
    channel_wait_made(channel, group, beat);
    check_rows(channel, group);
    transfer->header.epoch = channel->epoch;
    transfer->header.sequence = channel->sequence;
    transfer->header.payload = channel_checksum(channel, OUTGOING, group, beat);
    message_seal(&transfer->header);
}

// The next message is encoded while the host seals one.
static void make_messages(Channel *channel, const RowSource *rows, ExchangeContext context,
                          const Poll *beat) {
    int groups = channel->ring.rounds;
    channel_encode_begin(channel);
    for (int g = 0; g < groups; g++) {
        if (channel->ring.transfer[g][OUTGOING].bytes > 0)
            encode(channel, g, rows, context, beat);
        if (g > 0)
            seal(channel, g - 1, beat);
    }
    if (groups > 0)
        seal(channel, groups - 1, beat);
}

void channel_pack(Channel *channel, const RowSource *rows, ExchangeContext context) {
    assert(channel->state == CHANNEL_IDLE && buffers_are_free(channel->buffers));
    assert(rows->x.count == channel->plan->sources && rows->x.columns == channel->columns);
    assert(rows->sums.count == channel->plan->partials);
    double since = begin_step(channel);
    Poll beat = {channel_progress,
                 channel}; // answers heartbeats; its own messages are not posted yet
    channel->buffers->user = channel;
    bool exact = context.exact || channel->always_exact;
    channel_lay_out(channel, exact ? channel->exact : channel->options.codec);
    channel->epoch = context.epoch;
    channel->sequence++;
    channel->memories.used = !exact;
    make_messages(channel, rows, context, &beat);
    if (channel->codec->has_widths)
        channel_add_ranges(channel, &beat);
    channel->state = CHANNEL_PACKED;
    end_step(channel, since, &channel->seconds.pack, TIMER_PACK);
}

void channel_set_exact(Channel *channel, bool exact) {
    if (channel->always_exact != exact)
        channel_drain(channel);
    channel->always_exact = exact;
}

bool channel_is_exact(const Channel *channel) { return channel->always_exact; }

static void trace_message(Channel *channel, int group, int side, double end) {
    const Transfer *transfer = &channel->ring.transfer[group][side];
    if (channel->timer == NULL || transfer->bytes == 0)
        return;
    trace_add(stream_timer_timers(channel->timer)->trace,
              (TraceEvent){.begin = channel->posted_at,
                           .end = end,
                           .peer = transfer->peer,
                           .kind = side == OUTGOING ? TRACE_POST : TRACE_MESSAGE,
                           .layer = (int16_t)channel->id.layer,
                           .direction = (int16_t)channel->id.direction});
}

void channel_post(Channel *channel) {
    assert(channel->state == CHANNEL_PACKED);
    channel_wait_decoded(channel);
    channel->posted_at = clock_seconds();
    ring_transfer_post(&channel->ring);
    channel->traced = 0;
    for (int g = 0; g < channel->ring.rounds; g++)
        trace_message(channel, g, OUTGOING, channel->posted_at);
    channel->received = 0;
    channel->state = CHANNEL_POSTED;
    if (channel->ring.rounds == 0)
        channel->state = CHANNEL_RECEIVED;
    in_flight_add(&channel->in_flight);
}

// Messages complete roughly in ring order; one that completes early is recorded when its
// predecessor completes.
static void note_landing(Channel *channel) {
    if (channel->posted_at == 0)
        return;
    for (; channel->traced < channel->ring.rounds; channel->traced++) {
        const Transfer *transfer = &channel->ring.transfer[channel->traced][INCOMING];
        if (transfer->done < transfer->pieces)
            return;
        trace_message(channel, channel->traced, INCOMING, clock_seconds());
    }
    channel->seconds.transfer += clock_seconds() - channel->posted_at;
    channel->posted_at = 0;
}

static void move(void *owner) {
    Channel *channel = owner;
    ring_transfer_progress(&channel->ring);
    note_landing(channel);
}

void channel_progress(void *context) {
    const Channel *channel = context;
    wire_progress((void *)channel->plan->comm);
}

// A header is checked as soon as it has arrived, because the rest of a message that is too short
// would never arrive. `checksum` of the payload; NULL: checks only the header.
static void check_message(Channel *channel, int group, const uint64_t *checksum) {
    const Transfer *transfer = &channel->ring.transfer[group][INCOMING];
    MessageHeader expected = {
        .layer = (uint8_t)channel->id.layer,
        .direction = (uint8_t)channel->id.direction,
        .epoch = channel->epoch,
        .source = (uint32_t)transfer->peer,
        .target = (uint32_t)channel->plan->rank,
        .columns = (uint32_t)channel->columns,
        .sequence = channel->sequence,
        .rows = (uint64_t)channel_group_rows(channel->plan, INCOMING, group),
        .bytes = (uint64_t)transfer->bytes,
    };
    Error err = {0};
    CHECK(message_check(&transfer->header, &expected, checksum, &err), EXIT_INTEGRITY, "%s",
          err.text);
}

// Each piece is a wait of its own, so that the time limit tells a slow network from a hung rank.
typedef struct Landing {
    RingTransfer *ring;
    const Transfer *transfer;
    int64_t done;
} Landing;

static bool one_more(void *context) {
    Landing *landing = context;
    ring_transfer_progress(landing->ring);
    return landing->transfer->done > landing->done ||
           landing->transfer->done == landing->transfer->pieces;
}

void channel_wait_for(Channel *channel, int group, int side) {
    RingTransfer *ring = &channel->ring;
    const Transfer *transfer = &ring->transfer[group][side];
    char what[128];
    snprintf(what, sizeof what, "the message of layer %d, %s, epoch %u %s rank %d",
             channel->id.layer, direction_name(channel->id.direction), channel->epoch,
             side == INCOMING ? "from" : "to", transfer->peer);
    while (transfer->done < transfer->pieces) {
        Landing landing = {ring, transfer, transfer->done};
        comm_wait_until(channel->plan->comm, one_more, &landing, what);
        if (side == INCOMING && transfer->header_done && channel->state == CHANNEL_POSTED)
            check_message(channel, group, NULL);
    }
}

void channel_receive(Channel *channel, int group) {
    assert(channel->state == CHANNEL_POSTED && group == channel->received);
    double since = begin_step(channel);
    channel_wait_for(channel, group, INCOMING);
    note_landing(channel);
    end_step(channel, since, &channel->seconds.wait, TIMER_WAIT);

    const Transfer *transfer = &channel->ring.transfer[group][INCOMING];
    if (group == 0) // it may have no rows
        channel_decode_begin(channel);
    if (transfer->bytes > 0) {
        since = clock_seconds();
        stream_timer_begin(channel->timer, STREAM_MESSAGE, TIMER_UNPACK);
        uint64_t checksum = channel_checksum(channel, INCOMING, group, &channel->poll);
        check_message(channel, group, &checksum);
        MessageLayout layout = layout_of(channel, INCOMING, group);
        channel_decode(channel, group, &layout);
        stream_timer_end(channel->timer);
        channel->seconds.unpack += clock_seconds() - since;
    }
    channel->received++;
    if (channel->received == channel->ring.rounds)
        channel->state = CHANNEL_RECEIVED;
}

Rows channel_rows(const Channel *channel) {
    assert(channel->buffers->user == channel);
    return (Rows){channel->buffers->received, channel->plan->halo_count, channel->columns,
                  rows_stride(channel->columns)};
}

void channel_finish(Channel *channel) {
    assert(channel->state == CHANNEL_RECEIVED);
    double since = begin_step(channel);
    for (int g = 0; g < channel->ring.rounds; g++)
        channel_wait_for(channel, g, OUTGOING);
    end_step(channel, since, &channel->seconds.wait, TIMER_WAIT);
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

static void drain(void *owner) {
    Channel *channel = owner;
    for (int group = channel->received; group < channel->ring.rounds; group++)
        channel_receive(channel, group);
    channel_finish(channel);
}

void channel_drain(Channel *channel) {
    if (channel_in_flight(channel))
        drain(channel);
}

// --- what it did

ChannelCount channel_count(const Channel *channel) {
    const RingTransfer *ring = &channel->ring;
    return (ChannelCount){ring->bytes_sent, ring->bytes_received, ring->messages};
}

ChannelSeconds channel_seconds(const Channel *channel) { return channel->seconds; }

void channel_set_timer(Channel *channel, StreamTimer *timer) { channel->timer = timer; }
