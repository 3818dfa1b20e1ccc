// The residuals. m is what an end remembers of a row x, x^ what the reader makes of it, d what a
// message decodes to; a residual is those lines of this table that it has.
//
//                before encoding        after encoding (sender)   after decoding (reader)
//   feedback     x += m, m = x          m -= d                    -
//   difference   x -= m                 x^ = m + d, m to x^ by a  x^ = m + d, m to x^ by a
//   anchor       x -= m, or a refresh   at a refresh m = d, else x^ = m + d; the reader likewise
//
// feedback: Seide et al.: 1-Bit Stochastic Gradient Descent, Interspeech 2014. difference:
// Mishchenko et al.: Distributed Learning with Compressed Gradient Differences, 2019, algorithm 1;
// with a = 1 and rounding to nearest EF21 (Richtarik et al., 2021). anchor: C-LPT's centre
// (ALGORITHMS D).

#include "internal.h"

const Residual residual_none = {.name = "none"};

void residual_set(MemberValues *values, ResidualOptions options) {
    static_assert(sizeof options <= sizeof values->values, "the options fit");
    memcpy(values->values, &options, sizeof options);
}

ResidualOptions residual_get(const MemberValues *values) {
    return MEMBER_OPTIONS(ResidualOptions, values);
}

// What is remembered of such rows, with their padding, which is remembered, too.
static Rows memory_of(DeviceByte *memory, Rows rows) {
    rows.at = (DeviceFloat *)(void *)memory;
    return rows_with_padding(rows);
}

static const RowFactor none = {0}, one = {.plain = 1}, minus_one = {.plain = -1};

size_t residual_of_sender(int64_t rows, int64_t columns, ResidualEnd end) {
    return end == RESIDUAL_SENDER ? rows_bytes(rows, columns) : 0;
}

static size_t of_both(int64_t rows, int64_t columns, UNUSED ResidualEnd end) {
    return rows_bytes(rows, columns);
}

// ---- feedback

static void feedback_before(const Backend *b, DeviceByte *memory, Rows rows,
                            UNUSED ResidualStep step, const Poll *poll) {
    Rows m = memory_of(memory, rows), x = rows_with_padding(rows);
    b->message_add_scaled(x, one, x, one, m, poll);
    b->message_add_scaled(m, none, m, one, x, poll);
}

static void feedback_after(const Backend *b, DeviceByte *memory, Rows decoded,
                           UNUSED ResidualStep step, const Poll *poll) {
    Rows m = memory_of(memory, decoded);
    b->message_add_scaled(m, one, m, minus_one, rows_with_padding(decoded), poll);
}

static const Residual residual_feedback = {.name = "feedback",
                                           .bytes = residual_of_sender,
                                           .before_encode = feedback_before,
                                           .after_encode = feedback_after};

// ---- difference

static void subtract(const Backend *b, DeviceByte *memory, Rows rows, ResidualStep step,
                     const Poll *poll) {
    Rows x = rows_with_padding(rows);
    if (!step.direct)
        b->message_add_scaled(x, one, x, minus_one, memory_of(memory, rows), poll);
}

static float difference_follows(const MemberValues *values, int bits, int64_t columns) {
    double alpha = residual_get(values).alpha;
    return alpha > 0 ? (float)alpha : residual_part(bits, columns);
}

static void difference_after(const Backend *b, DeviceByte *memory, Rows decoded, ResidualStep step,
                             const Poll *poll) {
    Rows m = memory_of(memory, decoded), x = rows_with_padding(decoded);
    RowFactor rest = {.plain = 1, .times = -1, .at = step.follows, .each = true};
    RowFactor part = {.times = 1, .at = step.follows, .each = true};
    if (!step.direct)
        b->message_add_scaled(x, one, x, one, m, poll);
    b->message_add_scaled(m, rest, m, part, x, poll);
}

static const Residual residual_difference = {.name = "difference",
                                             .bytes = of_both,
                                             .follows = difference_follows,
                                             .before_encode = subtract,
                                             .after_encode = difference_after,
                                             .after_decode = difference_after};

// ---- anchor: exchanges 1, 1 + refresh, 1 + 2 refresh, ... are refreshes

static bool is_refresh(const MemberValues *values, int64_t exchange) {
    return (exchange - 1) % residual_get(values).refresh == 0;
}

static void anchor_before(const Backend *b, DeviceByte *memory, Rows rows, ResidualStep step,
                          const Poll *poll) {
    if (!is_refresh(step.values, step.exchange))
        subtract(b, memory, rows, step, poll);
}

static void anchor_after(const Backend *b, DeviceByte *memory, Rows decoded, ResidualStep step,
                         const Poll *poll) {
    Rows m = memory_of(memory, decoded), x = rows_with_padding(decoded);
    if (is_refresh(step.values, step.exchange))
        b->message_add_scaled(m, none, m, one, x, poll);
    else
        b->message_add_scaled(x, one, x, one, m, poll);
}

static const Residual residual_anchor = {.name = "anchor",
                                         .bytes = of_both,
                                         .refreshes = is_refresh,
                                         .before_encode = anchor_before,
                                         .after_encode = anchor_after,
                                         .after_decode = anchor_after};

static const Residual *const residuals[] = {&residual_none, &residual_feedback,
                                            &residual_difference, &residual_anchor};
const Family residual_family = FAMILY_OF_POINTERS("gradients.memory", NULL, residuals);
