// Sampled halo rows (BNS-GCN: Wan et al., MLSys 2022; ALGORITHMS B.3). In an exchange of training a
// row travels with probability P and counts 1/P, so what is added up of them has the right mean.
//
//   list of a message   r0   r1   r2   r3   r4   r5      random numbers say: r1 and r4
//   message             r1   r4                          a message of two rows, for every codec
//   halo rows           0  r1/P   0    0   r4/P  0
//
// Both ends draw: of the random numbers of the epoch, the id and the peer that ALGORITHMS 0 says. A
// row of node u that rank b reads has the peer b; a partial aggregate for u has the peer that made
// it. Backward sends partial aggregates where forward sends rows, and rows where forward sends
// partial aggregates (model), so what counts in backward is what counted in forward: the gradient
// is that of the sampled forward pass. The layer does not enter: an epoch has the same rows in all
// layers, as BNS-GCN has it. The relation does, which on a hypergraph says what an id is the id of.
//
// A box of messages is given the offsets of the shorter lists, and knows of nothing else.

#include "buffers.h"

static bool is_sampled(const Channel *channel) { return channel->options.sample.probability > 0; }

// ---- making

static void alloc_flow(SampledRows *rows, const Allocator *allocator, const HaloPlan *plan,
                       int flow, bool has_widths) {
    const char *what = "sampled rows";
    size_t count = (size_t)channel_flow_rows(plan, flow), bytes = count * sizeof *rows->list;
    rows->offset = alloc_host(allocator, (size_t)plan->size * sizeof *rows->offset, what);
    rows->drawn = alloc_host(allocator, count, what);
    if (has_widths)
        rows->bits = alloc_host(allocator, count, what);
    rows->list = alloc_mirrored(allocator, &rows->device_list, bytes, what);
}

void channel_alloc_sample(Channel *channel, const Allocator *allocator) {
    Sample *sample = &channel->sample;
    if (!is_sampled(channel))
        return;
    for (int flow = 0; flow < FLOWS; flow++)
        alloc_flow(&sample->rows[flow], allocator, channel->plan, flow,
                   channel->options.codec->has_widths);
    sample->factor = alloc_device(
        allocator, (size_t)box_longest(&channel->box[INCOMING]) * sizeof(float), "sampled rows");
    sample->zero = alloc_rows(allocator, 1, channel->columns, "sampled rows");
}

void channel_open_sample(Channel *channel) {
    const Backend *b = channel->buffers->backend;
    int64_t count = box_longest(&channel->box[INCOMING]);
    if (!is_sampled(channel))
        return;
    size_t bytes = (size_t)count * sizeof(float);
    float *factor = pinned_mirror(b, channel->sample.factor, bytes, "sampled rows");
    for (int64_t k = 0; k < count; k++)
        factor[k] = (float)(1 / channel->options.sample.probability);
    b->message_upload(channel->sample.factor, factor, bytes);
    b->message_zero(channel->sample.zero.at, rows_bytes(1, channel->columns));
    b->finish(NULL);
    pinned_mirror_free(b, factor);
}

// ---- drawing

static int64_t id_of(const HaloPlan *plan, int flow, int64_t place) {
    return flow == INCOMING ? plan->halo_id[place] : plan->source_id[plan->send_row[place]];
}

bool sample_draws(const CodecOptions *options, ExchangeContext context, int64_t id, int sender,
                  int reader) {
    RandomKey key =
        random_key(context.seed, RANDOM_SAMPLE, context.epoch, options->sample.relation, 0);
    return random_uniform32(key, id < 0 ? -1 - id : id, id < 0 ? sender : reader, 0) <
           options->sample.probability;
}

static void draw_round(const Channel *channel, ExchangeContext context, int flow, int round) {
    const HaloPlan *p = channel->plan;
    const int64_t *offset = channel_offsets(p, flow);
    int peer = channel->ring.transfer[round][flow].peer;
    int sender = flow == INCOMING ? peer : p->rank, reader = flow == INCOMING ? p->rank : peer;
    uint8_t *drawn = channel->sample.rows[flow].drawn;
#pragma omp parallel for schedule(static)
    for (int64_t k = offset[round]; k < offset[round + 1]; k++)
        drawn[k] = sample_draws(&channel->options, context, id_of(p, flow, k), sender, reader);
}

