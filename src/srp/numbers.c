// A list of slots that only grows at its end.
#include "internal.h"

bool numbers_init(Numbers *numbers, const char *what, Error *err) {
    numbers->count = 0;
    return growing_init(&numbers->slots, UINT32_MAX, sizeof(int32_t), what, err);
}

void numbers_clear(Numbers *numbers) { growing_clear(&numbers->slots); }

void numbers_add(Numbers *numbers, int32_t slot) {
    growing_reach(&numbers->slots, numbers->count + 1);
    numbers_at(numbers)[numbers->count++] = slot;
}
