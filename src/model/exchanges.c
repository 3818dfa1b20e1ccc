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

// The channels of training, one after the other; NULL after the last.
static Channel *training_channel(const Model *m, int i) {
    for (int l = 0; l < m->shape.layers; l++)
        for (int d = 0; d < 2; d++) {
            Channel *channel = model_channel(m, (ExchangeId){l, d});
            if (channel != NULL && i-- == 0)
                return channel;
        }
    return NULL;
}

void model_drain(Model *m) {
    for (int i = 0; training_channel(m, i) != NULL; i++)
        channel_drain(training_channel(m, i));
}

// Of each channel: kept, rows, their age, the number of exchanges, and what two ends remember.
static_assert(EXCHANGES_MOST * (4 + 2 * RESIDUALS) <= STATE_TENSORS, "room for all channels");
static_assert(STATE_TENSORS - MODEL_TENSORS > 0, "room for all parameters and a name");

static bool walk_state(void *owner, StateWalk *walk, Error *err) {
    Model *m = owner;
    bool rows = m->parts.schedule->keeps_in_flight, ok = true;
    model_drain(m);
    for (int i = 0; ok && training_channel(m, i) != NULL; i++)
        ok = channel_state(training_channel(m, i), rows, walk, err);
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
