// Identifies an exchange by its layer and direction. Channels, message headers, random numbers,
// assignments, traces and reports all use this key.
#pragma once

#include <assert.h>
#include <stdint.h>

// The last two are those of weight gradients: their messages have a part of the gradient for a
// layer.
enum { FORWARD = 0, BACKWARD = 1, GRADIENT_SHARES = 2, GRADIENT_SUMS = 3 };

typedef struct ExchangeId {
    int layer, direction;
} ExchangeId;

// The most layers of a training, and exchanges of its rows: all limits that layers meet follow from
// it.
enum { EXCHANGE_LAYERS = 40, EXCHANGES_MOST = 2 * EXCHANGE_LAYERS };

// A set of exchanges of a training, a bit for each.
__extension__ typedef unsigned __int128 ExchangeSet;
static_assert(EXCHANGES_MOST <= 8 * sizeof(ExchangeSet), "a bit for each");
static inline ExchangeSet exchange_set_of(ExchangeId id) {
    return (ExchangeSet)1 << (2 * id.layer + id.direction);
}

const char *direction_name(int direction); // "forward", "backward", ...

// "layer1.backward", as files name it. Returns `name`.
enum { EXCHANGE_NAME = 32 };
const char *exchange_name(ExchangeId id, char name[EXCHANGE_NAME]);
