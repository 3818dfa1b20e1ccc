// Which exchange: of which layer, and on the way there or back. The one key of channels, message
// headers, random numbers, assignments, traces and reports.
#ifndef FRINGE_BASE_EXCHANGE_ID_H
#define FRINGE_BASE_EXCHANGE_ID_H

enum { FORWARD = 0, BACKWARD = 1 };

typedef struct ExchangeId {
    int layer, direction;
} ExchangeId;

const char *direction_name(int direction); // "forward", "backward"

// "layer1.backward", as files name it. Returns `name`.
enum { EXCHANGE_NAME = 32 };
const char *exchange_name(ExchangeId id, char name[EXCHANGE_NAME]);

#endif
