#include "fringe/base/exchange_id.h"
#include <stdio.h>

const char *direction_name(int direction) { return direction == FORWARD ? "forward" : "backward"; }

const char *exchange_name(ExchangeId id, char name[EXCHANGE_NAME]) {
    snprintf(name, EXCHANGE_NAME, "layer%d.%s", id.layer, direction_name(id.direction));
    return name;
}
