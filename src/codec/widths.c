// The rows of a message by width: a stable counting sort of one byte per row.

#include "fringe/codec.h"

bool width_known(int bits) { return (bits >= 1 && bits <= 8) || bits == WIDTH_MOST; }

static size_t place_bytes(int64_t count) { return memory_product(count, sizeof(int32_t)); }

// Encoding and decoding read the places.
static void upload(Widths *widths) {
    widths->backend->message_upload(widths->place, widths->host_place, place_bytes(widths->count));
}

void widths_alloc(Widths *widths, const Allocator *allocator, int64_t count) {
    const char *what = "widths of messages";
    assert(count >= 0 && count <= INT32_MAX);
    *widths = (Widths){.backend = allocator->backend, .count = count};
    widths->host_place = alloc_mirrored(allocator, &widths->place, place_bytes(count), what);
}

void widths_fill(Widths *widths, int bits) {
    assert(width_known(bits));
    for (int64_t i = 0; i < widths->count; i++)
        widths->host_place[i] = (int32_t)i;
    widths->of[bits] = widths->count;
    upload(widths);
}

void widths_set(Widths *widths, const uint8_t *bits) {
    int64_t next[WIDTH_MOST + 1] = {0}, before = 0;
    widths->backend->finish(NULL); // the last upload may not have run yet
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
        widths->host_place[next[bits[i]]++] = (int32_t)i;
    upload(widths);
}
