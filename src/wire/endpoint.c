// The slots of an owner's pieces in flight.

#include "internal.h"

const Transport *transport_used(void) { return family_member(&transport_family, 0); }

void endpoint_alloc(Endpoint *e, const Allocator *allocator, int slots) {
    const char *what = "messages in flight";
    *e = (Endpoint){.transport = transport_used(), .slots = slots};
    e->busy = alloc_host(allocator, (size_t)slots * sizeof *e->busy, what);
    e->done = alloc_host(allocator, (size_t)slots * sizeof *e->done, what);
    e->bytes = alloc_host(allocator, (size_t)slots * sizeof *e->bytes, what);
    e->state = alloc_host(allocator, memory_product(slots, e->transport->slot_bytes), what);
}

void endpoint_open(Endpoint *endpoint, const Comm *comm) {
    comm_duplicate(&endpoint->comm, comm);
    endpoint->transport->open(endpoint);
}

void endpoint_clear(Endpoint *endpoint) {
    endpoint->transport->close(endpoint);
    comm_release(&endpoint->comm);
}
