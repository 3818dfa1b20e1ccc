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

// One message may be in many pieces, of which so many are under way, with as many tags in turn.
enum { ROUNDS_IN_FLIGHT = 4, PIECES_IN_FLIGHT = 16, TAGS = 30000 };

// --- making

static RingForm ring_form(const CodecOptions *options) {
    return (RingForm){.piece = options->chunk,
                      .rounds_in_flight = ROUNDS_IN_FLIGHT,
                      .in_flight = PIECES_IN_FLIGHT,
                      .headers = true,
                      .tags = TAGS};
}

static MessageBox box_of(const Channel *channel, const Backend *backend, int flow) {
    return (MessageBox){.backend = backend,
                        .options = &channel->options,
                        .end = flow == OUTGOING ? RESIDUAL_SENDER : RESIDUAL_READER,
                        .columns = channel->columns,
                        .count = channel->plan->size - 1,
                        .offset = channel_offsets(channel->plan, flow)};
}

// Allocates or plans everything that belongs to the channel alone.
static void alloc_channel(Channel *channel, const Allocator *allocator) {
    const HaloPlan *p = channel->plan;
    RingForm form = ring_form(&channel->options);
    const char *skips = "messages that may be left out";
    size_t ids = (size_t)(p->sources + p->partials) * sizeof(int64_t);
    size_t places = (size_t)channel_flow_rows(p, OUTGOING) * sizeof(int32_t);
    endpoint_alloc(&channel->endpoint, allocator, ring_slots(&form, p->size));
    ring_transfer_alloc(&channel->ring, allocator, p->size, form);
    for (int flow = 0; flow < FLOWS; flow++) {
        channel->box[flow] = box_of(channel, allocator->backend, flow);
        box_alloc(&channel->box[flow], allocator);
    }
    channel_alloc_sample(channel, allocator);
    channel->send_row = alloc_mirror(allocator, p->send_row, places, "send lists");
    channel->source_id = alloc_mirror(allocator, p->source_id, ids, "send lists");
    if (channel->options.skips) {
        channel->sends = alloc_host(allocator, (size_t)p->size * sizeof *channel->sends, skips);
        channel->age = alloc_host(allocator, (size_t)p->size * sizeof *channel->age, skips);
    }
    if (channel->options.codec->has_widths)
        channel->ranges.square =
            alloc_host(allocator, (size_t)channel_flow_rows(p, OUTGOING) * sizeof(float),
                       "ranges of messages");
}

// A round without rows has no message.
static void lay_out_flow(Channel *channel, int flow) {
    for (int g = 0; g < channel->ring.rounds; g++) {
        Transfer *transfer = &channel->ring.transfer[g][flow];
        int64_t rows = box_rows(&channel->box[flow], g);
        uint32_t rank = (uint32_t)channel->plan->rank, peer = (uint32_t)transfer->peer;
        MessageHeader header = {.layer = (uint8_t)channel->id.layer,
                                .direction = (uint8_t)channel->id.direction,
                                .epoch = channel->epoch,
                                .source = flow == OUTGOING ? rank : peer,
                                .target = flow == OUTGOING ? peer : rank,
                                .columns = (uint32_t)channel->columns,
                                .sequence = channel->sequence,
                                .rows = (uint64_t)rows};
        bool varies = channel->step.codec->varies, skips = channel_may_skip(channel);
        transfer->varies = (varies || skips) && rows > 0;
        transfer->whole = skips && !varies;
        transfer->bytes = box_bytes(&channel->box[flow], channel->step, g);
        transfer->payload = box_host_message(&channel->box[flow], g);
        header.bytes = (uint64_t)transfer->bytes;
        *(flow == OUTGOING ? &transfer->header : &transfer->expected) = header;
    }
}

void channel_lay_out(Channel *channel, BoxStep step) {
    channel->step = step;
    for (int flow = 0; flow < FLOWS; flow++)
        lay_out_flow(channel, flow);
}

// The id of the row at a place of the send list, for what is remembered of it.
static int64_t id_at(const void *context, int64_t place) {
    const HaloPlan *plan = context;
    return plan->source_id[plan->send_row[place]];
}

static Channel channel_of(const HaloPlan *plan, const CodecOptions *options, int64_t columns) {
    return (Channel){
        .plan = plan, .options = *options, .columns = columns, .rows_are = box_rows_are(options)};
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
    channel->in_flight =
        (InFlight){.move = channel_move, .drain = channel_receive_all, .owner = channel};
    BufferSizes size = buffer_sizes(plan, options, columns);
    buffers_fit(buffers, &size);
    alloc_channel(channel, &(Allocator){.backend = buffers->backend, .taken = &channel->taken});
    endpoint_open(&channel->endpoint, plan->comm);
    ring_transfer_open(&channel->ring, &channel->endpoint, 0);
    for (int flow = 0; flow < FLOWS; flow++) {
        channel->box[flow].block = &buffers->message[flow];
        box_open(&channel->box[flow], id_at, plan);
    }
    channel_open_sample(channel);
    return channel;
}

void channel_free(Channel *channel) {
    if (channel == NULL)
        return;
    channel_drain(channel);
    if (channel->buffers->user == channel)
        channel->buffers->user = NULL;
    for (int flow = 0; flow < FLOWS; flow++)
        box_clear(&channel->box[flow]);
    endpoint_clear(&channel->endpoint);
    taken_free(&channel->taken);
    memory_free(channel);
}

void channel_forecast(MemoryForecast *forecast, BufferSizes *most, const Backend *backend,
                      const HaloPlan *halo, const CodecOptions *options, int64_t columns) {
    BufferSizes size = buffer_sizes(halo, options, columns);
    buffer_sizes_add(most, &size);
    Channel channel = channel_of(halo, options, columns);
    alloc_channel(&channel, &(Allocator){.backend = backend, .forecast = forecast});
}

// --- settings and what it did

void channel_set_full_precision(Channel *channel, bool on) {
    if (channel->never_coded != on)
        channel_drain(channel);
    channel->never_coded = on;
}

bool channel_is_full_precision(const Channel *channel) { return channel->never_coded; }

void channel_set_direct(Channel *channel, bool direct) { channel->direct = direct; }

ChannelCount channel_count(const Channel *channel) {
    const RingTransfer *ring = &channel->ring;
    return (ChannelCount){ring->bytes_sent, ring->bytes_received, ring->messages, channel->skipped,
                          channel->rows_sent};
}

ChannelSeconds channel_seconds(const Channel *channel) { return channel->seconds; }
