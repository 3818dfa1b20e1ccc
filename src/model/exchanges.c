// Exchanges that outlast an epoch: what moves their messages, drains them, and keeps what a resumed
// run needs of them.
#include "internal.h"

static void move_messages_and_sum(void *context) {
    Model *m = context;
    gradsync_progress(m->sync);
    wire_progress(NULL);
}

Poll background_poll(Model *m) {
    if (!m->parts.schedule->keeps_in_flight)
        return m->sync != NULL ? (Poll){gradsync_progress, m->sync} : (Poll){0};
    return m->sync != NULL ? (Poll){move_messages_and_sum, m} : (Poll){wire_progress, NULL};
}

Channel *model_channel(const Model *m, ExchangeId id) {
    return m->layer[id.layer].propagation[id.direction].channel;
}

// The channels, or those of training alone, one after the other; NULL after the last.
static Channel *channel_at(const Model *m, bool of_training, int i) {
    for (int l = 0; l < m->shape.layers; l++) {
        const Layer *layer = &m->layer[l];
        Channel *infer = layer->infer.channel, *forward = layer->propagation[FORWARD].channel;
        Channel *all[] = {forward, layer->propagation[BACKWARD].channel,
                          of_training || infer == forward ? NULL : infer};
        for (int k = 0; k < 3; k++)
            if (all[k] != NULL && i-- == 0)
                return all[k];
    }
    return NULL;
}

ChannelCount model_count(const Model *m) {
    ChannelCount sum = {0};
    Channel *channel;
    for (int i = 0; (channel = channel_at(m, false, i)) != NULL; i++) {
        ChannelCount count = channel_count(channel);
        sum.bytes_sent += count.bytes_sent;
        sum.bytes_received += count.bytes_received;
        sum.messages += count.messages;
        sum.skipped += count.skipped;
        sum.rows_sent += count.rows_sent;
    }
    return sum;
}

void model_drain(Model *m) {
    for (int i = 0; channel_at(m, true, i) != NULL; i++)
        channel_drain(channel_at(m, true, i));
}

// Of each channel: kept, rows, their age, the number of exchanges, and what two ends remember.
static_assert(EXCHANGES_MOST * (4 + 2 * RESIDUALS) <= STATE_TENSORS, "room for all channels");
static_assert(STATE_TENSORS - MODEL_TENSORS > 0, "room for all parameters and a name");

static bool walk_state(void *owner, StateWalk *walk, Error *err) {
    Model *m = owner;
    bool rows = m->parts.schedule->keeps_in_flight, ok = true;
    model_drain(m);
    for (int i = 0; ok && channel_at(m, true, i) != NULL; i++)
        ok = channel_state(channel_at(m, true, i), rows, walk, err);
    return ok;
}

static bool remembers(const Model *m, int direction) {
    CodecOptions options = schedule_options(m->parts.schedule, &m->parts.options, direction);
    return box_remembers(&options);
}

StateSection model_exchanges(Model *m) {
    if (!m->parts.schedule->keeps_in_flight && !remembers(m, FORWARD) && !remembers(m, BACKWARD))
        return (StateSection){0};
    return (StateSection){.name = "exchanges", .walk = walk_state, .owner = m};
}
