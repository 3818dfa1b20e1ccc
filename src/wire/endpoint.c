// The slots of an owner's pieces in flight.

#include "internal.h"

const Transport *transport_used(void) { return family_member(&transport_family, 0); }

void endpoint_alloc(Endpoint *e, MemoryForecast *forecast, int slots) {
    const char *what = "messages in flight";
    *e = (Endpoint){.transport = transport_used(), .slots = slots};
    e->taken = memory_or_forecast(forecast, (size_t)slots * sizeof *e->taken, what);
    e->done = memory_or_forecast(forecast, (size_t)slots * sizeof *e->done, what);
    e->bytes = memory_or_forecast(forecast, (size_t)slots * sizeof *e->bytes, what);
    e->state = memory_or_forecast(forecast, memory_product(slots, e->transport->slot_bytes), what);
}

void endpoint_open(Endpoint *endpoint, const Comm *comm) {
    comm_duplicate(&endpoint->comm, comm);
    endpoint->transport->open(endpoint);
}

void endpoint_clear(Endpoint *endpoint) {
    endpoint->transport->close(endpoint);
    memory_free(endpoint->state);
    memory_free(endpoint->bytes);
    memory_free(endpoint->done);
    memory_free(endpoint->taken);
    comm_release(&endpoint->comm);
}
