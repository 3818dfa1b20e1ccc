// The list of what is in flight, in the order in which it was added. Later rounds and pieces of a
// message are posted when earlier ones have arrived, so an owner progresses only when it is polled;
// every poll progresses all of them.

#include "internal.h"

static InFlight *first; // NULL: nothing is in flight

static void move_all(void) {
    for (InFlight *node = first; node != NULL; node = node->next)
        node->move(node->owner);
}

void wire_progress(void *comm) {
    move_all();
    if (comm != NULL)
        comm_beat(comm);
}

// The link to a node, or the end of the list.
static InFlight **link_to(const InFlight *node) {
    InFlight **link = &first;
    while (*link != NULL && *link != node)
        link = &(*link)->next;
    return link;
}

void in_flight_add(InFlight *node) {
    InFlight **link = link_to(node);
    assert(*link == NULL);
    *link = node;
    comm_on_wait(move_all);
}

void in_flight_remove(InFlight *node) {
    InFlight **link = link_to(node);
    assert(*link == node);
    *link = node->next;
    node->next = NULL;
}

void wire_drain(void) {
    while (first != NULL)
        first->drain(first->owner);
}

int wire_in_flight(void) {
    int count = 0;
    for (const InFlight *node = first; node != NULL; node = node->next)
        count++;
    return count;
}
