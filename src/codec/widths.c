// The rows of a message by width: a stable counting sort of one byte per row.

#include "fringe/codec.h"

#include <string.h>

bool width_known(int bits) { return (bits >= 1 && bits <= 8) || bits == WIDTH_MOST; }

void widths_take(Widths *widths, int64_t count, int bits) {
    assert(count >= 0 && count <= INT32_MAX && width_known(bits));
    *widths = (Widths){.count = count, .place = TAKE(int32_t, count, "widths of messages")};
    for (int64_t i = 0; i < count; i++)
        widths->place[i] = (int32_t)i;
    widths->of[bits] = count;
}

void widths_clear(Widths *widths) {
    memory_give(widths->place);
    *widths = (Widths){0};
}

size_t widths_bytes(int64_t count) { return memory_product(count, sizeof(int32_t)); }

void widths_set(Widths *widths, const uint8_t *bits) {
    int64_t next[WIDTH_MOST + 1] = {0}, before = 0;
    memset(widths->of, 0, sizeof widths->of);
    for (int64_t i = 0; i < widths->count; i++) {
        assert(width_known(bits[i]));
        widths->of[bits[i]]++;
    }
    for (int b = 0; b <= WIDTH_MOST; b++) {
        next[b] = before;
        before += widths->of[b];
    }
    for (int64_t i = 0; i < widths->count; i++)
        widths->place[next[bits[i]]++] = (int32_t)i;
}
