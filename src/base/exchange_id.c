#include "fringe/base/exchange_id.h"
#include <stdio.h>

const char *direction_name(int direction) {
    static const char *const names[] = {[FORWARD] = "forward",
                                        [BACKWARD] = "backward",
                                        [GRADIENT_SHARES] = "shares",
                                        [GRADIENT_SUMS] = "sums"};
    return names[direction];
}

const char *exchange_name(ExchangeId id, char name[EXCHANGE_NAME]) {
    snprintf(name, EXCHANGE_NAME, "layer%d.%s", id.layer, direction_name(id.direction));
    return name;
}
