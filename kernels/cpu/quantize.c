// Rows of floats to rows of a message and back (quantize_lanes.c does a row).
//
// The one idea: a row's place in the message is known before anything is written, so rows are
// independent and the chunks that threads take do not show in the result.
#include "quantize.h"

enum {
    CHUNK = 1 << 15,   // floats of one piece of a loop: some ten microseconds
    PARALLEL = 1 << 15 // floats below which one thread is quicker than starting the others
};

void cpu_quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *first_bad,
                  const Poll *poll) {
    assert(source->partials.count == 0 || source->partials.type == source->x.type);
    assert(to->rule == GRID_MINMAX || (to->rule == GRID_MEAN ? to->bits == 1 : to->bits <= 8));
    QuantizeCall call = {.to = *to,
                         .from = *source,
                         .key = philox_key(source->random),
                         .row_bytes = quantized_row_bytes(source->x.columns, to->bits)};
    int64_t bad = NO_PLACE, chunk = piece_rows(CHUNK, source->x.stride);
    Pace pace = pace_start(poll);
    pace_call(&pace); // at least once: thread 0 may get no piece
#pragma omp parallel for schedule(dynamic)                                                         \
    reduction(min                                                                                  \
              : bad) if (to->count * source->x.columns > PARALLEL)
    for (int64_t i = 0; i < to->count; i += chunk) {
        bad = least(
            bad, ROWS_PICK(quantize_rows, source->x.type)(&call, i, least(i + chunk, to->count)));
        pace_call(&pace);
    }
    cpu_note_bad(first_bad, bad == NO_PLACE ? -1 : bad);
}

void cpu_dequantize(Rows out, int64_t begin, const Quantized *from, const Poll *poll) {
    DequantizeCall call = {.from = *from,
                           .out = cpu_rows(out),
                           .begin = begin,
                           .row_bytes = quantized_row_bytes(out.columns, from->bits)};
    // all that lands in `out` counts: nothing is read before the last message has come
    call.stream = cpu_beyond_cache(out.count, call.out);
    int64_t chunk = piece_rows(CHUNK, out.stride);
    Pace pace = pace_start(poll);
    pace_call(&pace); // at least once: thread 0 may get no piece
#pragma omp parallel for schedule(dynamic) if (from->count * out.columns > PARALLEL)
    for (int64_t i = 0; i < from->count; i += chunk) {
        LANES_PICK(dequantize_rows)(&call, i, least(i + chunk, from->count));
        pace_call(&pace);
    }
}
