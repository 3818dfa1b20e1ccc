// The list of channels in flight (posted and not finished), in the order of their posts. Later
// rounds and chunks of a message are posted when earlier ones have arrived, so a channel progresses
// only when it is polled; every poll progresses all channels in the list.

#include "buffers.h"

static Channel *first; // in flight; NULL: none is

static void move_all(void) {
    for (Channel *channel = first; channel != NULL; channel = channel->next_in_flight)
        channel_move(channel);
}

void exchange_progress(void *comm) {
    move_all();
    if (comm != NULL)
        comm_beat(comm);
}

void channel_progress(void *context) {
    const Channel *channel = context;
    exchange_progress((void *)channel->plan->comm);
}

// The link to a channel, or the end of the list.
static Channel **link_to(const Channel *channel) {
    Channel **link = &first;
    while (*link != NULL && *link != channel)
        link = &(*link)->next_in_flight;
    return link;
}

void in_flight_add(Channel *channel) {
    Channel **link = link_to(channel);
    assert(*link == NULL);
    *link = channel;
    comm_wait_beside(move_all);
}

void in_flight_remove(Channel *channel) {
    Channel **link = link_to(channel);
    assert(*link == channel);
    *link = channel->next_in_flight;
    channel->next_in_flight = NULL;
}

bool channel_in_flight(const Channel *channel) {
    return channel->state == CHANNEL_POSTED || channel->state == CHANNEL_RECEIVED;
}

bool channel_has_rows(const Channel *channel) {
    assert(channel->state == CHANNEL_IDLE);
    return channel->has_rows && channel->buffers->user == channel;
}

void channel_drain(Channel *channel) {
    if (!channel_in_flight(channel))
        return;
    for (int group = channel->received; group < channel->ring.rounds; group++)
        channel_receive(channel, group);
    channel_finish(channel);
}

void exchange_drain(void) {
    while (first != NULL)
        channel_drain(first);
}

int exchange_in_flight(void) {
    int count = 0;
    for (const Channel *channel = first; channel != NULL; channel = channel->next_in_flight)
        count++;
    return count;
}
