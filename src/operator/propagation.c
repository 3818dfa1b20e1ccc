// Propagations: the channel of a sparse operator, its partial aggregates, and its buffers.
#include "fringe/operator.h"

static Rows alloc_partials(const Allocator *untyped, const PropagationForm *form) {
    Allocator allocator = *untyped;
    allocator.rows = form->options.rows;
    return alloc_rows(&allocator, form->pattern->partial.rows, form->columns, "partial aggregates");
}

void propagation_init(Propagation *over, SparseOperator *op, const PropagationForm *form,
                      ExchangeBuffers *shared) {
    const Backend *backend = op->backend;
    *over = (Propagation){.op = op};
    if (form->in_flight)
        over->buffers = exchange_buffers_new(backend);
    over->channel = channel_new(form->in_flight ? over->buffers : shared, &form->pattern->plan,
                                &form->options, form->columns, form->id);
    over->partials = alloc_partials(&(Allocator){.backend = backend}, form);
}

void propagation_forecast(MemoryForecast *forecast, BufferSizes *shared, const Backend *backend,
                          const PropagationForm *form) {
    BufferSizes own = {0};
    channel_forecast(forecast, form->in_flight ? &own : shared, backend, &form->pattern->plan,
                     &form->options, form->columns);
    alloc_partials(&(Allocator){.backend = backend, .forecast = forecast}, form);
    if (form->in_flight)
        exchange_buffers_forecast(forecast, backend, &own);
}

void propagation_clear(const Backend *backend, Propagation *over) {
    channel_free(over->channel);
    exchange_buffers_free(over->buffers);
    rows_free(backend, &over->partials);
}