// The list of a message to send has its rows; that of a received one says for each halo row which
// row of the message it is. Behind the last row of a message lies the zero.
static void list_round(const Channel *channel, int flow, int round) {
    const HaloPlan *p = channel->plan;
    const SampledRows *rows = &channel->sample.rows[flow];
    const int64_t *offset = channel_offsets(p, flow);
    int64_t begin = rows->offset[round], count = 0, next = 0;
    for (int64_t k = offset[round]; k < offset[round + 1]; k++)
        count += rows->drawn[k];
    for (int64_t k = offset[round]; k < offset[round + 1]; k++) {
        if (rows->drawn[k] && rows->bits != NULL)
            rows->bits[begin + next] = channel->box[flow].bits[k];
        if (flow == INCOMING)
            rows->list[k] = (int32_t)(rows->drawn[k] ? next : count);
        else if (rows->drawn[k])
            rows->list[begin + next] = p->send_row[k];
        next += rows->drawn[k];
    }
    rows->offset[round + 1] = begin + count;
}

static void draw_flow(Channel *channel, ExchangeContext context, int flow) {
    const SampledRows *rows = &channel->sample.rows[flow];
    for (int g = 0; g + 1 < channel->plan->size; g++) {
        draw_round(channel, context, flow, g);
        list_round(channel, flow, g);
    }
    channel->buffers->backend->message_upload(rows->device_list, rows->list,
                                              (size_t)channel_flow_rows(channel->plan, flow) *
                                                  sizeof *rows->list);
    box_hold(&channel->box[flow], rows->offset, rows->bits);
}

void channel_draw_all(Channel *channel) {
    for (int flow = 0; flow < FLOWS && channel->sample.on; flow++)
        box_hold(&channel->box[flow], channel_offsets(channel->plan, flow),
                 channel->box[flow].bits);
    channel->sample.on = false;
}

void channel_draw(Channel *channel, ExchangeContext context, const Poll *poll) {
    if (!is_sampled(channel) || context.full_precision) {
        channel_draw_all(channel);
        return;
    }
    channel->buffers->backend->finish(poll); // the last lists may not be uploaded yet
    for (int flow = 0; flow < FLOWS; flow++)
        draw_flow(channel, context, flow);
    channel->sample.on = true;
}

double channel_sample(const Channel *channel) {
    return is_sampled(channel) ? channel->options.sample.probability : 1;
}

// ---- what a step asks for

SendList channel_send_list(const Channel *channel, int round) {
    const SampledRows *rows = &channel->sample.rows[OUTGOING];
    const HaloPlan *p = channel->plan;
    int64_t begin = p->send_offset[round];
    if (channel->sample.on)
        return (SendList){rows->list + rows->offset[round],
                          int32_at(rows->device_list, rows->offset[round])};
    return (SendList){p->send_row + begin, int32_at(channel->send_row, begin)};
}

// The message has been decoded, so its place holds all rows for a moment.
void channel_spread(Channel *channel, Rows rows, int round) {
    const Backend *b = channel->buffers->backend;
    const Sample *sample = &channel->sample;
    const HaloPlan *p = channel->plan;
    MessageBox *box = &channel->box[INCOMING];
    int64_t begin = p->receive_offset[round], count = channel_round_rows(p, INCOMING, round);
    MessageSource source = {.x = rows_range(rows, (Range){begin, begin + box_rows(box, round)}),
                            .scale = sample->factor,
                            .partials = sample->zero,
                            .row = int32_at(sample->rows[INCOMING].device_list, begin)};
    b->pack_fp32(box_device_message(box, round), &source, count, &channel->poll);
    b->unpack_fp32(rows, begin, box_device_message(box, round), count, &channel->poll);
}
