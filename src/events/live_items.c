// Slots, and the ids of the user. Ids are found by linear hashing (Litwin 1980): there is one
// bucket for each item, and a bucket is split with every item that is made, so that no event ever
// waits for a table to grow.
#include "live.h"

// The finalizer of splitmix64: every bit of the id changes half of the bits.
static uint64_t mixed(uint64_t id) {
    id = (id ^ id >> 30) * 0xbf58476d1ce4e5b9u;
    id = (id ^ id >> 27) * 0x94d049bb133111ebu;
    return id ^ id >> 31;
}

// Of 2^l <= buckets < 2^(l+1), those from buckets - 2^l to 2^l - 1 are not split yet.
static int64_t bucket_of(uint64_t id, int64_t buckets) {
    int power = 63 - __builtin_clzll((uint64_t)buckets);
    uint64_t hash = mixed(id), low = ((uint64_t)1 << power) - 1;
    int64_t bucket = (int64_t)(hash & (2 * low + 1));
    return bucket < buckets ? bucket : (int64_t)(hash & low);
}

int32_t live_find(const LiveHypergraph *live, int side, uint64_t id) {
    const LiveMemory *memory = live->memory;
    if (memory->buckets[side] == 0)
        return -1;
    const int32_t *head = memory->head[side].at;
    int32_t slot = head[bucket_of(id, memory->buckets[side])] - 1;
    while (slot >= 0 && live_item(live, side, slot)->id != id)
        slot = live_item(live, side, slot)->next;
    return slot;
}

// The reads of several ids from memory overlap.
void live_prefetch(const LiveHypergraph *live, int side, const uint64_t *id, int64_t count) {
    const LiveMemory *memory = live->memory;
    const int32_t *head = memory->head[side].at;
    if (memory->buckets[side] == 0)
        return;
    for (int64_t i = 0; i < count; i++)
        __builtin_prefetch(&head[bucket_of(id[i], memory->buckets[side])]);
    for (int64_t i = 0; i < count; i++) {
        int32_t first = head[bucket_of(id[i], memory->buckets[side])] - 1;
        if (first >= 0)
            __builtin_prefetch(live_item(live, side, first), 1);
    }
}

static void put_first(LiveHypergraph *live, int side, int32_t slot) {
    int32_t *head = live->memory->head[side].at;
    LiveItem *item = live_item(live, side, slot);
    int64_t bucket = bucket_of(item->id, live->memory->buckets[side]);
    item->next = head[bucket] - 1;
    head[bucket] = slot + 1;
}

// Adds a bucket; some items of the oldest unsplit one move there.
static void split(LiveHypergraph *live, int side) {
    LiveMemory *memory = live->memory;
    int64_t buckets = memory->buckets[side]++;
    growing_reach(&memory->head[side], buckets + 1);
    int32_t *head = memory->head[side].at;
    head[buckets] = 0;
    if (buckets == 0)
        return;
    int power = 63 - __builtin_clzll((uint64_t)buckets);
    int64_t from = buckets - ((int64_t)1 << power);
    int32_t slot = head[from] - 1;
    head[from] = 0;
    while (slot >= 0) {
        int32_t next = live_item(live, side, slot)->next;
        put_first(live, side, slot);
        slot = next;
    }
}

void live_index(LiveHypergraph *live, int side, int32_t slot) {
    split(live, side);
    put_first(live, side, slot);
}

static int32_t free_slot(LiveHypergraph *live, int side) {
    LiveMemory *memory = live->memory;
    int32_t slot = memory->free[side];
    if (slot >= 0) {
        memory->free[side] = live_item(live, side, slot)->next;
        return slot;
    }
    slot = (int32_t)live->side[side].slots++;
    growing_reach(&memory->item[side], live->side[side].slots);
    return slot;
}

int32_t live_make(LiveHypergraph *live, int side, uint64_t id) {
    int32_t slot = free_slot(live, side);
    *live_item(live, side, slot) = (LiveItem){.id = id, .weight = 1};
    // Buckets stay when items go, so there are at least as many.
    if (++live->side[side].count > live->memory->buckets[side])
        split(live, side);
    put_first(live, side, slot);
    return slot;
}

void live_drop(LiveHypergraph *live, int side, int32_t slot) {
    LiveMemory *memory = live->memory;
    LiveItem *item = live_item(live, side, slot);
    int32_t *head = memory->head[side].at;
    int64_t bucket = bucket_of(item->id, memory->buckets[side]);
    int32_t before = head[bucket] - 1;
    assert(item->count == 0);
    if (before == slot)
        head[bucket] = item->next + 1;
    else {
        while (live_item(live, side, before)->next != slot)
            before = live_item(live, side, before)->next;
        live_item(live, side, before)->next = item->next;
    }
    item->count = -1;
    item->next = memory->free[side];
    memory->free[side] = slot;
    live->side[side].count--;
}

// ---- in the order of ids

typedef struct Ordered {
    uint64_t id;
    int32_t slot;
} Ordered;

static int by_id(const void *one, const void *other) {
    uint64_t a = ((const Ordered *)one)->id, b = ((const Ordered *)other)->id;
    return (a > b) - (a < b);
}

int32_t *live_order(const LiveHypergraph *live, int side) {
    const LiveSide *s = &live->side[side];
    FREED Ordered *ordered = ALLOC(Ordered, s->count, "order of ids");
    int64_t count = 0;
    for (int64_t slot = 0; slot < s->slots; slot++)
        if (s->item[slot].count >= 0)
            ordered[count++] = (Ordered){s->item[slot].id, (int32_t)slot};
    assert(count == s->count);
    qsort(ordered, (size_t)count, sizeof *ordered, by_id);
    int32_t *order = ALLOC(int32_t, count, "order of ids");
    for (int64_t i = 0; i < count; i++)
        order[i] = ordered[i].slot;
    return order;
}

void live_ids(const LiveHypergraph *live, int side, const int32_t *order, uint64_t *id) {
    for (int64_t i = 0; i < live->side[side].count; i++)
        id[i] = live->side[side].item[order[i]].id;
}
