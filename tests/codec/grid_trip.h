// A message of the codec grid on its way, and every rule and width of it in turn.
#pragma once

#include "true_codes.h"

static inline RoundTrip grid_trip_new(int64_t rows, int64_t columns, GridOptions options) {
    RoundTrip t = round_trip_new(rows, columns, options.bf16, options.bits);
    t.codec = &codec_grid;
    grid_set(&t.shape.values, options);
    return t;
}

static inline bool has_minimum(GridOptions options) { return options.rule == GRID_MINMAX; }

// The largest magnitude of a code.
static inline int true_s(GridOptions options) {
    return options.rule == GRID_MEAN ? 1 : (1 << (options.bits - 1)) - 1;
}

// for (GridOptions options = {0}; grid_next(&options);) ... : every rule with each of its widths,
// with S in fp32 and in bf16, at random and to the nearest.
static inline bool grid_next(GridOptions *options) {
    static const int least[] = {1, 2, 2, 1, 3}, most[] = {8, 8, 8, 1, 8};
    if (options->bits == 0) {
        options->bits = 1;
        return true;
    }
    options->bf16 = !options->bf16;
    if (options->bf16)
        return true;
    options->nearest = !options->nearest;
    if (options->nearest)
        return true;
    if (options->bits++ < most[options->rule])
        return true;
    if (options->rule == GRID_LOG)
        return false;
    options->rule++;
    options->bits = least[options->rule];
    return true;
}

// What a random value may err by in units of S, and S as it travels.
static inline float step_sent(const RoundTrip *t, int64_t place) {
    return parameter(t, has_minimum(grid_get(&t->shape.values)), place);
}

// The norm of huge values is no float, so rows of l2 are none of these.
static inline Kind kind_of(GridRule rule, int64_t r) {
    Kind kind = (Kind)(r % KINDS);
    return kind == HUGE_RANGE && rule == GRID_L2 ? GAUSS : kind;
}
