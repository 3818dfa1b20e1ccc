// Orders of the steps after a convolution (Post) as numbers, and the orders that kernels of the CPU
// and of CUDA devices are compiled for. Any other order runs the same functions with the order as a
// variable, a quarter slower or worse.
//
// An order in octal has its first step in the last digit: 0231 is dropout, norm, activation.
#pragma once

#include "fringe/backend.h"
#include "host_device.h"

enum { DO_DROPOUT = 1, DO_ACTIVATION = 2, DO_NORM = 3 };

// Those of configs/, and 0123, which the examples of OGB use (tests/model/test_orders.c). 02 is
// what layer gin does between its two products. Dropout is in no order of evaluation.
#define ORDERS_TRAINED(X) X(0231) X(012) X(0123) X(0132) X(02)
#define ORDERS_EVALUATED(X) X(023) X(02) X(032)

#define ORDER_INLINE HOST_DEVICE static inline __attribute__((always_inline, unused))

ORDER_INLINE bool order_has(int order, int step) {
    return (order & 7) == step || (order >> 3 & 7) == step || (order >> 6 & 7) == step;
}
ORDER_INLINE int order_head(int order) { // the steps before the norm; 0 without norm
    return (order & 7) == DO_NORM        ? 0
           : (order >> 3 & 7) == DO_NORM ? order & 7
           : (order >> 6 & 7) == DO_NORM ? order & 077
                                         : 0;
}
ORDER_INLINE int order_tail(int order) { // the steps after it; all without norm
    return (order & 7) == DO_NORM        ? order >> 3
           : (order >> 3 & 7) == DO_NORM ? order >> 6
           : (order >> 6 & 7) == DO_NORM ? 0
                                         : order;
}

// Dropout is left out where it does nothing.
static inline int post_order(const Post *post) {
    static const int digit[] = {DO_DROPOUT, DO_NORM, DO_ACTIVATION}; // by PostStep
    int order = 0, place = 0;
    for (int i = 0; i < post->count; i++) {
        int step = digit[post->step[i]];
        assert(!order_has(order, step));
        if (step == DO_DROPOUT && (!post->training || post->keep >= 1))
            continue;
        order |= step << place;
        place += 3;
    }
    return order;
}
