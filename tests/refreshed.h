// The residual `difference` with refreshes: every third exchange sends the rows themselves, as
// fp32, and both ends remember them.
#pragma once

#include "difference.h"

static inline bool every_third(const MemberValues *values, int64_t exchange) {
    (void)values;
    return exchange % 3 == 0;
}

static inline void subtract_unless_refreshed(const Backend *backend, DeviceByte *memory, Rows rows,
                                             ResidualStep step, const Poll *poll) {
    if (!every_third(step.values, step.exchange))
        subtract_memory(backend, memory, rows, step, poll);
}

static inline void add_unless_refreshed(const Backend *backend, DeviceByte *memory, Rows rows,
                                        ResidualStep step, const Poll *poll) {
    if (every_third(step.values, step.exchange))
        memcpy(memory, floats(rows), rows_bytes(rows.count, rows.columns));
    else
        add_to_memory(backend, memory, rows, step, poll);
}

static const Residual refreshed = {.name = "refreshed",
                                   .bytes = difference_bytes,
                                   .refreshes = every_third,
                                   .before_encode = subtract_unless_refreshed,
                                   .after_encode = add_unless_refreshed,
                                   .after_decode = add_unless_refreshed};
